"""How to compute some roots, as far as it is known before they are looked at.

A program that computes the same graphs over and over builds the same nodes each time, if those of
the last time are alive (`live/kept_graphs.py`). Then the way from the roots to the compiled graph
is known by the roots alone, and nothing is walked.
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.engine.execution import Executions
from ogive.compiler.engine.waiting.live_values import Run, assignments_of, values_to_store
from ogive.compiler.engine.writes.old_versions import effects_among
from ogive.compiler.ir.device_names import STORAGE
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.traversal import walk
from ogive.compiler.live.kept_graphs import KEPT_BYTES, kept_graphs
from ogive.compiler.live.registry import has_holder
from ogive.compiler.passes.capture.normalize import Normalized
from ogive.config import Config
from ogive.named import NamedTuple

_FIRST_RUNS = 2
"""How often a graph is computed before it is taken for part of a loop."""

_TRIALS = 8
"""How many forms of one compiled graph are kept before one of them must have been of use."""


class Route(NamedTuple):
    """The assignments under some roots, what is `stored` and `assigned` with them
    (`waiting/live_values.py`). What is known besides: the walk of the roots, or the compiled graph
    and, but for the nodes made on the way, how the roots became parametric."""

    effects: tuple[UOp, ...]
    stored: tuple[UOp, ...]
    assigned: tuple[UOp, ...]
    config: Config
    order: list[UOp] | None = None
    normalized: Normalized | None = None
    executions: Executions | None = None

    def is_open(self) -> bool:
        """Whether what is to be assigned with the roots was assigned in the program, and waits."""
        return all(map(has_holder, self.assigned))


def find_route(roots: tuple[UOp, ...], config: Config) -> Route:
    """The way to compute `roots`: the one that is kept, or the beginning of a new one."""
    known: Route | None = kept_graphs.find(roots)
    if known is not None and known.config is config and known.is_open():
        assert known.executions is not None
        known.executions.found += 1
        return known
    run = Run(roots)
    assigned = assignments_of(run)
    if assigned:
        run = Run((*roots, *assigned))
    order = run.order
    stored = values_to_store(run, lambda name: find_device(name).target(config))
    if stored and not set(stored) <= set(order):  # gradients are not
        order = walk((*roots, *stored, *assigned))
    return Route(effects_among(order), stored, assigned, config, order)


def keep_route(
    roots: tuple[UOp, ...],
    route: Route,
    normalized: Normalized,
    executions: Executions,
    inputs: Sequence[Buffer],
) -> None:
    """Keep the way that was just gone for the next time, if it may come. `graph_lock` is held."""
    executions.runs += 1
    if normalized.is_general:
        return  # what comes often is compiled by itself, and kept then
    if route.order is None or not route.config.schedule_cache or executions.runs <= _FIRST_RUNS:
        return
    if executions.kept >= _TRIALS and executions.found < executions.kept:
        return
    if sum(buffer.nbytes for buffer in inputs) > KEPT_BYTES:
        return
    if any(buffer.device in STORAGE for buffer in inputs):
        return
    executions.kept += 1
    plain = normalized._replace(parametric={})
    known = route._replace(order=None, normalized=plain, executions=executions)
    held = (*route.effects, *route.stored, *route.assigned, *plain.buffers)
    kept_graphs.keep(roots, route.order, known, held)
