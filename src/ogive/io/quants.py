"""Dequantization of the block formats of GGUF, as part of the graph.

A row is divided into blocks of 32 or 256 numbers. The bytes of a block are scales, and the numbers
in 4 to 8 bits each, whose bits may be in several places. Each function takes blocks, (..., bytes)
of uint8, and returns their numbers, (..., numbers) of float32. The bytes are sliced, shifted and
masked in the kernels that use the numbers.
"""

from __future__ import annotations

from collections.abc import Callable

from ogive.compiler.ir import dtype as dtypes
from ogive.io.words import to_numbers
from ogive.named import NamedTuple
from ogive.tensor.creation.constructors import arange
from ogive.tensor.movement.joining import cat
from ogive.tensor.tensor import Tensor


class Quantization(NamedTuple):
    """A block format: how many numbers a block holds, and in how many bytes."""

    numbers: int
    nbytes: int
    dequantize: Callable[[Tensor], Tensor]


def _half(blocks: Tensor, at: int) -> Tensor:
    """Return the float16 at byte `at` of each block. Shapes: (..., bytes) → (..., 1)."""
    scale = to_numbers(blocks[..., at : at + 2], dtypes.float16)
    return scale.cast(dtypes.float32).unsqueeze(-1)


def _fields(raw: Tensor, count: int, bits: int) -> Tensor:
    """Split bytes into bit fields, the lowest first. Shapes: (..., n) → (..., count, n)."""
    shifts = (arange(count, dtype=dtypes.uint8) * bits).reshape(count, 1)
    return (raw.unsqueeze(-2) >> shifts) & (1 << bits) - 1


def _signed(quants: Tensor, zero: int) -> Tensor:
    """Return unsigned fields less `zero`, as float32."""
    return (quants.cast(dtypes.int8) - zero).cast(dtypes.float32)


def _flat(values: Tensor, axes: int) -> Tensor:
    """Join the last axes into one."""
    return values.flatten(values.ndim - axes)


def _fifth_bits(blocks: Tensor, at: int) -> Tensor:
    """Return the 32 bits of four bytes as the fifth bits of numbers: 0 or 16, as (..., 2, 16)."""
    bits = _fields(blocks[..., at : at + 4], 8, 1)  # (..., bit, byte)
    ordered = _flat(bits.transpose(-1, -2), 2)
    return ordered.unflatten(-1, (2, 16)) << 4


def q4_0(blocks: Tensor) -> Tensor:
    """d · (q - 8): d of float16, then 16 bytes with q, first the low halves, then the high ones."""
    quants = _flat(_fields(blocks[..., 2:18], 2, 4), 2)
    return _signed(quants, 8) * _half(blocks, 0)


def q4_1(blocks: Tensor) -> Tensor:
    """d · q + m: d and m of float16, then q as in `q4_0`."""
    quants = _flat(_fields(blocks[..., 4:20], 2, 4), 2)
    return quants.cast(dtypes.float32) * _half(blocks, 0) + _half(blocks, 2)


def q5_0(blocks: Tensor) -> Tensor:
    """d · (q - 16): d, 32 fifth bits, and the lower four as in `q4_0`."""
    quants = _fields(blocks[..., 6:22], 2, 4) | _fifth_bits(blocks, 2)
    return _signed(_flat(quants, 2), 16) * _half(blocks, 0)


def q5_1(blocks: Tensor) -> Tensor:
    """d · q + m: d, m, 32 fifth bits, and the lower four as in `q4_0`."""
    quants = _flat(_fields(blocks[..., 8:24], 2, 4) | _fifth_bits(blocks, 4), 2)
    return quants.cast(dtypes.float32) * _half(blocks, 0) + _half(blocks, 2)


def q8_0(blocks: Tensor) -> Tensor:
    """d · q: d of float16, 32 signed bytes."""
    return blocks[..., 2:34].bitcast(dtypes.int8).cast(dtypes.float32) * _half(blocks, 0)


def _scales_and_minima(blocks: Tensor) -> tuple[Tensor, Tensor]:
    """Return the 8 scales and 8 minima of a K block, (..., 8, 1) each, times their float16.

    They have 6 bits each, in twelve bytes. The first four scales and minima are the low 6 bits of
    the first eight bytes. The last four have 4 bits in the halves of the last four bytes, and 2 in
    the high bits of the first eight.
    """
    raw = blocks[..., 4:16]
    first, second, third = raw[..., :4], raw[..., 4:8], raw[..., 8:]
    scales = cat([first & 63, (third & 15) | (first >> 6 << 4)], -1)
    minima = cat([second & 63, (third >> 4) | (second >> 6 << 4)], -1)
    return (
        (scales.cast(dtypes.float32) * _half(blocks, 0)).unsqueeze(-1),
        (minima.cast(dtypes.float32) * _half(blocks, 2)).unsqueeze(-1),
    )


def q4_k(blocks: Tensor) -> Tensor:
    """d · scale · q - dmin · minimum, for 8 groups of 32. Two groups share 32 bytes, in halves."""
    halves = _fields(blocks[..., 16:144].unflatten(-1, (4, 32)), 2, 4)  # (..., 4, 2, 32)
    quants = halves.flatten(-3, -2).cast(dtypes.float32)
    scales, minima = _scales_and_minima(blocks)
    return _flat(quants * scales - minima, 2)


def q5_k(blocks: Tensor) -> Tensor:
    """As `q4_k`, with fifth bits in 32 more bytes: those of group g are the bits g."""
    halves = _fields(blocks[..., 48:176].unflatten(-1, (4, 32)), 2, 4).flatten(-3, -2)
    fifths = _fields(blocks[..., 16:48], 8, 1) << 4
    scales, minima = _scales_and_minima(blocks)
    return _flat((halves | fifths).cast(dtypes.float32) * scales - minima, 2)


def q6_k(blocks: Tensor) -> Tensor:
    """d · scale · (q - 32), for 16 groups of 16 with signed scales.

    For each half of the block, 64 bytes hold the lower four bits of 128 numbers (low halves first),
    and 32 bytes the upper two.
    """
    low = _fields(blocks[..., :128].unflatten(-1, (2, 64)), 2, 4)  # (..., 2, 2, 64)
    high = _fields(blocks[..., 128:192].unflatten(-1, (2, 32)), 4, 2)  # (..., 2, 4, 32)
    quants = _flat(low, 3) | (_flat(high, 3) << 4)
    scales = blocks[..., 192:208].bitcast(dtypes.int8).cast(dtypes.float32) * _half(blocks, 208)
    groups = _signed(quants, 32).unflatten(-1, (16, 16))
    return _flat(groups * scales.unsqueeze(-1), 2)


QUANTIZATIONS = {
    "Q4_0": Quantization(32, 18, q4_0),
    "Q4_1": Quantization(32, 20, q4_1),
    "Q5_0": Quantization(32, 22, q5_0),
    "Q5_1": Quantization(32, 24, q5_1),
    "Q8_0": Quantization(32, 34, q8_0),
    "Q4_K": Quantization(256, 144, q4_k),
    "Q5_K": Quantization(256, 176, q5_k),
    "Q6_K": Quantization(256, 210, q6_k),
}
