"""Nothing that a candidate does to the worker harms this process."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.search.beam import BeamSearch, Limits
from ogive.compiler.search.worker_messages import Done, Open, Time, frame, pack_request
from ogive.compiler.search.worker_process import (
    Dropped,
    NoWorker,
    RemoteBench,
    WorkerLost,
    WorkerProcess,
)
from tests.compiler.search.kernels import TARGET, data, faulty_command, loops
from tests.compiler.search.test_beam import Notes, tiled
from tests.raising import raises

MOST = 20_000
WORK = 1 << 30
BAD = (2, 3, 5, 6, 7, 9, 10)


def bench_of(worker: WorkerProcess) -> RemoteBench:
    return RemoteBench(worker, loops(data(4000).exp()), TARGET, 1, lambda: 60.0)


@pytest.fixture
def worker() -> Iterator[WorkerProcess]:
    with WorkerProcess(faulty_command()) as process:
        yield process


def test_a_good_candidate_is_inspected_compiled_timed_and_compared(worker: WorkerProcess) -> None:
    bench = bench_of(worker)
    placement = Placement({0: 16}, {}, (0,), 1)
    assert bench.inspect(placement, MOST, 10).tiles == 250
    bench.compile(placement, MOST, 10)
    assert 0 < bench.time(placement, MOST, WORK, None, 10) < 1
    pairs = bench.compare(placement, tiled(1), MOST, WORK, 10)
    assert len(pairs) >= 3
    assert worker.started == 1


@pytest.mark.parametrize(
    ("tile", "reason"),
    [
        (2, "timed out after 0.3 s"),
        (3, "SIGSEGV"),
        (6, "LLVM refused"),
        (5, "timed out after 0.3 s"),
        (10, "SIGABRT"),
        (7, "MemoryError"),
        (9, "a mistake of ours"),
    ],
)
def test_a_bad_candidate_is_dropped_and_the_next_one_served(
    worker: WorkerProcess, tile: int, reason: str
) -> None:
    bench = bench_of(worker)
    bench.compile(tiled(1), MOST, 10)  # so that starting up does not count
    with raises(Dropped, match=reason):
        bench.time(tiled(tile), MOST, WORK, None, 0.3)
    assert bench.time(tiled(1), MOST, WORK, None, 10) > 0


def test_a_search_among_bad_candidates_survives_them_all(worker: WorkerProcess) -> None:
    notes = Notes()
    good = Placement({0: 16}, {}, (0,), 1)
    candidates = [*[tiled(tile) for tile in BAD], good]
    outcome = BeamSearch(
        bench_of(worker), lambda _: candidates, 4, time.monotonic() + 300, time.monotonic, notes,
        Limits(run_seconds=2.0, compile_seconds=8.0, tiles=1),
    ).run(tiled(1))  # fmt: skip
    assert set(notes.dropped) >= set(BAD)
    assert outcome.measured >= 2
    assert outcome.placement == good


def test_a_worker_whose_parent_is_gone_ends_by_itself() -> None:
    process = subprocess.Popen(
        faulty_command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    process.communicate(timeout=30)
    assert process.returncode == 0


def test_a_worker_that_hangs_is_ended_by_its_own_alarm(worker: WorkerProcess) -> None:
    bench = bench_of(worker)
    bench.compile(tiled(2), MOST, 10)
    process = worker._process
    assert process is not None and process.stdin is not None
    request = pack_request(Time(tiled(2), MOST, 1, None), 0.2)
    os.write(process.stdin.fileno(), frame(request))
    assert process.wait(30) == -signal.SIGALRM


@pytest.mark.parametrize("answer", ["b'nonsense' * 9", "done", "done[:-1]", "frame(b'no')"])
def test_an_answer_that_makes_no_sense_is_a_lost_worker(answer: str) -> None:
    program = (
        "import sys; from ogive.compiler.search.worker_messages import Done, frame, pack_message\n"
        "opened, done = False, frame(pack_message(Done()))\n"
        "while sys.stdin.buffer.read1(1 << 20):\n"
        f"    sys.stdout.buffer.write({answer} if opened else done)\n"
        "    sys.stdout.flush(); opened = True\n"
    )
    with WorkerProcess([sys.executable, "-c", program]) as worker:
        bench = bench_of(worker)
        with pytest.raises(WorkerLost):
            bench.inspect(tiled(1), MOST, 1.0)
        assert worker._process is None


def test_a_worker_that_cannot_be_started_is_told_apart() -> None:
    with WorkerProcess(["/nonexistent/python"]) as worker, raises(NoWorker, match="started"):
        bench_of(worker).inspect(tiled(1), MOST, 1.0)


def test_a_worker_that_dies_at_once_is_no_worker() -> None:
    with WorkerProcess([sys.executable, "-c", ""]) as worker:
        bench = RemoteBench(worker, loops(data(10) + 1), TARGET, 1, lambda: 5.0)
        with raises(NoWorker, match="status 0"):
            bench.inspect(tiled(1), MOST, 1.0)


def test_a_worker_that_does_not_read_is_given_up() -> None:
    with WorkerProcess([sys.executable, "-c", "import time; time.sleep(60)"]) as worker:
        with raises(WorkerLost, match="timed out"):
            large = dataclasses.replace(TARGET, features="x" * (1 << 20))
            worker.ask(Open(loops(data(10) + 1), large, 1), 0.2, Done)
        assert worker._process is None


def test_an_interrupt_leaves_no_worker_behind(worker: WorkerProcess) -> None:
    bench = bench_of(worker)
    bench.compile(tiled(2), MOST, 10)
    process = worker._process
    assert process is not None
    main_thread = threading.get_ident()
    threading.Timer(0.2, signal.pthread_kill, [main_thread, signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        bench.time(tiled(2), MOST, WORK, None, 30)
    assert process.returncode is not None
    assert bench.time(tiled(1), MOST, WORK, None, 10) > 0


def test_closing_ends_the_process() -> None:
    worker = WorkerProcess()
    worker.ensure()
    process = worker._process
    assert process is not None
    worker.close()
    worker.close()
    assert process.returncode is not None
