"""Attention by `wgmma`, for sm_90a: scores, weights and their products in one kernel.

Blocks are persistent: each computes one tile of 128 rows after another. One thread of the first
warpgroup, the *producer*, begins the copies of the rows and, into a ring of stages, of the blocks
of columns. Two *consumers* of 64 rows each go through the blocks, beginning with the last that
counts:

    scores of the last block; weights of them
    for each block before it:
        begin its scores;  begin the product of the weights at hand;  let the other consumer begin
        when the scores are there: compute their weights
        when the product is done: rescale the sums to the new maximum of the row
    the product of the last weights;  store

So while one consumer computes weights, the tensor cores work for the other. The softmax is online:
it uses the maximum of the row so far, and sums are relative to that. Masked columns are left out
in the blocks that have some; blocks with only masked columns are never read.
"""

from __future__ import annotations

from ogive.compiler.devices.cuda.attention import warpgroup_products as products
from ogive.compiler.devices.cuda.attention.attention_tiles import (
    BARRIERS,
    CONSUMERS,
    THREADS,
    TILE_ROWS,
    AttentionTile,
)
from ogive.compiler.devices.cuda.attention.region_attention import RegionAttention
from ogive.compiler.devices.cuda.attention.row_results import RowResults
from ogive.compiler.devices.cuda.attention.row_weights import RowWeights, loaded_slots
from ogive.compiler.devices.cuda.attention.tile_places import (
    TilePlace,
    find_end_of_numbers,
    find_place,
    place_parameters,
)
from ogive.compiler.devices.cuda.tensor_cores import warpgroup_instructions as ptx
from ogive.compiler.devices.cuda.tensor_cores.kernel_text import (
    POINTER,
    TENSOR_MAP,
    Index,
    KernelText,
    Parameter,
)
from ogive.compiler.devices.cuda.tensor_cores.launch_overlap import (
    let_later_kernels_begin,
    wait_for_earlier_kernels,
)
from ogive.compiler.devices.cuda.tensor_cores.tiles import ROWS, WARPGROUP
from ogive.compiler.devices.cuda.tensor_cores.warpgroup_instructions import LINE
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple

_PRODUCER_REGISTERS = 24
_CONSUMER_REGISTERS = 240
_ALL_CONSUMERS = CONSUMERS * WARPGROUP


class AttentionForm(NamedTuple):
    """Everything that the text of a kernel depends on: how results are stored (`by_engine`), and
    whether more than one block of columns is partly masked (`has_edges`)."""

    attention: RegionAttention
    tile: AttentionTile
    by_engine: bool
    has_edges: bool


def attention_parameters(form: AttentionForm) -> list[Parameter]:
    """Tensor maps, flags of the operands with batch axes, sizes, and memory read by threads."""
    tile = form.tile
    names = [f"rows{n}" for n in range(len(tile.rows))]
    names += [f"columns{n}" for n in range(len(tile.columns))]
    maps = [Parameter(f"{name}_map", TENSOR_MAP) for name in names]
    batched = [Parameter(f"{name}_has{axis}", "i32") for name in names for axis in range(3)]
    if form.by_engine:
        maps.append(Parameter("result_map", TENSOR_MAP))
    slots = [Parameter(f"slot{slot}", POINTER) for slot in read_slots(form)]
    return [*maps, *batched, *place_parameters(), *slots]


def read_slots(form: AttentionForm) -> list[int]:
    """The slots of the buffers that threads read or write without the copying engine."""
    direct = set() if form.by_engine else {form.attention.result.slot}
    return sorted(direct | loaded_slots(form.attention))


def write_attention(form: AttentionForm, target: Target) -> str:
    """Write the module of a kernel."""
    return _AttentionKernel(form, target).write()


