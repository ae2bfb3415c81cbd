"""Dialects between a loop graph and its text: the placement, and instructions in order."""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.printer import format_node
from ogive.compiler.passes.lower.linearize import Accumulate, Item, Loop, is_loop
from ogive.compiler.passes.pipeline.pass_runner import Dialect, expect
from ogive.compiler.passes.place.placement import Placement

_LEAVES = (Op.RANGE, Op.CONST, Op.PARAM)


def _check_placement(placement: Placement) -> None:
    for number, count in placement.lanes.items():
        power = count >= 1 and not count & (count - 1)
        expect(PLACEMENT, power, "a power of two as lanes of axis {}, not {}", number, count)
    for number, count in placement.upcast.items():
        expect(PLACEMENT, count >= 1, "a tile of axis {} from 1 on, not {}", number, count)
    each_once = len(set(placement.order)) == len(placement.order)
    expect(PLACEMENT, each_once, "each axis once in the order, not {}", placement.order)
    inside = 0 <= placement.parallel <= len(placement.order)
    expect(PLACEMENT, inside, "as many parallel axes as there are, not {}", placement.parallel)


def _check_instructions(program: list[Item]) -> None:
    blocks = _Blocks()
    pending: list[tuple[list[Item], int]] = [(program, 0)]
    while pending:
        body, at = pending.pop()
        while at < len(body) and not isinstance(body[at], Loop):
            blocks.add(body[at])
            at += 1
        if at < len(body):
            loop = body[at]
            assert isinstance(loop, Loop)
            pending += [(body, at + 1), (loop.body, 0)]
            blocks.enter(loop)
        elif pending:
            blocks.leave()
    expect(INSTRUCTIONS, blocks.stores > 0, "something that is stored")


class _Blocks:
    """The blocks around an instruction, and the nodes computed in each so far."""

    def __init__(self) -> None:
        self.counters: list[UOp] = []
        self.made: list[list[UOp]] = [[]]
        self.known: set[UOp] = set()
        self.accumulated: set[UOp] = set()
        self.stores = 0

    def enter(self, loop: Loop) -> None:
        self.need(loop.counter.extent, loop.counter)
        self.counters.append(loop.counter)
        self.made.append([])

    def leave(self) -> None:
        self.counters.pop()
        self.known.difference_update(self.made.pop())

    def need(self, source: UOp, user: UOp) -> None:
        is_available = source.op in _LEAVES or source in self.known
        expect(INSTRUCTIONS, is_available, "{} before {}, which needs it", source, user)

    def add(self, item: Item) -> None:
        assert not isinstance(item, Loop)
        if isinstance(item, Accumulate):
            self.accumulated.add(item.into)
            for source in item.into.src:
                self.need(source, item.into)
            return
        if item.op in (Op.REDUCE, Op.STAGE):
            is_complete = item in self.accumulated
            expect(INSTRUCTIONS, is_complete, "the loops of {} before it is read", item)
        else:
            for source in item.src:
                self.need(source, item)
        closed = [c for c in item.ranges if is_loop(c) and c not in self.counters]
        expect(INSTRUCTIONS, not closed, "{} inside of the loops over {}", item, closed)
        expect(INSTRUCTIONS, item not in self.known, "{} once", item)
        self.known.add(item)
        self.made[-1].append(item)
        self.stores += item.op is Op.STORE


def _show_instructions(program: list[Item]) -> str:
    lines: list[str] = []
    pending = [(item, 0) for item in reversed(program)]
    while pending:
        item, depth = pending.pop()
        inside = "    " * depth
        if isinstance(item, Loop):
            lines.append(f"{inside}loop {format_node(item.counter)}")
            pending += [(each, depth + 1) for each in reversed(item.body)]
        elif isinstance(item, Accumulate):
            lines.append(f"{inside}into {format_node(item.into)}")
        else:
            lines.append(inside + format_node(item))
    return "\n".join(lines)


PLACEMENT = Dialect("placement", "where each axis of a kernel goes", _check_placement, repr)
INSTRUCTIONS = Dialect(
    "instructions",
    "blocks of instructions, in order and nested by loops",
    _check_instructions,
    _show_instructions,
)
