"""The findings of graph search for a computation, in words, with the user's lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.capture.normalize import Normalized
from ogive.compiler.passes.pipeline.capture_passes import inline_graph
from ogive.config import Config
from ogive.errors import describe_origin

if TYPE_CHECKING:
    from ogive.compiler.passes.regions.number_slots import Schedule
    from ogive.compiler.targets.findings import Finding

MOST_LINES = 3
"""How many of the user's lines are shown for a finding."""


def explain_search(normalized: Normalized, config: Config) -> str:
    """The findings for a graph, as text. The graph is searched a second time, with the same
    result."""
    from ogive.compiler.passes.pipeline.graph_passes import schedule_devices, schedule_graph
    from ogive.compiler.search.graph.explanation import explain_findings

    findings: list[Finding] = []

    def schedule(part: UOp, device: str) -> Schedule:
        target = find_device(device).target(config)
        return schedule_graph(part, target, config, findings=findings)

    # A graph that was found in a cache still has calls of the library in it.
    normalized = inline_graph(normalized, config)
    schedule_devices(normalized.sink, config, schedule)
    sources = normalized.sources
    return explain_findings(findings, config.exactness, lambda each: lines_of(each.place, sources))


def lines_of(values: Sequence[UOp], sources: dict[UOp, UOp]) -> list[str]:
    """The first of the user's lines that made some values, or what they are computed from."""
    lines: dict[str, None] = {}
    for value in values:
        user = sources.get(value)
        text = describe_origin(value.origin if user is None else user.origin)
        if text:
            lines[text.strip().removeprefix("at ")] = None
    return list(lines)[:MOST_LINES]
