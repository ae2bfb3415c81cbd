"""A tensor graph becomes a parametric graph and the values taken out of it.

    before   ADD(RESHAPE(BUFFER#17), CONST 1)          after   ADD(RESHAPE(PARAM 0), CONST 1)
                                                               with buffers = [BUFFER#17]

A `PARAM` names the device of its buffer, the `SINK` the device of each root.

Buffers become `PARAM` slots in first-visit order, and bound variables lose their values. So two
runs over different data, or with different values, give the *same* interned graph, and what was
compiled for one is found by identity for the other. `DETACH` and `GRADIENT` have no meaning after
capture and are dropped. A file is read by a copy: a `BUFFER` on `DISK` becomes `COPY(PARAM)`, once
for all its readers. If there are several devices, `passes/graph/divide_by_device.py` says which one
reads it. A window of a buffer (`passes/capture/contiguous_parts.py`) is a slot of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.device_names import DEFAULT_DEVICE, FILES, FUNCTIONS, group_members, is_group
from ogive.compiler.ir.layouts import copies_on
from ogive.compiler.ir.memory import HOST_OPS, computing_devices, host_value, plain_roots, shaped
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import SPREAD, Op
from ogive.compiler.ir.symbolic.index_arithmetic import symbolic_rules
from ogive.compiler.ir.symbolic.variable import note_binding, note_variable
from ogive.compiler.ir.traversal import walk
from ogive.compiler.passes.capture.contiguous_parts import Window, Windows, find_windows
from ogive.errors import VariableError
from ogive.named import NamedTuple

_NO_WINDOWS = Windows({}, set())
_TAKEN_OUT = frozenset({Op.BUFFER, Op.COPY, Op.BIND, Op.DETACH, Op.GRADIENT}) | SPREAD
"""Ops whose nodes become a node of another op, or with another argument."""

_IN_MEMORY = frozenset({Op.PARAM, Op.COPY, Op.CUSTOM}) | SPREAD
"""Ops of values that are in the memory of a device. All other leaves are the same everywhere."""


class Normalized(NamedTuple):
    """A parametric graph and the parameters taken out of the user's graph.

    `sink` has one source per root; `windows[slot]` is the memory of `PARAM slot`. `variables` has
    the values of bound variables, `parametric` the parametric node of each node of the user's
    graph. A graph that `is_general` serves other sizes and numbers, too. `within` has the user's
    call from which a node was expanded.
    """

    sink: UOp
    windows: tuple[Window, ...]
    variables: dict[str, int]
    parametric: dict[UOp, UOp]
    is_general: bool = False
    within: Mapping[UOp, UOp] = MappingProxyType({})

    @property
    def buffers(self) -> tuple[UOp, ...]:
        """The buffer of each slot; the slot may be a window of it."""
        return tuple([window.buffer for window in self.windows])

    @property
    def sources(self) -> dict[UOp, UOp]:
        """For each parametric node, the first node of the user's graph from which it came."""
        return {**self.within, **{new: node for node, new in reversed(self.parametric.items())}}


def normalize(
    roots: tuple[UOp, ...], whole: bool = False, order: list[UOp] | None = None
) -> Normalized:
    """Take buffers, bound values and devices out of the graph under `roots`.

    `order` is the walk of the roots, if it is known. With `whole`, every buffer has one slot, and
    windows are reads of it.
    """
    if order is None:
        order = walk(roots)
    windows, hidden = _NO_WINDOWS
    if not whole and Op.SHRINK in [node.op for node in order]:
        windows, hidden = find_windows(order, roots)
    return _Normalizing(order, windows, hidden).run(roots)


