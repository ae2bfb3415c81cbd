"""From the number that a kernel reports to the user's line.

Kernels are shared between graphs and know no lines: they report a site, the position of the
faulting operation among those of its region that can fault. This run's graph, cut again in the same
way with its nodes numbered, says which one stands there. Steps that Python does bring their error
along.
"""

from __future__ import annotations

from ogive.config import Config
from ogive.engine.graph import CompiledGraph
from ogive.engine.machine import target_for
from ogive.errors import DivisionByZeroError, IndexRangeError, Origin
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.runtime.native import Fault
from ogive.schedule.checks import FAULTING, can_fault, indices_of
from ogive.schedule.normalize import Normalized
from ogive.schedule.split import Step, split


def explain_fault(
    graph: CompiledGraph, normalized: Normalized, config: Config, fault: Fault
) -> BaseException:
    """The error that tells the user what happened, and where."""
    if fault.error is not None:
        return fault.error
    sink, faulting = _numbered(normalized.sink)
    step = split(sink, target_for(config), config).steps[graph.order[fault.step]]
    assert isinstance(step, Step), "other steps bring their error along"
    sites = [node for node in step.region.graph.walk() if can_fault(node)]
    node = sites[fault.site]
    origin: Origin | None = None
    number = step.region.sources[node].tag
    if number is not None:
        origin = normalized.sources[faulting[number]].origin
    return _error_at(node, origin)


def _error_at(node: UOp, origin: Origin | None) -> Exception:
    if indices_of(node):
        lengths = node.src[0].shape
        return IndexRangeError(
            f"an element of an index lies outside the tensor it selects from, of shape {lengths}; "
            "along an axis of length n an index is from -n to n - 1",
            origin,
        )
    name = "floor division" if node.op is Op.FLOORDIV else "remainder"
    return DivisionByZeroError(
        f"{name} of {node.dtype.name} by a zero element; "
        "mask the divisor (ogive.where) or use floats",
        origin,
    )


def _numbered(sink: UOp) -> tuple[UOp, list[UOp]]:
    """The graph with a number as the tag of each node whose op can fault, and those nodes.

    Every pass keeps tags, so the numbers lead back through whatever the passes rebuild.
    """
    faulting: list[UOp] = []
    done: dict[UOp, UOp] = {}
    for node in sink.walk():
        tag = node.tag
        if node.op in FAULTING:
            tag = len(faulting)
            faulting.append(node)
        sources = tuple([done[source] for source in node.src])
        done[node] = UOp(node.op, node.dtype, sources, node.arg, tag)
    return done[sink], faulting
