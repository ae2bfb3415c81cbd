"""From the number that a kernel reports to the user's line.

Kernels are shared between graphs and know no lines: they report a site, the position of the
faulting operation among those of its region that can fault. This run's graph, cut again in the same
way, says which node stands there. Steps that Python does bring their error along.
"""

from __future__ import annotations

from ogive.config import Config
from ogive.engine.machine import target_for
from ogive.errors import DivisionByZeroError, Origin
from ogive.runtime.native import Fault
from ogive.schedule.normalize import Normalized
from ogive.schedule.rangeify import can_fault
from ogive.schedule.split import Step, split


def explain_fault(normalized: Normalized, config: Config, fault: Fault) -> Exception:
    """The error that tells the user what happened, and where."""
    if fault.error is not None:
        return fault.error
    step = split(normalized.sink, target_for(config), config).steps[fault.step]
    assert isinstance(step, Step), "other steps bring their error along"
    region = step.region
    sites = [node for node in region.graph.walk() if can_fault(node)]
    node = sites[fault.site]
    origin: Origin | None = None
    original = region.sources.get(node)
    if original is not None:
        user_node = normalized.sources.get(original)
        origin = user_node.origin if user_node is not None else original.origin
    name = "floor division" if node.op.name == "FLOORDIV" else "remainder"
    return DivisionByZeroError(
        f"{name} of {node.dtype.name} by a zero element; "
        "mask the divisor (ogive.where) or use floats",
        origin,
    )
