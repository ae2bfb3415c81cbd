"""`checkpoint`: recomputation of values in the backward pass instead of keeping them.

    y = checkpoint(f)(x)     forward    f(x), of which only y is kept
                             backward   f(x'), and its gradients as usual

x' has the values of x, but depends on the upstream gradient. So f(x') is another graph than f(x):
the two share no nodes, and f(x') cannot be computed before the backward pass.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ogive.autograd.gradient import gradient, total
from ogive.autograd.rules.formulas import choose, compare
from ogive.autograd.transforms.function_gradients import Inputs, to_outputs
from ogive.ir import dtype as dtypes
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.traversal import substitute
from ogive.jit.argument_trees import rebuild
from ogive.jit.tracing.watch import inlining
from ogive.live import history
from ogive.live.history import Argument
from ogive.live.registry import connect, graph_lock, make
from ogive.tensor import build
from ogive.tensor.core import wrap
from ogive.tensor.tensor import Tensor


def checkpoint(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with a backward pass that recomputes values instead of keeping them.

    Values and gradients are the same. A chain of checkpointed layers needs memory only for the
    values between checkpoints, and for those inside one checkpoint at a time.

    Shapes: those of the function, which returns tensors of floats.

    >>> block = ogive.checkpoint(lambda x: (x * 2).exp().sum())
    >>> x = Tensor([0.0, 0.5], requires_grad=True)
    >>> block(x).backward()
    >>> [round(entry, 4) for entry in x.grad.tolist()]
    [2.0, 5.4366]

    Raises `ArgumentTypeError` if the function returns anything but tensors of floats.
    """

    @functools.wraps(function)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        inputs = Inputs("checkpoint")

        def stand_in(leaf: Any) -> Any:
            floats = isinstance(leaf, Tensor) and leaf.dtype.is_inexact
            return inputs.stand_in(leaf) if floats else leaf

        given, named = rebuild((args, kwargs), stand_in)
        with inlining():
            value = function(*given, **named)
        outputs = to_outputs(value, "checkpoint")
        with graph_lock:
            recomputed = iter([_recomputed(tensor, inputs) for tensor in outputs])
        return rebuild(value, lambda _: next(recomputed))

    return checkpointed


def _recomputed(output: Tensor, inputs: Inputs) -> Tensor:
    value = output.node
    captured = _captured_targets(value, set(inputs.arguments))
    sources = (value, *[tensor.node for tensor in inputs.tensors], *captured)
    return wrap(make(Op.GRADIENT, value.dtype, sources, Recompute(inputs.arguments)), output.device)


def _captured_targets(root: UOp, arguments: set[Argument]) -> list[UOp]:
    """Return the targets of gradients that the function reads besides its arguments: parameters."""
    reached: dict[Any, UOp] = {}
    stack, seen = [root], {root}
    while stack:
        node = stack.pop()
        if node.op is Op.GRADIENT and node.arg in arguments:
            continue
        if history.is_end(node):
            reached[_key(node)] = node
            continue
        for source in history.gradient_sources(node):
            if source not in seen:
                seen.add(source)
                stack.append(source)
    return list(reached.values())


class Recompute:
    """The gradient rule of an output of a checkpoint."""

    __slots__ = ("_arguments",)

    def __init__(self, arguments: Sequence[Argument]) -> None:
        self._arguments = arguments

    def gradients(self, node: UOp, upstream: UOp) -> Sequence[UOp | None]:
        """Return the gradients of the arguments, and of the targets that the function captures."""
        arguments = self._arguments
        captured = node.src[1 + len(arguments) :]
        parts: dict[Any, list[UOp]] = {key: [] for key in (*arguments, *map(_key, captured))}
        value = node.operand
        delayed = {
            each: each.replace(src=(_after(each.operand, upstream), *each.inputs))
            for each in value.walk()
            if each.op is Op.GRADIENT and each.arg in arguments
        }
        (recomputed,) = substitute((value,), delayed, revisit=False)
        connect(recomputed)
        by_target = gradient([(recomputed, upstream)], lambda each: _key(each) in parts)
        for target, part in by_target.items():
            parts[_key(target)].append(part)
        return [total(each) if each else None for each in parts.values()]


def _key(node: UOp) -> Any:
    return node.arg if node.op is Op.GRADIENT and isinstance(node.arg, Argument) else node


def _after(value: UOp, upstream: UOp) -> UOp:
    """Return `value` as a node that depends on `upstream`.

    It is chosen by a condition on the first element of `upstream` that always holds.
    """
    if 0 in upstream.shape:
        return value
    corner = build.shrink(upstream, ((0, 1),) * len(upstream.shape))
    first = build.reshape(corner, ())
    tests = (
        compare(Op.CMPLE, first, 0.0),
        compare(Op.CMPLT, 0.0, first),
        compare(Op.CMPNE, first, first),
    )
    either = make(Op.OR, dtypes.bool_, tests[:2])
    always = make(Op.OR, dtypes.bool_, (either, tests[2]))
    return choose(build.expand_to(always, value.shape), value, 0.0)
