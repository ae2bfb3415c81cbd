"""Functions with a gradient of their own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import ArgumentTypeError, GradientError
from ogive.jit.argument_trees import leaves, rebuild
from ogive.tensor import build
from ogive.tensor.core import wrap
from ogive.tensor.gradients.known_gradients import captured
from ogive.tensor.method_functions import eager_calls
from ogive.tensor.tensor import Tensor


class FromResult:
    """A way back that is told, before the gradients, which result they are of, and this itself:
    gradients flow through it, which they do not through what was computed inside."""

    def __init__(self, backward: Callable[..., Any]) -> None:
        self._backward = backward

    def __call__(self, position: int, result: Tensor, *upstream: Tensor) -> Any:
        return self._backward(position, result, *upstream)


class Rule:
    """The gradient rule of one output of a function with a gradient of its own.

    `outputs` has the shape and dtype of all outputs. The upstream gradient of the others is zero.
    """

    __slots__ = ("_backward", "_device", "_inputs", "_outputs", "_position")

    def __init__(
        self,
        backward: Callable[..., Any],
        outputs: Sequence[tuple[Shape, DType]],
        position: int,
        inputs: Sequence[tuple[Shape, DType]],
        device: str,
    ) -> None:
        self._backward = backward
        self._outputs = outputs
        self._position = position
        self._inputs = inputs
        self._device = device

    def gradients(self, node: UOp, upstream: UOp) -> Sequence[UOp | None]:
        """The gradients of the function's inputs."""
        given = [build.filled(dtype, 0, shape) for shape, dtype in self._outputs]
        given[self._position] = upstream
        upstreams = [wrap(part, self._device) for part in given]
        if isinstance(self._backward, FromResult):
            result = wrap(node, self._device)
            returned = self._backward(self._position, result, *upstreams)
        else:
            returned = self._backward(*upstreams)
        parts = returned if isinstance(returned, tuple | list) else (returned,)
        return _checked(parts, self._inputs)

    def release(self) -> None:
        """Drop the tensors that the backward function holds, since it will not be called."""
        self._backward = captured


def custom_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function with a gradient of its own. `function` returns (value, backward).

    `backward` takes the upstream gradient of the value (one per tensor, if there are several) and
    gives that of the tensor argument, or a tuple for several, with None for those without gradient.
    It may use tensors of the enclosing function.

    Shapes: a gradient has the shape of its argument, or one that it expands to, and is summed.

    >>> @ogive.custom_gradient
    ... def round_through(x):
    ...     return x.round(), lambda upstream: upstream
    >>> x = Tensor([0.4, 1.7], requires_grad=True)
    >>> (round_through(x) * 3).sum().backward()
    >>> x.grad.tolist()
    [3.0, 3.0]

    Raises `GradientError` if the result of `backward` does not fit the arguments.
    """

    @functools.wraps(function)
    def with_gradient(*args: Any, **kwargs: Any) -> Any:
        returned = function(*args, **kwargs)
        if not isinstance(returned, tuple) or len(returned) != 2 or not callable(returned[1]):
            raise ArgumentTypeError(
                "custom_gradient: the function must return (value, backward), not "
                f"{type(returned).__name__}"
            )
        value, backward = returned
        inputs = [leaf for _, leaf in leaves(args, "") if isinstance(leaf, Tensor)]
        outputs = [leaf for _, leaf in leaves(value, "") if isinstance(leaf, Tensor)]
        is_eager = inputs and outputs and all(tensor.is_eager for tensor in (*inputs, *outputs))
        if is_eager and eager_calls[custom_gradient](inputs, outputs):
            return value
        facts = [(tensor.shape, tensor.dtype) for tensor in outputs]
        expected = [(tensor.shape, tensor.dtype) for tensor in inputs]
        with graph_lock:
            sources = tuple([tensor.node for tensor in inputs])
            results = []
            for position, tensor in enumerate(outputs):
                rule = Rule(backward, facts, position, expected, tensor.device)
                node = make(Op.GRADIENT, tensor.dtype, (tensor.node, *sources), rule)
                results.append(wrap(node, tensor.device))
        given = iter(results)
        return rebuild(value, lambda leaf: next(given) if isinstance(leaf, Tensor) else leaf)

    return with_gradient


def _checked(parts: Sequence[Any], wanted: Sequence[tuple[Shape, DType]]) -> list[UOp | None]:
    if len(parts) != len(wanted):
        raise GradientError(
            f"custom_gradient: backward returned {len(parts)} gradients for {len(wanted)} tensor "
            "arguments; return one for each, None where there is none"
        )
    nodes: list[UOp | None] = []
    for part, (shape, dtype) in zip(parts, wanted, strict=True):
        if part is None:
            nodes.append(None)
            continue
        if isinstance(part, Tensor) and _expands(shape, part.shape):
            part = part.sum_to_size(shape)
        if not isinstance(part, Tensor) or part.shape != shape:
            shown = f"shape {part.shape}" if isinstance(part, Tensor) else type(part).__name__
            raise GradientError(
                f"custom_gradient: backward returned {shown} for an argument of shape {shape}"
            )
        nodes.append(build.cast(part.node, dtype))
    return nodes


def _expands(shape: Shape, wider: Shape) -> bool:
    """Whether a shape broadcasts to a wider one."""
    missing = len(wider) - len(shape)
    pairs = zip(shape, wider[max(missing, 0) :], strict=False)
    return missing >= 0 and shape != wider and all(size in (1, given) for size, given in pairs)
