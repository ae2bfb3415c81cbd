"""The names of kernels, which say what a kernel does and how its axes are placed."""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import LOOP, Op
from ogive.compiler.passes.loops.kernel_axes import ordered_axes, output_axes


def kernel_axes(root: UOp) -> tuple[tuple[str, int], ...]:
    """The placement and length of each axis, outermost first. Axes without placement are loops."""
    return tuple([(c.placement or LOOP, int(c.extent.vmax)) for c in _counters(root)])


def _counters(root: UOp) -> list[UOp]:
    counters = [node for node in root.walk() if node.op is Op.RANGE]
    return sorted(counters, key=lambda counter: counter.number)


def kernel_name(loops: UOp, placed: UOp | None = None) -> str:
    """A name such as `reduce_parallel4096_loop64_upcast4_lane16`, with `N` for a symbolic length.

    The kind of kernel is taken from its loop graph, in which each output axis is one counter.
    """
    reductions = [node for node in loops.walk() if node.op is Op.REDUCE]
    outputs = frozenset(output_axes(loops))
    multiplies = any(_is_product(node, outputs) for node in reductions)
    kind = "product" if multiplies else "reduce" if reductions else "elementwise"
    if ordered_axes(loops):
        kind = "scan" if any(node.op is Op.SCAN for node in loops.walk()) else "scatter"
    axes = [f"{c.placement or LOOP}{_length(c.extent)}" for c in _counters(placed or loops)]
    return "_".join([kind, *axes])


def _length(extent: UOp) -> str:
    return str(extent.literal) if extent.op is Op.CONST else "N"


def _is_product(reduction: UOp, outputs: frozenset[UOp]) -> bool:
    """Whether a sum multiplies two operands, each with an output axis that the other lacks."""
    value = reduction.operand
    while value.op is Op.WHERE:
        value = value.if_true
    if reduction.combine is not Op.ADD or value.op not in (Op.MUL, Op.DOT):
        return False
    left, right = [outputs & factor.ranges for factor in value.src]
    return bool(left - right and right - left) and all(f.has_index for f in value.src)
