"""The parameters of a kernel by warpgroups, and the shared memory that it takes."""

from __future__ import annotations

from ogive.devices.cuda.tensor_cores.epilogue import (
    Steps,
    step_parameters,
)
from ogive.devices.cuda.tensor_cores.kernel_text import (
    POINTER,
    TENSOR_MAP,
    Parameter,
)
from ogive.devices.cuda.tensor_cores.product import WIDEST_COPY, Product
from ogive.devices.cuda.tensor_cores.tile_order import order_parameters
from ogive.devices.cuda.tensor_cores.tiles import WarpgroupTile
from ogive.devices.cuda.tensor_cores.warpgroup_instructions import BOX, LINE

BARRIERS = 1024
"""Bytes at the beginning of shared memory for barriers; tiles are aligned to as many."""


def warpgroup_parameters(staged: bool, steps: Steps) -> list[Parameter]:
    """The parameters of a kernel: tensor maps, sizes, which operands have the batch axes."""
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
    """Whether the left and the right operand have the outer and the inner batch axis: 1, or 0."""
    return [f"{name}_has{axis}" for name in ("left", "right") for axis in (0, 1)]


def goes_through_shared_memory(product: Product, tile: WarpgroupTile) -> bool:
    """Whether results do, and are stored from there: those of two bytes, of one block each."""
    matrix = product.result
    return tile.splits == 1 and matrix.dtype.itemsize == 2 and matrix.column == 1


def is_staged(product: Product, tile: WarpgroupTile) -> bool:
    """Whether the engine copies results from there, since their rows fit it."""
    fits = product.result.unit(product.m, product.n) == WIDEST_COPY
    return fits and goes_through_shared_memory(product, tile)


def warpgroup_shared_bytes(product: Product, tile: WarpgroupTile) -> int:
    """The shared memory that a block takes."""
    left, right = stage_tiles(product, tile)
    staging = tile.m * tile.n * 2 if goes_through_shared_memory(product, tile) else 0
    return BARRIERS + tile.stages * (left + right) + staging


def stage_tiles(product: Product, tile: WarpgroupTile) -> tuple[int, int]:
    """Bytes of a stage, of the left and the right operand."""
    columns = tile.n if product.right_is_k_major else -(-tile.n // BOX) * BOX
    return tile.m * LINE, columns * LINE


def box_lines(extent: int, tile: int) -> int:
    """How many lines of an operand with lines along k are copied at once: those that there are.
    Lines outside of a matrix take the engine longer than others; what is in their place only has
    a part in results outside."""
    return min(tile, extent + -extent % 8)


def stage_bytes(product: Product, tile: WarpgroupTile) -> int:
    """How many bytes of operands come for each stage."""
    left, right = stage_tiles(product, tile)
    if product.left_is_k_major:
        left = box_lines(product.m, tile.m) * LINE
    if product.right_is_k_major:
        right = box_lines(product.n, tile.n) * LINE
    return left + right
