"""`vmap`: turns a function of one example into a function of many.

The function runs once, on tensors without values, each of which stands for one example. Its result
is a graph, which then gets a leading axis, node by node.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from ogive.autograd.transforms.batching import Batching, moved_axis
from ogive.compat.methods.keywords import also
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.shape import Dim, greatest
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentError, ArgumentTypeError, ShapeError, TraceError
from ogive.jit.argument_trees import leaves, rebuild
from ogive.jit.tracing.watch import inlining
from ogive.tensor import build
from ogive.tensor.core import memory_device, to_axis, wrap
from ogive.tensor.tensor import Tensor

NO_VALUES = (
    "this tensor stands for one example inside a function that ogive.vmap captures and has no "
    "values; compute with tensors (ogive.where instead of if), or return what you need"
)


@also(in_dims="in_axes", out_dims="out_axes")
def vmap(
    function: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0
) -> Callable[..., Any]:
    """A function that applies `function`, a function of one example, to all examples at once.

    Shapes: `in_axes` is the axis of examples of each argument, or None for an argument that all
    examples share. It is one number for all arguments, or a tuple with an entry per argument, which
    may itself be a tree like the argument. The results have the axis at `out_axes`. PyTorch's names
    `in_dims` and `out_dims` are accepted, too.

    >>> dots = ogive.vmap(lambda a, b: (a * b).sum(), in_axes=(0, None))
    >>> dots(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([1.0, 10.0])).tolist()
    [21.0, 43.0]
    >>> ogive.vmap(ogive.grad(lambda x: x ** 3))(Tensor([1.0, 2.0])).tolist()
    [3.0, 12.0]

    Raises `ShapeError` if the numbers of examples differ, and `TraceError` if the function reads
    values or does something that is possible only for one example.
    """

    @functools.wraps(function)
    def vectorized(*args: Any, **kwargs: Any) -> Any:
        axes = in_axes if isinstance(in_axes, tuple | list) else (in_axes,) * len(args)
        if len(axes) != len(args):
            raise ArgumentError(
                f"vmap: in_axes has {len(axes)} entries for {len(args)} positional arguments"
            )
        examples = _Examples()
        stand_in = examples.stand_in
        positional = [_spread(arg, axis, stand_in) for arg, axis in zip(args, axes, strict=True)]
        named = {name: _spread(arg, 0, stand_in) for name, arg in kwargs.items()}
        if examples.size is None:
            raise ArgumentError("vmap: in_axes names no axis of any tensor to go along")
        with inlining():
            value = function(*positional, **named)
        return examples.gather(value, out_axes)

    return vectorized


def _spread(value: Any, axes: Any, change: Callable[[Any, Any], Any]) -> Any:
    """A tree with `change` applied to each leaf and its axis; `axes` may have one per subtree."""
    if axes is None or isinstance(axes, int):
        return rebuild(value, lambda leaf: change(leaf, axes))
    if isinstance(axes, dict) and isinstance(value, dict) and axes.keys() == value.keys():
        return {name: _spread(entry, axes[name], change) for name, entry in value.items()}
    if (
        isinstance(axes, tuple | list)
        and isinstance(value, tuple | list)
        and len(axes) == len(value)
    ):
        entries = [_spread(entry, axis, change) for entry, axis in zip(value, axes, strict=True)]
        return entries if isinstance(value, list) else tuple(entries)
    raise ArgumentTypeError(
        f"vmap: the axes {axes!r} are not like {type(value).__name__}: give a number, None, or a "
        "tree of them"
    )


class _Examples:
    """The tensors with an axis of examples, and a stand-in for one example of each."""

    def __init__(self) -> None:
        self.size: Dim | None = None
        self.rows: dict[UOp, UOp] = {}

    def stand_in(self, value: Any, axis: int | None) -> Any:
        """The stand-in for a leaf of the function's arguments."""
        # Imported here, because it loads the engine, which importing Ogive must not.
        from ogive.jit.tracing.placeholders import flat_without_memory, tensor_on

        if isinstance(value, numpy.ndarray):
            value = Tensor(value)
        if axis is None or not isinstance(value, Tensor):
            return value
        place = to_axis(axis, value.ndim, "vmap")
        size = value.shape[place]
        if self.size is not None and size != self.size:
            raise ShapeError(
                f"vmap: axis {axis} of shape {value.shape} has the length {size}, and that of "
                f"another argument {self.size}; all must have as many examples"
            )
        self.size = size
        shape = (*value.shape[:place], *value.shape[place + 1 :])
        device = memory_device(value)
        flat = flat_without_memory(shape, value.dtype, device, TraceError, NO_VALUES, borrowed=True)
        with graph_lock:
            first = moved_axis(value.node, place, 0)
            pads = [(0, greatest(n) - n) for n in shape]
            whole = build.pad(first, ((0, 0), *pads))
            self.rows[flat] = build.reshape(whole, (size, flat.size))
        return tensor_on(flat, shape, device)

    def gather(self, returned: Any, out_axes: Any) -> Any:
        """The result of the function for all examples."""
        for path, leaf in leaves(returned, "result"):
            if leaf is not None and not isinstance(leaf, Tensor):
                raise ArgumentTypeError(
                    f"vmap: the function returned {type(leaf).__name__} as {path}; it must return "
                    "tensors"
                )
        assert self.size is not None, "some argument has examples"
        with graph_lock:
            batching = Batching(self.size, self.rows)

            def finish(leaf: Tensor | None, axis: Any) -> Tensor | None:
                if leaf is None:
                    return None
                node = batching.batch(leaf.node)
                target = to_axis(axis, len(node.shape), "vmap: out_axes")
                return wrap(moved_axis(node, 0, target), leaf.device)

            return _spread(returned, out_axes, finish)
