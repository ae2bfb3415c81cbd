"""`checkpoint`: recomputes values in the backward pass instead of keeping them.

    y = checkpoint(f)(x)     forward    f(x), of which only y is kept
                             backward   f(x'), and its gradient as usual

x' has the values of x, but depends on the upstream gradient. So f(x') is another graph than f(x):
it shares nothing with the forward pass, and cannot be computed before it is needed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ogive.autograd.gradient import gradient, total
from ogive.autograd.rules.formulas import choose, compare
from ogive.autograd.transforms.function_gradients import Inputs, to_outputs
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import substitute
from ogive.compiler.live import history
from ogive.compiler.live.history import Argument
from ogive.compiler.live.registry import connect, graph_lock, make
from ogive.jit.argument_trees import rebuild
from ogive.jit.tracing.watch import inlining
from ogive.tensor import build
from ogive.tensor.core import wrap
from ogive.tensor.tensor import Tensor


def checkpoint(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with a backward pass that recomputes the values it needs.

    Values and gradients stay the same. A long chain of layers in checkpoints needs memory for the
    values between checkpoints, and for those inside one checkpoint at a time.

    Shapes: those of the function, which returns tensors of floats.

    >>> block = ogive.checkpoint(lambda x: (x * 2).exp().sum())
    >>> x = Tensor([0.0, 0.5], requires_grad=True)
    >>> block(x).backward()
    >>> [round(entry, 4) for entry in x.grad.tolist()]
    [2.0, 5.4366]

    Raises `ArgumentTypeError` if the function returns anything but float tensors.
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
            remade = iter([_remade(tensor, inputs) for tensor in outputs])
        return rebuild(value, lambda _: next(remade))

    return checkpointed


def _remade(output: Tensor, inputs: Inputs) -> Tensor:
    value = output.node
    around = _reached_besides(value, set(inputs.arguments))
    sources = (value, *[tensor.node for tensor in inputs.tensors], *around)
    return wrap(make(Op.GRADIENT, value.dtype, sources, Recompute(inputs.arguments)), output.device)


def _reached_besides(root: UOp, arguments: set[Argument]) -> list[UOp]:
    """The targets of gradients that are not arguments of the function: mostly parameters."""
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
        """The gradients of the arguments and of the other targets under the output."""
        own = self._arguments
        around = node.src[1 + len(own) :]
        parts: dict[Any, list[UOp]] = {key: [] for key in (*own, *map(_key, around))}
        value = node.operand
        late = {
            each: each.replace(src=(_after(each.operand, upstream), *each.inputs))
            for each in value.walk()
            if each.op is Op.GRADIENT and each.arg in own
        }
        (recomputed,) = substitute((value,), late, revisit=False)
        connect(recomputed)
        by_argument = gradient([(recomputed, upstream)], lambda each: _key(each) in parts)
        for each, part in by_argument.items():
            parts[_key(each)].append(part)
        return [total(each) if each else None for each in parts.values()]


def _key(node: UOp) -> Any:
    return node.arg if node.op is Op.GRADIENT and isinstance(node.arg, Argument) else node


def _after(value: UOp, upstream: UOp) -> UOp:
    """`value`, made to depend on `upstream`: a choice by its first element, with equal branches."""
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
