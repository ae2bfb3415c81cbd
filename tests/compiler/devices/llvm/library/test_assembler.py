"""IR text to object code."""

from __future__ import annotations

import threading

import pytest

from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.llvm.library.assembler import assemble, assembly, optimized_ir
from ogive.compiler.targets.target import describe_cpu
from ogive.errors import CompileError
from tests.raising import raises

DOUBLE = """
define i64 @double(i64 %x) nounwind {
  %twice = mul i64 %x, 2
  ret i64 %twice
}
"""


def test_text_becomes_an_object() -> None:
    assert assemble(DOUBLE, host_target())


def test_equal_text_gives_equal_bytes() -> None:
    assert assemble(DOUBLE, host_target()) == assemble(DOUBLE, host_target())


def test_helpers_marked_for_it_are_inlined() -> None:
    text = """
    define internal i64 @helper(i64 %x) alwaysinline {
      %y = add i64 %x, 1
      ret i64 %y
    }
    define i64 @entry(i64 %x) {
      %y = call i64 @helper(i64 %x)
      ret i64 %y
    }
    """
    assert "helper" not in optimized_ir(text, host_target())


def test_arithmetic_is_simplified() -> None:
    assert "shl i64 %x, 1" in optimized_ir(DOUBLE, host_target())


def test_the_optimized_module_names_the_target() -> None:
    text = optimized_ir(DOUBLE, host_target())
    assert f'target triple = "{host_target().triple}"' in text
    assert "target datalayout" in text


def test_assembly_is_readable_text() -> None:
    assert "double:" in assembly(DOUBLE, host_target())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("define i64 @f( {", "expected type"),
        ("define i64 @f() {\n  ret i32 0\n}", "ret"),
        (
            "define i64 @f(i1 %c) {\n  br i1 %c, label %a, label %b\na:\n  %v = add i64 1, 2\n"
            "  br label %b\nb:\n  ret i64 %v\n}",
            "does not dominate",
        ),
    ],
)
def test_bad_text_is_refused_in_the_words_of_llvm(text: str, words: str) -> None:
    with raises(CompileError, match=words):
        assemble(text, host_target())


def test_an_unknown_triple_is_refused() -> None:
    with raises(CompileError, match="nowhere"):
        assemble(DOUBLE, describe_cpu("nowhere-unknown-linux"))


@pytest.mark.parametrize(
    ("triple", "magic"),
    [
        ("x86_64-unknown-linux-gnu", b"\x7fELF"),
        ("aarch64-unknown-linux-gnu", b"\x7fELF"),
        ("riscv64-unknown-linux-gnu", b"\x7fELF"),
        ("arm64-apple-darwin", b"\xcf\xfa\xed\xfe"),
    ],
)
def test_other_machines_can_be_assembled_for(triple: str, magic: bytes) -> None:
    assert assemble(DOUBLE, describe_cpu(triple)).startswith(magic)


def test_threads_may_assemble_at_once() -> None:
    expected = assemble(DOUBLE, host_target())
    results: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: results.append(assemble(DOUBLE, host_target())))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 8
