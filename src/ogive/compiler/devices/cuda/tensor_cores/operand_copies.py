"""Copies of tiles of an operand from global to shared memory, by all threads of a block.

A thread copies units of up to 16 bytes. At the edge of a matrix a unit is cut short and filled up
with zeros, so a tile may extend over any edge.

A matrix has two axes: a contiguous one *along* the lines of the tile, and one *across* them. One
of the two is k, along which the tiles follow each other.
"""

from __future__ import annotations

from ogive.compiler.devices.cuda.tensor_cores.fragments import PIECE, SharedTile
from ogive.compiler.devices.cuda.tensor_cores.kernel_text import POINTER, Index, KernelText
from ogive.compiler.devices.cuda.tensor_cores.product import Product
from ogive.compiler.devices.cuda.tensor_cores.tiles import WarpTile
from ogive.named import NamedTuple

LEAST_ASYNCHRONOUS = 4
"""The fewest bytes that `cp.async` copies."""


class _Unit(NamedTuple):
    """One of the units that a thread copies, by its distance from the thread's first unit."""

    lines: int
    bytes: int
    shared: Index  # its address in the first stage


class OperandCopy:
    """The copies of one operand.

    Args:
        tile: the tile in shared memory.
        unit: the bytes of a unit.
        k_major: whether k is the axis along the lines.
        contiguous: whether the elements of a line are contiguous in global memory too.
        size: the bytes of an element.
        step: the distance of tiles along k, in elements.
        threads: the number of threads that copy.
    """

    def __init__(
        self, tile: SharedTile, unit: int, k_major: bool, contiguous: bool, size: int, step: int,
        threads: int,
    ) -> None:  # fmt: skip
        self.tile, self.unit, self.k_major, self.contiguous = tile, unit, k_major, contiguous
        self.size, self.step, self.threads = size, step, threads
        self.asynchronous = unit >= LEAST_ASYNCHRONOUS
        self._sources: list[tuple[str, Index]] = []
        self._loaded: list[str] = []

    @staticmethod
    def of_left(product: Product, tile: WarpTile, size: int) -> OperandCopy:
        matrix, major = product.left, product.left_is_k_major
        shared = SharedTile(tile.m, tile.k * size) if major else SharedTile(tile.k, tile.m * size)
        contiguous = 1 in (matrix.row, matrix.column)
        unit = matrix.unit(product.m, product.k)
        return OperandCopy(shared, unit, major, contiguous, size, tile.k, tile.threads)

    @staticmethod
    def of_right(product: Product, tile: WarpTile, size: int) -> OperandCopy:
        matrix, major = product.right, product.right_is_k_major
        shared = SharedTile(tile.n, tile.k * size) if major else SharedTile(tile.k, tile.n * size)
        contiguous = 1 in (matrix.row, matrix.column)
        unit = matrix.unit(product.k, product.n)
        return OperandCopy(shared, unit, major, contiguous, size, tile.k, tile.threads)

    def begin(
        self, text: KernelText, base: Index, name: str, first: Index, extent: str,
        batch: tuple[Index, Index],
    ) -> None:  # fmt: skip
        """Compute the invariants: the units of a thread, for tiles that begin at `first` of
        `extent` on the axis other than k."""
        self.base, size = base, self.size
        start = text.wide_sum(
            text.wide_product(text.wide(batch[0]), f"%{name}_batch0"),
            text.wide_product(text.wide(batch[1]), f"%{name}_batch1"),
        )
        self.memory = text.at(f"%{name}", start, size)
        rows, columns = f"%{name}_row", f"%{name}_column"
        k_stride, other_stride = (columns, rows) if name == "left" else (rows, columns)
        along, across = (k_stride, other_stride) if self.k_major else (other_stride, k_stride)
        self._along = "1" if self.contiguous else along
        self._across = text.wide_product(across, str(size))  # in bytes
        in_line = self.tile.line_bytes // self.unit
        line = text.divide(text.thread, in_line)
        byte = text.multiply(text.remainder(text.thread, in_line), self.unit)
        self.units = self._find_units(text, base, line, byte)
        if self.k_major:
            self.line, self.byte = text.add(first, line), byte
            self.ends = (extent, text.multiply("%k", size))
        else:
            self.line, self.byte = line, text.add(text.multiply(first, size), byte)
            self.ends = ("%k", text.multiply(extent, size))
        self.first = text.wide_sum(
            text.wide_product(text.wide(self.line), self._across),
            text.wide_product(text.wide(self.byte), self._along),
        )

    def _find_units(
        self, text: KernelText, base: Index, line: Index, byte: Index
    ) -> list[_Unit]:
        in_line = self.tile.line_bytes // self.unit
        lines, pieces = max(1, self.threads // in_line), max(1, in_line // self.threads)
        assert not self.tile.lines % lines, "every thread copies as much as the others"
        units: list[_Unit] = []
        known: dict[tuple[int, int], Index] = {}  # lines eight apart are swizzled alike
        for below in range(0, self.tile.lines, lines):
            for each in range(pieces):
                behind = each * self.threads * self.unit
                place = known.get((below % 8, behind))
                if place is None:
                    at = text.add(byte, behind)
                    piece, rest = text.divide(at, PIECE), text.remainder(at, PIECE)
                    offset = self.tile.offset(text, text.add(line, below % 8), piece)
                    place = known[below % 8, behind] = text.sum(base, offset, rest)
                shared = text.add(place, (below - below % 8) * self.tile.line_bytes)
                units.append(_Unit(below, behind, shared))
        return units

    def load(self, text: KernelText, tile: Index) -> None:
        """Compute the addresses of the units of a tile along k, and load the units if the hardware
        cannot copy them asynchronously."""
        line, byte = self.line, self.byte
        moved: Index = text.multiply(tile, self.step)
        if self.k_major:
            byte = text.add(byte, text.multiply(moved, self.size))
            behind = text.wide_product(text.wide(moved), str(self.size))
            behind = text.wide_product(behind, self._along)
        else:
            line = text.add(line, moved)
            behind = text.wide_product(text.wide(moved), self._across)
        start = text.wide_sum(self.first, behind)
        self._sources, self._loaded = [], []
        for unit in self.units:
            inside = text.monus(self.ends[1], text.add(byte, unit.bytes))
            within = text.less(text.add(line, unit.lines), self.ends[0])
            valid = text.choose(within, text.minimum(inside, self.unit), 0)
            offset = text.wide_sum(
                start,
                text.wide_product(self._across, str(unit.lines)),
                text.wide_product(self._along, str(unit.bytes)),
            )
            if self.asynchronous:
                self._sources.append((text.at(self.memory, offset), valid))
            else:
                self._loaded.append(self._load_element(text, offset, valid))

    def _load_element(self, text: KernelText, offset: str, valid: Index) -> str:
        """Load a unit of one element, or zero outside the matrix."""
        kind, inside = f"i{8 * self.unit}", text.less(0, valid)
        offset = text.instruction(f"select i1 {inside}, i64 {offset}, i64 0")
        value = text.load(kind, text.at(self.memory, offset), self.unit)
        return text.instruction(f"select i1 {inside}, {kind} {value}, {kind} 0")

    def store(self, text: KernelText, stage: Index) -> None:
        """Begin the asynchronous copies into a stage, or write the loaded units to it."""
        if not self.asynchronous:
            for unit, value in zip(self.units, self._loaded, strict=True):
                text.store_shared(
                    f"i{8 * self.unit}", value, text.add(unit.shared, stage), self.unit
                )
            return
        cached = "cg" if self.unit == PIECE else "ca"
        for unit, (source, valid) in zip(self.units, self._sources, strict=True):
            text.assembly(
                f"cp.async.{cached}.shared.global [$0], [$1], {self.unit}, $2;",
                [],
                [("i32", str(text.add(unit.shared, stage))), (POINTER, source),
                 ("i32", str(valid))],
            )  # fmt: skip
