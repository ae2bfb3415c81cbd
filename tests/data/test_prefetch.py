"""A thread that works ahead: it stops with the loop, and its errors arrive."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from ogive.data import prefetch
from tests.raising import raises


def workers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "ogive-prefetch"]


def test_values_come_in_order() -> None:
    assert list(prefetch(range(100), 3)) == list(range(100))
    assert not workers()


def test_no_more_is_made_ahead_than_asked_for() -> None:
    made: list[int] = []

    def values() -> Iterator[int]:
        for value in range(100):
            made.append(value)
            yield value

    ahead = prefetch(values(), 2)
    assert next(ahead) == 0
    time.sleep(0.05)
    assert len(made) <= 4  # one taken, two waiting, one in hand
    ahead.close()  # type: ignore[attr-defined]


def test_an_error_arrives_where_its_value_would_have() -> None:
    def values() -> Iterator[int]:
        yield 1
        raise OSError("the disk is gone")

    ahead = prefetch(values(), 2)
    assert next(ahead) == 1
    with raises(OSError, match="the disk is gone"):
        next(ahead)
    assert not workers()


def test_leaving_the_loop_ends_the_thread() -> None:
    for value in prefetch(iter(range(10**9)), 2):
        if value == 3:
            break
    with pytest.raises(ZeroDivisionError):
        for value in prefetch(iter(range(10**9)), 2):
            1 / (value - 2)
    assert not workers()


def test_dropping_the_iterator_ends_the_thread() -> None:
    ahead = prefetch(iter(range(10**9)), 2)
    next(ahead)
    assert workers()
    del ahead
    assert not workers()


def test_an_iterator_that_is_left_alone_keeps_no_program_running() -> None:
    program = (
        "from ogive.data import prefetch\n"
        "ahead = prefetch(iter(range(10**9)), 2)\n"
        "print(next(ahead))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr


INTERRUPTED = """
import signal, time
from ogive.data import prefetch

over = []

def stop(*_):
    over.append(True)
    raise KeyboardInterrupt

def values():
    yield 0
    while not over:
        time.sleep(0.01)

signal.signal(signal.SIGINT, stop)
try:
    for value in prefetch(values(), 2):
        print("waiting", flush=True)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are another thing there")
def test_an_interrupt_ends_a_loop_that_waits() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "interrupted\n"
