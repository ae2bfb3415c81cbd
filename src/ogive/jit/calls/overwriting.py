"""The memory that a captured function overwrites, and who else reads it.

A call overwrites memory of tensors in place. Whoever else reads it gets a copy before, and views of
it show the new values afterwards. A function that is given what it also finds, or two views of one
memory, is not what was captured.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from ogive.at_once import Change
from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.engine.writes.missing_values import flat_node
from ogive.compiler.ir.traversal import substitute
from ogive.compiler.live import registry
from ogive.compiler.live.readers import is_read, read_outside
from ogive.compiler.live.substitution import substitute_everywhere
from ogive.jit.argument_trees import Call
from ogive.jit.calls.whereabouts import Whereabouts
from ogive.jit.memories import Number, leaf_at
from ogive.jit.tracing.prepare import Owner, Prepared
from ogive.jit.tracing.traced_function import Trace
from ogive.tensor.memory import views
from ogive.tensor.memory.views import Storage
from ogive.tensor.tensor import Tensor


class Overwriting:
    """The tensors that calls of one kind change, by their positions among arguments and among
    `tensors`, which the function finds.

    Arguments that are `gone` after a call are used up. Those at the positions `changed` are so, or
    have other values.
    """

    def __init__(
        self,
        trace: Trace,
        prepared: Prepared,
        tensors: Sequence[Callable[[], Any]],
        gone: Collection[int],
    ) -> None:
        self._tensors = tensors
        self._gone = gone
        self._written = prepared.written
        owners = [*prepared.written, *[owner for owner, _ in prepared.moved]]
        self.changed = tuple(dict.fromkeys([*_positions(owners, "input"), *gone]))
        ids = [overwritten.tensor.id for overwritten in trace.captured]
        self._ids = frozenset(ids)
        self._changed_ids = frozenset([ids[at] for at in _positions(owners, "captured")])
        stored = [prepared.owners[slot] for slot in prepared.graph.stored]
        self._stored_inputs = _positions(stored, "input")
        self._stored_captured = _positions(stored, "captured")
        self._numbers = trace.numbers
        self._captured_numbers = [overwritten.number for overwritten in trace.captured]
        self._inputs = _positions(prepared.written, "input")
        self._written_captured = _positions(prepared.written, "captured")
        self._captured_ids = frozenset([ids[at] for at in self._written_captured])
        overwritten = [trace.captured[at].tensor for at in self._written_captured]
        self._storages = [weakref.ref(each) for each in overwritten if isinstance(each, Storage)]

    def uses(
        self, call: Call, captured: Whereabouts | None
    ) -> tuple[Iterator[Buffer], Iterator[Buffer]]:
        """The memory that a call writes to, and all that it reads, if anybody asks."""
        given = call.memories
        buffers = () if captured is None else captured.buffers
        stored: Any = chain(
            map(given.__getitem__, self._stored_inputs),
            map(buffers.__getitem__, self._stored_captured),
        )
        read = [memory for memory in given if isinstance(memory, Buffer)]
        return stored, chain(read, filter(None, buffers))

    def is_shared(self, call: Call) -> bool:
        """Whether an argument shows the same memory as another or as what the function finds, or is
        that. The function was captured for tensors that are apart, and has to run as it is.
        """
        given = [tensor for tensor in call.inputs if isinstance(tensor, Tensor)]
        if not self._changed_ids.isdisjoint([tensor.id for tensor in given]):
            return True
        if any(call.inputs[at].id in self._ids for at in self.changed):
            return True
        given = [tensor for tensor in given if tensor.shared is not None]
        if not given:
            return False
        with registry.graph_lock:
            alive = [tensor for reference in self._tensors if (tensor := reference()) is not None]
            known = {id(views.shared_storage(tensor) or tensor) for tensor in alive}
            for tensor in {id(tensor): tensor for tensor in given}.values():
                storage = views.shared_storage(tensor)
                if storage is not None:
                    if id(storage) in known:
                        return True
                    known.add(id(storage))
        return False

    def copy_for_others(self, call: Call, captured: Whereabouts | None) -> bool:
        """Give whoever else reads memory that is about to be overwritten a copy of it.

        Tells whether tensors that are overwritten have other nodes for that. `graph_lock` is held.
        """
        moved = False
        for tensor, number in self._read_by_others(call, captured):
            node = tensor.node
            flat = leaf_at(node, number)
            if is_read(flat, besides=[tensor.id]):
                buffer = registry.buffer_of(flat)
                copy = Buffer(buffer.nbytes, buffer.device)
                copy.copy_from(buffer.contents("uint8", (buffer.nbytes,)))
                count = flat.size
                substitute_everywhere({flat: flat_node(copy, flat.dtype, count)}, walk=True)
                own = flat_node(buffer, flat.dtype, count)
                registry.move_tensor(tensor, substitute((node,), {flat: own}, revisit=False)[0])
                moved = True
        return moved

    def _read_by_others(
        self, call: Call, captured: Whereabouts | None
    ) -> list[tuple[Any, Number]]:
        """The memories that are to be overwritten, if somebody else may read one of them."""
        given = [(call.inputs[at], self._numbers[at]) for at in self._inputs]
        flats = {leaf_at(tensor.node, number) for tensor, number in given}
        if captured is not None:
            flats.update(map(captured.flats.__getitem__, self._written_captured))
        besides = self._captured_ids.union([tensor.id for tensor, _ in given])
        # One look at all graphs above them, instead of one for each.
        if len(flats) == len(self._written) and not read_outside(flats, besides=besides):
            return []
        return self._overwritten(call)

    def _overwritten(self, call: Call) -> list[tuple[Any, Number]]:
        """The overwritten memory, but for what another thread has let go of while the call ran."""
        captured = [
            (self._tensors[at](), self._captured_numbers[at])
            for at in self._written_captured
        ]
        given = [(call.inputs[at], self._numbers[at]) for at in self._inputs]
        return [each for each in (*captured, *given) if each[0] is not None]

    def separate(self, call: Call, captured: Whereabouts) -> bool:
        """Read arguments where they are now, after memory that they shared was copied.

        False where an argument is no memory any more, or is still what is overwritten.
        """
        places = {id(buffer) for buffer in captured.buffers}
        for at, memory in enumerate(call.memories):
            if id(memory) not in places:
                continue
            for owner in self._written:
                if owner.kind == "captured" and captured.buffers[owner.position] is memory:
                    # Isolated by now, unless it became the very tensor a moment ago.
                    own = registry.buffer_of(leaf_at(call.inputs[at].node, self._numbers[at]))
                    if own is None or own is memory:
                        return False
                    call.memories[at] = own
                elif owner.kind == "input" and call.memories[owner.position] is memory:
                    return False
        return True

    def seen(self, call: Call) -> list[Change]:
        """The changes by which views of overwritten tensors show that."""
        gone = {id(call.inputs[at]) for at in self._gone}
        changes: list[Change] = []
        for tensor, _ in self._overwritten(call):
            if tensor.shared is not None and id(tensor) not in gone:
                changes += views.changes(tensor, tensor.node)
        for reference in self._storages:
            storage = reference()
            if storage is not None:
                changes += storage.moves_to(storage.node)
        return changes


def _positions(owners: Iterable[Owner], kind: str) -> list[int]:
    return [owner.position for owner in owners if owner.kind == kind]