class _Normalizing:
    """The normalization of one graph: the new form of each node in `done`.

    As long as only one device has been met, it is `home`, and `where` is None. With several devices
    or copies between them, the visit starts again with the device of each node in `where`.
    """

    def __init__(self, order: list[UOp], windows: dict[UOp, Window], hidden: set[UOp]) -> None:
        self.order = order
        self.windows = windows
        self.hidden = hidden
        self.home: str | None = None
        self.where: dict[UOp, str | None] | None = None
        self._start()

    def _start(self) -> None:
        self.done: dict[UOp, UOp] = {}
        self.variables: dict[str, int] = {}
        self.slots: dict[Window, UOp] = {}
        self.seen: list[UOp] = []
        self.dropped: set[UOp] = set()  # copies of constants: each reader computes these itself

    def run(self, roots: tuple[UOp, ...]) -> Normalized:
        """The parametric graph of `roots`."""
        if not self._visit():
            self.where = computing_devices(self.order)
            self._start()
            self._visit()
        done = self.done
        for root in self.windows.keys() & set(roots) if self.windows else ():
            # A result must have memory of its own, not be a part of other memory.
            done[root] = UOp(Op.CONTIGUOUS, root.dtype, (done[root],), ())
        sources = plain_roots([self._written(root) for root in roots], HOST_OPS)
        sink = UOp(Op.SINK, dtypes.void, sources, tuple([self._device_of(root) for root in roots]))
        if self.seen:
            _check_bound(self.seen, self.variables)
        return Normalized(sink, tuple(self.slots), self.variables, done)

    def _device_of(self, root: UOp) -> str:
        device = self.home if self.where is None else self.where[root]
        return device or DEFAULT_DEVICE

    def _visit(self) -> bool:
        """Visit all nodes; False if devices matter and `where` does not say them yet."""
        done, windows, hidden = self.done, self.windows, self.hidden
        for node in self.order:
            op = node.op
            if op is Op.UNIQUE or node in hidden:
                continue
            is_index = node.dtype is dtypes.index
            if node.src and not is_index and op not in _TAKEN_OUT and node not in windows:
                below = tuple([done[source] for source in node.src])
                if op is Op.CUSTOM and self.dropped:
                    below = tuple(map(self._written, node.src))
                done[node] = UOp(op, node.dtype, below, node.arg, node.tag)
            elif node in windows:
                slot_node = self._memory(windows[node])
                if slot_node is None:
                    return False
                done[node] = shaped(slot_node, node.shape)
            elif op is Op.BUFFER:
                slot_node = self._memory(Window(node, 0, node.size))
                if slot_node is None:
                    return False
                done[node] = slot_node
            elif op is Op.COPY or op in SPREAD:
                if self.where is None:
                    return False
                done[node] = self._copied(node) if op is Op.COPY else self._spread(node)
            elif op is Op.BIND:
                done[node] = node.variable
                note_binding(node, self.variables)
            elif op in (Op.DETACH, Op.GRADIENT):
                done[node] = done[node.operand]
            elif node.src:
                # The order of terms may have come from the values of variables.
                sources = tuple([done[source] for source in node.src])
                done[node] = symbolic_rules.build(op, node.dtype, sources)
            else:
                done[node] = node
                if op is Op.VARIABLE:
                    self.seen.append(node)
        return True

    def _memory(self, window: Window) -> UOp | None:
        """The slot of a window; None if it is on another device than those visited before."""
        known = self.slots.get(window)
        if known is not None:
            return known
        buffer = window.buffer
        device = buffer.device
        slot = (len(self.slots), window.length, device)
        slot_node = self.slots[window] = UOp(Op.PARAM, buffer.dtype, (), slot)
        if self.where is not None:
            return slot_node
        if device != FUNCTIONS:
            self.home = self.home or (DEFAULT_DEVICE if device == FILES else device)
            if device not in (FILES, self.home):
                return None
        # No kernel can read a file, so a copy step brings it into memory.
        return UOp(Op.COPY, buffer.dtype, (slot_node,), self.home) if device == FILES else slot_node

    def _copied(self, node: UOp) -> UOp:
        """The form of a user's copy: a copy step only if its source is on another device."""
        assert self.where is not None
        source = self.done[node.operand]
        device = self.where[node.operand]
        if source.src and not any(below.op in _IN_MEMORY for below in source.walk()):
            self.dropped.add(node)
            return source  # constants are computed where they are used
        if device is not None and device != node.arg:
            if is_group(node.arg):
                layout = copies_on(group_members(node.arg))
                return UOp(Op.SHARD, node.dtype, (source,), tuple(layout))
            return UOp(Op.COPY, node.dtype, (source,), node.arg)
        under = source
        while under.op is Op.RESHAPE:
            under = under.operand
        plain = under.op is Op.PARAM and under.device == FILES
        return source if plain else UOp(Op.CONTIGUOUS, node.dtype, (source,), ())

    def _written(self, node: UOp) -> UOp:
        """The form of a value that must be in memory, even if it is a copy of constants."""
        form = self.done[node]
        if self.dropped and host_value(node) in self.dropped:
            return UOp(Op.CONTIGUOUS, form.dtype, (form,), ())
        return form

    def _spread(self, node: UOp) -> UOp:
        """The form of a value over several devices, or of a part of one."""
        return UOp(node.op, node.dtype, tuple([self.done[s] for s in node.src]), node.arg)


def _check_bound(seen: list[UOp], variables: dict[str, int]) -> None:
    """Raise `VariableError` unless every variable has a value and a name of its own."""
    named: dict[str, UOp] = {}
    for node in seen:
        note_variable(node, named)
        if node.name not in variables:
            raise VariableError(
                f"variable {node.name!r} has no value; bind it with .bind(...)"
            )