class _AttentionKernel:
    """Writes one kernel."""

    def __init__(self, form: AttentionForm, target: Target) -> None:
        attention, tile = form.attention, form.tile
        self.form, self.attention, self.tile, self.target = form, attention, tile, target
        name = f"attention_{attention.dtype.name}_{tile.block}x{len(attention.scores)}"
        self.text = KernelText(name, attention_parameters(form), THREADS)
        self.mixes = tile.mixed_columns is not None
        # The last reader of an operand is the scores, or the product one block later.
        self.released_late = {tile.mixed_columns} if self.mixes else set()

    def write(self) -> str:
        text = self.text
        warpgroup = text.divide(text.thread, WARPGROUP)
        self.block, self.blocks = text.special("ctaid.x"), text.special("nctaid.x")
        self.end = find_end_of_numbers(text)
        self.base = text.shared_base()
        self.rows = text.add(self.base, BARRIERS)
        self.ring = text.add(self.rows, self.tile.row_bytes)
        text.when(text.equal(text.thread, 0), self._begin_barriers)
        text.barrier()
        wait_for_earlier_kernels(text)
        text.branch_if(text.equal(warpgroup, 0), "producer", "consumer")
        text.label("producer")
        ptx.set_registers(text, _PRODUCER_REGISTERS, False)
        text.when(text.equal(text.thread, 0), self._produce)
        text.branch("done")
        text.label("consumer")
        ptx.set_registers(text, _CONSUMER_REGISTERS, True)
        self.consumer = text.subtract(warpgroup, 1)
        self._consume()
        text.branch("done")
        text.label("done")
        return text.module()

    # Barriers: rows are there, rows are free; the same for each stage and operand of columns

    def _full(self, stage: Index, number: int) -> Index:
        each = 16 * len(self.tile.columns)
        return self.text.sum(self.base, self.text.multiply(stage, each), 16 + 16 * number)

    def _empty(self, stage: Index, number: int) -> Index:
        return self.text.add(self._full(stage, number), 8)

    def _begin_barriers(self) -> None:
        text = self.text
        ptx.begin_barrier(text, self.base, 1)
        ptx.begin_barrier(text, text.add(self.base, 8), CONSUMERS)
        for stage in range(self.tile.stages):
            for number in range(len(self.tile.columns)):
                ptx.begin_barrier(text, self._full(stage, number), 1)
                ptx.begin_barrier(text, self._empty(stage, number), CONSUMERS)
        ptx.publish_barriers(text)
        for parameter in text.parameters:
            if parameter.type == TENSOR_MAP:
                ptx.prefetch_map(text, parameter.value)

    def _row_address(self, number: int) -> Index:
        before = sum([operand.boxes for operand in self.tile.rows[:number]])
        return self.text.add(self.rows, before * TILE_ROWS * LINE)

    def _column_address(self, stage: Index, number: int) -> Index:
        tile = self.tile
        before = sum([tile.column_bytes(each) for each in range(number)])
        return self.text.sum(self.ring, self.text.multiply(stage, tile.stage_bytes), before)

    # The producer

    def _produce(self) -> None:
        text, tile = self.text, self.tile

        def one_tile(number: str, carried: list[str]) -> list[str]:
            turn, *ring = carried
            place = find_place(text, self.attention.bound, tile.block, number)
            ptx.wait_barrier(text, text.add(self.base, 8), text.xor(turn, 1))
            given = sum([operand.boxes for operand in tile.rows]) * TILE_ROWS * LINE
            ptx.expect_bytes(text, self.base, given)
            for each, operand in enumerate(tile.rows):
                self._copy(
                    f"rows{each}", operand.boxes, TILE_ROWS, place.row, place,
                    self._row_address(each), self.base,
                )  # fmt: skip

            def one_block(step: str, ring: list[str]) -> list[str]:
                stage, parity = ring
                first = text.multiply(text.subtract(place.last, step), tile.block)
                for each, operand in enumerate(tile.columns):
                    ptx.wait_barrier(text, self._empty(stage, each), text.xor(parity, 1))
                    full = self._full(stage, each)
                    ptx.expect_bytes(text, full, tile.column_bytes(each))
                    to = self._column_address(stage, each)
                    self._copy(f"columns{each}", operand.boxes, tile.block, first, place, to, full)
                return ptx.next_stage(text, stage, parity, tile.stages)

            ring = text.loop(0, place.blocks, 1, [("i32", each) for each in ring], one_block)
            return [str(text.xor(turn, 1)), *ring]

        text.loop(self.block, self.end, self.blocks, [("i32", "0")] * 3, one_tile)

    def _copy(
        self, name: str, boxes: int, lines: int, first: Index, place: TilePlace, to: Index,
        full: Index,
    ) -> None:  # fmt: skip
        """Begin to copy lines of an operand."""
        text = self.text
        outer = [text.multiply(place.batch[axis], f"%{name}_has{axis}") for axis in (2, 1, 0)]
        for box in range(boxes):
            ptx.copy_tile_in(
                text, f"%{name}_map", [box * products.BOX, first, *outer],
                text.add(to, box * lines * LINE), full,
            )  # fmt: skip

    # The consumers

    def _consume(self) -> None:
        text = self.text
        self.lane = text.remainder(text.thread, 32)
        self.warp = text.remainder(text.divide(text.thread, 32), 4)
        self.speaks = text.equal(text.remainder(text.thread, WARPGROUP), 0)
        self.own_turn = text.add(self.consumer, 1)
        self.other_turn = text.subtract(CONSUMERS, self.consumer)
        if self.mixes:
            is_second = text.equal(self.consumer, 1)
            text.when(is_second, lambda: products.give_turn(text, "1", _ALL_CONSUMERS))

        def one_tile(number: str, carried: list[str]) -> list[str]:
            turn, *ring = carried
            place = find_place(text, self.attention.bound, self.tile.block, number)
            ptx.wait_barrier(text, self.base, turn)
            ring = self._work_on(place, ring)
            return [str(text.xor(turn, 1)), *ring]

        text.loop(self.block, self.end, self.blocks, [("i32", "0")] * 3, one_tile)
        if self.mixes:  # no barrier is left half open
            is_first = text.equal(self.consumer, 0)
            text.when(is_first, lambda: products.wait_for_turn(text, "1", _ALL_CONSUMERS))

    def _work_on(self, place: TilePlace, ring: list[str]) -> list[str]:
        text, form = self.text, self.form
        first_row = text.sum(
            place.row, text.multiply(self.consumer, ROWS), text.multiply(self.warp, 16),
            text.divide(self.lane, 4),
        )  # fmt: skip
        weights = RowWeights(text, self.target, self.attention, place, first_row, self.lane)
        state, ring = self._first_block(weights, place, ring)
        edges = text.subtract(place.blocks, place.inside)
        begin: Index = 1
        if form.has_edges:
            state, ring = self._go_through(weights, place, state, ring, 1, edges, True)
            begin = self._at_least_one(edges)
        state, ring = self._go_through(weights, place, state, ring, begin, place.blocks, False)
        row_state = state[2 : 2 + len(weights.initial)]
        sums = self._finish_product(state, len(row_state)) if self.mixes else []
        let_later_kernels_begin(text)
        results = RowResults(
            text, self.target, form.attention, place, weights, first_row, self.lane
        )
        if form.by_engine:
            results.stage(row_state, sums, self._staging(), self.warp)
            ptx.show_writes(text)
            ptx.warpgroup_barrier(text, text.add(self.consumer, 3), WARPGROUP)
            text.when(self.speaks, lambda: self._copy_out(place))
        else:
            results.store(row_state, sums)
        # This consumer no longer reads the memory of the rows, or the results staged there.
        ptx.arrive_if(text, self.speaks, text.add(self.base, 8))
        return ring

    @property
    def _word_count(self) -> int:
        return self.tile.block // 4 if self.mixes else 0

    def _at_least_one(self, count: Index) -> Index:
        types = ["i32", "i32"]
        return self.text.intrinsic("i32", "umax.i32", types, [str(count), "1"])

    def _first_block(
        self, weights: RowWeights, place: TilePlace, ring: list[str]
    ) -> tuple[list[str], list[str]]:
        """The state after the first block: its stage and parity, the state of the rows, the words
        of weights, and the sums; and the next stage."""
        stage, parity = ring
        scores = self._begin_scores(stage, parity)
        scores = self._finish_scores(scores, 0)
        self._release(stage, early=True)
        known, values, _ = weights.compute(scores, place.last, weights.initial, True)
        state = [stage, parity, *known]
        if self.mixes:
            count = self.tile.columns[self._mixed].boxes * products.BOX // 2
            state += [*weights.words(values), *["0.0"] * count]
        return state, ptx.next_stage(self.text, stage, parity, self.tile.stages)

    @property
    def _mixed(self) -> int:
        number = self.tile.mixed_columns
        assert number is not None
        return number

    def _go_through(
        self, weights: RowWeights, place: TilePlace, state: list[str], ring: list[str],
        begin: Index, end: Index, is_edge: bool,
    ) -> tuple[list[str], list[str]]:  # fmt: skip
        """Go through a range of blocks, counted from the last one back."""
        text, size = self.text, len(weights.initial)

        def one_block(step: str, carried: list[str]) -> list[str]:
            stage, parity = carried[:2]
            before, before_parity, *rest = carried[2:]
            known, words = rest[:size], rest[size : size + self._word_count]
            sums = rest[size + self._word_count :]
            if self.mixes:
                products.wait_for_turn(text, str(self.own_turn), _ALL_CONSUMERS)
            scores = self._begin_scores(stage, parity)
            if self.mixes:
                sums = self._begin_product(before, before_parity, words, sums)
                products.give_turn(text, str(self.other_turn), _ALL_CONSUMERS)
            scores = self._finish_scores(scores, 1 if self.mixes else 0)
            self._release(stage, early=True)
            block = text.subtract(place.last, step)
            known, values, factors = weights.compute(scores, block, known, is_edge)
            if self.mixes:
                sums = products.finish(text, 0, sums)
                self._release(before, early=False)
                sums = weights.scale(sums, factors)
                words = weights.words(values)
            following = ptx.next_stage(text, stage, parity, self.tile.stages)
            return [*following, stage, parity, *known, *words, *sums]

        kinds = ["i32"] * 2 + ["float"] * size + ["i32"] * self._word_count
        kinds += ["float"] * (len(state) - len(kinds))
        carried = [("i32", each) for each in ring] + list(zip(kinds, state, strict=True))
        after = text.loop(begin, end, 1, carried, one_block)
        return after[2:], after[:2]

    def _begin_scores(self, stage: Index, parity: Index) -> list[list[str]]:
        text, tile = self.text, self.tile
        waited: set[int] = set()
        scores = []
        for rows, columns in zip(tile.score_rows, tile.score_columns, strict=True):
            if columns not in waited:
                ptx.wait_barrier(text, self._full(stage, columns), parity)
                waited.add(columns)
            own = text.multiply(self.consumer, ROWS * LINE)
            bits = ptx.descriptor_bits(True, 0)
            left = ptx.descriptor(text, text.add(self._row_address(rows), own), bits)
            right = ptx.descriptor(text, self._column_address(stage, columns), bits)
            terms = tile.rows[rows].boxes * products.BOX
            scores.append(products.begin_scores(
                text, self.attention.dtype, tile.block, terms, left, right, (TILE_ROWS, tile.block)
            ))  # fmt: skip
        return scores

    def _finish_scores(self, scores: list[list[str]], pending: int) -> list[list[str]]:
        return [products.finish(self.text, pending, each) for each in scores]

    def _begin_product(
        self, stage: Index, parity: Index, words: list[str], sums: list[str]
    ) -> list[str]:
        text, tile, number = self.text, self.tile, self._mixed
        if number not in tile.score_columns:
            ptx.wait_barrier(text, self._full(stage, number), parity)
        bits = ptx.descriptor_bits(False, tile.block * LINE)
        right = ptx.descriptor(text, self._column_address(stage, number), bits)
        return products.begin_mixing(text, self.attention.dtype, words, right, sums)

    def _finish_product(self, state: list[str], known: int) -> list[str]:
        """The state after the product of the last weights is done: the sums follow the state of
        the rows."""
        stage, parity, *rest = state
        words, sums = rest[known : known + self._word_count], rest[known + self._word_count :]
        sums = self._begin_product(stage, parity, words, sums)
        sums = products.finish(self.text, 0, sums)
        self._release(stage, early=False)
        return sums

    def _release(self, stage: Index, early: bool) -> None:
        """Signal that operands were read: those that only scores read early, the product's late."""
        for number in range(len(self.tile.columns)):
            if (number not in self.released_late) == early:
                ptx.arrive_if(self.text, self.speaks, self._empty(stage, number))

    # Results

    def _staging(self) -> Index:
        return self.text.add(self.rows, self.text.multiply(self.consumer, ROWS * LINE))

    def _copy_out(self, place: TilePlace) -> None:
        text = self.text
        row = text.add(place.row, text.multiply(self.consumer, ROWS))
        for box in range(self.tile.columns[self._mixed].boxes):
            where = [box * products.BOX, row, *[place.batch[axis] for axis in (2, 1, 0)]]
            source = text.add(self._staging(), box * TILE_ROWS * LINE)
            ptx.copy_tile_out(text, "%result_map", where, source)
        ptx.commit_copies_out(text)
        ptx.wait_copies_out(text)
