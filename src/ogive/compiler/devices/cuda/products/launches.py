"""Launches of kernels for products: grids, shared memory and arguments."""

from __future__ import annotations

from collections.abc import Mapping

from ogive.compiler.devices.cuda.products.warp_product import product_parameters, write_warp_product
from ogive.compiler.devices.cuda.products.warpgroup_layout import (
    box_lines,
    is_staged,
    stage_bytes,
    warpgroup_parameters,
    warpgroup_shared_bytes,
)
from ogive.compiler.devices.cuda.products.warpgroup_product import write_warpgroup_product
from ogive.compiler.devices.cuda.tensor_cores.epilogue import Steps
from ogive.compiler.devices.cuda.tensor_cores.kernel_text import POINTER, TENSOR_MAP, Parameter
from ogive.compiler.devices.cuda.tensor_cores.product import Matrix, Product
from ogive.compiler.devices.cuda.tensor_cores.tile_order import order_values
from ogive.compiler.devices.cuda.tensor_cores.tiles import ROWS, WarpgroupTile, WarpTile
from ogive.compiler.devices.cuda.tensor_cores.warpgroup_instructions import BOX, LINE
from ogive.compiler.ir.dtype import DType
from ogive.named import NamedTuple

Tile = WarpTile | WarpgroupTile


class Memory(NamedTuple):
    """The address of a buffer: "left", "right", "result", "workspace", or a parameter of a step.

    A kernel gets the address plus `offset` bytes.
    """

    name: str
    offset: int = 0


class TensorMap(NamedTuple):
    """A tensor in memory as the copying engine (TMA) sees it, for `cuTensorMapEncodeTiled`.

    Extents and the box are in elements, the innermost axis first. Strides are in bytes, for all
    axes except the innermost. Lines of the box are swizzled over `swizzle` bytes.
    """

    memory: Memory
    dtype: DType
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int


class Number(NamedTuple):
    """A number and its size in bytes."""

    value: int
    nbytes: int


Argument = Memory | TensorMap | Number


class Launch(NamedTuple):
    """One launch of a kernel."""

    module: str
    name: str
    blocks: int
    threads: int
    shared_bytes: int
    arguments: tuple[Argument, ...]


def launch_product(
    product: Product, tile: Tile, steps: Steps = (), processors: int = 132,
    places: Mapping[str, Memory] | None = None,
) -> Launch:  # fmt: skip
    """The launch that computes a product by tiles.

    Args:
        product: the product to compute.
        tile: the tile of the kernel.
        steps: the steps of the epilogue.
        processors: the number of multiprocessors.
        places: the places of matrices that are not at the beginning of the memory of their name.
    """
    rows, columns = -(-product.m // tile.m), -(-product.n // tile.n)
    order = order_values(rows, columns, tile.group, product.batch)
    values = {**_sizes(product), **order}
    tiles = order["all_tiles"]
    if isinstance(tile, WarpTile):
        module = write_warp_product(product, tile, steps)
        parameters = product_parameters(steps)
        blocks, shared = tiles, tile.shared_bytes(product.operand)
        maps: dict[str, TensorMap] = {}
    else:
        module = write_warpgroup_product(product, tile, steps)
        parameters = warpgroup_parameters(is_staged(product, tile), steps)
        blocks = tiles * tile.splits if tile.splits > 1 else min(tiles, processors)
        shared = warpgroup_shared_bytes(product, tile)
        values["stage_bytes"] = stage_bytes(product, tile)
        maps = _tensor_maps(product, tile, places or {})
    arguments = tuple([_argument(each, values, maps, places or {}) for each in parameters])
    name = module.partition("define ptx_kernel void @")[2].partition("(")[0]
    return Launch(module, name, blocks, tile.threads, shared, arguments)


def _argument(
    parameter: Parameter, values: Mapping[str, int], maps: Mapping[str, TensorMap],
    places: Mapping[str, Memory],
) -> Argument:  # fmt: skip
    if parameter.type == POINTER:
        return places.get(parameter.name, Memory(parameter.name))
    if parameter.type == TENSOR_MAP:
        return maps[parameter.name]
    return Number(values[parameter.name], 4 if parameter.type == "i32" else 8)


def _sizes(product: Product) -> dict[str, int]:
    """The numbers among the parameters, by name."""
    values = {"m": product.m, "n": product.n, "k": product.k}
    matrices = {"left": product.left, "right": product.right, "result": product.result}
    for name, matrix in matrices.items():
        values[f"{name}_row"], values[f"{name}_column"] = matrix.row, matrix.column
        for axis, stride in enumerate(matrix.batch):
            values[f"{name}_batch{axis}"] = stride
            values[f"{name}_has{axis}"] = int(stride != 0)
    return values


def _tensor_maps(
    product: Product, tile: WarpgroupTile, places: Mapping[str, Memory]
) -> dict[str, TensorMap]:
    m, n, k = product.m, product.n, product.k
    line = LINE // product.operand.itemsize
    left, right, result = product.left, product.right, product.result
    if product.left_is_k_major:
        box = (line, box_lines(m, tile.m))
        left_map = _map("left", left, (k, m), left.row, product, box, LINE)
    else:
        left_map = _map("left", left, (m, k), left.column, product, (BOX, line), LINE)
    if product.right_is_k_major:
        box = (line, box_lines(n, tile.n))
        right_map = _map("right", right, (k, n), right.column, product, box, LINE)
    else:
        right_map = _map("right", right, (n, k), right.row, product, (BOX, line), LINE)
    maps = {"left_map": left_map, "right_map": right_map}
    if is_staged(product, tile):
        box = (tile.store_columns, ROWS)
        swizzle = tile.store_columns * 2
        maps["result_map"] = _map("result", result, (n, m), result.row, product, box, swizzle)
    return {
        name: each._replace(memory=places.get(each.memory.name, each.memory))
        for name, each in maps.items()
    }


def _map(
    name: str, matrix: Matrix, extents: tuple[int, int], stride: int, product: Product,
    box: tuple[int, int], swizzle: int,
) -> TensorMap:  # fmt: skip
    """The map of a matrix with its two batch axes; an axis of stride 0 has one element."""
    size = matrix.dtype.itemsize
    outer, inner = matrix.batch
    batches = product.batch[1] if inner else 1, product.batch[0] if outer else 1
    # The driver checks also the strides of axes of length 1, which are never used.
    least = extents[0] * size + -extents[0] * size % 16
    strides = [s * size if s and count > 1 else least
               for s, count in ((stride, extents[1]), (inner, batches[0]), (outer, batches[1]))]
    return TensorMap(
        Memory(name), matrix.dtype, (*extents, *batches), tuple(strides), (*box, 1, 1), swizzle
    )  # fmt: skip
