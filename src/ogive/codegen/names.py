"""What a kernel is called: what it does and how its axes are placed."""

from __future__ import annotations

from ogive.ir.node import UOp
from ogive.ir.ops import Op


def kernel_axes(root: UOp) -> tuple[tuple[str, int], ...]:
    """The placed axes, outermost first, each with its length."""
    counters = [node for node in root.walk() if node.op is Op.RANGE]
    counters.sort(key=lambda counter: counter.arg[0])
    return tuple([(counter.arg[1], int(counter.src[0].vmax)) for counter in counters])


def kernel_name(root: UOp) -> str:
    """Such as `reduce_parallel4096_loop64_upcast4_lane16`."""
    nodes = root.walk()
    reduces = any(node.op is Op.REDUCE for node in nodes)
    multiplies = any(
        node.op is Op.REDUCE and node.src[0].op is Op.MUL and node.arg is Op.ADD for node in nodes
    )
    kind = "product" if multiplies else "reduce" if reduces else "elementwise"
    axes = kernel_axes(root)
    return "_".join([kind, *[f"{placement}{length}" for placement, length in axes]])
