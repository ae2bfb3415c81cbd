"""Results of reductions are stored in the shape in which they are computed.

    before   SINK(RESHAPE(SUM(x): 64×640 → 64×10×64))     after   SINK(SUM(x): 64×640)

Memory has no shape, so the shape of a root is free. With the loops of another shape, a kernel would
find no row along which its sums vary: it would keep them in memory first, and then copy them. For
the same reason `CONTIGUOUS(RESHAPE(x))` becomes `RESHAPE(CONTIGUOUS(x))`.
"""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, Op
from ogive.compiler.ir.traversal import transform


def keep_computed_shapes(sink: UOp) -> UOp:
    """The graph in which stored results of reductions have their own shapes."""
    if not any(node.op is Op.REDUCE_AXES for node in sink.walk()):
        return sink
    sink = transform(sink, _reshape_last)
    roots = list(sink.src)
    for position, root in enumerate(roots):
        computed = _unshaped(root)
        if computed not in roots:
            roots[position] = computed
    return UOp(Op.SINK, sink.dtype, tuple(roots))


def _reshape_last(node: UOp) -> UOp:
    if node.op is not Op.CONTIGUOUS:
        return node
    computed = _unshaped(node.operand)
    if computed is node.operand:
        return node
    kept = UOp(Op.CONTIGUOUS, node.dtype, (computed,), node.arg, node.tag)
    return UOp(Op.RESHAPE, node.dtype, (kept,), node.shape)


def _unshaped(node: UOp) -> UOp:
    """The value below reshapes, if it is computed from a reduction and has other long axes.

    Otherwise `node`.
    """
    source = node
    while source.op is Op.RESHAPE:
        source = source.operand
    lengths = (*node.shape, *source.shape)
    is_other = all(isinstance(size, int) for size in lengths) and _longer(node) != _longer(source)
    return source if is_other and _is_reduced(source) else node


def _longer(node: UOp) -> list[object]:
    return [size for size in node.shape if size != 1]


def _is_reduced(node: UOp) -> bool:
    """Whether a value is a reduction, or is computed from one element by element."""
    pending, seen = [node], set[UOp]()
    while pending:
        node = pending.pop()
        if node.op is Op.REDUCE_AXES:
            return True
        if node.op in ELEMENTWISE and node not in seen:
            seen.add(node)
            pending.extend(node.src)
        elif node.op is Op.RESHAPE and _longer(node) == _longer(node.operand):
            pending.append(node.operand)
    return False
