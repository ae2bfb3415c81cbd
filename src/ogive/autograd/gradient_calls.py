"""A backward pass as one CALL node: gradients whose nodes are made when the graph is compiled.

    before   loss = CALL cross_entropy(CALL linear(x, w), y)
    after    w.grad = CALL gradient(loss, w)

Differentiating a graph takes far longer than making a CALL node, and a training program
differentiates the same graph at every step. So the nodes of gradients are made where the call is
expanded: once, when it is compiled.

The first operand of such a call is an expression, not a value. Realization does not replace the
nodes in it by their memory, as it does everywhere else (`live/substitution.py`). It only replaces
memory by other memory.

This is possible if the gradients depend on the graph alone. Otherwise, `gradient` makes their nodes
at once: for detached values, functions with gradients of their own, hooks, memory that has been
overwritten, and while a function is traced.
"""

from __future__ import annotations

from collections.abc import Callable

from ogive.autograd.gradient import gradient
from ogive.autograd.rules.formulas import as_value, ones_like
from ogive.autograd.rules.gradient_rules import FLAT
from ogive.ir.calls import GRADIENT_CALLEE, expanders
from ogive.ir.node import UOp
from ogive.ir.ops import FAULTING, SPREAD, Op
from ogive.live import history, registry
from ogive.tensor import build
from ogive.tensor.outlined import in_earnest

_DECIDING = frozenset({Op.GRADIENT, Op.AFTER, Op.COPY, Op.CUSTOM}) | SPREAD
"""Ops whose gradients depend on more than the graph, or are on another device."""


def gradient_calls(root: UOp, is_target: Callable[[UOp], bool]) -> dict[UOp, UOp] | None:
    """Return the gradients of a root for each leaf below it, as calls; None if not possible."""
    if history.is_traced():
        return None
    expression = _unrealized(root)
    if expression is None:
        return None
    faults_and_targets = _targets_under(expression, is_target)
    if not faults_and_targets:
        return None
    may_fault, targets = faults_and_targets
    shapes = [history.leaf_of(target).shape for target in targets]
    dtypes = [target.dtype for target in targets]
    outputs = tuple(zip(shapes, dtypes, strict=True))
    sources = (expression, *targets)
    calls = {}
    for number, target in enumerate(targets):
        argument = (GRADIENT_CALLEE, None, outputs, number, int(may_fault))
        calls[target] = registry.make(Op.CALL, target.dtype, sources, argument, shapes[number])
    return calls


def _unrealized(root: UOp) -> UOp | None:
    """Return the expression that computed a realized root, or the root itself if it is lazy.

    None if the expression is not kept, or reads memory that has been overwritten.
    """
    base = _without_shape(root)
    if base.op is not Op.BUFFER:
        return root
    record = history.record_of(base)
    if record is None or record.expression.shape != root.shape:
        return None
    for node, writes in record.versions:
        if registry.buffer_of(node).writes != writes:
            return None
    return record.expression


def _without_shape(memory: UOp) -> UOp:
    """Return the node below the reshapes of memory."""
    while memory.op is Op.RESHAPE:
        memory = memory.operand
    return memory


def _targets_under(
    root: UOp, is_target: Callable[[UOp], bool]
) -> tuple[bool, list[UOp]] | None:
    """Return whether a node below a root may fault, and the targets there.

    None if the gradients depend on more than the graph.
    """
    targets: list[UOp] = []
    may_fault = False
    detached: list[UOp] = []
    stack, seen = [root], {root}
    while stack:
        node = stack.pop()
        op = node.op
        may_fault |= op in FAULTING or bool(op is Op.CALL and node.may_fault)
        if op is Op.DETACH:
            detached.append(node)
        if not node.dtype.is_inexact or op in FLAT:
            continue
        if is_target(node):
            is_static = all(size.__class__ is int for size in node.shape)
            if op not in (Op.BUFFER, Op.AFTER) or not is_static:
                return None
            targets.append(node)
            continue
        if op in _DECIDING or node.dtype.is_complex:
            return None
        if op is Op.BUFFER and history.record_of(node) is not None:
            return None
        for source in node.src:
            if source not in seen:
                seen.add(source)
                stack.append(source)
    # The call is expanded with gradients recorded everywhere, also through a DETACH to a leaf.
    return None if _reach_leaf(detached) else (may_fault, targets)


def _reach_leaf(roots: list[UOp]) -> bool:
    """Whether there is a leaf below some roots, detached or not."""
    stack, seen = list(roots), set(roots)
    while stack:
        node = stack.pop()
        if history.leaf_of(node) is not None:
            return True
        for source in node.src:
            if source not in seen and (source.dtype.is_inexact or source.op is Op.ASSIGN):
                seen.add(source)
                stack.append(source)
    return False


def _expand(call: UOp) -> tuple[UOp, ...]:
    """Return the nodes of the gradients that a call stands for."""
    root = call.operands[0]
    targets = [_without_shape(target) for target in call.operands[1:]]
    with registry.graph_lock, in_earnest(call.origin):
        registry.connect(root)
        gradients = gradient([(root, ones_like(root))], frozenset(targets).__contains__)
        return tuple(
            [
                as_value(gradients[target], shape)
                if target in gradients
                else build.filled(dtype, 0, shape)
                for target, (shape, dtype) in zip(targets, call.outputs, strict=True)
            ]
        )


expanders[GRADIENT_CALLEE] = _expand
