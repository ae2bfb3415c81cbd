"""Plan a product as launches: with the fastest tile, and on padded operands if that pays.

The copying engine cannot read matrices whose lines do not begin at multiples of 16 bytes, but it
can read padded copies, which take a fraction of the product's time if it has many rows and columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ogive.compiler.devices.cuda.products.launches import (
    Argument,
    Launch,
    Memory,
    Number,
    launch_product,
)
from ogive.compiler.devices.cuda.products.padding_copy import (
    PART,
    THREADS,
    WARPS,
    copy_parameters,
    write_padding_copy,
)
from ogive.compiler.devices.cuda.products.tile_choice import (
    H200,
    H200_COSTS,
    Machine,
    ProductCosts,
    Tile,
    choose_tile,
    estimate,
)
from ogive.compiler.devices.cuda.tensor_cores.epilogue import Steps
from ogive.compiler.devices.cuda.tensor_cores.kernel_text import POINTER
from ogive.compiler.devices.cuda.tensor_cores.product import WIDEST_COPY, Matrix, Product
from ogive.compiler.devices.cuda.tensor_cores.warpgroup_instructions import LINE
from ogive.compiler.ir.dtype import DType
from ogive.named import NamedTuple

MOST_TERMS_OF_COPIES = 512
"""The most terms of padded copies that are multiplied by warps."""
_ALIGNMENT = 256
"""The alignment of copies, in bytes."""


class ProductPlan(NamedTuple):
    """Launches in order, and the bytes that they need of the memory "workspace"."""

    launches: tuple[Launch, ...]
    workspace_bytes: int


def plan_product(
    product: Product, steps: Steps = (), machine: Machine = H200,
    costs: ProductCosts = H200_COSTS, places: Mapping[str, Memory] | None = None,
) -> ProductPlan | None:  # fmt: skip
    """Plan how to compute a product; None if tensor cores do not multiply its element types.

    `steps` and `places` are as in `launch_product`.
    """
    known = dict(places or {})
    candidates = [_Padded(product, (), 0), *[_pad(product, lines) for lines in (WIDEST_COPY, LINE)]]
    timed = [
        (_time(padded, tile, machine, costs), padded, tile)
        for padded in candidates
        if (tile := _tile(padded, machine, costs)) is not None
    ]
    if not timed:
        return None
    _, best, tile = min(timed, key=lambda each: each[0])
    before = (launch_copies(best.copies, known),) if best.copies else ()
    known.update({copy.name: copy.place for copy in best.copies})
    last = launch_product(best.product, tile, steps, machine.processors, known)
    return ProductPlan((*before, last), best.nbytes)


class PaddedCopy(NamedTuple):
    """A padded copy of an operand: `lines` lines of `length` elements, for each batch. The strides
    are the operand's; lines of the copy are `pitch` apart."""

    name: str
    dtype: DType
    lines: int
    length: int
    line_stride: int
    stride: int
    batch_strides: tuple[int, int]
    batch: tuple[int, int]
    pitch: int
    place: Memory

    @property
    def all_lines(self) -> int:
        return self.lines * self.batch[0] * self.batch[1]


class _Padded(NamedTuple):
    """A product on padded copies of its operands."""

    product: Product
    copies: tuple[PaddedCopy, ...]
    nbytes: int


def _pad(product: Product, multiple: int) -> _Padded:
    """The product with padded copies of the operands whose lines do not all begin at multiples of
    `multiple` bytes."""
    copies: list[PaddedCopy] = []
    nbytes = 0
    for name, matrix, rows, columns in _operands(product):
        by_columns = matrix.row == 1 and matrix.column != 1
        lines, length = (columns, rows) if by_columns else (rows, columns)
        size = matrix.dtype.itemsize
        stride = matrix.column if by_columns else matrix.row
        fits = stride * size % multiple == 0 or lines == 1
        if fits and matrix.unit(rows, columns) == WIDEST_COPY:
            continue
        pitch = (length * size + -length * size % LINE) // size
        batch = (
            product.batch[0] if matrix.batch[0] else 1, product.batch[1] if matrix.batch[1] else 1
        )  # fmt: skip
        across, along = (matrix.column, matrix.row) if by_columns else (matrix.row, matrix.column)
        place = Memory("workspace", nbytes)
        copy = PaddedCopy(
            name, matrix.dtype, lines, length, across, along, matrix.batch, batch, pitch, place
        )
        copies.append(copy)
        nbytes += copy.all_lines * pitch * size
        nbytes += -nbytes % _ALIGNMENT
        inner = lines * pitch if batch[1] > 1 else 0
        outer = lines * pitch * batch[1] if batch[0] > 1 else 0
        row, column = (1, pitch) if by_columns else (pitch, 1)
        padded = Matrix(matrix.dtype, row, column, (outer, inner))
        if name == "left":
            product = product._replace(left=padded)
        else:
            product = product._replace(right=padded)
    return _Padded(product, tuple(copies), nbytes)


def _operands(product: Product) -> Iterator[tuple[str, Matrix, int, int]]:
    yield "left", product.left, product.m, product.k
    yield "right", product.right, product.k, product.n


def _tile(padded: _Padded, machine: Machine, costs: ProductCosts) -> Tile | None:
    """Choose the tile of a product on copies or on the operands themselves.

    Warps multiply only few terms of a copy: with many terms they were measured to take twice as
    long on a copy as on an operand that needs none.
    """
    by_warps = not padded.copies or padded.product.k <= MOST_TERMS_OF_COPIES
    return choose_tile(padded.product, machine, costs, by_warps)


def _time(padded: _Padded, tile: Tile, machine: Machine, costs: ProductCosts) -> float:
    """The estimated cycles of the copies and the product."""
    size = padded.product.operand.itemsize
    moved = 2 * size * sum([copy.all_lines * copy.pitch for copy in padded.copies])
    copying = moved / machine.processors * costs.padding_bytes
    return (
        (costs.padding + copying if padded.copies else 0.0)
        + estimate(padded.product, tile, machine, costs)
    )  # fmt: skip


def launch_copies(copies: tuple[PaddedCopy, ...], places: Mapping[str, Memory]) -> Launch:
    """One launch that makes one or two copies of the memory at the places of their names."""
    values: dict[str, int] = {}
    memory: dict[str, Memory] = {}
    items = 0
    for number in (0, 1):
        copy = copies[min(number, len(copies) - 1)]
        parts = -(-copy.length // PART)
        count = copy.all_lines * parts if number < len(copies) else 0
        known = {
            "items": count, "parts": parts, "lines": copy.lines, "length": copy.length,
            "inner_batches": copy.batch[1], "line_stride": copy.line_stride,
            "stride": copy.stride, "batch0": copy.batch_strides[0],
            "batch1": copy.batch_strides[1], "pitch": copy.pitch,
        }  # fmt: skip
        values.update({f"{name}_{number}": value for name, value in known.items()})
        memory[f"source_{number}"] = places.get(copy.name, Memory(copy.name))
        memory[f"copy_{number}"] = copy.place
        items += count
    arguments: list[Argument] = []
    for each in copy_parameters():
        if each.type == POINTER:
            arguments.append(memory[each.name])
        else:
            arguments.append(Number(values[each.name], 4 if each.type == "i32" else 8))
    dtype = copies[0].dtype
    name = f"padding_copy_{dtype.itemsize}"
    blocks = -(-items // WARPS)
    return Launch(write_padding_copy(dtype), name, blocks, THREADS, 0, tuple(arguments))
