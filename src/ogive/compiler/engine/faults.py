"""From the number that a kernel reports to the user's line.

Kernels are shared between graphs and know no lines: they report a site, the position of the
faulting operation among those of its region that can fault. This run's graph, cut again in the same
way with its nodes numbered, says which one stands there. Steps that Python does bring their error
along.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.devices.protocol import Fault
from ogive.compiler.engine.steps.compiled_graph import CompiledGraph
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import FAULTING, Op
from ogive.compiler.ir.symbolic.evaluate import evaluate
from ogive.compiler.live import registry
from ogive.compiler.passes.capture.normalize import Normalized
from ogive.compiler.passes.graph.fault_checks import can_fault, indices_of
from ogive.config import Config
from ogive.errors import DivisionByZeroError, IndexRangeError, Origin

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def explain_fault(
    graph: CompiledGraph,
    normalized: Normalized,
    config: Config,
    fault: Fault,
    asked: Iterable[Tensor] = (),
) -> BaseException:
    """The error that tells the user what happened, and where; `asked` are the tensors wanted."""
    if fault.error is not None:
        return fault.error
    # Here, since runs without a fault need no pass.
    from ogive.compiler.passes.pipeline.graph_passes import schedule_devices, schedule_graph
    from ogive.compiler.passes.regions.number_slots import Step

    sink, faulting = _numbered(normalized.sink)
    schedule = schedule_devices(
        sink,
        config,
        lambda part, device: schedule_graph(part, find_device(device).target(config), config),
    )
    step = schedule.steps[graph.order[fault.step]]
    assert isinstance(step, Step), "other steps bring their error along"
    sites = [node for node in step.region.graph.walk() if can_fault(node)]
    node = sites[fault.site]
    origin: Origin | None = None
    number = step.region.sources[node].tag
    if number is not None:
        origin = _origin_of(normalized.sources[faulting[number]], asked)
    return _error_at(node, origin, normalized)


def _origin_of(node: UOp, asked: Iterable[Tensor]) -> Origin | None:
    """The user's line that made a node, of several the one that matters now.

    Lines that build the same expression have one node, which knows the first of them. A tensor
    knows its own: one that was asked for, or the only ones that are left of those on the node.
    """
    origin = node.origin
    for tensor in asked:
        if tensor.node.origin == origin:
            return tensor.origin
    holders = registry.holders_of(node)
    origins: list[Origin | None] = [holder.origin for holder in holders if holder.node is node]
    return origin if origin in origins or not origins else origins[-1]


def _error_at(node: UOp, origin: Origin | None, normalized: Normalized) -> Exception:
    if indices_of(node):
        lengths = node.src[0].shape
        if normalized.is_general:
            lengths = tuple([evaluate(length, normalized.variables) for length in lengths])
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
