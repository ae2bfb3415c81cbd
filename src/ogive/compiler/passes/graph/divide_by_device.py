"""A parametric graph that spans devices is cut at its copies into graphs of one device each.

    before   SINK(ADD(COPY(EXP(PARAM 0 on CPU), "CPU:1"), PARAM 1 on CPU:1))

    after    CPU      SINK(CONTIGUOUS(EXP(PARAM 0)))             stored as PARAM 2
             CPU:1    SINK(ADD(COPY(PARAM 2, "CPU:1"), PARAM 1))

So all later passes see one device. The depth of a node is the greatest number of copies on a path
to it. A part is all that one device computes at one depth. A value that a later part needs is kept
by the earlier one and is a parameter of the later one. What is the same everywhere (constants,
counts) is computed in each part that needs it.

Parts run in sequence, so a later part finds in memory what an earlier one has assigned: it reads
the newest version of a buffer as a parameter. An older version is a value that was kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.device_names import DEFAULT_DEVICE, FILES
from ogive.compiler.ir.memory import (
    HOST_OPS,
    computing_devices,
    memory_leaf,
    plain_roots,
    shaped,
    upper_count,
)
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import MOVEMENT, Op
from ogive.named import NamedTuple


class Part(NamedTuple):
    """The work of one device between copies, as a parametric graph.

    The first sources of `sink` are the roots of the whole graph with the numbers `roots`. The next
    are values for later parts, which have them as parameters with the numbers `kept`.
    """

    device: str
    sink: UOp
    roots: tuple[int, ...]
    kept: tuple[int, ...] = ()


def divide_by_device(sink: UOp) -> list[Part]:
    """The parts of a parametric graph, in execution order."""
    order = sink.walk()
    where = computing_devices(order)
    root_devices = sink.arg or tuple([where[root] or DEFAULT_DEVICE for root in sink.src])
    devices = dict.fromkeys(root_devices) or {DEFAULT_DEVICE: None}
    has_copies = any(is_crossing(node, where) for node in order)
    if len(devices) == 1 and not has_copies and not _has_bare_files(order):
        return [Part(next(iter(devices)), sink, tuple(range(len(sink.src))))]
    return _Division(sink, order, where, root_devices).parts()


def is_crossing(node: UOp, where: dict[UOp, str | None]) -> bool:
    """Whether a node copies from a device that computes to another one."""
    return node.op is Op.COPY and where[node.operand] is not None


def _has_bare_files(order: Sequence[UOp]) -> bool:
    """Whether a node that is not a copy reads a file."""
    return any(
        source.op is Op.PARAM and source.device == FILES
        for node in order
        if node.op is not Op.COPY
        for source in node.src
    )


class _Draft:
    """A part in the making: its roots, the values `kept` for later parts, all nodes `inside` it."""

    def __init__(self, device: str, depth: int) -> None:
        self.device = device
        self.depth = depth
        self.roots: dict[int, UOp] = {}
        self.kept: dict[UOp, int] = {}
        self.effects: list[UOp] = []
        self.inside: set[UOp] = set()


class _Division:
    """The division of one graph."""

    def __init__(
        self, sink: UOp, order: list[UOp], where: dict[UOp, str | None], given: Sequence[str]
    ) -> None:
        self.where = where
        self.drafts: dict[tuple[int, str], _Draft] = {}
        self.depths: dict[UOp, int] = {}
        self.overwritten: dict[UOp, int] = {}  # the depth at which a version is overwritten
        self.next_number = 1 + max([n.slot for n in order if n.op is Op.PARAM], default=-1)
        for node in order[:-1]:
            below = max([self.depths[source] for source in node.src], default=0)
            depth = self.depths[node] = below + is_crossing(node, where)
            if node.op is Op.AFTER:
                self._draft(node).effects.append(node)
                version = memory_leaf(node.operand)
                self.overwritten[version] = min(self.overwritten.get(version, depth), depth)
        for number, (root, device) in enumerate(zip(sink.src, given, strict=True)):
            self._draft(root, device).roots[number] = root
        for node in order[:-1]:
            if is_crossing(node, where) and self._parameter_of(node.operand) is None:
                self._draft(node.operand).inside.add(node.operand)

    def _draft(self, node: UOp, device: str = "") -> _Draft:
        key = self.depths[node], self.where[node] or device
        return self.drafts.setdefault(key, _Draft(key[1], key[0]))

    def parts(self) -> list[Part]:
        """The parts. Each is built once it is known which of its values later parts need."""
        ordered = sorted(self.drafts.values(), key=lambda draft: draft.depth)
        for draft in ordered:
            self._look_inside(draft)
        return [self._build(draft) for draft in ordered]

    def _look_inside(self, draft: _Draft) -> None:
        """Find all nodes of a part, and let earlier parts keep the values that it needs of them."""
        stack = [*draft.roots.values(), *draft.effects, *draft.inside]
        draft.inside = set()
        while stack:
            node = stack.pop()
            if node in draft.inside:
                continue
            draft.inside.add(node)
            if is_crossing(node, self.where):
                if self._parameter_of(node.operand) is None:
                    self._keep(node.operand, self._draft(node.operand))
            elif (keeper := self._keeper_of(node, draft)) is not None:
                self._keep(node, keeper)
            elif not self._is_memory(node, draft):
                stack.extend(node.src)

    def _parameter_of(self, node: UOp) -> UOp | None:
        """The parameter that a node is a view of, if nothing writes to that memory; else None."""
        leaf = memory_leaf(node)
        return leaf if leaf.op is Op.PARAM and leaf not in self.overwritten else None

    def _keep(self, node: UOp, keeper: _Draft) -> None:
        if node not in keeper.kept:
            keeper.kept[node] = self.next_number
            keeper.inside.add(node)
            self.next_number += 1

    def _is_memory(self, node: UOp, draft: _Draft) -> bool:
        """Whether a node is memory to which an earlier part has assigned."""
        return node.op is Op.AFTER and self.depths[node] < draft.depth

    def _keeper_of(self, node: UOp, draft: _Draft) -> _Draft | None:
        """The earlier part that keeps a node for this one; None if this one computes it."""
        if node.op in (Op.PARAM, Op.AFTER):
            end = self.overwritten.get(node, draft.depth)
            return self.drafts[end, draft.device] if end < draft.depth else None
        if self.where[node] is None or node.op in MOVEMENT or node.dtype is dtypes.void:
            return None
        earlier = self.drafts.get((self.depths[node], draft.device))
        is_computed_before = earlier is not None and earlier is not draft and node in earlier.inside
        return earlier if is_computed_before else None

    def _build(self, draft: _Draft) -> Part:
        """The graph of a part."""
        done: dict[UOp, UOp] = {}
        for node in UOp(Op.SINK, dtypes.void, self._wanted(draft)).walk():
            if node in draft.inside:
                self._place(node, draft, done)
        roots = plain_roots([done[root] for root in draft.roots.values()], HOST_OPS)
        effects = [done[effect] for effect in draft.effects]
        kept = [UOp(Op.CONTIGUOUS, node.dtype, (done[node],), ()) for node in draft.kept]
        sources = (*roots, *kept, *[effect for effect in effects if effect not in roots])
        device = (draft.device,) * len(sources)
        sink = UOp(Op.SINK, dtypes.void, sources, device)
        return Part(draft.device, sink, tuple(draft.roots), tuple(draft.kept.values()))

    def _wanted(self, draft: _Draft) -> tuple[UOp, ...]:
        return (*draft.roots.values(), *draft.kept, *draft.effects)

    def _place(self, node: UOp, draft: _Draft, done: dict[UOp, UOp]) -> None:
        """Set the form of a node in a part."""
        if is_crossing(node, self.where):
            source = node.operand
            memory = self._parameter_of(source) or self._kept(source, self._draft(source))
            done[node] = shaped(UOp(Op.COPY, node.dtype, (memory,), draft.device), node.shape)
        elif (keeper := self._keeper_of(node, draft)) is not None:
            done[node] = shaped(self._kept(node, keeper), node.shape)
        elif self._is_memory(node, draft):
            base = node
            while base.op is Op.AFTER:
                base = memory_leaf(base.operand)
            done[node] = shaped(base, node.shape)
        elif node.op is Op.PARAM and node.device == FILES:
            done[node] = UOp(Op.COPY, node.dtype, (node,), draft.device)
        elif node.op is Op.COPY:
            done[node] = UOp(Op.COPY, node.dtype, node.src, draft.device)
        elif node.src:
            sources = tuple([done[source] for source in node.src])
            done[node] = UOp(node.op, node.dtype, sources, node.arg, node.tag)
        else:
            done[node] = node

    def _kept(self, node: UOp, keeper: _Draft) -> UOp:
        """The parameter for a value that an earlier part keeps."""
        slot = (keeper.kept[node], upper_count(node.shape), keeper.device)
        return UOp(Op.PARAM, node.dtype, (), slot)
