"""The two products of attention by `wgmma`: scores from rows in shared memory, and weights in
registers times lines in shared memory.

Of the sums of a warpgroup, thread t holds from every eight columns the rows t/4 mod 8 and 8 below
it among its warp's sixteen, in the columns 2 (t mod 4) and the next. As the left operand of a
product, four such pairs are the words of sixteen columns, so weights need not move between lanes.
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.compiler.devices.cuda.tensor_cores.kernel_text import KernelText
from ogive.compiler.devices.cuda.tensor_cores.warpgroup_instructions import LINE
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType

STEP = 16
"""The terms that one instruction multiplies."""
BOX = 64
"""The elements in a line of 128 bytes."""

_NAMES = {dtypes.bfloat16: "bf16", dtypes.float16: "f16"}
_BEGIN = (
    "{ .reg .pred keep, drop; .reg .b64 a, b; setp.eq.u32 keep, 0, 0; setp.ne.u32 drop, 0, 0; "
    "wgmma.fence.sync.aligned;"
)
_END = "wgmma.commit_group.sync.aligned; }"


def begin_scores(
    text: KernelText, dtype: DType, columns: int, terms: int, left: str, right: str,
    box_lines: tuple[int, int],
) -> list[str]:  # fmt: skip
    """Begin the scores of 64 rows. The operands are descriptors of lines along the terms, in boxes
    of `box_lines` lines."""
    name = _NAMES[dtype]
    count = columns // 2
    registers = ",".join([f"${each}" for each in range(count)])
    lines = [_BEGIN]
    for step in range(terms // STEP):
        box, inside = divmod(step, BOX // STEP)
        a, b = [box * (lines_of * LINE >> 4) + 2 * inside for lines_of in box_lines]
        keep = "keep" if step else "drop"
        lines.append(
            f"add.s64 a, ${count}, {a}; add.s64 b, ${count + 1}, {b}; "
            f"wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.{name}.{name} "
            f"{{{registers}}}, a, b, {keep}, 1, 1, 0, 0;"
        )
    operands = [("i64", left), ("i64", right)]
    return text.assembly(" ".join([*lines, _END]), ["float"] * count, operands)


def begin_mixing(
    text: KernelText, dtype: DType, words: Sequence[str], right: str, sums: Sequence[str]
) -> list[str]:
    """Begin to add the products of weights with the lines that the descriptor `right` describes."""
    name, count = _NAMES[dtype], len(sums)
    registers = ",".join([f"${each}" for each in range(count)])
    lines = [_BEGIN]
    for step in range(len(words) // 4):
        own = ",".join([f"${count + 4 * step + each}" for each in range(4)])
        lines.append(
            f"add.s64 b, ${count + len(words)}, {step * STEP * LINE >> 4}; "
            f"wgmma.mma_async.sync.aligned.m64n{2 * count}k16.f32.{name}.{name} "
            f"{{{registers}}}, {{{own}}}, b, keep, 1, 1, 1;"
        )
    operands = [("i32", word) for word in words] + [("i64", right)]
    operands += [("float", each) for each in sums]
    return text.assembly(
        " ".join([*lines, _END]), ["float"] * count, operands, tied=count
    )


def finish(text: KernelText, pending: int, sums: Sequence[str]) -> list[str]:
    """Wait until at most `pending` products are under way; then `sums` may be read and written."""
    operands = [("float", each) for each in sums]
    kinds = ["float"] * len(sums)
    return text.assembly(
        f"wgmma.wait_group.sync.aligned {pending};", kinds, operands, tied=len(sums)
    )


def round_pair(text: KernelText, dtype: DType, low: str, high: str) -> str:
    """Round two floats to a narrow type and pack them into one word."""
    kind = "bf16x2" if dtype is dtypes.bfloat16 else "f16x2"
    operands = [("float", high), ("float", low)]
    return text.assembly(f"cvt.rn.{kind}.f32 $0, $1, $2;", ["i32"], operands)[0]


# A row of scores


def power_of_two(text: KernelText, exponent: str) -> str:
    """2 to a power, by the hardware: with a relative error of at most 2⁻²²."""
    return text.assembly("ex2.approx.ftz.f32 $0, $1;", ["float"], [("float", exponent)])[0]


def multiply_add(text: KernelText, x: str, y: str, z: str) -> str:
    return text.intrinsic("float", "fma.f32", ["float"] * 3, [x, y, z])


def maximum(text: KernelText, x: str, y: str) -> str:
    return text.intrinsic("float", "maxnum.f32", ["float"] * 2, [x, y])


def exchange(text: KernelText, value: str, distance: int) -> str:
    """The value of the lane whose number differs by the bits of `distance`."""
    return text.assembly(
        f"shfl.sync.bfly.b32 $0, $1, {distance}, 31, -1;", ["float"], [("float", value)]
    )[0]


# Turns


def wait_for_turn(text: KernelText, number: str, threads: int) -> None:
    text.assembly(f"bar.sync $0, {threads};", [], [("i32", number)])


def give_turn(text: KernelText, number: str, threads: int) -> None:
    text.assembly(f"bar.arrive $0, {threads};", [], [("i32", number)])
