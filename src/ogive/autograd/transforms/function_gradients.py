"""Transforms of functions: `grad`, `value_and_grad`, `vjp`, `jvp`.

Arguments and results may be trees: tuples, lists, dictionaries and dataclasses of tensors. The
function gets each tensor of an argument as a node of its own, so that two arguments with equal
values stay different, and so that transforms nest:

    x   →   GRADIENT(x, x)      the value of x, whose gradient is passed on to x
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy

from ogive.autograd.gradient import gradient, total
from ogive.autograd.mode import enable_grad
from ogive.autograd.rules.formulas import ones_like, zeros_like
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live.history import Argument
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    GradientError,
    ShapeError,
)
from ogive.jit.argument_trees import leaves, rebuild
from ogive.jit.tracing.watch import inlining
from ogive.tensor import build
from ogive.tensor.core import hold, wrap
from ogive.tensor.tensor import Tensor

Function = Callable[..., Any]


class Inputs:
    """The tensors of some arguments, and their stand-ins inside a function."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tensors: list[Tensor] = []
        self.arguments: list[Argument] = []

    def stand_in(self, value: Any) -> Any:
        """The stand-in for a leaf of the function's arguments."""
        if value is None:
            return None
        tensor = to_float_tensor(value, f"{self.name}: an argument")
        argument = Argument()
        self.tensors.append(tensor)
        self.arguments.append(argument)
        with graph_lock:
            node = tensor.node
            return hold(make(Op.GRADIENT, node.dtype, (node, node), argument), tensor.device)

    def gradients(self, roots: Sequence[tuple[UOp, UOp]]) -> list[UOp]:
        """The gradients of the sum of `root · upstream` for each input. `graph_lock` is held."""
        by_argument: dict[Argument, list[UOp]] = {argument: [] for argument in self.arguments}
        reached = gradient(roots, lambda node: node.op is Op.GRADIENT and node.arg in by_argument)
        for node, part in reached.items():
            by_argument[node.arg].append(part)
        return [
            total(parts) if parts else zeros_like(tensor.node)
            for tensor, parts in zip(self.tensors, by_argument.values(), strict=True)
        ]

    def close(self) -> None:
        """End the differentiation by these arguments."""
        for argument in self.arguments:
            argument.close()


def to_float_tensor(value: Any, name: str) -> Tensor:
    """A leaf of an argument as a float tensor. Raises `GradientError` for integers."""
    if isinstance(value, float | numpy.ndarray | numpy.floating):
        value = Tensor(value)
    if not isinstance(value, Tensor):
        raise ArgumentTypeError(
            f"{name} is {type(value).__name__} {value!r:.60}, which has no gradient; give tensors "
            "or floats, or leave it out of argnums"
        )
    if not value.dtype.is_inexact:
        raise GradientError(
            f"{name} has the dtype {value.dtype.name}, and only floats have gradients; cast it, or "
            "leave it out of argnums"
        )
    return value


def to_outputs(value: Any, name: str) -> list[Tensor]:
    """The tensors of a function's result. Raises `ArgumentTypeError` for anything else."""
    tensors = []
    for path, leaf in leaves(value, "result"):
        if not isinstance(leaf, Tensor) or not leaf.dtype.is_inexact:
            shown = leaf.dtype.name if isinstance(leaf, Tensor) else f"{type(leaf).__name__}"
            raise ArgumentTypeError(
                f"{name}: the function returned {shown} as {path}; it must return tensors of "
                "floats (has_aux sets others aside)"
            )
        tensors.append(leaf)
    return tensors


