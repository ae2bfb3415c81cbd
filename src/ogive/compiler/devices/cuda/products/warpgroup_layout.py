"""The parameters of a kernel by warpgroups, and its layout of shared memory."""

from __future__ import annotations

from ogive.compiler.devices.cuda.tensor_cores.epilogue import (
    Steps,
    step_parameters,
)
from ogive.compiler.devices.cuda.tensor_cores.kernel_text import (
    POINTER,
    TENSOR_MAP,
    Parameter,
)
from ogive.compiler.devices.cuda.tensor_cores.product import WIDEST_COPY, Product
from ogive.compiler.devices.cuda.tensor_cores.tile_order import order_parameters
from ogive.compiler.devices.cuda.tensor_cores.tiles import WarpgroupTile
from ogive.compiler.devices.cuda.tensor_cores.warpgroup_instructions import BOX, LINE

BARRIERS = 1024
"""Bytes at the beginning of shared memory for barriers; also the alignment of the tiles."""


def warpgroup_parameters(staged: bool, steps: Steps) -> list[Parameter]:
    """The parameters of a kernel: tensor maps, sizes, and flags of the operands' batch axes."""
    maps = [Parameter(f"{name}_map", TENSOR_MAP) for name in ("left", "right")]
    names = ("m", "n", "k", "stage_bytes", *_batched())
    sizes = [Parameter(name, "i32") for name in names] + order_parameters()
    if staged:
        out = [Parameter("result_map", TENSOR_MAP)]
    else:
        axes = ("row", "column", "batch0", "batch1")
        out = [Parameter("result", POINTER), *[Parameter(f"result_{a}", "i64") for a in axes]]
    return [*maps, *out, *sizes, *step_parameters(steps)]


def _batched() -> list[str]:
    """The flags (1 or 0) whether the left and right operand have the outer and inner batch axis."""
    return [f"{name}_has{axis}" for name in ("left", "right") for axis in (0, 1)]


def goes_through_shared_memory(product: Product, tile: WarpgroupTile) -> bool:
    """Whether shared memory stages the results: two-byte results in contiguous rows, not split."""
    matrix = product.result
    return tile.splits == 1 and matrix.dtype.itemsize == 2 and matrix.column == 1


def is_staged(product: Product, tile: WarpgroupTile) -> bool:
    """Whether the copying engine stores the results, whose rows must be aligned for that."""
    fits = product.result.unit(product.m, product.n) == WIDEST_COPY
    return fits and goes_through_shared_memory(product, tile)


def warpgroup_shared_bytes(product: Product, tile: WarpgroupTile) -> int:
    """The bytes of shared memory of a block."""
    left, right = stage_tiles(product, tile)
    staging = tile.m * tile.n * 2 if goes_through_shared_memory(product, tile) else 0
    return BARRIERS + tile.stages * (left + right) + staging


def stage_tiles(product: Product, tile: WarpgroupTile) -> tuple[int, int]:
    """The bytes of a stage of the left and of the right operand."""
    columns = tile.n if product.right_is_k_major else -(-tile.n // BOX) * BOX
    return tile.m * LINE, columns * LINE


def box_lines(extent: int, tile: int) -> int:
    """How many lines of an operand with lines along k one copy has: only lines of the matrix.
    The engine takes longer for lines outside of a matrix than for others. The stale contents in
    their place only affect results outside."""
    return min(tile, extent + -extent % 8)


def stage_bytes(product: Product, tile: WarpgroupTile) -> int:
    """The bytes of operands that the copies of a stage bring."""
    left, right = stage_tiles(product, tile)
    if product.left_is_k_major:
        left = box_lines(product.m, tile.m) * LINE
    if product.right_is_k_major:
        right = box_lines(product.n, tile.n) * LINE
    return left + right
