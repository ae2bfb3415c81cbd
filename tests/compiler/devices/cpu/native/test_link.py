"""Loading and unloading object code."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import weakref
from collections.abc import Callable

import pytest

from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.cpu.native.driver import driver_object, process_driver
from ogive.compiler.devices.cpu.native.link import Library, LoadedKernel, link
from ogive.compiler.devices.cpu.native.session import SESSION_LINKS, link_by_llvm
from ogive.compiler.devices.llvm.library.assembler import assemble
from ogive.errors import LoadError
from tests.raising import raises

ANSWER = "define i64 @answer() nounwind {\n  ret i64 42\n}\n"
Link = Callable[[bytes, str], LoadedKernel]


def link_with_llvm(code: bytes, symbol: str) -> LoadedKernel:
    return Library(*link_by_llvm(code, (symbol,)))[symbol]


@pytest.fixture(params=[link, link_with_llvm])
def load(request: pytest.FixtureRequest) -> Link:
    """Each of the ways in which code is linked."""
    way: Link = request.param
    return way


def call(address: int) -> int:
    return int(ctypes.CFUNCTYPE(ctypes.c_int64)(address)())


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_linked_function_can_be_called(load: Link) -> None:
    kernel = load(assemble(ANSWER, host_target()), "answer")
    assert call(kernel.address) == 42


def test_the_same_symbol_may_be_linked_many_times(load: Link) -> None:
    code = assemble(ANSWER, host_target())
    kernels = [load(code, "answer") for _ in range(10)]
    assert len({kernel.address for kernel in kernels}) == 10
    assert all(call(kernel.address) == 42 for kernel in kernels)


def test_symbols_of_the_process_are_found(load: Link) -> None:
    text = "declare i32 @getpid()\ndefine i64 @mine() nounwind {\n  %pid = call i32 @getpid()\n"
    text += "  %wide = zext i32 %pid to i64\n  ret i64 %wide\n}\n"
    kernel = load(assemble(text, host_target()), "mine")
    assert call(kernel.address) == os.getpid()


@pytest.mark.parametrize("code", [b"", b"not an object", b"\x7fELF" + bytes(100)])
def test_damaged_object_code_is_an_error(load: Link, code: bytes) -> None:
    with pytest.raises(LoadError):
        load(code, "answer")


def test_truncated_object_code_is_an_error(load: Link) -> None:
    code = assemble(ANSWER, host_target())
    with pytest.raises(LoadError):
        load(code[: len(code) // 2], "answer")


def test_a_missing_symbol_is_an_error(load: Link) -> None:
    with raises(LoadError, match="question"):
        load(assemble(ANSWER, host_target()), "question")


def test_an_unresolved_symbol_is_an_error(load: Link) -> None:
    text = "declare i64 @ogive_nowhere()\ndefine i64 @answer() nounwind {\n"
    text += "  %value = call i64 @ogive_nowhere()\n  ret i64 %value\n}\n"
    with raises(LoadError, match="materialize"):
        load(assemble(text, host_target()), "answer")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_code_is_freed_with_its_last_user(load: Link) -> None:
    values = ", ".join(["i64 7"] * 131072)
    text = f"@table = constant [131072 x i64] [{values}]\n{ANSWER}"
    code = assemble(text, host_target())

    load(code, "answer")
    before = resident()
    for _ in range(200):
        load(code, "answer")
    gc.collect()
    assert resident() - before < 50 << 20


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_is_unloaded_leaves_nothing_behind(load: Link) -> None:
    code = assemble(ANSWER, host_target())

    for _ in range(2 * SESSION_LINKS):
        load(code, "answer")
    before = resident()
    for _ in range(12 * SESSION_LINKS):
        load(code, "answer")
    assert resident() - before < 4 << 20


def test_code_outlives_the_session_it_was_linked_in(load: Link) -> None:
    code = assemble(ANSWER, host_target())
    kernel = load(code, "answer")
    for _ in range(2 * SESSION_LINKS):
        load(code, "answer")
    assert call(kernel.address) == 42


def test_a_kernel_goes_when_its_last_user_drops_it(load: Link) -> None:
    kernel = load(assemble(ANSWER, host_target()), "answer")
    alive = weakref.ref(kernel)
    del kernel
    assert alive() is None


def test_the_driver_is_loaded_once() -> None:
    driver = process_driver.get()
    assert process_driver.load(b"never looked at") is process_driver.get() is driver


def test_the_driver_assembles_to_the_same_bytes_each_time() -> None:
    assert driver_object(host_target()) == driver_object(host_target())