def _split_aux(returned: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    if not has_aux:
        return returned, None
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise ArgumentTypeError(
            f"{name}: with has_aux the function returns (value, aux), not "
            f"{type(returned).__name__}"
        )
    return returned


def _positions(argnums: int | Sequence[int], count: int, name: str) -> list[int]:
    positions = [argnums] if isinstance(argnums, int) else list(argnums)
    for position in positions:
        if not -count <= position < count:
            raise ArgumentError(
                f"{name}: argnums is {argnums}, and the function was called with {count} "
                "positional arguments"
            )
    return [position % count for position in positions]


def grad(
    function: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Function:
    """The gradient of `function`, which returns a scalar, as a function of the same arguments.

    Shapes: those of the arguments that `argnums` names; several give a tuple. With `has_aux` the
    function returns (value, aux), and the result is (gradient, aux).

    >>> ogive.grad(lambda x: (x ** 3).sum())(Tensor([1.0, 2.0])).tolist()
    [3.0, 12.0]
    >>> ogive.grad(ogive.grad(lambda x: x ** 3))(Tensor(2.0)).item()
    12.0

    Raises `GradientError` for arguments that are no floats or a value that is no scalar.
    """
    both = value_and_grad(function, argnums, has_aux)

    @functools.wraps(function)
    def gradient_of(*args: Any, **kwargs: Any) -> Any:
        value, gradients = both(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return gradient_of


def value_and_grad(
    function: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Function:
    """Like `grad`, but the resulting function returns (value, gradient).

    Shapes: as `grad`. With `has_aux` the result is ((value, aux), gradient).

    >>> value, gradient = ogive.value_and_grad(lambda x: (x * x).sum())(Tensor([3.0]))
    >>> value.item(), gradient.tolist()
    (9.0, [6.0])

    Raises `GradientError` for arguments that are no floats or a value that is no scalar.
    """
    if not callable(function):
        raise ArgumentTypeError(
            f"grad takes a function, not {type(function).__name__}; ogive.autograd.grad is of "
            "tensors, and backward() of a loss"
        )

    @functools.wraps(function)
    def value_and_gradient_of(*args: Any, **kwargs: Any) -> Any:
        positions = _positions(argnums, len(args), "grad")
        inputs = Inputs("grad")
        given = list(args)
        for position in dict.fromkeys(positions):
            given[position] = rebuild(args[position], inputs.stand_in)
        try:
            with enable_grad(), inlining():
                value, aux = _split_aux(function(*given, **kwargs), has_aux, "grad")
            _check_scalar(value)
            with graph_lock:
                root = value.node
                nodes = inputs.gradients([(root, ones_like(root))])
                gradients = iter(_wrapped(nodes, inputs.tensors))
        finally:
            inputs.close()
        trees = {
            position: _refilled(args[position], gradients) for position in dict.fromkeys(positions)
        }
        result = tuple([trees[position] for position in positions])
        first = (value, aux) if has_aux else value
        return first, result[0] if isinstance(argnums, int) else result

    return value_and_gradient_of


def _check_scalar(value: Any) -> None:
    if not isinstance(value, Tensor) or value.shape != () or not value.dtype.is_float:
        shown = repr(value) if not isinstance(value, Tensor) else (
            f"a tensor of shape {value.shape} and dtype {value.dtype.name}"
        )
        raise GradientError(
            f"grad: the function must return a float tensor of shape (), not {shown}; sum it, or "
            "use vjp for more than one value"
        )


def _wrapped(nodes: Sequence[UOp], like: Sequence[Tensor]) -> list[Tensor]:
    return [wrap(node, tensor.device) for node, tensor in zip(nodes, like, strict=True)]


def _refilled(tree: Any, values: Iterator[Tensor]) -> Any:
    """The tree with the next value in place of each leaf; None stays."""
    return rebuild(tree, lambda leaf: None if leaf is None else next(values))


def vjp(function: Function, *primals: Any) -> tuple[Any, Function]:
    """`function(*primals)`, and a function from its upstream gradients to those of `primals`.

    Shapes: the second function takes a tree like the value and gives a tuple of trees like
    `primals`: for the Jacobian J and upstream u, Jᵀu.

    >>> value, pull = ogive.vjp(lambda x: x * x, Tensor([1.0, 2.0]))
    >>> pull(Tensor([1.0, 10.0]))[0].tolist()
    [2.0, 40.0]

    Raises `GradientError` for primals that are no floats; the function it gives, `ShapeError` for
    upstream gradients that are not like the value.
    """
    inputs = Inputs("vjp")
    given = rebuild(primals, inputs.stand_in)
    with enable_grad(), inlining():
        value = function(*given)
    outputs = to_outputs(value, "vjp")

    def pull(upstream: Any) -> Any:
        with graph_lock:
            nodes = _matched(upstream, outputs, "vjp")
            roots = [(out.node, node) for out, node in zip(outputs, nodes, strict=True)]
            gradients = iter(_wrapped(inputs.gradients(roots), inputs.tensors))
        return _refilled(primals, gradients)

    return value, pull


def jvp(function: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """`function(*primals)`, and its derivative in the direction `tangents`.

    Shapes: both results are trees like the value; `tangents` is like `primals`. For the Jacobian J
    and the tangents t the second is Jt.

    >>> value, tangent = ogive.jvp(lambda x: x * x, (Tensor([3.0]),), (Tensor([1.0]),))
    >>> value.tolist(), tangent.tolist()
    ([9.0], [6.0])

    Raises `GradientError` for primals that are no floats, `ShapeError` for tangents that are not
    like them.
    """
    inputs = Inputs("jvp")
    given = rebuild(tuple(primals), inputs.stand_in)
    try:
        with enable_grad(), inlining():
            value = function(*given)
        outputs = to_outputs(value, "jvp")
        with graph_lock:
            directions = _matched(tangents, inputs.tensors, "jvp")
            tangents_out = iter(_wrapped(_pushed(inputs, outputs, directions), outputs))
    finally:
        inputs.close()
    return value, rebuild(value, lambda _: next(tangents_out))


def _pushed(inputs: Inputs, outputs: Sequence[Tensor], directions: Sequence[UOp]) -> list[UOp]:
    """Jt, as the gradient of (Jᵀu)·t with respect to u. It is linear in u, so u vanishes."""
    probes = Inputs("jvp")
    upstream = [probes.stand_in(wrap(zeros_like(out.node), out.device)) for out in outputs]
    roots = [(out.node, probe.node) for out, probe in zip(outputs, upstream, strict=True)]
    pulled = inputs.gradients(roots)
    tangents = probes.gradients(list(zip(pulled, directions, strict=True)))
    probes.close()
    return tangents


def _matched(given: Any, like: Sequence[Tensor], name: str) -> list[UOp]:
    """The nodes of a tree of tensors, each checked against the tensor in `like`."""
    matched = [leaf for _, leaf in leaves(given, "") if leaf is not None]
    if len(matched) != len(like):
        raise ArgumentError(f"{name}: {len(matched)} tensors were given where {len(like)} belong")
    nodes = []
    for value, wanted in zip(matched, like, strict=True):
        tensor = to_float_tensor(value, f"{name}: a vector")
        if tensor.shape != wanted.shape:
            raise ShapeError(
                f"{name}: a vector of shape {build.show(tensor.shape)} was given for a tensor of "
                f"shape {build.show(wanted.shape)}; they must be equal"
            )
        if tensor.dtype is not wanted.dtype and isinstance(value, Tensor):
            raise DtypeError(
                f"{name}: a vector of {tensor.dtype.name} was given for a tensor of "
                f"{wanted.dtype.name}; cast it"
            )
        nodes.append(build.cast(tensor.node, wanted.dtype))
    return nodes
