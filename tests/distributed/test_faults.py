"""Ranks that fail, stall or are ended: nothing hangs, and what is said names rank and line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ogive
from ogive.distributed.peers import is_running
from tests.distributed.launching import SECONDS, command, launch, needs_mpi

pytestmark = needs_mpi

BEGINNING = """
import os, sys, time
import ogive
from ogive import distributed
rank = distributed.rank()
x = ogive.Tensor([1.0, 1.0, 1.0])
distributed.barrier()
print("process", os.getpid())
"""


def write(folder: Path, text: str) -> Path:
    """A program that begins with all ranks at one point."""
    path = folder / "program.py"
    path.write_text(BEGINNING + text, encoding="utf-8")
    return path


def processes(output: str) -> list[int]:
    return [int(line.split()[-1]) for line in output.splitlines() if "process " in line]


def test_a_rank_that_raises_ends_all_and_the_others_say_why(tmp_path: Path) -> None:
    text = "for n in range(99): print('line', n, 'of', rank, end='.\\n')\n"
    text += 'if rank: raise ValueError("spilt")\ndistributed.all_reduce(x)\n'
    done = launch(2, write(tmp_path, text))
    assert done.returncode == 1
    for rank in (0, 1):  # in whole lines, and in order
        expected = [f"[{rank}] line {n} of {rank}." for n in range(99)]
        assert [line for line in done.stdout.splitlines() if line in set(expected)] == expected
    assert "[1] ValueError: spilt" in done.stderr
    assert "this rank waits for ranks that have failed" in done.stderr
    assert "[0]   rank 1: it failed: ValueError: spilt" in done.stderr
    assert "program.py:11: distributed.all_reduce(x)" in done.stderr
    assert not any(map(is_running, processes(done.stdout)))


def test_tracebacks_begin_in_the_program(tmp_path: Path) -> None:
    text = 'def load():\n    raise ValueError("spilt")\n\nif rank: load()\n'
    done = launch(2, write(tmp_path, text + "distributed.barrier()\n"))
    lines = [line for line in done.stderr.splitlines() if line.startswith("[1]")]
    start = lines.index("[1] Traceback (most recent call last):")
    assert "program.py" in lines[start + 1] and "<module>" in lines[start + 1]
    assert "rank_process.py" not in done.stderr and "runpy" not in done.stderr


def test_a_rank_that_exits_with_a_status_ends_all_with_it(tmp_path: Path) -> None:
    text = 'if rank: sys.exit("no data" if sys.argv[1:] else 3)\ndistributed.all_reduce(x)\n'
    program = write(tmp_path, text)
    done = launch(2, program)
    assert done.returncode == 3
    assert "[0]   rank 1: it failed: SystemExit: 3" in done.stderr
    done = launch(2, program, "argument")
    assert done.returncode == 1
    assert "[1] no data" in done.stderr
    assert "[0]   rank 1: it failed: SystemExit: no data" in done.stderr


def test_a_rank_that_ends_before_the_others_is_told_of(tmp_path: Path) -> None:
    done = launch(2, write(tmp_path, "if rank: sys.exit(0)\ndistributed.all_reduce(x)\n"))
    assert done.returncode == 1
    assert "[0]   rank 1: the end of the program" in done.stderr


def test_a_rank_that_is_gone_without_a_word_is_an_error_at_the_others(tmp_path: Path) -> None:
    done = launch(2, write(tmp_path, "if rank: os._exit(7)\ndistributed.all_reduce(x)\n"))
    assert done.returncode != 0
    (process,) = [
        int(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith("[1] process")
    ]
    assert f"[0]   rank 1: its process ({process}) is gone" in done.stderr


def test_a_rank_that_is_killed_ends_all(tmp_path: Path) -> None:
    text = "if rank: os.kill(os.getpid(), 9)\ntime.sleep(100)\n"
    done = launch(2, write(tmp_path, text))
    assert done.returncode != 0
    # Whoever is first to see it tells of it: mpiexec, or we.
    assert "or by SIGKILL, and all with it" in done.stderr or "rank 1 died" in done.stderr
    assert not any(map(is_running, processes(done.stdout)))


def test_a_checkpoint_of_a_rank_that_is_killed_while_it_writes_is_whole(tmp_path: Path) -> None:
    text = """
