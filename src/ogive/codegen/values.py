"""What is in which register: a value of the kernel graph has one for each entry of its tile."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

from ogive.codegen.lower import lane_count, upcast_counters
from ogive.codegen.optimize.placement import LANE, UPCAST
from ogive.codegen.writer import Writer, constant
from ogive.ir import dtype as dtypes
from ogive.ir.node import UOp
from ogive.ir.ops import Op

Tile = tuple[int, ...]
"""A position in a register tile: one number per UPCAST counter of a node, in counter order."""

Places = tuple[tuple[UOp, int], ...]
"""A position in a register tile, with the counters."""


class Values:
    """The registers of the values that have been computed where we are.

    `certain` has the conditions that are known to hold there.
    """

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.registers: dict[UOp, dict[Tile, str]] = {}
        self.certain: frozenset[UOp] = frozenset()
        self._vectors: dict[tuple[str, int], str] = {}
        self._tiles: dict[UOp, tuple[UOp, ...]] = {}
        self._lanes: dict[UOp, int] = {}

    @contextmanager
    def inside(self, counter: UOp, name: str) -> Iterator[None]:
        """Within a loop, whose values are gone behind it."""
        registers, vectors = self.registers, self._vectors
        self.registers, self._vectors = {**registers, counter: {(): name}}, dict(vectors)
        yield
        self.registers, self._vectors = registers, vectors

    def tile_of(self, node: UOp) -> tuple[UOp, ...]:
        """The tile counters that a value depends on."""
        found = self._tiles.get(node)
        if found is None:
            found = self._tiles[node] = upcast_counters(node)
        return found

    def lanes_of(self, node: UOp) -> int:
        """How many lanes a value has."""
        found = self._lanes.get(node)
        if found is None:
            found = self._lanes[node] = lane_count(node)
        return found

    def entries(self, counters: tuple[UOp, ...]) -> list[Tile]:
        """All positions in a tile of these counters."""
        return list(itertools.product(*[range(counter.src[0].arg) for counter in counters]))

    def operand(self, node: UOp, places: Places, lanes: int) -> str:
        """The register of `node` at a place in the tile, in as many lanes as asked for."""
        if node.op is Op.CONST:
            return constant(node.dtype, node.arg, lanes)
        if node.op is Op.RANGE and node.arg[1] == UPCAST:
            return constant(dtypes.index, dict(places)[node], lanes)
        if node.op is Op.RANGE and node.arg[1] == LANE:
            return "<" + ", ".join(f"i64 {i}" for i in range(node.src[0].arg)) + ">"
        at = dict(places)
        name = self.registers[node][tuple([at[counter] for counter in self.tile_of(node)])]
        if lanes == 1 or self.lanes_of(node) > 1:
            return name
        key = (name, lanes)
        if key not in self._vectors:
            self._vectors[key] = self.writer.splat(name, node.dtype, lanes)
        return self._vectors[key]

    def holds(self, gate: UOp) -> bool:
        """Whether a condition is known to hold where we are."""
        if gate in self.certain:
            return True
        return gate.op is Op.AND and all(self.holds(part) for part in gate.src)

    def unwrapped(self, value: UOp) -> UOp:
        """A value without gates that are known to hold."""
        while value.op is Op.WHERE and self.holds(value.src[0]):
            value = value.src[1]
        return value
