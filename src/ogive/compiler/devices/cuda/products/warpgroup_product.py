"""Products by `wgmma`, for sm_90a: the copying engine (TMA) loads tiles, warpgroups multiply them.

Blocks are persistent: each computes one tile of the result after another. One thread of its first
warpgroup, the *producer*, begins the copies of operand tiles into a ring of stages. The other
warpgroups, the *consumers*, multiply them. Each stage has two barriers: `full` opens when its
bytes have arrived, `empty` when all consumers have read them.

    producer, for each tile, for each stage along k:   wait empty; expect bytes on full; copy
    consumer, for each tile:
        for each stage along k:   wait full; begin products; when the previous are done: empty
        finish the sums; store them, while the producer loads the next tile

Two-byte results are staged in shared memory and stored by the copying engine, or by warps line by
line if rows do not begin at multiples of 16 bytes. Other results are stored from registers.
"""

from __future__ import annotations

from ogive.compiler.devices.cuda.products.warpgroup_layout import (
    BARRIERS,
    goes_through_shared_memory,
    is_staged,
    stage_tiles,
    warpgroup_parameters,
)
from ogive.compiler.devices.cuda.tensor_cores import warpgroup_instructions as ptx
from ogive.compiler.devices.cuda.tensor_cores.epilogue import (
    MEMORY_TYPES,
    PairPlace,
    PairWriter,
    Result,
    Steps,
    pack,
)
from ogive.compiler.devices.cuda.tensor_cores.fragments import SharedTile, lines_first, result_place
from ogive.compiler.devices.cuda.tensor_cores.kernel_text import (
    TENSOR_MAP,
    Index,
    KernelText,
)
from ogive.compiler.devices.cuda.tensor_cores.launch_overlap import (
    let_later_kernels_begin,
    wait_for_earlier_kernels,
)
from ogive.compiler.devices.cuda.tensor_cores.product import Product
from ogive.compiler.devices.cuda.tensor_cores.tile_order import find_tile
from ogive.compiler.devices.cuda.tensor_cores.tiles import ROWS, WARPGROUP, WarpgroupTile
from ogive.compiler.devices.cuda.tensor_cores.warpgroup_instructions import BOX, LINE
from ogive.compiler.ir import dtype as dtypes

_PRODUCER_REGISTERS = 24
_CONSUMER_REGISTERS = 240


def write_warpgroup_product(product: Product, tile: WarpgroupTile, steps: Steps = ()) -> str:
    """Write the module of a kernel, which serves all sizes of products of this form."""
    return _WarpgroupProduct(product, tile, steps).write()