import threading
def kill():
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.001)
    time.sleep(0.05)
    os.kill(os.getpid(), 9)
if rank == 0:
    threading.Thread(target=kill).start()
x = ogive.ones(1 << 20)
for number in range(100000):
    y = distributed.all_reduce(x * number)
    if rank == 0:
        ogive.save({"number": number, "y": y}, sys.argv[1])
"""
    file = tmp_path / "checkpoint.pt"
    done = launch(2, write(tmp_path, text), str(file))
    assert done.returncode != 0
    state = ogive.load(file)
    assert state["y"].numpy().tolist() == [2.0 * state["number"]] * (1 << 20)


def test_a_rank_without_memory_is_an_error_at_the_others(tmp_path: Path) -> None:
    text = """
import resource
if rank:
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    ogive.ones(1 << 29).contiguous().realize()
distributed.all_reduce(x)
"""
    done = launch(2, write(tmp_path, text))
    assert done.returncode == 1
    assert "[0]   rank 1: it failed: AllocateError: cannot allocate 2,147,483,648" in done.stderr
    assert not any(map(is_running, processes(done.stdout)))


def test_a_rank_that_stalls_is_an_error_after_the_limit(tmp_path: Path) -> None:
    program = write(tmp_path, "if rank: time.sleep(100)\ndistributed.all_reduce(x)\n")
    done = launch(2, program, env={**os.environ, "OGIVE_RANK_TIMEOUT": "1"})
    assert done.returncode == 1
    assert "other ranks have not answered within 1 s" in done.stderr
    assert "OGIVE_RANK_TIMEOUT" in done.stderr


def test_divergence_that_nobody_catches_is_shown_by_all(tmp_path: Path) -> None:
    text = "distributed.all_reduce(x) if rank else distributed.all_gather(x)\n"
    done = launch(2, write(tmp_path, text))
    assert done.returncode == 1
    for rank in (0, 1):
        assert f"[{rank}] ogive.errors.DistributedError: the ranks do not do" in done.stderr


def test_an_interrupt_at_the_launcher_ends_all_without_tracebacks(tmp_path: Path) -> None:
    program = write(tmp_path, 'print("ready")\ntime.sleep(100)\n')
    with subprocess.Popen(
        command(2, program), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as started:
        assert started.stdout is not None
        lines: list[str] = []
        while sum("ready" in line for line in lines) < 2:
            lines.append(started.stdout.readline())
            assert lines[-1], lines
        started.send_signal(signal.SIGINT)
        _, complaints = started.communicate(timeout=SECONDS)
    assert started.returncode == 130
    assert "Traceback" not in complaints
    assert not any(map(is_running, processes("".join(lines))))


@pytest.mark.skipif(sys.platform != "linux", reason="by prctl of Linux")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_ranks_end_with_a_launcher_that_is_killed(tmp_path: Path, number: signal.Signals) -> None:
    program = write(tmp_path, "time.sleep(100)\n")
    with subprocess.Popen(command(2, program), stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        lines: list[str] = []
        while len(processes("".join(lines))) < 2:
            lines.append(started.stdout.readline())
            assert lines[-1], lines
        started.send_signal(number)
        started.stdout.read()  # until the last of them has gone
    assert not any(map(is_running, processes("".join(lines))))


def test_mpiexec_alone_starts_ranks_as_well(tmp_path: Path) -> None:
    program = write(tmp_path, "print(distributed.all_reduce(x).tolist())\n")
    mpiexec = Path(sys.executable).parent / "mpiexec"
    if not mpiexec.exists():
        pytest.skip("mpiexec is not that of a wheel")
    done = subprocess.run(
        [mpiexec, "-n", "2", sys.executable, program],
        capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("[2.0, 2.0, 2.0]") == 2


def test_waiting_for_a_process_that_is_gone_is_noticed() -> None:
    with subprocess.Popen([sys.executable, "-c", "pass"]) as started:
        while is_running(started.pid):
            time.sleep(0.01)
    assert not is_running(started.pid)
    assert is_running(os.getpid())
