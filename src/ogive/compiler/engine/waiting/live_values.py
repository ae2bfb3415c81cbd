"""Values that live tensors go on reading are stored, so that no run computes them twice.

A run computes the values it was asked for. Values between them are computed where they are used,
and stored nowhere. A loop that carries a state and asks for something else would go through its
whole past in each run:

    before   h = (x + h @ w).tanh(); h.sum().item()          the n-th run computes h n times
    after    the run asks for h.sum() and h; the next one finds h in memory

So a run also stores values that live tensors go on reading, if computing them costs more than
reading them: they hold a reduction, or as much work as kernels do not repeat either
(`shared_work`). Cheap values stay fused until a second run computes them: a run marks the nodes it
computes, and those that wait for them. Values computed from memory that the run overwrites are
stored as well, since they would need a copy of it. A run also computes gradients of its values, and
carries out assignments that read them, so that nothing waits until its graph has grown:

    loss.backward(); w -= w.grad; loss.item()                one run, after which w is memory
    total = total + loss; loss.item()                        total is memory after every second run

Values are stored only where nobody can tell the difference but by time. A run does not store

- values that read memory others may change, or a file: each run reads those anew. But what shares
  memory with an array of NumPy's, as under `ogive.torch`, is read once: PyTorch reads it sooner;
- values that read no memory, which are cheaper to compute than to read; except small ones with a
  reduction in them, since a table that began as zeros would get longer at each step of a loop;
- values that may fault in elements nobody asked for;
- more bytes than it reads, so that a large value of which only reductions are asked for, as all
  distances between many points, stays lazy. Gradients are no larger than what they are of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.engine.waiting.waiting_values import waiting_for
from ogive.compiler.engine.writes.old_versions import version_below
from ogive.compiler.ir.calls import is_gradient
from ogive.compiler.ir.device_names import DEFAULT_DEVICE, FILES, is_group
from ogive.compiler.ir.memory import upper_count
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, FAULTING, MOVEMENT, SPREAD, Op
from ogive.compiler.ir.symbolic.variable import bindings
from ogive.compiler.ir.traversal import walk
from ogive.compiler.live import history, registry
from ogive.errors import VariableError

if TYPE_CHECKING:
    from ogive.compiler.targets.target import Target

MOST_WITHOUT_MEMORY = 1 << 16
"""How many bytes are stored however little memory is read for them."""

_GROWN = 8
"""How many times the work that is worth being shared a value has that is made of constants, and
stored at once: what is written cell by cell is another value at each cell."""

_FREE = MOVEMENT | {
    Op.AFTER, Op.BIND, Op.BUFFER, Op.CONST, Op.DETACH, Op.IOTA, Op.STORE, Op.UNIQUE, Op.VARIABLE,
}  # fmt: skip

_OF_VARIABLES = (Op.BIND, Op.VARIABLE)


class Run:
    """The values that a run of some roots computes, and the tensors that wait for them.

    `order` is the walk of the roots, `values` are those of its nodes that are more than views of
    memory, `waiting` the nodes that are built on these and that live tensors hold or read.
    """

    def __init__(self, roots: tuple[UOp, ...]) -> None:
        self.roots = roots
        self.order = walk(roots)
        values: dict[UOp, None] = {}
        for node in self.order:
            if node.op not in _FREE or (node.src and not values.keys().isdisjoint(node.src)):
                values[node] = None
        self.values = values
        self.waiting = waiting_for(values, self.order)


def values_to_store(run: Run, target_of: Callable[[str], Target]) -> tuple[UOp, ...]:
    """The values that a run stores besides its roots, for the live tensors that read these.

    All that it computes is marked as computed. `target_of` gives the target of a device.
    """
    roots, order, waiting = run.roots, run.order, run.waiting
    ran = set()
    for node in order:
        if node.op not in _FREE:
            live = node.live
            if live.ran:
                ran.add(node)
            else:
                live.ran = True
    if not waiting and run.values.keys() <= set(roots):
        return ()  # nobody waits for this run, and it computes nothing but what it was asked for
    gradients = _gradients_among(waiting, roots, order)
    read = _read_outside(waiting, run.values, roots)
    grown = _grown(waiting, set(order))
    if not read and not gradients and not grown:
        return ()
    if gradients or grown:
        agreeing = set(_agreeing((*gradients, *grown), order))
        gradients = [node for node in gradients if node in agreeing]
        grown = [node for node in grown if node in agreeing]
    if any(map(_is_spread, order)):
        return ()  # what lies over several devices is computed by who asks for its parts
    if grown:
        order = walk((*roots, *grown))
        read += grown
        ran.update(grown)
    lasting = _lasting(order)
    devices = [node.device for node in lasting if node.op is Op.BUFFER and lasting[node]]
    target = target_of(devices[0] if devices else DEFAULT_DEVICE)
    work, faulting = _work(order, target), _faulting(roots, order)
    overtaken = _overtaken(order)
    least = target.costs.fusion.shared_work
    stored: dict[UOp, None] = {}
    # As much as is read; but a state of few numbers is stored with all that is kept beside it.
    room = sum(_bytes_of(node) for node in order if node.op is Op.BUFFER)
    room = max(room, MOST_WITHOUT_MEMORY)
    for node in gradients:
        call = node.operand if node.op is Op.DETACH else node
        if not is_gradient(call) or lasting.get(call.operands[0]):
            stored[node] = None
    for node in read:
        size = _bytes_of(node)
        is_worth = node in ran or work[node] >= least
        is_worth = is_worth or (node in overtaken and not _has_gradient(node))
        if node not in lasting:  # it reads no memory, and may have grown all the same
            is_grown = work[node] >= _GROWN * least
            if is_grown and node not in faulting and size <= MOST_WITHOUT_MEMORY:
                stored[node] = None
        elif is_worth and lasting[node] and node not in faulting and size <= room:
            stored[node] = None
            room -= size
    return tuple(stored)


def assignments_of(run: Run) -> tuple[UOp, ...]:
    """The assignments that wait for values which a run computes, as tensors hold them.

    What may fault where those do not is left alone: nobody has asked for it yet.
    """
    waiting = [node for node in run.waiting if node.op is Op.AFTER]
    assignments = [node for node in waiting if registry.has_holder(node)]
    if not assignments:
        return ()
    inside = set(run.order)
    faulting: set[UOp] = set()
    for node in walk(tuple(assignments)):
        if node in inside or (is_gradient(node) and node.operands[0] in inside):
            continue  # a gradient faults where its value does, which is computed
        if may_fault(node) or _is_absent(node) or not faulting.isdisjoint(node.src):
            faulting.add(node)
    return tuple(_agreeing([node for node in assignments if node not in faulting], run.order))


def _agreeing(nodes: Sequence[UOp], order: Sequence[UOp]) -> Sequence[UOp]:
    """Those of `nodes` that a run with the walk `order` can take in besides: in one run, a variable
    has one value.

        run `x[:n].sum()` with n = 2;  a waiting `y[:n] = …` joins it with n = 2, not with n = 3
    """
    if not any(node.op in _OF_VARIABLES for node in walk(tuple(nodes))):
        return nodes
    known = [node for node in order if node.op in _OF_VARIABLES]
    agreeing = []
    for node in nodes:
        own = [under for under in walk((node,)) if under.op in _OF_VARIABLES]
        try:
            bindings((*known, *own))
        except VariableError:
            continue
        known += own
        agreeing.append(node)
    return agreeing


def may_fault(node: UOp) -> bool:
    """Whether computing a node may end in a fault."""
    if node.op is Op.CALL:
        return bool(node.may_fault)
    return node.op in FAULTING or node.op is Op.CUSTOM


def _is_absent(node: UOp) -> bool:
    """Whether a node is memory that cannot be read, as placeholders are."""
    return node.op is Op.BUFFER and node.size > 0 and registry.buffer_of(node).is_absent


def _is_spread(node: UOp) -> bool:
    """Whether a node is a value over several devices, or part of one."""
    return node.op in SPREAD or (node.op is Op.COPY and is_group(node.arg))


def _gradients_among(
    waiting: Sequence[UOp], roots: tuple[UOp, ...], order: Sequence[UOp]
) -> list[UOp]:
    """Gradients that tensors hold: those of roots, which would have to be computed a second time,
    and those beside the gradients asked for, since one backward pass gives them all."""
    values = {*roots, *[node.operands[0] for node in order if is_gradient(node)]}
    gradients = _beside(order)
    for node in waiting:
        call = node.operand if node.op is Op.DETACH else node
        if is_gradient(call) and call.operands[0] in values:
            gradients[node] = None
    return [node for node in gradients if node not in roots and registry.has_holder(node)]


def _beside(order: Sequence[UOp]) -> dict[UOp, None]:
    """All gradients of the backward passes that gave those of a run, in order."""
    gradients = [node.live for node in order if node.op is Op.DETACH and node.live is not None]
    passes = {id(live.beside): live.beside for live in gradients if live.beside}
    nodes = [reference() for each in passes.values() for reference in each]
    return dict.fromkeys([node for node in nodes if node is not None])


def _grown(waiting: Sequence[UOp], inside: set[UOp]) -> list[UOp]:
    """Values that tensors hold and that wait for a second run already, or are built on such: `total
    = total + loss` would be longer at each turn of a loop.

        before   total = ADD(ADD(ADD(0, loss 1), loss 2), loss 3), of which the last was computed
        after    total is computed with the second, and with every second one after that
    """
    grown: list[UOp] = []
    for node in waiting:
        if node.op in _FREE or is_gradient(node) or not registry.has_holder(node):
            continue
        if _has_gradient(node):
            continue
        under = walk((node,))
        if any(_is_absent(n) or _is_spread(n) for n in under):
            # Of a function that is being captured, say: there is nothing to compute with. What lies
            # over several devices may share no more than a mask of positions with this run.
            continue
        if any(n.live is not None and n.live.ran for n in under if n not in inside):
            grown.append(node)
        else:
            node.live.ran = True
    return grown


def _read_outside(
    waiting: Sequence[UOp], values: Iterable[UOp], roots: tuple[UOp, ...]
) -> list[UOp]:
    """The values of a run that live tensors read otherwise than through its results, last first."""
    asked = set(roots)
    read = {source for node in waiting for source in node.src}
    read_values: dict[UOp, None] = {}
    for node in reversed(list(values)):
        if node not in asked and (node in read or registry.has_holder(node)):
            while node.op in MOVEMENT or node.op is Op.DETACH:
                node = node.operand
            if node.op not in _FREE and node not in asked:
                read_values[node] = None
    return list(read_values)


def _has_gradient(node: UOp) -> bool:
    """Whether gradients flow through a value: they may need memory that its own does not."""
    return history.is_tracking() and history.leads_to_leaf(node)


def _overtaken(order: Sequence[UOp]) -> set[UOp]:
    """The values of a run that are computed from memory which it overwrites: who reads them later
    would need a copy of that."""
    overwritten = {version_below(node) for node in order if node.op is Op.AFTER}
    overtaken: set[UOp] = set()
    for node in order if overwritten else ():
        if node.op is not Op.AFTER and any(s in overwritten or s in overtaken for s in node.src):
            overtaken.add(node)
    return overtaken


_ENOUGH = 1 << 20
"""Work is counted up to this: what is read twice counts twice."""


def _work(order: Sequence[UOp], target: Target) -> dict[UOp, float]:
    """The cycles that an element of each value takes, from memory on; enough where there is a
    reduction in it, or another operation that is no elementwise one."""
    from ogive.compiler.targets.estimates import operation_cycles  # many runs have no live values

    work: dict[UOp, float] = {}
    for node in order:
        if node.op in ELEMENTWISE or node.op is Op.GATHER:
            own = operation_cycles(node, target)
        else:
            own = 0 if node.op in _FREE or node.op is Op.GRADIENT else _ENOUGH
        work[node] = min(own + sum([work[source] for source in node.src]), _ENOUGH)
        if node.op is Op.AFTER:
            work[node] = 0  # it is memory by then
    return work


def _lasting(order: Iterable[UOp]) -> dict[UOp, bool]:
    """The values that memory is read for, and whether it is memory that only we write to, or an
    array that it is shared with."""
    lasting: dict[UOp, bool] = {}
    for node in order:
        if node.op is Op.BUFFER:
            if node.size:  # a Python function that is a step has a buffer without elements
                memory = registry.buffer_of(node)
                lasting[node] = node.device != FILES and _is_lasting(memory)
        elif read := [lasting[source] for source in node.src if source in lasting]:
            lasting[node] = all(read)
    return lasting


def _is_lasting(memory: Buffer) -> bool:
    base = memory.base
    return memory.version is not None or (base.is_shown and not base.volatile)


def _faulting(roots: tuple[UOp, ...], order: Sequence[UOp]) -> set[UOp]:
    """The values that may fault in elements which the roots do not read."""
    whole = set(roots)
    for node in reversed(order):
        if node in whole and node.op not in (Op.SHRINK, Op.SCATTER):
            whole.update(node.src[1:] if node.op is Op.GATHER else node.src)
    faulting: set[UOp] = set()
    for node in order:
        if may_fault(node) or not faulting.isdisjoint(node.src):
            faulting.add(node)
    return faulting - whole


def _bytes_of(node: UOp) -> int:
    return upper_count(node.shape) * node.dtype.itemsize
