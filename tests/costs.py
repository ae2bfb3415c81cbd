"""Cost models that let small programs reach what large ones do."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator

from ogive import configure
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.targets.costs import CPU_COSTS, Costs
from ogive.compiler.targets.target import Target

SMALL_SCORES = CPU_COSTS.with_changes(
    staging={"score_bytes": 0, "score_rows": 0, "score_growth": 1}
)
"""Lets scores of any size be staged."""

SHORT_LOOPS = SMALL_SCORES.with_changes(loops={"least_terms": 2})
"""Lets loops of any length be ended, too."""

IN_PIECES = CPU_COSTS.with_changes(
    reductions={
        "chunk": 16, "row_step": 2, "many_in_rows": 64, "many_in_short_rows": 64,
        "least_row_chunks": 2, "joined_bytes": 8, "long": 64,
        "scan_chunk_bytes": 64, "scan_columns": 4,
    },
    packing={"least_rows": 2, "least_work": 16, "many_columns": 8},
    memory={"few_sets_bytes": 16},
    fusion={"tiny_elements": 16},
    staging={"row_work": 2, "score_bytes": 64, "score_rows": 2, "score_growth": 1},
)  # fmt: skip
"""Lets small programs be cut into pieces as large ones are."""


EXCHANGED = CPU_COSTS.with_changes(sorting={"exchange": 0.0, "few_of": 1 << 40})
"""Lets lines of any number be sorted by exchanges."""

COUNTED = CPU_COSTS.with_changes(sorting={"longest_network": 0, "few_of": 1 << 40})
"""Lets lines of any length be arranged by digits."""


def host_with(costs: Costs) -> Target:
    """This machine, if things cost that much on it."""
    return dataclasses.replace(host_target(), costs=costs)


@contextlib.contextmanager
def costs_in_force(costs: Costs) -> Iterator[None]:
    """Choices are made by `costs` wherever no settings are given."""
    configure(costs=costs)
    try:
        yield
    finally:
        configure(costs=None)
