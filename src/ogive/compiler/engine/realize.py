"""From tensors to values: normalize, compile or find, run, and let every live graph know."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.write_clock import clock, is_disturbed
from ogive.compiler.engine.plan_memory import execute_plans_of
from ogive.compiler.engine.realization import Realization, is_in_memory
from ogive.compiler.engine.routes import Route, find_route
from ogive.compiler.engine.writes.announced_writes import make_way
from ogive.compiler.engine.writes.old_versions import (
    effects_of,
    version_below,
    versions_to_keep,
    without_effects,
)
from ogive.compiler.ir.device_names import FILES, is_group
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import walk
from ogive.compiler.live import history, registry
from ogive.compiler.live.waiting_plans import unexecuted
from ogive.config import Config, current_config
from ogive.errors import ArgumentError, ArgumentTypeError, DeviceError
from ogive.journal import log, since

if TYPE_CHECKING:
    from ogive.compiler.engine.plan import Plan
    from ogive.tensor.tensor import Tensor


def realize(
    tensors: Sequence[Tensor],
    config: Config | None = None,
    notice: Callable[[Realization], None] | None = None,
) -> None:
    """Compute the values of `tensors`, in one graph; afterwards each is memory.

    `notice` is called with each run that has assigned something.
    """
    config = _config_of_call(config)
    if any(is_group(tensor.device) for tensor in tensors):
        _realize_parts(tensors, config)
        return
    # Again if another thread changed the graphs of these tensors, or what they read, meanwhile.
    while roots := _nodes_to_compute(tensors):
        route = find_route(roots, config)
        if route.effects:
            with registry.effect_lock:
                make_way(_written(route.effects), _memories(roots))
                # Another thread may have run the same effects while we waited.
                if _nodes_to_compute(tensors) == roots and route.is_open():
                    run = _carry_out(tensors, roots, route, config)
                    if notice is not None:
                        notice(run)
        elif not _realize(tensors, roots, route, config, clock.quiet):
            with registry.effect_lock:
                make_way((), _memories(roots))
                if _nodes_to_compute(tensors) == roots:  # nobody writes to what they read now
                    _realize(tensors, roots, route, config, clock.now)
    _execute_waiting_plans(tensors)


def _realize_parts(tensors: Sequence[Tensor], config: Config) -> None:
    """`realize` where values lie over several devices: their parts are computed with the others."""
    from ogive.compiler.engine.realization import count_writes
    from ogive.compiler.engine.spread_values import join_parts, spread_values

    asked: list[Any] = [tensor for tensor in tensors if not is_group(tensor.device)]
    spread = spread_values([tensor for tensor in tensors if is_group(tensor.device)])
    for value in spread:
        asked += value.parts
    realize(asked, config)
    with registry.graph_lock:
        join_parts(spread, functools.partial(count_writes, ()))


def prepare(tensors: Sequence[Tensor], config: Config | None = None) -> Plan:
    """Compile and allocate for `tensors` without running anything.

    Only these tensors are rebound, to the plan's memory; reading one runs the plan first if it
    has not been executed yet.
    """
    from ogive.compiler.engine.plan import Plan  # which a process that only realizes does without

    start = time.perf_counter()
    config = _config_of_call(config)
    if not tensors:
        raise ArgumentError("prepare needs at least one tensor")
    for tensor in tensors:
        if is_group(tensor.device):
            raise DeviceError(
                f"prepare: a tensor of shape {tensor.shape} lies over {tensor.device}, and a plan "
                "has results on one device each; prepare it gathered, by to()"
            )
    with registry.effect_lock:
        roots = _nodes_to_compute(tensors)
        make_way(_written(effects_of(roots)), _memories(roots))
        roots = _nodes_to_compute(tensors)
        effects = effects_of(roots)
        # Old versions that others read are copied now: the plan may overwrite them many times.
        copies = _copy_versions(versions_to_keep(roots, effects, tensors), config)
        run = Realization(roots, effects, (), config)
        plan = Plan(run.bind(), run.normalized, tensors, run.explain)
        run.rebind_only(tensors, plan, copies)
        plan.hold_outputs()
    if config.logs("schedule"):
        log("schedule", f"prepared {len(tensors)} tensors in {since(start)}")
    return plan


def _memories(roots: tuple[UOp, ...]) -> Iterator[Buffer]:
    """All memory that the graphs under `roots` read or write, if anybody asks."""
    for node in walk(roots):
        if node.op is Op.BUFFER:
            yield registry.buffer_of(node)


def _written(effects: Sequence[UOp]) -> Iterator[Buffer]:
    """The memory that assignments write to, if anybody asks."""
    for node in effects:
        while node.op is Op.AFTER:
            node = version_below(node)
        if node.op is Op.BUFFER:
            yield registry.buffer_of(node)


def _config_of_call(config: Config | None) -> Config:
    """The configuration of one call. Raises `ArgumentTypeError`."""
    if config is None:
        return current_config()
    if not isinstance(config, Config):
        raise ArgumentTypeError(
            f"config is an ogive.Config or None, not {config!r} of type {type(config).__name__}"
        )
    return config


def _copy_versions(versions: tuple[UOp, ...], config: Config) -> dict[UOp, UOp]:
    """Memory with what each version holds, or will hold; the versions stay as they are.

    Each in a run of its own: in one, a later version would be made of an earlier one's copy.
    """
    copies = {}
    for version in versions:
        run = Realization((without_effects(version),), (), (), config)
        run.read()
        with registry.graph_lock:
            (copies[version],) = run.replacements().values()
    return copies


def _realize(
    tensors: Sequence[Tensor],
    roots: tuple[UOp, ...],
    route: Route,
    config: Config,
    moment: int,
) -> bool:
    """Compute values without effects; False if what they read was written to since `moment`."""
    run = Realization((*roots, *route.stored), (), (), config, route, tensors)
    run.read()
    with registry.graph_lock:
        if clock.now != moment and is_disturbed(moment, run.inputs):
            return False
        run.rebind()
        run.keep_route(roots)
    return True


def _carry_out(
    tensors: Sequence[Tensor], roots: tuple[UOp, ...], route: Route, config: Config
) -> Realization:
    """Compute values and carry out the assignments among them."""
    effects = route.effects
    asked, roots = roots, (*roots, *route.stored)
    recorded = _recorded(effects)
    versions = (*_versions_for_gradients(recorded), *_versions_of_states(roots, effects))
    kept = dict.fromkeys((*versions_to_keep(roots, effects), *versions))
    run = Realization(roots, effects, tuple(kept), config, route, tensors, recorded)
    run.write()
    with registry.graph_lock:
        run.keep_route(asked)
    return run


def _recorded(effects: Sequence[UOp]) -> list[UOp]:
    """The assignments that gradients flow through, but for those to leaves."""
    if not history.is_tracking():
        return []
    return [effect for effect in effects if history.has_history(effect)]


def _versions_for_gradients(recorded: Sequence[UOp]) -> list[UOp]:
    """Versions that gradients of what overwrites them need: `y.mul_(x)` is computed from `y`."""
    return [
        version
        for effect in recorded
        if (version := version_below(effect)) in walk(tuple([s.value for s in effect.effects]))
    ]


def _versions_of_states(roots: Sequence[UOp], effects: Sequence[UOp]) -> list[UOp]:
    """Versions that a run overwrites and that gradients of its results may need.

        h = x - state.mean(0);  state[0] = a;  (h @ w).sum()    the state as it was before

    Those of leaves are not among them, or each step of an optimizer would copy parameters.
    """
    if not history.is_tracking():
        return []
    below = {version_below(effect) for effect in effects}
    overwritten = {version for version in below if not history.is_version(version)}
    waiting = [root for root in roots if history.has_history(root)] if overwritten else []
    seen, versions = set(waiting), []
    while waiting:
        node = waiting.pop()
        if node in overwritten:
            versions.append(node)
        elif node.op is not Op.AFTER:  # that is memory by then
            new = [source for source in node.src if source not in seen]
            seen.update(new)
            waiting += new
    return versions


def _execute_waiting_plans(tensors: Sequence[Tensor]) -> None:
    """Run the plans whose outputs are about to be read for the first time."""
    if unexecuted:
        nodes = [tensor.node for tensor in tensors if is_in_memory(tensor.node)]
        execute_plans_of([registry.buffer_of(memory_leaf(node)) for node in nodes])


def _nodes_to_compute(tensors: Sequence[Tensor]) -> tuple[UOp, ...]:
    """The nodes that still have to be computed, each once. Views of files stay what they are."""
    return tuple(
        dict.fromkeys(
            [
                t.node
                for t in tensors
                if not is_in_memory(t.node) and 0 not in t.shape and t.device != FILES
            ]
        )
    )
