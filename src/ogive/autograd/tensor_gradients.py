"""`autograd.grad`: gradients of tensors with respect to tensors, as in PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ogive.autograd.backward import is_leaf
from ogive.autograd.gradient import gradient, total
from ogive.autograd.gradient_calls import gradient_calls
from ogive.autograd.rules.formulas import as_value, ones_like, zeros_like
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import history
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import ArgumentError, ArgumentTypeError, GradientError, ShapeError
from ogive.tensor.core import hold
from ogive.tensor.gradients.gradient_hooks import hooks_on
from ogive.tensor.method_functions import eager_calls
from ogive.tensor.tensor import Tensor

Roots = Sequence[tuple[UOp, UOp]]


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of the sum of `outputs`, weighted with `grad_outputs`, for each of `inputs`.

    The attributes `grad` do not change. With `create_graph` the results can be differentiated
    again. An input from which the outputs were not computed is an error; with `allow_unused` its
    gradient is None, with `materialize_grads` zeros. The graph is always retained, so
    `retain_graph` changes nothing, and `only_inputs` is always true.

    Shapes: those of `inputs`; `grad_outputs` have the shapes of `outputs`, and an output of one
    element needs none. Hooks of `inputs` are called, and their results are the gradients.

    >>> from ogive import autograd
    >>> x = Tensor([1.0, 2.0], requires_grad=True)
    >>> (slope,) = autograd.grad((x ** 3).sum(), x, create_graph=True)
    >>> (curvature,) = autograd.grad(slope.sum(), x)
    >>> slope.tolist(), curvature.tolist()
    ([3.0, 12.0], [6.0, 12.0])

    `ogive.grad` differentiates functions.

    Raises `GradientError` for an input that is not reached, or an output of several elements
    without a weight.
    """
    first = outputs[0] if isinstance(outputs, list | tuple) and outputs else outputs
    if isinstance(first, Tensor) and first.is_eager:
        at_once: tuple[Tensor | None, ...] | None = eager_calls[grad](
            outputs, inputs, grad_outputs, retain_graph, create_graph, only_inputs, allow_unused,
            materialize_grads,
        )  # fmt: skip
        if at_once is not None:
            return at_once
    input_tensors = _to_tensors(inputs, "inputs")
    with graph_lock:
        given = _to_tensors(outputs, "outputs")
        roots = _weighted(given, grad_outputs)
        by_leaf = _for_leaves(roots, input_tensors, len(given) == 1 and grad_outputs is None)
        # Held by tensors: hooks may read values, and so carry out writes that gradients read.
        gradients = [
            by_leaf.get(tensor.id)
            if history.is_flagged(tensor)
            else _for_one(_weighted(given, grad_outputs), tensor)
            for tensor in input_tensors
        ]
        results: list[Tensor | None] = []
        for position, (tensor, held) in enumerate(zip(input_tensors, gradients, strict=True)):
            node = None if held is None else held.node
            if node is None and materialize_grads:
                node = zeros_like(tensor.node)
            if node is None:
                if not allow_unused:
                    raise GradientError(_not_reached(position, tensor))
                results.append(None)
                continue
            hooks = hooks_on(tensor)
            node = node if hooks is None else hooks.seen(node)
            if not create_graph:
                node = make(Op.DETACH, node.dtype, (node,))
            results.append(hold(node, tensor.device))
    return tuple(results)


def _for_leaves(roots: Roots, tensors: Sequence[Tensor], is_number: bool) -> dict[int, Tensor]:
    """The gradients for all leaves among the tensors, by id, in one walk: no leaf is below another.

    If the root is a single number, the gradients may be calls, as in `backward`.
    """
    leaves = {tensor.id: tensor for tensor in tensors if history.is_flagged(tensor)}
    parts: dict[int, list[UOp]] = {}

    def is_wanted(node: UOp) -> bool:
        return is_leaf(node) and history.leaf_of(node).id in leaves

    gradients: dict[UOp, UOp] | None = None
    if leaves and is_number:
        gradients = gradient_calls(roots[0][0], is_wanted)
    if leaves and gradients is None:
        gradients = gradient(roots, is_wanted)
    for version, value in (gradients or {}).items():
        leaf: Any = history.leaf_of(version)
        parts.setdefault(leaf.id, []).append(as_value(value, leaf.shape))
    return {number: hold(total(parts[number]), leaves[number].device) for number in parts}


def _for_one(roots: Roots, tensor: Tensor) -> Tensor | None:
    """The gradient for a computed tensor, below which there may be others."""
    target = tensor.node
    value = gradient(roots, lambda node: node is target).get(target)
    return None if value is None else hold(value, tensor.device)


def _weighted(outputs: Sequence[Tensor], weights: Any) -> Roots:
    factors = [weights] * len(outputs) if weights is None else _to_tensors(weights, "grad_outputs")
    if len(factors) != len(outputs):
        raise ArgumentError(
            f"autograd.grad: {len(factors)} grad_outputs were given for {len(outputs)} outputs"
        )
    roots = []
    for output, weight in zip(outputs, factors, strict=True):
        node = output.node
        if weight is None and (output.numel() != 1 or output.dtype.is_complex):
            raise GradientError(
                f"autograd.grad: an output of {output.dtype.name} and shape {output.shape} needs "
                "its grad_outputs; only one real number can do without"
            )
        if weight is not None and weight.shape != output.shape:
            raise ShapeError(
                f"autograd.grad: an output of shape {output.shape} was given grad_outputs of "
                f"shape {weight.shape}; they must be equal"
            )
        roots.append((node, ones_like(node) if weight is None else weight.cast(node.dtype).node))
    return roots


def _to_tensors(given: Any, name: str) -> list[Any]:
    tensors = [given] if isinstance(given, Tensor) else given
    if not isinstance(tensors, tuple | list):
        raise ArgumentTypeError(
            f"autograd.grad: {name} are tensors, not {type(given).__name__}; ogive.grad is of "
            "functions"
        )
    for entry in tensors:
        if not isinstance(entry, Tensor) and not (entry is None and name == "grad_outputs"):
            raise ArgumentTypeError(
                f"autograd.grad: {name} are tensors, and one is {type(entry).__name__}"
            )
    return list(tensors)


def _not_reached(position: int, tensor: Tensor) -> str:
    return (
        f"autograd.grad: the outputs were not computed from input {position}, of shape "
        f"{tensor.shape}, or behind detach() or no_grad(), or before it was computed itself; give "
        "leaves (requires_grad_()), or say allow_unused"
    )
