"""Kernels in one module keep their meaning: shared helpers once, numbered groups by content."""

from __future__ import annotations

from ogive.compiler.devices.llvm.library.assembler import check_module
from ogive.compiler.devices.llvm.merge_modules import merge_modules
from ogive.errors import CompileError
from tests.raising import raises


def kernel(group: str, helper: str = "ret float %x") -> str:
    return f"""define void @"k"(ptr %p) #0 {{
entry:
  %x = load float, ptr %p
  %y = call float @ogive.same(float %x)
  store float %y, ptr %p, !nontemporal !0
  ret void
}}
define internal float @ogive.same(float %x) {{
entry:
  {helper}
}}
declare void @llvm.x86.sse.sfence()
attributes #0 = {{ {group} }}
!0 = !{{i32 1}}
"""


def test_equal_helpers_declarations_and_groups_are_written_once() -> None:
    merged = merge_modules([("k", kernel("nounwind"), "a"), ("k", kernel("nounwind"), "b")])
    check_module(merged)
    assert merged.count("define void @") == 2
    assert merged.count("define internal float @ogive.same") == 1
    assert merged.count("declare") == merged.count("attributes") == merged.count("!0 =") == 1


def test_groups_that_differ_keep_their_content() -> None:
    merged = merge_modules([("k", kernel("nounwind"), "a"), ("k", kernel("cold nounwind"), "b")])
    check_module(merged)
    lines = merged.splitlines()
    (second,) = [line for line in lines if line.startswith('define void @"b"')]
    number = second.split(") ")[1].split()[0]
    assert f"attributes {number} = {{ cold nounwind }}" in lines


def test_helpers_of_one_name_that_differ_are_an_error() -> None:
    other = kernel("nounwind", "ret float 0.0")
    with raises(CompileError, match=r"different functions @ogive\.same"):
        merge_modules([("k", kernel("nounwind"), "a"), ("k", other, "b")])
