"""A backward pass as one call: differentiation is deferred until the graph is compiled.

    before   loss = CALL cross_entropy(CALL linear(x, w), y)
    after    w.grad = CALL gradient(loss, w)

Differentiating a graph takes far longer than building such a call, and a training program builds
the same call at every step. So the nodes of gradients are made where the call is expanded: once,
when it is compiled.

The first operand of such a call is not a value but an expression. Substitution does not replace
computed values in it, only memory by other memory (`live/substitution.py`).

This is possible only if the graph alone determines the gradients. Otherwise (a detached value, a
function with a gradient of its own, a hook, overwritten memory, a traced function) `gradient`
builds them at once.
"""

from __future__ import annotations

from collections.abc import Callable

from ogive.autograd.gradient import gradient
from ogive.autograd.rules.formulas import as_value, ones_like
from ogive.autograd.rules.gradient_rules import FLAT
from ogive.compiler.ir.calls import GRADIENT_CALLEE, expanders
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import FAULTING, SPREAD, Op
from ogive.compiler.live import history, registry
from ogive.tensor import build
from ogive.tensor.outlined import in_earnest

_DECIDING = frozenset({Op.GRADIENT, Op.AFTER, Op.COPY, Op.CUSTOM}) | SPREAD
"""Ops on whose nodes gradients depend by more than the graph, or that move them between devices."""


def gradient_calls(root: UOp, is_target: Callable[[UOp], bool]) -> dict[UOp, UOp] | None:
    """The gradients of a root for each leaf under it, as calls; None if that is not possible."""
    if history.is_traced():
        return None
    expression = _unrealized(root)
    if expression is None:
        return None
    under = _targets_under(expression, is_target)
    if not under:
        return None
    may_fault, targets = under
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
    """The expression of a root that is memory; None if it cannot be computed again."""
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
    """The memory under reshapes."""
    while memory.op is Op.RESHAPE:
        memory = memory.operand
    return memory


def _targets_under(
    root: UOp, is_target: Callable[[UOp], bool]
) -> tuple[bool, list[UOp]] | None:
    """Whether a node under a root may fault, and the targets; None if the graph is not enough."""
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
    # Not if a leaf is detached: where the call is expanded, `DETACH` nodes are gone.
    return None if _reach_leaf(detached) else (may_fault, targets)


def _reach_leaf(roots: list[UOp]) -> bool:
    """Whether there is a leaf under some roots, even under a `DETACH`."""
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
    """The nodes of the gradients for which a call stands."""
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
