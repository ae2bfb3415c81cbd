"""Kernels assembled by several threads at once."""

from __future__ import annotations

import functools
import os
import threading
import time

import pytest

from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.helper_threads import Helper
from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.devices.llvm.library.assembler import assemble
from ogive.compiler.devices.llvm_gate import llvm_gate
from ogive.compiler.engine.caches.assembly import Assembly
from ogive.errors import CompileError
from tests.raising import raises

TARGET = host_target()
CPU = find_device("CPU")


def text(number: int) -> str:
    return f"define i64 @add{number}(i64 %x) {{\n  %y = add i64 %x, {number}\n  ret i64 %y\n}}\n"


@pytest.mark.parametrize("helpers", [0, 1, 3])
def test_every_text_becomes_the_code_that_it_would_be_alone(helpers: int) -> None:
    with Assembly(CPU, TARGET, helpers) as assembly:
        for number in range(20):
            assembly.add(number, text(number))
    codes = [assembly.all[number].code for number in range(20)]
    assert codes == [assemble(text(number), TARGET) for number in range(20)]


@pytest.mark.parametrize("helpers", [0, 2])
def test_a_text_that_llvm_refuses_spoils_no_other(helpers: int) -> None:
    with Assembly(CPU, TARGET, helpers) as assembly:
        assembly.add("bad", "define i64 @f( {")
        assembly.add("good", text(1))
    assert assembly.all["good"].code == assemble(text(1), TARGET)
    with raises(CompileError, match="expected type"):
        _ = assembly.all["bad"].code


def test_no_helper_outlives_an_error() -> None:
    with pytest.raises(KeyError), Assembly(CPU, TARGET, 2) as assembly:
        for number in range(50):
            assembly.add(number, text(number))
        raise KeyError
    assert not [helper for helper in assembly._helpers if helper._busy.locked()]


def test_without_helpers_the_work_is_done_all_the_same() -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    make_helper = functools.partial(Helper, begin=refuse)
    with Assembly(CPU, TARGET, 2, make_helper) as assembly:
        assembly.add(1, text(1))
    assert assembly.all[1].code == assemble(text(1), TARGET)


def test_a_fork_waits_for_those_who_assemble() -> None:
    inside, waited = threading.Event(), []

    def work() -> None:
        with llvm_gate.assembling:
            inside.set()
            time.sleep(0.05)
            waited.append(True)

    llvm_gate.assembling.__enter__()  # and an interrupt kept this thread from leaving again
    thread = threading.Thread(target=work)
    thread.start()
    inside.wait()
    child = os.fork()
    if not child:
        # In the child nobody is inside, and whoever comes may assemble.
        os._exit(0 if waited and assemble(text(1), TARGET) else 1)
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
