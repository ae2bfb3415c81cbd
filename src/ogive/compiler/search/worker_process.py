"""The search's side of the worker process, which is started when needed and replaced when lost."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.search.worker_messages import (
    HEADER_BYTES,
    Answer,
    Compare,
    Comparison,
    Compile,
    Done,
    Inspect,
    Inspection,
    Open,
    Refused,
    Request,
    Time,
    Timing,
    check_body,
    frame,
    pack_message,
    pack_request,
    unpack_header,
    unpack_message,
)
from ogive.compiler.store.encoding import DamagedRecord
from ogive.compiler.targets.target import Target

Expected = TypeVar("Expected", Done, Inspection, Timing, Comparison)

SLACK_SECONDS = 0.5
"""The seconds after the worker's own alarm at which the search gives it up."""

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from ogive.compiler.search.worker import main; main()"
)


def worker_command() -> list[str]:
    """The command for a worker with this process's module path."""
    return [sys.executable or "python3", "-c", _PROGRAM, json.dumps(sys.path)]


class Dropped(Exception):
    """Raised for a candidate that is dropped, with the reason."""


class WorkerLost(Dropped):
    """Raised if the worker did not survive a candidate."""


class NoWorker(Exception):
    """Raised if no worker process can be started."""


class WorkerProcess:
    """A worker that gets one request at a time. Close it, or use it as a context manager."""

    def __init__(self, command: Sequence[str] | None = None) -> None:
        self._command = list(command or worker_command())
        self._process: subprocess.Popen[bytes] | None = None
        self.started = 0

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process; the next request starts another."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        process.wait()

    def ensure(self) -> int:
        """Start the process unless it is running; gives the number of the start, from 1."""
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            try:
                self._process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    # Ctrl-C is for the parent to handle.
                    start_new_session=True,
                    bufsize=0,
                )
            except OSError as error:
                raise NoWorker(f"no worker process can be started: {error}") from None
            assert self._process.stdin is not None
            os.set_blocking(self._process.stdin.fileno(), False)
            self.started += 1
        return self.started

    def ask(self, request: Request, limit: float, expected: type[Expected]) -> Expected:
        """The answer to a request. Raises `Dropped` with the worker's reason, or `WorkerLost`."""
        self.ensure()
        process = self._process
        assert process is not None
        deadline = time.monotonic() + limit + SLACK_SECONDS
        try:
            self._send(process, frame(pack_request(request, max(limit, 0.001))), deadline)
            answer = self._answer(process, deadline)
            if not isinstance(answer, expected | Refused):
                raise DamagedRecord("it answers something else")
        except DamagedRecord:
            # Its memory must be corrupt.
            self.close()
            raise WorkerLost("its worker answered with nonsense") from None
        except (BrokenPipeError, EOFError):
            raise WorkerLost(self._epitaph(process, limit)) from None
        except BaseException:
            # It might still answer, and that answer would be taken for the next one.
            self.close()
            raise
        if isinstance(answer, Refused):
            raise Dropped(answer.reason)
        return answer

    def _answer(self, process: subprocess.Popen[bytes], deadline: float) -> Request | Answer:
        length, checksum = unpack_header(self._receive(process, HEADER_BYTES, deadline))
        return unpack_message(check_body(self._receive(process, length, deadline), checksum))

    def _send(self, process: subprocess.Popen[bytes], data: bytes, deadline: float) -> None:
        assert process.stdin is not None
        view = memoryview(data)
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdin, selectors.EVENT_WRITE)
            while view:
                self._wait(selector, deadline)
                view = view[os.write(process.stdin.fileno(), view) :]

    def _receive(self, process: subprocess.Popen[bytes], size: int, deadline: float) -> bytes:
        assert process.stdout is not None
        data = b""
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while len(data) < size:
                self._wait(selector, deadline)
                some = os.read(process.stdout.fileno(), size - len(data))
                if not some:
                    raise EOFError
                data += some
        return data

    def _wait(self, selector: selectors.BaseSelector, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0 or not selector.select(left):
            raise WorkerLost("timed out")

    def _epitaph(self, process: subprocess.Popen[bytes], limit: float) -> str:
        try:
            status = process.wait(SLACK_SECONDS)
        except subprocess.TimeoutExpired:
            status = 0
        self.close()
        if status == -signal.SIGALRM:
            return f"timed out after {limit:.1f} s"
        if status < 0:
            return f"crashed ({signal.Signals(-status).name})"
        return f"its worker ended with status {status}"


class RemoteBench:
    """A `Bench` in a worker process, for one kernel.

    `remaining` gives the seconds left for the whole search, within which a new worker has to start.
    All methods raise `Dropped`, or `NoWorker` if nothing can be measured at all. The constructor
    raises `CannotEncode` for a kernel that cannot be sent.
    """

    def __init__(
        self,
        worker: WorkerProcess,
        loops: UOp,
        target: Target,
        threads: int,
        remaining: Callable[[], float],
    ) -> None:
        self._worker = worker
        self._remaining = remaining
        self._opening = Open(loops, target, threads)
        pack_message(self._opening)  # raises now if it cannot be sent
        self._opened_in = 0

    def inspect(self, placement: Placement, most: int, limit: float) -> Inspection:
        """See `Bench.inspect`."""
        return self._ask(Inspect(placement, most), limit, Inspection)

    def compile(self, placement: Placement, most: int, limit: float) -> None:
        """See `Bench.compile`."""
        self._ask(Compile(placement, most), limit, Done)

    def time(
        self, placement: Placement, most: int, work: int, cut: float | None, limit: float
    ) -> float:
        """See `Bench.time`."""
        return self._ask(Time(placement, most, work, cut), limit, Timing).seconds

    def compare(
        self, first: Placement, second: Placement, most: int, work: int, limit: float
    ) -> tuple[tuple[float, float], ...]:
        """See `Bench.compare`."""
        return self._ask(Compare(first, second, most, work), limit, Comparison).pairs

    def _ask(self, request: Request, limit: float, expected: type[Expected]) -> Expected:
        if self._worker.ensure() != self._opened_in:
            try:
                self._worker.ask(self._opening, self._remaining(), Done)
            except Dropped as dropped:
                raise NoWorker(f"no worker takes the kernel: {dropped}") from None
            self._opened_in = self._worker.started
        return self._worker.ask(request, limit, expected)
