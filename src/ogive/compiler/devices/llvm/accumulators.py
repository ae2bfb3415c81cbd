"""Reductions and scans: initializes accumulators, adds to them, and combines them.

An accumulator is a cell of the function's frame for each entry of a tile, which LLVM turns into a
register. A reduction over lanes or over a register tile has several accumulators for one result.
They are combined in a fixed tree, which is part of the kernel's meaning.
"""

from __future__ import annotations

from functools import partial

from ogive.compiler.devices.llvm.llvm_types import constant, register_type
from ogive.compiler.devices.llvm.registers import Places, Tile, Values
from ogive.compiler.devices.llvm.vectors.fused_multiply_add import chained_sums, fused_products
from ogive.compiler.devices.llvm.vectors.instructions import Instructions
from ogive.compiler.devices.llvm.vectors.lane_reductions import combine_lanes
from ogive.compiler.ir.identity import identity_element
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import UPCAST, Op
from ogive.compiler.passes.lower.linearize import is_loop
from ogive.compiler.passes.lower.lower_accesses import lane_of


class Accumulators:
    """Writes the reductions and scans of the kernel `root`.

    Products in `fused` are computed by the instruction that adds them up.
    """

    def __init__(self, root: UOp, values: Values, instructions: Instructions) -> None:
        self.values = values
        self.writer = values.writer
        self.instructions = instructions
        self.fused = fused_products(root)
        self._chains = chained_sums(root, self.fused)
        self._cells: dict[UOp, dict[Tile, str]] = {}

    def counters_of(self, node: UOp) -> tuple[UOp, ...]:
        """The tile counters of the accumulators, or of staged values.

        They are those of the result and the closed ones, except in a chained sum.
        """
        if node in self._chains:
            return self.values.tile_of(node)
        return self._value_counters(node)

    def _value_counters(self, node: UOp) -> tuple[UOp, ...]:
        """The tile counters of the values that are accumulated or staged."""
        counters = set(self.values.tile_of(node))
        counters.update(counter for counter in node.closed if counter.placement == UPCAST)
        return tuple(sorted(counters, key=lambda counter: counter.number))

    def lanes_of(self, node: UOp) -> int:
        """The number of lanes of the accumulators, or of staged values."""
        lane = lane_of(node.closed)
        return int(lane.extent.literal) if lane is not None else self.values.lanes_of(node)

    def start(self, node: UOp) -> None:
        """Initialize the accumulators of a reduction or a scan."""
        if node.op is Op.SCAN:
            self._start_scan(node)
            return
        lanes = self.lanes_of(node)
        kind = register_type(node.dtype, lanes)
        identity = constant(node.dtype, identity_element(node.combine, node.dtype), lanes)
        cells = self._cells.setdefault(node, {})
        for place in self.values.entries(self.counters_of(node)):
            if place not in cells:
                cells[place] = self.writer.allocate(kind)
            self.writer.effect(f"store {kind} {identity}, ptr {cells[place]}")

    def _start_scan(self, node: UOp) -> None:
        lanes = self.values.lanes_of(node)
        kind = register_type(node.dtype, lanes)
        counters = self._counters_beside(node)
        cells = self._cells.setdefault(node, {})
        for place in self.values.entries(counters):
            if place not in cells:
                cells[place] = self.writer.allocate(kind)
            initial = self.values.operand(
                node.start, tuple(zip(counters, place, strict=True)), lanes
            )
            self.writer.effect(f"store {kind} {initial}, ptr {cells[place]}")

    def _counters_beside(self, node: UOp) -> tuple[UOp, ...]:
        """The tile counters of a scan, except those of its own axis."""
        return tuple([c for c in self.values.tile_of(node) if c not in node.src[2:]])

    def scan(self, node: UOp) -> None:
        """Add a value, or several in order, to the accumulators of a scan, which then are its
        value."""
        lanes = self.values.lanes_of(node)
        kind = register_type(node.dtype, lanes)
        counters, beside = self.values.tile_of(node), self._counters_beside(node)
        self.values.registers[node] = {}
        for place in self.values.entries(counters):
            at = dict(zip(counters, place, strict=True))
            cell = self._cells[node][tuple([at[counter] for counter in beside])]
            current = self.writer.instruction(f"load {kind}, ptr {cell}")
            operand = self.values.operand(
                node.operand, tuple(zip(counters, place, strict=True)), lanes
            )
            updated = self.instructions.combine(node.combine, node.dtype, current, operand, lanes)
            self.writer.effect(f"store {kind} {updated}, ptr {cell}")
            self.values.registers[node][place] = updated

    def _by_scalars(self, value: UOp, counters: tuple[UOp, ...]) -> list[Tile]:
        """The entries of a tile, grouped by the scalar that is broadcast for them.

        So the scalar needs a register only while these entries are computed.
        """
        scalars = {
            counter
            for source in value.src
            if self.values.lanes_of(source) == 1
            for counter in self.values.tile_of(source)
        }
        first = [number for number, counter in enumerate(counters) if counter in scalars]
        return sorted(self.values.entries(counters), key=lambda place: [place[i] for i in first])

    def add(self, node: UOp) -> None:
        """Add a value to the accumulators of a reduction."""
        if not _has_loops(node):
            self.start(node)
        lanes = self.lanes_of(node)
        kind = register_type(node.dtype, lanes)
        counters, kept = self._value_counters(node), self.counters_of(node)
        value = self.values.unwrapped(node.operand)
        for place in self._by_scalars(value, counters):
            places = tuple(zip(counters, place, strict=True))
            at = dict(places)
            cell = self._cells[node][tuple([at[counter] for counter in kept])]
            current = self.writer.instruction(f"load {kind}, ptr {cell}")
            if value in self.fused:
                updated = self._fused_sum(value, current, places, lanes)
            else:
                operand = self.values.operand(value, places, lanes)
                # The new value is the first operand: the test for NaN need not wait for the total.
                updated = self.instructions.combine(
                    node.combine, node.dtype, operand, current, lanes
                )
            self.writer.effect(f"store {kind} {updated}, ptr {cell}")

    def _fused_sum(self, value: UOp, current: str, places: Places, lanes: int) -> str:
        """A sum plus one more product, where the gate of the product holds."""
        product = value.if_true if value.op is Op.WHERE else value
        factors = [self.values.operand(source, places, lanes) for source in product.src]
        if product.op is Op.DOT:
            total = self.instructions.dot(product.arg, value.dtype, [current, *factors], lanes)
        else:
            total = self.writer.of(value.dtype, lanes).intrinsic("fma", *factors, current)
        if product is value:
            return total
        gate = self.values.operand(value.condition, places, lanes)
        return self.writer.of(value.dtype, lanes).select(gate, total, current)

    def finish(self, node: UOp) -> None:
        """Combine a reduction's accumulators in a fixed tree, first the tile, then the lanes."""
        lanes = self.lanes_of(node)
        kind = register_type(node.dtype, lanes)
        counters = self.counters_of(node)
        kept = self.values.tile_of(node)
        groups: dict[Tile, list[str]] = {}
        for place in self.values.entries(counters):
            cell = self._cells[node][place]
            value = self.writer.instruction(f"load {kind}, ptr {cell}")
            at = dict(zip(counters, place, strict=True))
            groups.setdefault(tuple([at[counter] for counter in kept]), []).append(value)
        combine = partial(self.instructions.combine, node.combine, node.dtype)
        results = {}
        for place, values in groups.items():
            while len(values) > 1:
                half = (len(values) + 1) // 2
                values = [
                    combine(values[i], values[i + half], lanes)
                    if i + half < len(values)
                    else values[i]
                    for i in range(half)
                ]
            results[place] = values[0]
        if lane_of(node.closed) is not None:
            sums = combine_lanes(self.writer, node.dtype, [*results.values()], lanes, combine)
            results = dict(zip(results, sums, strict=True))
        self.values.registers[node] = results


def _has_loops(reduction: UOp) -> bool:
    return any(is_loop(counter) for counter in reduction.closed)
