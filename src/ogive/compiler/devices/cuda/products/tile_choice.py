"""Choose the tile of a product, by a cost model of its time.

Multiprocessors compute tiles in waves. A tile takes the time of its products or of the copies of
its operands, whichever is longer, plus its prologue and epilogue. The last wave takes as long as
any other, however few tiles it has. So a product of few tiles is faster with smaller tiles, or with
several multiprocessors per tile; a large product is faster with tiles that copy little.
"""

from __future__ import annotations

from collections.abc import Iterator

from ogive.compiler.devices.cuda.products import warp_product
from ogive.compiler.devices.cuda.products.warpgroup_layout import (
    BARRIERS,
    goes_through_shared_memory,
    is_staged,
    stage_tiles,
)
from ogive.compiler.devices.cuda.tensor_cores import warpgroup_instructions
from ogive.compiler.devices.cuda.tensor_cores.epilogue import Result
from ogive.compiler.devices.cuda.tensor_cores.operand_copies import LEAST_ASYNCHRONOUS
from ogive.compiler.devices.cuda.tensor_cores.product import WIDEST_COPY, Matrix, Product
from ogive.compiler.devices.cuda.tensor_cores.tiles import WarpgroupTile, WarpTile
from ogive.compiler.devices.cuda.tensor_cores.warpgroup_instructions import LINE
from ogive.named import NamedTuple

Tile = WarpTile | WarpgroupTile


class ProductCosts(NamedTuple):
    """Times in cycles of a multiprocessor, fitted to 342 products on an H200; half of these are
    estimated within 10 %."""

    launch: float = 2450.0  # a kernel, whatever it does
    warpgroup_area: float = 1 / 26.4  # of a tile, for each 128 bytes along k: products
    warpgroup_bytes: float = 1 / 72  # copied by the engine
    far: float = 1.3  # times as long where neither operand is small: the halves of the cache are
    far_bytes: int = 8 << 20  # ... apart (measured at 1024×1024×8192 alone)
    misaligned: float = 2.2  # times as long where lines do not begin at multiples of 128 bytes
    warpgroup_stage: float = 240.0  # a stage, at least
    warpgroup_tile: float = 440.0  # the ends of a tile
    warpgroup_column: float = 0.6  # storing what a row of threads has
    line_elements: float = 0.12  # storing a result line by line, an element of a tile
    single_elements: float = 0.5  # storing one from registers that is not in pairs
    split: float = 1300.0  # exchanging sums, at least
    split_element: float = 0.15  # an element of a tile, by each of its blocks
    warp_area: float = 1 / 7.5  # as `warpgroup_area`, by warps
    warp_bytes: float = 1 / 260  # copied by threads, 16 at once
    warp_unit: float = 0.21  # a copy by a thread, however small
    warp_tile: float = 800.0
    padding: float = 1800.0  # padding copies, whatever they do
    padding_bytes: float = 1 / 12  # of them, read and written


class Machine(NamedTuple):
    """The resources: multiprocessors, and the shared memory of a block in bytes."""

    processors: int = 132
    shared_bytes: int = 227 << 10
    has_warpgroups: bool = True


H200 = Machine()
H200_COSTS = ProductCosts()


def choose_tile(
    product: Product, machine: Machine = H200, costs: ProductCosts = H200_COSTS,
    by_warps: bool = True,
) -> Tile | None:  # fmt: skip
    """Choose the tile with the least estimated time; None if no tile fits the element types.

    Without `by_warps`, only tiles of warpgroups are considered.
    """
    tiles = [
        tile for tile in _tiles(product, machine) if by_warps or isinstance(tile, WarpgroupTile)
    ]
    times = [estimate(product, tile, machine, costs) for tile in tiles]
    return tiles[times.index(min(times))] if tiles else None


def _suits_warpgroups(product: Product, machine: Machine) -> bool:
    """Whether the copying engine can read both operands, and `wgmma` supports their layouts."""
    if not machine.has_warpgroups or product.operand not in warpgroup_instructions.OPERANDS:
        return False
    majors = product.left_is_k_major, product.right_is_k_major
    return (
        (product.operand.itemsize == 2 or majors == (True, True))
        and 1 in (product.left.row, product.left.column)
        and 1 in (product.right.row, product.right.column)
        and product.left.unit(product.m, product.k) == WIDEST_COPY
        and product.right.unit(product.k, product.n) == WIDEST_COPY
    )


def _tiles(product: Product, machine: Machine) -> Iterator[Tile]:
    if _suits_warpgroups(product, machine):
        yield from _warpgroup_tiles(product, machine)
    if product.operand in warp_product.OPERANDS:
        yield from _warp_tiles(product, machine)


def _warpgroup_tiles(product: Product, machine: Machine) -> Iterator[WarpgroupTile]:
    widths: tuple[int, ...] = (64, 128, 160, 192, 224, 256)
    if product.right_is_k_major:
        widths = (32, 64, 96, 128, 144, 160, 192, 224, 256)
    for m in (64, 128):
        for n in widths:
            for splits in (1, 2):
                tiles = _count(product.m, m) * _count(product.n, n) * product.batches
                if (splits > 1 and tiles * splits > machine.processors) or n % (8 * splits):
                    continue
                tile = _with_stages(product, WarpgroupTile(m, n, 1, splits), machine)
                if tile is not None:
                    yield tile


