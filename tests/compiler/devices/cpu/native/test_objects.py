"""Laying out objects without LLVM: what is linked here, what is left to LLVM."""

from __future__ import annotations

import ctypes
import math
import platform
import random

import pytest

from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.cpu.native.link import link
from ogive.compiler.devices.cpu.native.objects import Image, lay_out
from ogive.compiler.devices.llvm.library.assembler import assemble
from ogive.compiler.targets.target import describe_cpu

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64") or platform.system() != "Linux",
    reason="objects of another kind",
)

TABLE = """
@table = internal constant [4 x double] [double 1.5, double 2.5, double 3.5, double 4.5]
declare double @fmod(double, double)

define double @other(double %x) nounwind {
  %sum = fadd double %x, 0x3FB999999999999A
  ret double %sum
}

define double @lookup(i64 %index, double %x) nounwind {
  %place = getelementptr double, ptr @table, i64 %index
  %value = load double, ptr %place
  %rest = call double @fmod(double %x, double %value)
  %again = call double @fmod(double %rest, double 0x3FE6666666666666)
  %sum = call double @other(double %again)
  ret double %sum
}
"""


def nothing(name: str) -> int | None:
    raise AssertionError(name)


def parts(text: str) -> Image | None:
    return lay_out(assemble(text, host_target()), lambda name: 0x123456789ABC)


def test_constants_tables_and_calls_are_linked() -> None:
    assert parts(TABLE) is not None
    kernel = link(assemble(TABLE, host_target()), "lookup")
    lookup = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_double)(kernel.address)
    for index in range(4):
        expected = math.fmod(math.fmod(17.3, index + 1.5), 0.7) + 0.1
        assert lookup(index, 17.3) == pytest.approx(expected, rel=1e-15)


def test_a_function_of_the_process_is_jumped_to_from_one_place() -> None:
    image = parts(TABLE)
    assert image is not None
    assert image.code.count((0x123456789ABC).to_bytes(8, "little")) == 1
    assert {"lookup", "other"} <= image.offsets.keys()


def test_a_function_that_nobody_has_is_left_to_llvm() -> None:
    assert lay_out(assemble(TABLE, host_target()), lambda name: None) is None


@pytest.mark.parametrize(
    "variable",
    [
        "@counter = global i64 7",
        "@counter = global i64 0",
        "@counter = thread_local global i64 7",
    ],
)
def test_memory_that_code_writes_to_is_left_to_llvm(variable: str) -> None:
    text = f"{variable}\ndefine void @count() {{\n  store i64 8, ptr @counter\n  ret void\n}}\n"
    assert parts(text) is None


def test_addresses_in_tables_are_left_to_llvm() -> None:
    text = (
        "@table = constant [1 x ptr] [ptr @answer]\n"
        "define i64 @answer() {\n  ret i64 42\n}\n"
        "define i64 @main() {\n  %f = load volatile ptr, ptr @table\n"
        "  %value = call i64 %f()\n  ret i64 %value\n}\n"
    )
    assert parts(text) is None
    kernel = link(assemble(text, host_target()), "main")
    assert ctypes.CFUNCTYPE(ctypes.c_int64)(kernel.address)() == 42


@pytest.mark.parametrize("triple", ["aarch64-unknown-linux-gnu", "x86_64-pc-windows-msvc"])
def test_objects_of_other_machines_are_left_to_llvm(triple: str) -> None:
    code = assemble("define i64 @answer() {\n  ret i64 42\n}\n", describe_cpu(triple))
    assert lay_out(code, nothing) is None


def test_an_object_that_ends_early_has_no_image() -> None:
    code = assemble(TABLE, host_target())
    for end in range(0, len(code), 7):
        assert lay_out(code[:end], lambda name: 1) is None


@pytest.mark.parametrize("seed", range(3))
def test_damage_is_never_an_exception_and_reaches_no_other_memory(seed: int) -> None:
    code = assemble(TABLE, host_target())
    rng = random.Random(seed)
    for _ in range(2000):
        damaged = bytearray(code)
        for _ in range(rng.randint(1, 3)):
            damaged[rng.randrange(len(code))] = rng.randrange(256)
        image = lay_out(bytes(damaged), lambda name: 1)
        if image is not None:
            assert all(0 <= at <= len(image.code) for at in image.offsets.values())
            assert len(image.code) <= 2 * len(code) + (1 << 16)
