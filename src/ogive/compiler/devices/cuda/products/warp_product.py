"""Products by `mma.sync`, executed by warps: any size, layout and alignment, from sm_80 on.

A block computes a tile of the result. Tiles of both operands pass through a ring of stages in
shared memory: the stages ahead are copied while warps multiply the current one.

    begin the copies of all stages but one
    for each tile along k:
        wait for its stage; barrier, after which the previous stage is free
        begin the copies of a later tile into the free stage
        multiply: fragments from shared memory, sums in registers
    finish the sums, store them

Units of less than four bytes cannot be copied asynchronously. They pass through registers: they are
loaded before the products of a tile and written to shared memory after them.
"""

from __future__ import annotations

from collections.abc import Callable

from ogive.compiler.devices.cuda.tensor_cores.epilogue import (
    PairPlace,
    PairWriter,
    Result,
    Steps,
    step_parameters,
)
from ogive.compiler.devices.cuda.tensor_cores.fragments import (
    INSTRUCTION_BYTES,
    WORD,
    LinePlace,
    gather_word,
    lines_first,
    load_matrices,
    pieces_first,
    result_place,
)
from ogive.compiler.devices.cuda.tensor_cores.kernel_text import (
    POINTER,
    Index,
    KernelText,
    Parameter,
)
from ogive.compiler.devices.cuda.tensor_cores.launch_overlap import (
    let_later_kernels_begin,
    wait_for_earlier_kernels,
)
from ogive.compiler.devices.cuda.tensor_cores.operand_copies import OperandCopy
from ogive.compiler.devices.cuda.tensor_cores.product import Product
from ogive.compiler.devices.cuda.tensor_cores.tile_order import find_tile, order_parameters
from ogive.compiler.devices.cuda.tensor_cores.tiles import WarpTile
from ogive.compiler.ir import dtype as dtypes

_TYPES = {
    dtypes.bfloat16: ("f32", "bf16"), dtypes.float16: ("f32", "f16"),
    dtypes.float32: ("f32", "tf32"), dtypes.int8: ("s32", "s8"), dtypes.uint8: ("s32", "u8"),
}  # fmt: skip
OPERANDS = tuple(_TYPES)
"""The element types of operands; f32 is multiplied as tf32."""


def product_parameters(steps: Steps) -> list[Parameter]:
    """The parameters of a kernel for products: memory, sizes, strides in elements."""
    pointers = [Parameter(name, POINTER) for name in ("left", "right", "result")]
    sizes = [Parameter(name, "i32") for name in ("m", "n", "k")]
    strides = [
        Parameter(f"{matrix}_{axis}", "i64")
        for matrix in ("left", "right", "result")
        for axis in ("row", "column", "batch0", "batch1")
    ]
    return [*pointers, *sizes, *order_parameters(), *strides, *step_parameters(steps)]


def write_warp_product(product: Product, tile: WarpTile, steps: Steps = ()) -> str:
    """Write the module of a kernel, which serves all sizes of products of this form."""
    return _WarpProduct(product, tile, steps).write()


