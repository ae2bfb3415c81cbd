"""`ogive launch`: run a program as several ranks on this machine, under MPICH's `mpiexec`."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from ogive.distributed.mpi_library import INSTALL
from ogive.distributed.peers import is_running
from ogive.errors import ArgumentError, MissingPackageError

THREADS = ("OGIVE_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Variables that set how many threads a rank uses."""

ENDING_SECONDS = 5.0
"""Grace period for the other ranks after one has died, and for `mpiexec` to end them."""

LOOK_SECONDS = 0.1

_PARENT_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of Linux's prctl(2)."""


def run(ranks: int, program: str, arguments: Sequence[str]) -> int:
    """Run a Python file as `ranks` processes. Returns the status of one that failed, or 0.

    Raises `ArgumentError` for no file or no ranks, `MissingPackageError` without `mpi4py` or
    `mpiexec`.
    """
    if ranks < 1:
        raise ArgumentError(f"launch: -n is {ranks}, but at least one rank is needed")
    if not Path(program).is_file():
        raise ArgumentError(f"there is no file {program!r}; give the Python file to run")
    if importlib.util.find_spec("mpi4py") is None:
        raise MissingPackageError(f"ranks need mpi4py, which is not installed: {INSTALL}")
    environment = divide_threads(os.environ, ranks, len(os.sched_getaffinity(0)))
    with tempfile.TemporaryDirectory() as folder:
        # The other ranks report a dead rank; the launcher does so if they do not.
        command = [
            find_mpiexec(), "-disable-auto-cleanup", "-prepend-rank", "-n", str(ranks),
            sys.executable, "-m", "ogive.distributed.rank_process", folder, program, *arguments,
        ]  # fmt: skip
        # In its own session: Ctrl-C reaches only the launcher, which ends all ranks.
        started = subprocess.Popen(
            command, env=environment, start_new_session=True, preexec_fn=_end_with_parent
        )
        try:
            status = _watch(started, Path(folder))
        except BaseException:
            _end(started, Path(folder))
            raise
        if status:
            print(f"ogive launch: {_tell(status, _processes(Path(folder)))}", file=sys.stderr)
    return status if status >= 0 else 128 - status


def find_mpiexec() -> str:
    """The `mpiexec` beside this Python, where the wheel puts it, or on the path.

    Raises `MissingPackageError` where there is none, or one that is not MPICH's.
    """
    beside = shutil.which("mpiexec", path=str(Path(sys.executable).parent))
    path = beside or shutil.which("mpiexec")
    if path is None:
        raise MissingPackageError(f"mpiexec, which starts the ranks, was not found: {INSTALL}")
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    if "HYDRA" not in version.stdout:
        raise MissingPackageError(
            f"{path} is not MPICH's mpiexec, which ogive launch needs: {INSTALL}, or "
            f"start the program with {path} directly"
        )
    return path


def divide_threads(environment: Mapping[str, str], ranks: int, cores: int) -> dict[str, str]:
    """The environment with thread counts that divide the cores among ranks, unless it sets them."""
    share = str(max(1, cores // ranks))
    return {**dict.fromkeys(THREADS, share), **environment}


def _end_with_parent() -> None:
    """In the child: end `mpiexec`, and with it all ranks, when the launcher is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGTERM)


def _watch(started: subprocess.Popen[bytes], folder: Path) -> int:
    """Wait for all ranks. If one dies, end the others after the grace period."""
    noticed = None
    while True:
        try:
            return started.wait(LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            gone = {rank for rank, process in _processes(folder).items() if not is_running(process)}
        if not gone:
            continue
        noticed = noticed or time.monotonic()
        if time.monotonic() - noticed > ENDING_SECONDS:
            shown = ", ".join(sorted(gone))
            print(f"ogive launch: rank {shown} died; ending the other ranks", file=sys.stderr)
            _end(started, folder)
            return 1


def _processes(folder: Path) -> dict[str, int]:
    """The process id of each rank that has started."""
    texts = {path.name: path.read_text(encoding="ascii") for path in folder.iterdir()}
    return {rank: int(text) for rank, text in texts.items() if text}


def _tell(status: int, processes: Mapping[str, int]) -> str:
    """The outcome in words. `mpiexec` itself names a killed rank only by its process id."""
    number = -status if status < 0 else status
    is_signal = number in signal.valid_signals() and number != 1
    what = f"status {status}" + (f", or by {signal.Signals(number).name}" if is_signal else "")
    shown = ", ".join([f"{rank} was process {processes[rank]}" for rank in sorted(processes)])
    return f"a rank ended with {what}, and all with it (rank {shown})"


def _end(started: subprocess.Popen[bytes], folder: Path) -> None:
    """End `mpiexec`, and with it all ranks; kill what does not end in time."""
    started.send_signal(signal.SIGINT)
    try:
        started.wait(ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()
    for process in _processes(folder).values():
        if is_running(process):
            os.kill(process, signal.SIGKILL)
