"""The order of the tiles of the result, which decides what is read at the same time.

Tiles are numbered batch by batch, in groups of `group` rows of tiles, and column by column within a
group. So blocks that run at the same time share rows of the left operand and columns of the right
one, which stay in the cache. The place of a tile takes divisions by numbers known at launch; they
are multiplications by numbers that the host computes.
"""

from __future__ import annotations

from collections.abc import Mapping

from ogive.compiler.devices.cuda.tensor_cores.kernel_text import Index, KernelText, Parameter
from ogive.named import NamedTuple

_DIVISORS = ("tiles", "together", "tail", "inner_batches")
_NAMES = (
    "tile_rows", "all_tiles", *_DIVISORS,
    *[f"{name}_{part}" for name in _DIVISORS for part in ("multiplier", "shift")],
)  # fmt: skip


def order_parameters() -> list[Parameter]:
    """The parameters from which a kernel computes the places of its tiles."""
    return [Parameter(name, "i32") for name in _NAMES]


def order_values(rows: int, columns: int, group: int, batch: tuple[int, int]) -> dict[str, int]:
    """The values of the parameters for a number of rows and columns of tiles."""
    tiles = rows * columns
    values = {
        "tile_rows": rows, "all_tiles": tiles * batch[0] * batch[1], "tiles": tiles,
        "together": columns * group, "tail": rows % group or group, "inner_batches": batch[1],
    }  # fmt: skip
    for name in _DIVISORS:
        multiplier, shift = division(values[name])
        values[f"{name}_multiplier"], values[f"{name}_shift"] = multiplier, shift
    return values


def division(divisor: int) -> tuple[int, int]:
    """Multiplier and shift of a division by multiplication.

    `n // divisor` is `(n + high half of n * multiplier) >> shift`, for all n below 2^31.

    >>> multiplier, shift = division(7)
    >>> (1000 + (1000 * multiplier >> 32)) >> shift
    142
    """
    shift = (divisor - 1).bit_length()
    return ((1 << 32) * ((1 << shift) - divisor)) // divisor + 1, shift


class TilePlace(NamedTuple):
    """Batch, row and column of a tile; row and column count tiles."""

    batch: tuple[Index, Index]
    row: Index
    column: Index


def find_tile(
    text: KernelText, number: Index, group: int, values: Mapping[str, Index] | None = None
) -> TilePlace:
    """The place of the tile with a number. `values` are the parameters if they are constants."""
    known = values or {name: f"%{name}" for name in _NAMES}

    def divide(dividend: Index, name: str) -> Index:
        high = text.high_product(dividend, known[f"{name}_multiplier"])
        return text.shift_right(text.add(dividend, high), known[f"{name}_shift"])

    def divide_both(dividend: Index, name: str) -> tuple[Index, Index]:
        quotient = divide(dividend, name)
        return quotient, text.subtract(dividend, text.multiply(quotient, known[name]))

    batch, inside = divide_both(number, "tiles")
    groups, inside = divide_both(inside, "together")
    first = text.multiply(groups, group)
    is_whole = text.less(text.add(first, group - 1), known["tile_rows"])
    column = text.choose(is_whole, text.divide(inside, group), divide(inside, "tail"))
    height = text.choose(is_whole, group, known["tail"])
    row = text.add(first, text.subtract(inside, text.multiply(column, height)))
    return TilePlace(divide_both(batch, "inner_batches"), row, column)
