"""A tensor graph becomes a parametric graph and the values taken out of it.

    before   ADD(RESHAPE(BUFFER#17), CONST 1)          after   ADD(RESHAPE(PARAM 0), CONST 1)
                                                               with buffers = [BUFFER#17]

A `PARAM` has the device of its buffer, the `SINK` that of each root.

Buffers become `PARAM` slots in first-visit order and bound variables lose their value, so two runs
over other data, or with another value, give the *same* interned graph, and whatever was compiled
for one is found by identity for the other. `DETACH` and `GRADIENT` have no meaning past capture
and go. A file is read by a copy: `BUFFER` on `DISK` becomes `COPY(PARAM)`, once for all its
readers; where there are several devices, `passes/graph/divide_by_device.py` says which reads it. A
window of a buffer (`passes/capture/contiguous_parts.py`) is a slot of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ogive.errors import VariableError
from ogive.ir import dtype as dtypes
from ogive.ir.device_names import DEFAULT_DEVICE, FILES, FUNCTIONS, group_members, is_group
from ogive.ir.layouts import copies_on
from ogive.ir.memory import computing_devices, host_value, shaped
from ogive.ir.node import UOp
from ogive.ir.ops import SPREAD, Op
from ogive.ir.symbolic.index_arithmetic import symbolic_rules
from ogive.ir.symbolic.variable import note_binding, note_variable
from ogive.ir.traversal import walk
from ogive.named import NamedTuple
from ogive.passes.capture.contiguous_parts import Window, Windows, find_windows

_NO_WINDOWS = Windows({}, set())
_TAKEN_OUT = frozenset({Op.BUFFER, Op.COPY, Op.BIND, Op.DETACH, Op.GRADIENT}) | SPREAD
"""Ops whose nodes become something else than themselves over other sources."""

_IN_MEMORY = frozenset({Op.PARAM, Op.COPY, Op.CUSTOM}) | SPREAD
"""Ops of values that lie on some device; all others are the same everywhere."""


class Normalized(NamedTuple):
    """`sink` holds one source per root asked for; `windows[slot]` is what `PARAM slot` stands for.

    `variables` has the values of bound variables, `parametric` the parametric node of each node of
    the user's graph. A graph that `is_general` stands for graphs of other sizes and numbers, too.
    `within` has the call of the user's that a node was expanded from.
    """

    sink: UOp
    windows: tuple[Window, ...]
    variables: dict[str, int]
    parametric: dict[UOp, UOp]
    is_general: bool = False
    within: Mapping[UOp, UOp] = MappingProxyType({})

    @property
    def buffers(self) -> tuple[UOp, ...]:
        """The buffers that the slots stand for, or for parts of."""
        return tuple([window.buffer for window in self.windows])

    @property
    def sources(self) -> dict[UOp, UOp]:
        """For each parametric node the first node of the user's graph that it came from."""
        return {**self.within, **{new: node for node, new in reversed(self.parametric.items())}}


def normalize(
    roots: tuple[UOp, ...], whole: bool = False, order: list[UOp] | None = None
) -> Normalized:
    """Take buffers and identities out of the graph under `roots`; `order` is their walk, if known.

    With `whole`, every buffer has one slot, whatever is read of it.
    """
    if order is None:
        order = walk(roots)
    windows, hidden = _NO_WINDOWS
    if not whole and Op.SHRINK in [node.op for node in order]:
        windows, hidden = find_windows(order, roots)
    return _Normalizing(order, windows, hidden).run(roots)


class _Normalizing:
    """A graph whose buffers are being taken out, and what has become of each node.

    `home` is the device of all that has been seen; `where` says it node by node once there are
    several, or copies between them.
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
        self.dropped: set[UOp] = set()  # copies of constants, which each reader computes

    def run(self, roots: tuple[UOp, ...]) -> Normalized:
        """The parametric graph of `roots`."""
        if not self._visit():
            self.where = computing_devices(self.order)
            self._start()
            self._visit()
        done = self.done
        for root in self.windows.keys() & set(roots) if self.windows else ():
            # A result is never a part of other memory.
            done[root] = UOp(Op.CONTIGUOUS, root.dtype, (done[root],), ())
        made = plain_roots([self._written(root) for root in roots])
        sink = UOp(Op.SINK, dtypes.void, made, tuple([self._device_of(root) for root in roots]))
        if self.seen:
            _check_bound(self.seen, self.variables)
        return Normalized(sink, tuple(self.slots), self.variables, done)

    def _device_of(self, root: UOp) -> str:
        device = self.home if self.where is None else self.where[root]
        return device or DEFAULT_DEVICE

    def _visit(self) -> bool:
        """Visit all nodes; False if devices turn out to matter, and are not known."""
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
                # The order of terms may have followed from the values that are gone.
                sources = tuple([done[source] for source in node.src])
                done[node] = symbolic_rules.build(op, node.dtype, sources)
            else:
                done[node] = node
                if op is Op.VARIABLE:
                    self.seen.append(node)
        return True

    def _memory(self, window: Window) -> UOp | None:
        """The slot of a window; None if it is on another device than what has been seen."""
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
        # No kernel can read a file: a copy step of its own brings it into memory.
        return UOp(Op.COPY, buffer.dtype, (slot_node,), self.home) if device == FILES else slot_node

    def _copied(self, node: UOp) -> UOp:
        """The form of a user's copy: a step, or its source where no memory is on another device."""
        assert self.where is not None
        source = self.done[node.operand]
        device = self.where[node.operand]
        if source.src and not any(below.op in _IN_MEMORY for below in source.walk()):
            self.dropped.add(node)
            return source  # constants: they are computed where they are used
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
        """The form of a value that is to be in memory: a constant is, if somebody writes it."""
        form = self.done[node]
        if self.dropped and host_value(node) in self.dropped:
            return UOp(Op.CONTIGUOUS, form.dtype, (form,), ())
        return form

    def _spread(self, node: UOp) -> UOp:
        """A value over several devices, or a part of one, over the new forms of its sources."""
        return UOp(node.op, node.dtype, tuple([self.done[s] for s in node.src]), node.arg)


def plain_roots(roots: list[UOp]) -> tuple[UOp, ...]:
    """Roots, of which a reshaped copy or custom value is that value itself.

        before   SINK(RESHAPE(COPY(PARAM 0)))          after   SINK(COPY(PARAM 0))

    But no two roots are the same memory: further ones are computed from the first.
    """
    values = [host_value(root) for root in roots]
    if not any(values):
        return tuple(roots)
    taken = set(roots)
    plain = []
    for root, value in zip(roots, values, strict=True):
        if value is not None and value not in taken:
            taken.add(value)
            root = value
        plain.append(root)
    return tuple(plain)


def _check_bound(seen: list[UOp], variables: dict[str, int]) -> None:
    """Every variable has a value, and no two variables share a name."""
    named: dict[str, UOp] = {}
    for node in seen:
        note_variable(node, named)
        if node.name not in variables:
            raise VariableError(
                f"variable {node.name!r} has no value; bind it with .bind(...)"
            )
