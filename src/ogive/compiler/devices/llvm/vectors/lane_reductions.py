"""Lane reductions of several vectors at once.

Each step halves the number of lanes of every value, so that two values fit into one vector. With
four vectors of four lanes:

    a0 a1 a2 a3      a0 a1 b0 b1         c0 c1 d0 d1    c0 d0
    b0 b1 b2 b3  →   a2 a3 b2 b3 added:              →  c1 d1 added: the two results

The lanes of each value are combined in the same tree as if it were reduced alone.
"""

from __future__ import annotations

from collections.abc import Callable

from ogive.compiler.devices.llvm.kernel_writer import Writer
from ogive.compiler.devices.llvm.llvm_types import register_type
from ogive.compiler.ir.dtype import DType

Combine = Callable[[str, str, int], str]
"""Combines two vectors of a number of lanes."""


def combine_lanes(
    writer: Writer, dtype: DType, values: list[str], lanes: int, combine: Combine
) -> list[str]:
    """A scalar for each vector: its lanes, combined."""
    vectors, width, held = values, lanes, 1  # vectors have `held` values of `width` lanes each
    while width > 1:
        half = width // 2
        joined = min(len(vectors), 2)
        starts = [number * width for number in range(joined * held)]
        low = [start + lane for start in starts for lane in range(half)]
        high = [lane + half for lane in low]
        kind = register_type(dtype, held * width)
        seconds = [*vectors[1::2], "poison"] if joined == 2 else ["poison"]
        halves = [
            (_pick(writer, first, second, low, kind), _pick(writer, first, second, high, kind))
            for first, second in zip(vectors[::joined], seconds, strict=False)
        ]
        vectors = [combine(*pair, len(low)) for pair in halves]
        held, width = joined * held, half
    if held == 1:
        return vectors
    kind = register_type(dtype, held)
    return [
        writer.instruction(f"extractelement {kind} {vectors[number // held]}, i64 {number % held}")
        for number in range(len(values))
    ]


def _pick(writer: Writer, first: str, second: str, lanes: list[int], kind: str) -> str:
    """Some lanes of two vectors as a vector, or a scalar if there is one."""
    if len(lanes) == 1:
        return writer.instruction(f"extractelement {kind} {first}, i64 {lanes[0]}")
    return writer.shuffle(first, second, lanes, kind)
