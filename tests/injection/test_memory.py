"""Memory that runs out: a typed error, and everything is as it was."""

from __future__ import annotations

import itertools
import subprocess
import sys
from typing import Any

import numpy
import pytest

import ogive
from ogive import Config, Tensor
from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.devices.write_clock import clock
from ogive.errors import AllocateError
from tests.raising import raises

SIZE = 30_000


class Shortage:
    """The system has no memory from the `at`-th time on that it is asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = -1
        memory: Any = find_device("CPU").memory
        original = memory._take

        def ask(capacity: int) -> Any:
            if self.left == 0:
                raise MemoryError
            self.left -= 1
            return original(capacity)

        monkeypatch.setattr(memory, "_take", ask)

    def begin(self, at: int) -> None:
        find_device("CPU").memory.trim()
        self.left = at

    def end(self) -> None:
        self.left = -1


@pytest.fixture
def shortage(monkeypatch: pytest.MonkeyPatch) -> Shortage:
    return Shortage(monkeypatch)


@pytest.mark.parametrize("planner", ["arena", "disabled"])
def test_wherever_memory_runs_out_an_assignment_is_done_once_or_not_at_all(
    shortage: Shortage, planner: str
) -> None:
    config, failures = Config(planner=planner), 0
    x = Tensor(numpy.zeros(SIZE)).realize()
    wanted = numpy.zeros(SIZE)
    for at in itertools.count():
        old = x + 0
        x += x.sort()[0].cumsum(0).mean() * 0 + 1
        shortage.begin(at)
        try:
            x.realize(config=config)
        except AllocateError:
            failures += 1
            shortage.end()
        else:
            break
        finally:
            shortage.end()
        assert not clock.writers
        numpy.testing.assert_array_equal(old.numpy(), wanted)
        wanted += 1
        numpy.testing.assert_array_equal(x.numpy(), wanted)
    assert failures >= 2


def test_a_captured_function_without_memory_for_its_result_is_called_again(
    shortage: Shortage,
) -> None:
    x = Tensor(numpy.zeros(SIZE)).realize()

    @ogive.jit
    def advance(x: Tensor) -> Tensor:
        x += 1
        return x * 2

    held = [advance(x)]
    shortage.begin(0)
    with raises(AllocateError, match="cannot allocate"):
        held.append(advance(x))
    shortage.end()
    assert x.numpy()[0] == 1
    assert advance(x).numpy()[0] == 4


LIMITED = """
import resource
import numpy
from ogive import Tensor
from ogive.errors import AllocateError

def outer(x):
    return (x[:, None] * x[None, :]).contiguous()

x = Tensor(numpy.ones(4000)).realize()
outer(x[:10].contiguous().realize()).realize()
outer(x).realize()
x += 1
x.realize()
used = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + (32 << 20), -1))
kept = []
try:
    while True:
        kept.append(outer(x).realize())
except AllocateError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
x += 1
print(x.numpy().sum(), outer(x).sum().item())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_a_process_with_little_memory_gets_a_typed_error_and_goes_on() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED], capture_output=True, text=True, timeout=120, check=True
    )
    told, *_, numbers = done.stdout.splitlines()
    assert "cannot allocate 128,000,000 bytes" in told
    assert numbers == f"12000.0 {9.0 * 4000 * 4000}"
