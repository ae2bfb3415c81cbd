"""Threads that help, and processes that end all the same."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from ogive.compiler.devices.helper_threads import Helper


def test_a_helper_works_and_is_waited_for() -> None:
    begun, done = threading.Event(), []

    def work(number: int) -> None:
        begun.set()
        done.append(number)

    helper = Helper(work, 3)
    helper.start()
    begun.wait(60)
    helper.wait()
    assert done == [3]


@pytest.mark.parametrize("error", [RuntimeError, MemoryError])
def test_a_helper_that_cannot_begin_is_not_waited_for(error: type[Exception]) -> None:
    def refuse(*_: object) -> None:
        raise error

    helper = Helper(print, begin=refuse)
    helper.start()
    helper.wait()


def test_a_helper_that_dies_before_it_works_is_not_waited_for() -> None:
    helper = Helper(print, begin=lambda *_: 1)
    helper.start()
    helper.wait()


def test_a_helper_that_works_is_waited_for_when_the_process_ends() -> None:
    program = """
import time
from ogive.compiler.devices.helper_threads import Helper

def work():
    time.sleep(0.3)
    print("done")

Helper(work).start()
time.sleep(0.1)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "done\n"
