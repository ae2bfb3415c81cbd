"""The runner with NumPy and with workers that misbehave; no peer is needed."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.libraries import PEERS, thread_environment
from benchmarks.process import WorkerProcess
from benchmarks.results import RowResult
from benchmarks.rows import TINY_CAPTURED
from benchmarks.runner import Runner, Settings, open_runner
from benchmarks.startup import IMPORT, measure_startup

QUICK = Settings(threads=1, seconds=0.02, rounds=2, timeout=20.0)
PREPARED = 'import sys; sys.stdin.readline(); print(\'{"status": "ok"}\', flush=True)\n'
WRONG = PREPARED + (
    "import json, numpy\n"
    "for line in sys.stdin:\n"
    "    request = json.loads(line)\n"
    "    if request['do'] == 'save': numpy.savez(request['path'], numpy.zeros(4, numpy.float32))\n"
    "    reply = {'status': 'ok', 'samples': [1e-6], 'spent': 1.0, 'others': 0.0}\n"
    "    print(json.dumps(reply), flush=True)\n"
)


def measure(scratch: Path, settings: Settings = QUICK, **scripts: str) -> RowResult:
    """The tiny row in NumPy's worker and in one worker a script."""
    workers = [WorkerProcess("numpy", 1, scratch)]
    workers += [
        WorkerProcess(name, 1, scratch, [sys.executable, "-c", script])
        for name, script in scripts.items()
    ]
    try:
        return Runner(workers, settings, scratch).measure(TINY_CAPTURED)
    finally:
        for worker in workers:
            worker.close()


def test_a_row_is_measured_and_checked(tmp_path: Path) -> None:
    cell = measure(tmp_path).cells["numpy"]
    assert cell.status == "ok"
    assert cell.best is not None and cell.median is not None and cell.p95 is not None
    assert 0 < cell.best <= cell.median <= cell.p95 < 0.1
    assert cell.samples >= 2


def test_a_wrong_fast_answer_is_wrong(tmp_path: Path) -> None:
    row = measure(tmp_path, other=WRONG)
    assert row.cells["other"].status == "wrong"
    assert row.best_peer() is not None and row.cells["numpy"].status == "ok"


def test_a_crash_is_one_cell_and_the_worker_comes_back(tmp_path: Path) -> None:
    script = PREPARED + "sys.stdin.readline(); print('it hurts', file=sys.stderr); sys.exit(3)"
    row = measure(tmp_path, other=script)
    assert row.cells["other"].status == "failed"
    assert row.cells["other"].reason == "process exit status 3 (it hurts)"
    assert row.cells["numpy"].status == "ok"


def test_a_killed_worker_names_its_signal(tmp_path: Path) -> None:
    row = measure(tmp_path, other="import os; os.abort()")
    assert "killed by SIGABRT" in row.cells["other"].reason


def test_a_worker_that_hangs_is_given_up(tmp_path: Path) -> None:
    worker = WorkerProcess("other", 1, tmp_path, [sys.executable, "-c", "input(); input()"])
    reply = worker.ask(1.0, do="prepare", row="any")
    assert reply == {"status": "over", "reason": "1 s"}
    assert worker.process is None


def test_a_library_that_is_not_installed_says_so(tmp_path: Path) -> None:
    script = (
        "import sys; sys.modules['tinygrad'] = None; sys.argv[1:] = ['tinygrad', '1']\n"
        "from benchmarks.worker import main; main()"
    )
    cell = measure(tmp_path, tinygrad=script).cells["tinygrad"]
    assert cell.status == "not there"
    assert "tinygrad" in cell.reason


@pytest.mark.skipif(not Path("/proc").exists(), reason="reads the state of a process")
def test_a_worker_is_stopped_between_requests(tmp_path: Path) -> None:
    worker = WorkerProcess("numpy", 1, tmp_path)
    try:
        worker.ask(20.0, do="prepare", row=TINY_CAPTURED.name)
        assert worker.process is not None
        os.waitid(os.P_PID, worker.process.pid, os.WSTOPPED | os.WNOWAIT)
        state = Path(f"/proc/{worker.process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        assert state == "T"
    finally:
        worker.close()


def test_another_checkout_is_imported_in_its_own_process_only(tmp_path: Path) -> None:
    package = tmp_path / "earlier" / "src" / "ogive"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('the other one')")
    settings = replace(QUICK, before=str(tmp_path / "earlier"))
    with open_runner(["ogive", "before"], settings) as runner:
        cells = runner.measure(TINY_CAPTURED).cells
    assert cells["ogive"].status == "ok"
    assert cells["before"].reason == "ImportError: the other one"


def test_threads_are_set_for_every_library() -> None:
    values = thread_environment(1)
    assert values["OMP_NUM_THREADS"] == values["NUM_CPU_THREADS"] == values["NPROC"] == "1"
    assert "multi_thread_eigen=false" in values["XLA_FLAGS"]


def test_startup_is_measured_in_new_processes() -> None:
    rows = {row.name: row for row in measure_startup(["numpy"], QUICK, lambda text: None)}
    assert rows[IMPORT].cells["numpy"].samples == 3
    assert rows["(x + 1): first result, cold"].cells["numpy"].status == "ok"
    # NumPy has no erf, so no gelu: the cell says so, and nothing else is disturbed.
    assert "erf" in rows["1 transformer block: first result, cold"].cells["numpy"].reason


def test_the_limit_of_the_machine_can_be_measured(tmp_path: Path) -> None:
    worker = WorkerProcess("limit", 1, tmp_path)
    try:
        for row in (TINY_CAPTURED.name, "matmul 512", "sum 16M", "softmax 4096²"):
            assert worker.ask(20.0, do="prepare", row=row)["status"] == "ok"
            reply = worker.ask(20.0, do="measure", seconds=0.02)
            assert 0 < min(reply["samples"]) < 1
    finally:
        worker.close()


def test_the_command_lists_its_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert TINY_CAPTURED.name in capsys.readouterr().out


def test_the_command_refuses_a_pattern_without_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--rows", "nonsense"]) == 2
    assert "no row matches nonsense; --list names them" in capsys.readouterr().err


def test_the_peers_are_named_in_the_order_of_the_table() -> None:
    assert PEERS == ("torch", "torch.compile", "jax", "numpy", "tinygrad")
