"""Padded copies of matrices, in which every line begins at a multiple of 128 bytes.

The copying engine needs lines that begin at multiples of 16 bytes, and if threads copy units of two
bytes, the copies take several times as long as the product. One launch copies the matrices of both
operands. A warp copies a part of a line. The gaps between lines are never read.
"""

from __future__ import annotations

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
from ogive.compiler.ir.dtype import DType

THREADS = 256
WARPS = THREADS // 32
AT_ONCE = 8
"""The elements that a lane has in flight."""
PART = 32 * AT_ONCE
"""The elements of a line that a warp copies."""

_SIZES = ("items", "parts", "lines", "inner_batches", "length")
_STRIDES = ("line_stride", "stride", "batch0", "batch1", "pitch")


def copy_parameters() -> list[Parameter]:
    """The parameters, for each of the two matrices: memory, sizes, strides in elements.

    There are `items` parts of lines to copy, `parts` of them in each line.
    """
    return [
        parameter
        for number in (0, 1)
        for parameter in (
            Parameter(f"source_{number}", POINTER), Parameter(f"copy_{number}", POINTER),
            *[Parameter(f"{name}_{number}", "i32") for name in _SIZES],
            *[Parameter(f"{name}_{number}", "i64") for name in _STRIDES],
        )
    ]  # fmt: skip


def write_padding_copy(dtype: DType) -> str:
    """Write the module of the kernel for elements of a type."""
    text = KernelText(f"padding_copy_{dtype.itemsize}", copy_parameters(), THREADS)
    warp = text.divide(text.thread, 32)
    item = text.add(text.multiply(text.special("ctaid.x"), WARPS), warp)
    wait_for_earlier_kernels(text)
    let_later_kernels_begin(text)
    is_first = text.less(item, "%items_0")
    inside = text.choose(is_first, item, text.subtract(item, "%items_0"))
    chosen = {
        each.name.removesuffix("_0"): text.instruction(
            f"select i1 {is_first}, {each.type} %{each.name}, "
            f"{each.type} %{each.name.removesuffix('_0')}_1"
        )
        for each in copy_parameters()
        if each.name.endswith("_0")
    }
    within = text.less(inside, chosen["items"])
    text.when(within, lambda: _copy_part(text, inside, chosen, dtype.itemsize))
    return text.module()


def _copy_part(text: KernelText, item: Index, chosen: dict[str, str], size: int) -> None:
    """Copy a part of a line; all loads are issued before the first store."""
    kind = f"i{8 * size}"
    line, part = text.divide(item, chosen["parts"]), text.remainder(item, chosen["parts"])
    batch, row = text.divide(line, chosen["lines"]), text.remainder(line, chosen["lines"])
    outer = text.divide(batch, chosen["inner_batches"])
    inner = text.remainder(batch, chosen["inner_batches"])
    start = text.wide_sum(
        text.wide_product(text.wide(outer), chosen["batch0"]),
        text.wide_product(text.wide(inner), chosen["batch1"]),
        text.wide_product(text.wide(row), chosen["line_stride"]),
    )
    source = text.at(chosen["source"], start, size)
    target = text.at(chosen["copy"], text.wide_product(text.wide(line), chosen["pitch"]), size)
    first = text.add(text.multiply(part, PART), text.remainder(text.thread, 32))
    places = [text.add(first, 32 * each) for each in range(AT_ONCE)]
    last, values = text.subtract(chosen["length"], 1), []
    for place in places:
        offset = text.wide_product(text.wide(text.minimum(place, last)), chosen["stride"])
        values.append(text.load(kind, text.at(source, offset, size), size))
    for place, value in zip(places, values, strict=True):
        address = text.at(target, text.wide(place), size)
        text.store_if(text.less(place, chosen["length"]), kind, value, address, size)
