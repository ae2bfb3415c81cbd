"""A function and a call become nodes to compute and tensors to update.

    placeholder_run.py   the function runs once, on placeholders
    kept_tensors.py      what it left somewhere outside
    trace_results.py     what it returned and assigned to
    refusals.py          what a captured function cannot do

Only memory can be found again at the next call. So captured tensors are computed first, if they are
not there, and the function runs once more.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from typing import Any

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.engine.writes.missing_values import flat_node
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.traversal import substitute
from ogive.compiler.live import registry
from ogive.config import Config
from ogive.jit.argument_trees import Call, is_pending
from ogive.jit.memories import are_there, leaves_of
from ogive.jit.tracing.kept_tensors import kept_outside, refuse_state_begun_twice
from ogive.jit.tracing.placeholder_run import PlaceholderRun
from ogive.jit.tracing.refusals import kept_outside_error
from ogive.jit.tracing.trace_results import trace_of
from ogive.jit.tracing.traced_function import Trace
from ogive.jit.tracing.watch import CapturedTensor, trace_lock
from ogive.tensor import build
from ogive.tensor.core import wrap
from ogive.tensor.tensor import Tensor

ATTEMPTS = 3
"""How often a function is traced that leaves a tensor somewhere: one that only fills a cache does
so once."""


def trace(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    names: list[str],
    config: Config,
    call: Call,
) -> Trace:
    """Run the function on placeholders for this call. Raises `TraceError` where it cannot be: then
    all that it has read is as it was before."""
    ended: list[PlaceholderRun] = []
    with trace_lock:
        try:
            again = functools.partial(PlaceholderRun, function, args, kwargs, names, call)
            return _trace(again, ended, config)
        except BaseException:
            for run in reversed(ended):
                run.reads.undo()
            raise


def _trace(
    run_again: Callable[[], PlaceholderRun], ended: list[PlaceholderRun], config: Config
) -> Trace:
    import ogive.compiler.engine as engine

    attempts = 0
    kept_tensors: dict[int, Tensor] = {}
    while attempts < ATTEMPTS:
        run = run_again()
        ended.append(run)
        kept = kept_outside(run)
        pending = [each.tensor for each in run.captured if is_pending(each.tensor, each.seen)]
        pending += [_give_gradient(tensor) for tensor in run.accumulating]
        if not pending and not kept and not _separate(run.captured):
            refuse_state_begun_twice(run, kept_tensors)
            return trace_of(run)
        # Only memory can be found again at the next call; now it is, and once more. Another
        # thread may assign to it meanwhile, as often as it likes.
        engine.realize(pending, config)
        attempts += bool(kept)
        kept_tensors.update({each.id: each for each in kept if each.id not in run.watch.begun})
    raise kept_outside_error(run.function, kept[0])


def _separate(captured: list[CapturedTensor]) -> bool:
    """Give tensors that the function changes memory of their own, where another that it finds has
    the same: a graph in which both are one value is not that of the next call. Whether any had."""
    shared = False
    with registry.effect_lock, registry.graph_lock:
        readers = Counter([flat for each in captured for flat in leaves_of(each.tensor.node)])
        for each in captured:
            node = each.tensor.node
            if each.final is each.given or not are_there(node):
                continue
            flats = leaves_of(node)
            # Parts are written in place; a tensor of one device moves where it may not be.
            own = {
                flat: _copied(flat)
                for flat in flats
                if readers[flat] > 1 or (len(flats) > 1 and registry.buffer_of(flat).borrowed)
            }
            if own:
                readers.subtract(list(own))
                registry.move_tensor(each.tensor, substitute((node,), own, revisit=False)[0])
                shared = True
    return shared


def _copied(flat: UOp) -> UOp:
    """Flat memory of its own with the same contents."""
    buffer = registry.buffer_of(flat)
    copy = Buffer(buffer.nbytes, buffer.device)
    copy.copy_from(buffer.contents("uint8", (buffer.nbytes,)))
    return flat_node(copy, flat.dtype, flat.size)


def _give_gradient(tensor: Tensor) -> Tensor:
    """A gradient of zeros, still to be computed, for a tensor that has none."""
    with registry.graph_lock:
        node = tensor.node
        tensor.gradient = gradient = wrap(build.filled(node.dtype, 0, node.shape), tensor.device)
    return gradient