class _WarpProduct:
    """Writes one kernel."""

    def __init__(self, product: Product, tile: WarpTile, steps: Steps) -> None:
        self.product, self.tile, self.steps = product, tile, steps
        name = f"warp_product_{product.operand.name}_{tile.m}x{tile.n}x{tile.k}"
        self.text = KernelText(name, product_parameters(steps), tile.threads, tile.blocks)
        size = product.operand.itemsize
        self.left = OperandCopy.of_left(product, tile, size)
        self.right = OperandCopy.of_right(product, tile, size)
        self.accumulator = "i32" if product.accumulator is dtypes.int32 else "float"

    def write(self) -> str:
        text, tile = self.text, self.tile
        self._find_place()
        stage = self.left.tile.nbytes + self.right.tile.nbytes
        base = text.shared_base()
        self.left.begin(text, base, "left", self.first_row, "%m", self.batch)
        self.right.begin(
            text, text.add(base, self.left.tile.nbytes), "right", self.first_column, "%n",
            self.batch,
        )  # fmt: skip
        self._place_fragments(base)
        tiles = text.divide(text.add("%k", tile.k - 1), tile.k)
        wait_for_earlier_kernels(text)
        for ahead in range(tile.stages - 1):
            self._copy(ahead, ahead * stage)
        zero = "0" if self.accumulator == "i32" else "0.0"
        count = tile.fragments_m * tile.fragments_n * 4
        carried = [("i32", "0"), *[(self.accumulator, zero)] * count]

        def body(step: str, values: list[str]) -> list[str]:
            return self._multiply_tile(step, values[0], values[1:], stage)

        sums = text.loop(0, tiles, 1, carried, body)[1:]
        let_later_kernels_begin(text)
        self._wait(0)
        if tile.warps_k > 1:
            sums = self._add_warps(base, sums)
        self._store(sums)
        return text.module()

    # The places of a block, a warp and a lane

    def _find_place(self) -> None:
        text, tile = self.text, self.tile
        self.lane = text.remainder(text.thread, 32)
        warp = text.divide(text.thread, 32)
        self.warp = warp
        self.warp_m = text.remainder(warp, tile.warps_m)
        self.warp_n = text.remainder(text.divide(warp, tile.warps_m), tile.warps_n)
        self.warp_k = text.divide(warp, tile.warps_m * tile.warps_n)
        block = text.special("ctaid.x")
        self.batch, row, column = find_tile(text, block, tile.group)
        self.first_row = text.multiply(row, tile.m)
        self.first_column = text.multiply(column, tile.n)

    # Copies

    def _copy(self, tile: Index, stage: Index) -> None:
        """Begin all copies of a tile along k into a stage."""
        self.left.load(self.text, tile)
        self.right.load(self.text, tile)
        self.left.store(self.text, stage)
        self.right.store(self.text, stage)
        self.text.assembly("cp.async.commit_group;", [], [])

    def _wait(self, pending: int) -> None:
        self.text.assembly(f"cp.async.wait_group {pending};", [], [])
        self.text.barrier()

    def _multiply_tile(
        self, step: str, stage: str, sums: list[str], stage_bytes: int
    ) -> list[str]:
        """Multiply one tile along k in the stage at offset `stage`; returns the next and sums."""
        text, tile = self.text, self.tile
        self._wait(tile.stages - 2)
        last = (tile.stages - 1) * stage_bytes
        ahead = text.choose(text.equal(stage, 0), last, text.subtract(stage, stage_bytes))
        later = text.add(step, tile.stages - 1)
        self.left.load(text, later)
        self.right.load(text, later)
        if self.left.asynchronous:
            self.left.store(text, ahead)
        if self.right.asynchronous:
            self.right.store(text, ahead)
        per_warp = tile.k_steps(self.product.operand) // tile.warps_k
        for each in range(per_warp):
            left = self._left_fragments(stage, each)
            right = self._right_fragments(stage, each)
            sums = self._multiply_fragments(left, right, sums)
        if not self.left.asynchronous:
            self.left.store(text, ahead)
        if not self.right.asynchronous:
            self.right.store(text, ahead)
        text.assembly("cp.async.commit_group;", [], [])
        following = text.choose(text.equal(stage, last), 0, text.add(stage, stage_bytes))
        return [str(following), *sums]

    # Fragments

    def _place_fragments(self, base: str) -> None:
        """Compute the addresses of this lane's lines in the first stage, for each step along k."""
        text, tile = self.text, self.tile
        per_warp = tile.k_steps(self.product.operand) // tile.warps_k
        start = text.multiply(self.warp_k, per_warp)
        right = text.add(base, self.left.tile.nbytes)
        rows = text.multiply(self.warp_m, tile.m // tile.warps_m)
        columns = text.multiply(self.warp_n, tile.n // tile.warps_n)
        steps = [text.add(start, each) for each in range(per_warp)]
        self.left_places = [
            self._lane_places(self.left, base, rows, step, tile.fragments_m, lines_first,
                              pieces_first)
            for step in steps
        ]  # fmt: skip
        self.right_places = [
            self._lane_places(self.right, right, columns, step, tile.fragments_n // 2,
                              pieces_first, lines_first)
            for step in steps
        ]  # fmt: skip

    def _lane_places(
        self, copy: OperandCopy, base: Index, first: Index, step: Index, count: int,
        by_lines: Callable[[KernelText, Index], LinePlace],
        transposed: Callable[[KernelText, Index], LinePlace],
    ) -> list[Index]:  # fmt: skip
        """A lane's address for each 16 rows of the left operand, or columns of the right one."""
        text, shared, size = self.text, copy.tile, self.product.operand.itemsize
        if copy.k_major:
            line, piece = by_lines(text, self.lane)
            piece = text.add(piece, text.multiply(step, INSTRUCTION_BYTES // 16))
            place = text.add(base, shared.offset(text, text.add(first, line), piece))
            return [text.add(place, each * 16 * shared.line_bytes) for each in range(count)]
        if size != 2:  # gathered element by element, see `_gather`
            return [text.add(first, each * 16) for each in range(count)]
        line, piece = transposed(text, self.lane)
        line = text.add(line, text.multiply(step, 16))
        piece = text.add(piece, text.divide(first, 8))
        return [
            text.add(base, shared.offset(text, line, text.add(piece, 2 * each)))
            for each in range(count)
        ]

    def _left_fragments(self, stage: str, step: int) -> list[list[str]]:
        """Load four words for each 16 rows."""
        places = self.left_places[step]
        return [self._load(self.left, stage, step, place) for place in places]

    def _right_fragments(self, stage: str, step: int) -> list[list[str]]:
        """Load two words for each 8 columns."""
        words = []
        for place in self.right_places[step]:
            four = self._load(self.right, stage, step, place)
            if not self.right.k_major and self.product.operand.itemsize != 2:
                four = [four[0], four[2], four[1], four[3]]
            words += [four[:2], four[2:]]
        return words

    def _load(
        self, copy: OperandCopy, stage: str, step: int, place: Index
    ) -> list[str]:
        text, operand = self.text, self.product.operand
        if copy.k_major or operand.itemsize == 2:
            words = load_matrices(text, text.add(place, stage), not copy.k_major)
        else:
            words = self._gather(copy, stage, step, place)
        if operand is dtypes.float32:
            return [text.assembly("cvt.rna.tf32.f32 $0, $1;", ["i32"], [("i32", word)])[0]
                    for word in words]  # fmt: skip
        return words

    def _gather(self, copy: OperandCopy, stage: str, step: int, first: Index) -> list[str]:
        """Gather four words: the lane's row and the one 8 below, then both 16 bytes on along k."""
        text, tile, size = self.text, self.tile, self.product.operand.itemsize
        per_warp = tile.k_steps(self.product.operand) // tile.warps_k
        lane = result_place(text, self.lane)
        steps = text.add(text.multiply(self.warp_k, per_warp), step)
        line = text.add(
            text.multiply(steps, INSTRUCTION_BYTES // size),
            text.multiply(text.remainder(self.lane, 4), WORD // size),
        )
        base = text.add(copy.base, stage)
        return [
            gather_word(
                text, copy.tile, base, text.add(line, further),
                text.multiply(text.sum(first, lane.row, row), size), size,
            )
            for further in (0, 16 // size)
            for row in (0, 8)
        ]  # fmt: skip

    def _multiply_fragments(
        self, left: list[list[str]], right: list[list[str]], sums: list[str]
    ) -> list[str]:
        total, operand = _TYPES[self.product.operand]
        k = INSTRUCTION_BYTES // self.product.operand.itemsize
        instruction = (
            f"mma.sync.aligned.m16n8k{k}.row.col.{total}.{operand}.{operand}.{total} "
            "{$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$0,$1,$2,$3};"
        )
        results, kind = list(sums), self.accumulator
        for i, words in enumerate(left):
            for j, others in enumerate(right):
                at = (i * len(right) + j) * 4
                operands = [("i32", word) for word in (*words, *others)]
                operands += [(kind, each) for each in sums[at : at + 4]]
                results[at : at + 4] = self.text.assembly(instruction, [kind] * 4, operands, tied=4)
        return results

    # Results

    def _add_warps(self, base: str, sums: list[str]) -> list[str]:
        """Add the sums of the warps that have the same place and other parts of k, in order."""
        text, tile, kind = self.text, self.tile, self.accumulator
        own = text.add(base, text.multiply(text.thread, WORD))
        apart = tile.threads * WORD  # so that neighbouring threads use neighbouring banks

        def write() -> None:
            for each, value in enumerate(sums):
                text.store_shared(kind, value, text.add(own, each * apart), WORD)

        first = text.equal(self.warp_k, 0)
        text.when(text.instruction(f"xor i1 {first}, true"), write)
        text.barrier()
        add = "add i32" if kind == "i32" else "fadd float"
        group = tile.warps_m * tile.warps_n * 32 * WORD
        # Warps that store nothing read from the beginning; their sums are not used.
        own = text.choose(first, own, base)
        for part in range(1, tile.warps_k):
            at = text.add(own, part * group)
            others = [
                text.load_shared(kind, text.add(at, each * apart), WORD)
                for each in range(len(sums))
            ]
            sums = [
                text.instruction(f"{add} {total}, {other}")
                for total, other in zip(sums, others, strict=True)
            ]
        return sums

    def _store(self, sums: list[str]) -> None:
        text, tile = self.text, self.tile
        if tile.warps_k == 1:
            self._store_sums(sums)
            return
        text.when(text.equal(self.warp_k, 0), lambda: self._store_sums(sums))

    def _store_sums(self, sums: list[str]) -> None:
        text, tile, result = self.text, self.tile, Result.of(self.product)
        lane = result_place(text, self.lane)
        row = text.sum(self.first_row, text.multiply(self.warp_m, tile.m // tile.warps_m), lane.row)
        column = text.sum(
            self.first_column, text.multiply(self.warp_n, tile.n // tile.warps_n), lane.column
        )
        writer = PairWriter(text, self.steps, result, self.batch, row, column)
        for i in range(tile.fragments_m):
            for j in range(tile.fragments_n):
                for half in range(2):
                    at = (i * tile.fragments_n + j) * 4 + 2 * half
                    place = PairPlace(16 * i + 8 * half, 8 * j)
                    writer.store(place, writer.finish(place, sums[at : at + 2]))