def _with_stages(
    product: Product, tile: WarpgroupTile, machine: Machine
) -> WarpgroupTile | None:
    """The tile with as many stages as fit, up to 8; None if not even two do."""
    staging = tile.m * tile.n * 2 if goes_through_shared_memory(product, tile) else 0
    room = machine.shared_bytes - BARRIERS - staging
    stages = min(8, room // sum(stage_tiles(product, tile)))
    needed = tile.m * tile.n * 4 if tile.splits > 1 else 0  # to exchange sums
    fits = stages >= 2 and stages * sum(stage_tiles(product, tile)) >= needed
    return tile._replace(stages=stages) if fits else None


def _warp_tiles(product: Product, machine: Machine) -> Iterator[WarpTile]:
    size = product.operand.itemsize
    wide = LINE // size
    for tile in (
        WarpTile(128, 128, wide, 2, 2, stages=3), WarpTile(64, 64, wide, 2, 2),
        WarpTile(64, 64, wide // 2, 2, 2), WarpTile(32, 64, wide, 1, 2, 2),
        WarpTile(16, 32, 2 * wide, 1, 1, 4), WarpTile(16, 32, 4 * wide, 1, 1, 4, stages=6),
    ):  # fmt: skip
        if tile.shared_bytes(product.operand) <= machine.shared_bytes:
            yield tile


def estimate(
    product: Product, tile: Tile, machine: Machine = H200, costs: ProductCosts = H200_COSTS
) -> float:
    """The estimated cycles of a product with a tile."""
    tiles = _count(product.m, tile.m) * _count(product.n, tile.n) * product.batches
    if isinstance(tile, WarpgroupTile):
        waves = _count(tiles * tile.splits, machine.processors)
        return costs.launch + waves * _warpgroup_tile_time(product, tile, costs)
    # As many blocks as fit into shared memory run at once, and share the tensor cores.
    together = max(1, min(4, machine.shared_bytes // tile.shared_bytes(product.operand)))
    waves = _count(tiles, machine.processors * together)
    here = min(together, _count(tiles, machine.processors))
    return costs.launch + waves * _warp_tile_time(product, tile, here, costs)


def _warpgroup_tile_time(product: Product, tile: WarpgroupTile, costs: ProductCosts) -> float:
    stages = _count(_count(product.k * product.operand.itemsize, LINE), tile.splits)
    left, right = stage_tiles(product, tile)
    moved = left * _line_cost(product.left, costs) + right * _line_cost(product.right, costs)
    if min(product.m, product.n) * product.k * product.operand.itemsize > costs.far_bytes:
        moved *= costs.far
    columns = tile.n
    if not product.right_is_k_major and columns == 160:
        columns = 192  # measured: columns that do not fill boxes of 64 take as long
    stage = max(
        tile.m * columns * costs.warpgroup_area, moved * costs.warpgroup_bytes,
        costs.warpgroup_stage,
    )  # fmt: skip
    ends = costs.warpgroup_tile + tile.n * costs.warpgroup_column
    ends += _store_time(product, tile, costs) / tile.splits
    exchange = 0.0
    if tile.splits > 1:
        exchange = costs.split + tile.m * tile.n * tile.splits * costs.split_element
    return stages * stage + ends + exchange


def _line_cost(matrix: Matrix, costs: ProductCosts) -> float:
    """The factor by which misaligned lines of a matrix slow down copies."""
    pitch = (matrix.row if matrix.column == 1 else matrix.column) * matrix.dtype.itemsize
    return costs.misaligned if pitch % LINE else 1.0


def _warp_tile_time(
    product: Product, tile: WarpTile, together: int, costs: ProductCosts
) -> float:
    size = product.operand.itemsize
    stages = _count(product.k, tile.k)
    lines = tile.k * size / LINE
    left, right = product.left.unit(product.m, product.k), product.right.unit(product.k, product.n)
    if min(left, right) < LEAST_ASYNCHRONOUS:
        stages += tile.stages - 1  # the stages ahead are loaded one after another
    units = tile.m * tile.k * size / left + tile.n * tile.k * size / right
    products = tile.m * tile.n * lines * costs.warp_area
    copies = (tile.m + tile.n) * tile.k * size * costs.warp_bytes
    stage = max(products, copies) + units * costs.warp_unit
    return (stages * stage + costs.warp_tile + _store_time(product, tile, costs)) * together


def _store_time(product: Product, tile: Tile, costs: ProductCosts) -> float:
    """The additional cycles of storing results whose rows are misaligned."""
    area = tile.m * tile.n
    if isinstance(tile, WarpgroupTile) and goes_through_shared_memory(product, tile):
        return 0.0 if is_staged(product, tile) else area * costs.line_elements
    return 0.0 if Result.of(product).in_pairs else area * costs.single_elements


def _count(length: int, step: int) -> int:
    return -(-length // step)