class _WarpgroupProduct:
    """Writes one kernel."""

    def __init__(self, product: Product, tile: WarpgroupTile, steps: Steps) -> None:
        self.product, self.tile, self.steps = product, tile, steps
        self.staged = is_staged(product, tile)
        name = f"warpgroup_product_{product.operand.name}_{tile.m}x{tile.n}"
        parameters = warpgroup_parameters(self.staged, steps)
        self.text = KernelText(name, parameters, tile.threads, cluster=tile.splits)
        self.k_major = product.left_is_k_major, product.right_is_k_major
        self.k = LINE // product.operand.itemsize
        self.left_bytes, self.right_bytes = stage_tiles(product, tile)
        self.kind = "i32" if product.accumulator is dtypes.int32 else "float"

    def write(self) -> str:
        text, splits = self.text, self.tile.splits
        self.base = text.shared_base()
        block, blocks = text.special("ctaid.x"), text.special("nctaid.x")
        self.part = text.remainder(block, splits)  # of k
        self.first, self.blocks = text.divide(block, splits), text.divide(blocks, splits)
        k_tiles = text.divide(text.add("%k", self.k - 1), self.k)
        self.k_first = text.divide(text.multiply(k_tiles, self.part), splits)
        self.k_last = text.divide(text.multiply(k_tiles, text.add(self.part, 1)), splits)
        self.ring = text.add(self.base, BARRIERS)
        text.when(text.equal(text.thread, 0), self._begin_barriers)
        text.barrier()
        wait_for_earlier_kernels(text)
        warpgroup = text.divide(text.thread, WARPGROUP)
        text.branch_if(text.equal(warpgroup, 0), "producer", "consumer")
        text.label("producer")
        self._give_registers(_PRODUCER_REGISTERS, False)
        text.when(text.equal(text.thread, 0), self._produce)
        if splits > 1:  # as the consumers do in _add_parts
            ptx.cluster_barrier(text)
            ptx.cluster_barrier(text)
        text.branch("done")
        text.label("consumer")
        self._give_registers(_CONSUMER_REGISTERS, True)
        self.consumer = text.subtract(warpgroup, 1)
        self.lane = text.remainder(text.thread, 32)
        self.warp = text.remainder(text.divide(text.thread, 32), 4)
        self._consume()
        text.branch("done")
        text.label("done")
        return text.module()

    def _give_registers(self, count: int, more: bool) -> None:
        if self.tile.consumers > 1:  # otherwise there are enough for all
            ptx.set_registers(self.text, count, more)

    # Stages and tiles

    def _full(self, stage: Index) -> Index:
        return self.text.add(self.base, self.text.multiply(stage, 16))

    def _empty(self, stage: Index) -> Index:
        return self.text.add(self._full(stage), 8)

    def _begin_barriers(self) -> None:
        for stage in range(self.tile.stages):
            ptx.begin_barrier(self.text, self._full(stage), 1)
            ptx.begin_barrier(self.text, self._empty(stage), self.tile.consumers)
        ptx.publish_barriers(self.text)
        for parameter in self.text.parameters:
            if parameter.type == TENSOR_MAP:
                ptx.prefetch_map(self.text, parameter.value)

    def _stage_address(self, stage: Index) -> Index:
        return self.text.add(
            self.ring, self.text.multiply(stage, self.left_bytes + self.right_bytes)
        )

    def _find_tile(self, number: str) -> tuple[tuple[Index, Index], Index, Index]:
        """Batch, first row and first column of a tile."""
        text, tile = self.text, self.tile
        batch, row, column = find_tile(text, number, tile.group)
        return batch, text.multiply(row, tile.m), text.multiply(column, tile.n)

    # The producer

    def _produce(self) -> None:
        text, tile = self.text, self.tile

        def one_tile(number: str, ring: list[str]) -> list[str]:
            batch, row, column = self._find_tile(number)

            def one_stage(step: str, ring: list[str]) -> list[str]:
                stage, parity = ring
                ptx.wait_barrier(text, self._empty(stage), text.xor(parity, 1))
                full = self._full(stage)
                ptx.expect_bytes(text, full, "%stage_bytes")
                address = self._stage_address(stage)
                k = text.multiply(step, self.k)
                self._copy("left", self.k_major[0], self.tile.m, row, k, batch, address, full)
                address = text.add(address, self.left_bytes)
                self._copy("right", self.k_major[1], self.tile.n, column, k, batch, address, full)
                return ptx.next_stage(text, stage, parity, tile.stages)

            carried = [("i32", each) for each in ring]
            return text.loop(self.k_first, self.k_last, 1, carried, one_stage)

        text.loop(self.first, "%all_tiles", self.blocks, [("i32", "0")] * 2, one_tile)

    def _copy(
        self, name: str, k_major: bool, extent: int, first: Index, k: Index,
        batch: tuple[Index, Index], to: Index, full: Index,
    ) -> None:  # fmt: skip
        """Begin to copy a tile of an operand."""
        text = self.text
        outer = [text.multiply(batch[axis], f"%{name}_has{axis}") for axis in (1, 0)]
        if k_major:
            ptx.copy_tile_in(text, f"%{name}_map", [k, first, *outer], to, full)
            return
        for box in range(-(-extent // BOX)):
            place = [text.add(first, box * BOX), k, *outer]
            ptx.copy_tile_in(text, f"%{name}_map", place, text.add(to, box * BOX * LINE), full)

    # The consumers

    def _consume(self) -> None:
        text, tile = self.text, self.tile
        # One thread of a warpgroup arrives at barriers for all.
        self.speaks = text.equal(text.remainder(text.thread, WARPGROUP), 0)
        left = text.multiply(self.consumer, ROWS * LINE)
        bits = [ptx.descriptor_bits(major, BOX * LINE) for major in self.k_major]
        zero = "0" if self.kind == "i32" else "0.0"

        def one_tile(number: str, ring: list[str]) -> list[str]:
            def one_stage(step: str, carried: list[str]) -> list[str]:
                stage, parity, before, *sums = carried
                ptx.wait_barrier(text, self._full(stage), parity)
                address = self._stage_address(stage)
                sums = ptx.multiply_stage(
                    text, self.product.operand, tile.n,
                    ptx.descriptor(text, text.add(address, left), bits[0]),
                    ptx.descriptor(text, text.add(address, self.left_bytes), bits[1]),
                    self.k_major, sums,
                )  # fmt: skip
                ptx.wait_products(text, 1)
                later = text.both(self.speaks, text.less(self.k_first, step))
                ptx.arrive_if(text, later, self._empty(before))
                return [*ptx.next_stage(text, stage, parity, tile.stages), stage, *sums]

            carried = [("i32", ring[0]), ("i32", ring[1]), ("i32", ring[0])]
            carried += [(self.kind, zero)] * (tile.n // 2)
            stage, parity, last, *sums = text.loop(self.k_first, self.k_last, 1, carried, one_stage)
            sums = ptx.finish_products(text, self.kind, sums)
            let_later_kernels_begin(text)
            ptx.arrive_if(text, self.speaks, self._empty(last))
            self._store(number, sums)
            return [stage, parity]

        text.loop(self.first, "%all_tiles", self.blocks, [("i32", "0")] * 2, one_tile)

    def _store(self, number: str, sums: list[str]) -> None:
        """Finish and store the sums of a consumer."""
        text, tile = self.text, self.tile
        batch, row, column = self._find_tile(number)
        row = text.add(row, text.multiply(self.consumer, ROWS))
        if self.staged:
            self._store_staged(batch, row, column, sums)
            return
        if goes_through_shared_memory(self.product, tile):
            self._store_lines(batch, row, column, sums)
            return
        if tile.splits > 1:
            sums = self._add_parts(sums)
            column = text.add(column, text.multiply(self.part, tile.n // tile.splits))
        writer = self._writer(batch, row, column)
        for at in range(0, len(sums), 2):
            place = self._pair_place(at)
            writer.store(place, writer.finish(place, sums[at : at + 2]))

    def _writer(self, batch: tuple[Index, Index], row: Index, column: Index) -> PairWriter:
        text, lane = self.text, result_place(self.text, self.lane)
        row = text.sum(row, text.multiply(self.warp, 16), lane.row)
        column = text.add(column, lane.column)
        return PairWriter(text, self.steps, Result.of(self.product), batch, row, column)

    def _pair_place(self, at: int) -> PairPlace:
        """The place of the pair at a position."""
        fragment, rest = divmod(at, 4)
        return PairPlace(rest // 2 * 8, fragment * 8)

    def _add_parts(self, sums: list[str]) -> list[str]:
        """Add the sums of all blocks of the cluster in order; each block gets the totals of its
        part of the columns."""
        text, tile, kind = self.text, self.tile, self.kind
        apart = tile.consumers * WARPGROUP * 16  # four sums of all threads
        ptx.warpgroup_barrier(text, 1, tile.consumers * WARPGROUP)  # the stages are free now
        own = text.add(self.ring, text.multiply(text.subtract(text.thread, WARPGROUP), 16))
        for at in range(0, len(sums), 4):
            value = "poison"
            for each in range(4):
                item = f"{kind} {sums[at + each]}, i32 {each}"
                value = text.instruction(f"insertelement <4 x {kind}> {value}, {item}")
            text.store_shared(f"<4 x {kind}>", value, text.add(own, at // 4 * apart), 16)
        ptx.cluster_barrier(text)
        count = len(sums) // tile.splits
        start = text.add(own, text.multiply(self.part, count // 4 * apart))
        add, totals = "add i32" if kind == "i32" else "fadd float", [""] * count
        for block in range(tile.splits):
            address = ptx.address_in_block(text, start, block)
            for at in range(0, count, 4):
                others = ptx.load_four(text, kind, address, at // 4 * apart)
                for each, other in enumerate(others, at):
                    total = totals[each]
                    summed = text.instruction(f"{add} {total}, {other}") if total else other
                    totals[each] = summed
        ptx.cluster_barrier(text)  # no block may end while others read its memory
        return totals

    def _store_staged(
        self, batch: tuple[Index, Index], row: Index, column: Index, sums: list[str]
    ) -> None:
        text, tile = self.text, self.tile
        barrier, width = text.add(self.consumer, 1), tile.store_columns
        text.when(self.speaks, lambda: ptx.wait_copies_out(text))
        ptx.warpgroup_barrier(text, barrier, WARPGROUP)
        own, shared = self._write_staging(batch, row, column, sums)
        ptx.show_writes(text)
        ptx.warpgroup_barrier(text, barrier, WARPGROUP)

        def copy_out() -> None:
            for box in range(tile.n // width):
                place = [text.add(column, box * width), row, batch[1], batch[0]]
                source = text.add(own, box * shared.nbytes)
                ptx.copy_tile_out(text, "%result_map", place, source)
            ptx.commit_copies_out(text)

        text.when(self.speaks, copy_out)

    def _write_staging(
        self, batch: tuple[Index, Index], row: Index, column: Index, sums: list[str]
    ) -> tuple[Index, SharedTile]:
        """Write finished results into the consumer's part of shared memory; returns its address
        and one of its boxes, each of `store_columns` columns."""
        text, tile = self.text, self.tile
        width = tile.store_columns
        shared = SharedTile(ROWS, width * 2)
        own = text.sum(
            self.ring, tile.stages * (self.left_bytes + self.right_bytes),
            text.multiply(self.consumer, ROWS * tile.n * 2),
        )  # fmt: skip
        words = self._finished_words(batch, row, column, sums)
        line, piece = lines_first(text, self.lane)
        line = text.add(line, text.multiply(self.warp, 16))
        for at in range(0, len(words), 4):  # 16 rows of a warp × 16 columns
            below, right = self._pair_place(2 * at)
            box, inside = divmod(right, width)
            place = shared.offset(text, line, text.add(piece, inside // 8))
            begin = box * shared.nbytes + below * shared.line_bytes
            ptx.store_matrices(text, text.sum(own, place, begin), words[at : at + 4])
        return own, shared

    def _store_lines(
        self, batch: tuple[Index, Index], row: Index, column: Index, sums: list[str]
    ) -> None:
        """Each warp stores its 16 rows line by line, so that its lanes write neighbours."""
        text, tile = self.text, self.tile
        ptx.warp_barrier(text)
        own, shared = self._write_staging(batch, row, column, sums)
        ptx.warp_barrier(text)
        together = 2 if Result.of(self.product).in_pairs else 1  # elements that a lane stores
        first = text.multiply(self.lane, together)
        own = text.add(own, text.multiply(self.warp, 16 * shared.line_bytes))
        row = text.add(row, text.multiply(self.warp, 16))
        places = [
            _LinePart(
                text, shared, tile, text.add(first, at), text.add(column, first), at, together
            )
            for at in range(0, tile.n, 32 * together)
        ]
        start = text.wide_sum(
            text.wide_product(text.wide(batch[0]), "%result_batch0"),
            text.wide_product(text.wide(batch[1]), "%result_batch1"),
            text.wide(text.add(column, first)),
        )
        kind = f"i{16 * together}"
        for line in range(16):
            below = text.add(row, line)
            offset = text.wide_sum(start, text.wide_product(text.wide(below), "%result_row"))
            pointer, within = text.at("%result", offset, 2), text.less(below, "%m")
            for place in places:
                address = text.add(own, place.offset(text, shared, line))
                value = text.load_shared(kind, address, 2 * together)
                inside = text.both(within, place.inside)
                text.store_if(inside, kind, value, pointer, 2 * together, 2 * place.behind)

    def _finished_words(
        self, batch: tuple[Index, Index], row: Index, column: Index, sums: list[str]
    ) -> list[str]:
        """The results as words of two elements each."""
        text, kind = self.text, MEMORY_TYPES[self.product.result.dtype]
        writer, words = self._writer(batch, row, column), []
        for at in range(0, len(sums), 2):
            pair = writer.finish(self._pair_place(at), sums[at : at + 2])
            both = pack(text, kind, pair)
            words.append(text.instruction(f"bitcast <2 x {kind}> {both} to i32"))
        return words


class _LinePart:
    """The elements of each line that a lane stores at once, `behind` elements behind its first."""

    def __init__(
        self, text: KernelText, shared: SharedTile, tile: WarpgroupTile, place: Index,
        column: Index, behind: int, together: int,
    ) -> None:  # fmt: skip
        width = tile.store_columns
        self.behind = behind
        self.inside = text.less(text.add(column, behind), "%n")
        if tile.n % 64:  # lanes may be beyond the tile
            self.inside = text.both(self.inside, text.less(place, tile.n))
            place = text.minimum(place, tile.n - together)
        inside = text.remainder(place, width)
        box = text.multiply(text.divide(place, width), shared.nbytes)
        self._start = text.add(box, text.multiply(text.remainder(inside, 8), 2))
        self._piece = text.divide(inside, 8)

    def offset(self, text: KernelText, shared: SharedTile, line: int) -> Index:
        """The offset of the part in a line, of sixteen lines that begin at a multiple of eight."""
        return text.add(self._start, shared.offset(text, line, self._piece))
