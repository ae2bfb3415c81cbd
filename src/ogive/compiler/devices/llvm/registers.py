"""The registers of values: one for each entry of a value's tile."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

from ogive.compiler.devices.llvm.kernel_writer import Offset, Writer
from ogive.compiler.devices.llvm.llvm_types import constant
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import LANE, UPCAST, Op
from ogive.compiler.passes.lower.lower_accesses import lane_count, upcast_counters

Tile = tuple[int, ...]
"""A position in a register tile: one number per UPCAST counter of a node, by counter number."""

Places = tuple[tuple[UOp, int], ...]
"""A position in a register tile, as pairs of a counter and its number."""


class Values:
    """The registers of the values that are available at the present position.

    `certain` has the conditions that are known to hold there.
    """

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.registers: dict[UOp, dict[Tile, str]] = {}
        self.certain: frozenset[UOp] = frozenset()
        self._tiles: dict[UOp, tuple[UOp, ...]] = {}
        self._lanes: dict[UOp, int] = {}
        self._steps: dict[UOp, bool] = {}

    @contextmanager
    def inside(self, counter: UOp, name: str) -> Iterator[None]:
        """The scope of a loop, after which its values are not available any more."""
        registers, self.registers = self.registers, {**self.registers, counter: {(): name}}
        yield
        self.registers = registers

    def tile_of(self, node: UOp) -> tuple[UOp, ...]:
        """The tile counters on which a value depends."""
        tile = self._tiles.get(node)
        if tile is None:
            tile = self._tiles[node] = upcast_counters(node)
        return tile

    def lanes_of(self, node: UOp) -> int:
        """The number of lanes of a value."""
        lanes = self._lanes.get(node)
        if lanes is None:
            lanes = self._lanes[node] = lane_count(node)
        return lanes

    def entries(self, counters: tuple[UOp, ...]) -> list[Tile]:
        """All positions in a tile of these counters."""
        return list(itertools.product(*[range(counter.extent.literal) for counter in counters]))

    def operand(self, node: UOp, places: Places, lanes: int) -> str:
        """The register of `node` at a place in the tile, broadcast to `lanes` if needed."""
        if node.op is Op.CONST:
            return constant(node.dtype, node.literal, lanes)
        if node.op is Op.RANGE and node.placement == LANE:
            return "<" + ", ".join(f"i64 {i}" for i in range(node.extent.literal)) + ">"
        if self.is_step(node):
            step = _tile_step(node)
            if step is not None:
                return constant(dtypes.index, _steps_taken(step, dict(places)), lanes)
            name = self.writer.index(self.offset(node, places))
        else:
            at = dict(places)
            name = self.registers[node][tuple([at[counter] for counter in self.tile_of(node)])]
        if lanes == 1 or self.lanes_of(node) > 1:
            return name
        return self.writer.splat(name, node.dtype, lanes)

    def is_step(self, node: UOp) -> bool:
        """Whether an index is another one plus a known distance at each place of the tile.

        Or that distance itself. These are computed only where they are needed.
        """
        is_step = self._steps.get(node)
        if is_step is None:
            is_step = node.dtype is dtypes.index and self.lanes_of(node) == 1
            is_step = is_step and _tile_step(node.right if node.op is Op.ADD else node) is not None
            self._steps[node] = is_step
        return is_step

    def offset(self, node: UOp, places: Places) -> Offset:
        """An index of one lane at a place in the tile."""
        distance = 0
        at = dict(places)
        while node.op is Op.ADD and (step := _tile_step(node.right)) is not None:
            distance += _steps_taken(step, at)
            node = node.left
        return Offset(self.operand(node, places, 1), distance)

    def holds(self, gate: UOp) -> bool:
        """Whether a condition is known to hold at the present position."""
        if gate in self.certain:
            return True
        return gate.op is Op.AND and all(self.holds(part) for part in gate.src)

    def unwrapped(self, value: UOp) -> UOp:
        """A value without gates that are known to hold."""
        while value.op is Op.WHERE and self.holds(value.condition):
            value = value.if_true
        return value


def _tile_step(node: UOp) -> tuple[UOp | None, int] | None:
    """The tile counter and factor whose product an index is; None and the factor for a constant.

    None for other indices.
    """
    if node.dtype is not dtypes.index:
        return None
    if node.op is Op.CONST:
        return None, int(node.literal)
    factor = 1
    if node.op is Op.MUL and node.right.op is Op.CONST:
        node, factor = node.left, int(node.right.literal)
    return (node, factor) if node.op is Op.RANGE and node.placement == UPCAST else None


def _steps_taken(step: tuple[UOp | None, int], at: dict[UOp, int]) -> int:
    counter, factor = step
    return factor if counter is None else factor * at[counter]
