"""Writing LLVM IR as text."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest

from ogive.compiler.devices.llvm.ir_text import Text
from ogive.compiler.devices.llvm.llvm_types import element_constant


def test_an_instruction_is_one_line_and_its_name_is_returned() -> None:
    vectors = Text().vectors("f32", 16)
    assert vectors.fadd("%x", "%y") == "%v0"
    assert vectors.fneg("%v0") == "%v1"
    assert vectors.text.lines == [
        "  %v0 = fadd <16 x float> %x, %y",
        "  %v1 = fneg <16 x float> %v0",
    ]


def test_one_lane_writes_scalars() -> None:
    vectors = Text().vectors("f64", 1)
    vectors.fmul("%x", 0.5)
    assert vectors.text.lines == ["  %v0 = fmul double %x, 0x3FE0000000000000"]


def test_numbers_become_constants_in_every_lane() -> None:
    vectors = Text().vectors("i32", 8)
    vectors.add("%x", -1)
    assert vectors.text.lines == ["  %v0 = add <8 x i32> %x, splat (i32 -1)"]


@pytest.mark.parametrize(
    ("code", "value", "text"),
    [
        ("f64", 0.1, "0x3FB999999999999A"),
        ("f32", 0.1, "0x3FB99999A0000000"),
        ("f32", 1e-45, "0x36A0000000000000"),
        ("f64", float("inf"), "0x7FF0000000000000"),
        ("f64", float("nan"), "0x7FF8000000000000"),
        ("f16", 0.1, "0xH2E66"),
    ],
)
def test_floats_are_spelled_exactly(code: str, value: float, text: str) -> None:
    assert element_constant(code, value) == text


def test_zeros_of_both_signs_stay_apart() -> None:
    vectors = Text().vectors("f64", 1)
    assert vectors.constant(0.0) == "0x0000000000000000"
    assert vectors.constant(-0.0) == "0x8000000000000000"
    assert vectors.constant(0.0) == "0x0000000000000000"


def test_an_intrinsic_is_declared_once() -> None:
    vectors = Text().vectors("f32", 4)
    vectors.fma("%x", "%y", 1.0)
    vectors.fma("%x", "%x", "%y")
    assert vectors.text.declarations == {
        "declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)"
    }


def test_vectors_of_other_types_share_lines_and_names() -> None:
    floats = Text().vectors("f32", 4)
    integers = floats.bits
    bits = integers.bitcast("%x", floats)
    assert floats.of("i32") is integers
    assert integers.of("f32") is floats
    floats.bitcast(integers.shl(bits, 1), integers)
    assert floats.text.lines == [
        "  %v0 = bitcast <4 x float> %x to <4 x i32>",
        "  %v1 = shl <4 x i32> %v0, splat (i32 1)",
        "  %v2 = bitcast <4 x i32> %v1 to <4 x float>",
    ]


@pytest.mark.parametrize("lanes", [1, 4, 16])
def test_all_methods_write_what_llvm_accepts(lanes: int) -> None:
    f = Text().vectors("f32", lanes)
    n, wide, half = f.bits, f.of("f64"), f.of("i16")
    for binary in (f.fadd, f.fsub, f.fmul, f.fdiv, f.copysign, f.at_most, f.at_least):
        binary("%x", 2.5)
    for unary in (f.fneg, f.fabs, f.sqrt, f.round_even, f.floor):
        unary("%x")
    f.polynomial("%x", (1.0, 2.0, 3.0))
    f.fptrunc(wide.fpext("%x", f), wide)
    i = n.fptosi("%x", f)
    for integer in (n.add, n.sub, n.mul, n.and_, n.or_, n.xor, n.shl, n.lshr, n.ashr):
        i = integer(i, 3)
    n.zext(half.trunc(i, n), half)
    n.sext(half.trunc(n.fptoui("%x", f), n), half)
    f.uitofp(i, n)
    mask = f.masks.xor(n.icmp("slt", i, 0), f.fcmp("olt", "%x", 0.0))
    any_lane = f.any(mask)
    result = f.select(mask, f.sitofp(i, n), 1.0)
    assert any_lane.startswith("%")
    body = "\n".join(f.text.lines)
    declarations = "\n".join(sorted(f.text.declarations))
    head = f"define {f.type} @function({f.type} %x) {{"
    llvm.parse_assembly(f"{declarations}\n{head}\n{body}\n  ret {f.type} {result}\n}}\n").verify()
