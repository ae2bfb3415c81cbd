"""A worker process as the runner sees it: asked, waited for, stopped while others measure."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import IO, Any

from benchmarks.libraries import thread_environment

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "src"
Reply = dict[str, Any]


def child_environment(threads: int, cache: Path, sources: Path = SOURCES) -> dict[str, str]:
    """The environment of a measured process: Ogive is that of `sources`, its cache `cache`."""
    own = {
        "OGIVE_CACHE_DIR": str(cache),
        "PYTHONPATH": os.pathsep.join([str(sources), str(ROOT)]),
        # One process: a pool of compilers would still be busy when the next library measures.
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
    }
    return {**os.environ, **thread_environment(threads), **own}


def cache_environment(folder: Path) -> dict[str, str]:
    """Every library's cache moved into `folder`."""
    return {
        "OGIVE_CACHE_DIR": str(folder / "ogive"),
        "CACHEDB": str(folder / "tinygrad.db"),
        "XDG_CACHE_HOME": str(folder / "xdg"),
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
        "TRITON_CACHE_DIR": str(folder / "triton"),
    }


def report_of_child(
    module: str,
    arguments: Sequence[str],
    threads: int,
    timeout: float,
    cache: Path | None = None,
    sources: Path = SOURCES,
) -> Reply:
    """What a module says as the main one of a new process, with empty caches unless given."""
    with TemporaryDirectory(prefix="ogive-child-") as folder:
        cache = cache or Path(folder)
        environment = {**child_environment(threads, cache, sources), **cache_environment(cache)}
        try:
            done = subprocess.run(
                [sys.executable, "-m", module, *arguments],
                env=environment,
                cwd=ROOT,
                capture_output=True,
                timeout=timeout,
            )
        except subprocess.TimeoutExpired:
            return too_long(timeout)
    if not done.stdout:
        lines = done.stderr.decode(errors="replace").strip().split("\n")
        return {"status": "failed", "reason": f"exit status {done.returncode} ({lines[-1][:160]})"}
    reply = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(reply, dict)
    return reply


def answer_parent(threads: int, measure: Callable[[], Reply]) -> None:
    """In such a process: print what was measured, or why nothing was."""
    from benchmarks.worker import describe, pin

    pin(threads)
    try:
        reply = {"status": "ok", **measure()}
    except Exception as error:
        reply = describe(error)
    print(json.dumps(reply), flush=True)


class WorkerProcess:
    """One library's process, started when first asked and again after it died.

    Between requests it is stopped, threads and all: a pool that spins while it waits for work
    would take a processor from the library that is measured.
    """

    def __init__(
        self,
        library: str,
        threads: int,
        scratch: Path,
        command: list[str] | None = None,
        sources: Path = SOURCES,
    ) -> None:
        module = [sys.executable, "-m", "benchmarks.worker", library, str(threads)]
        self.library = library
        self.command = command or module
        self.environment = child_environment(threads, scratch / f"{library}-cache", sources)
        self.log_path = scratch / f"{library}.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.log: IO[bytes] | None = None

    def ask(self, timeout: float, **request: Any) -> Reply:
        """Send a request and wait for its reply; a death or a time-out is a reply too."""
        process = self.start()
        assert process.stdin is not None and process.stdout is not None
        self.signal("SIGCONT")
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            line = read_line(process.stdout.fileno(), timeout)
        except BrokenPipeError:
            line = b""
        except TimeoutError:
            self.close()
            return too_long(timeout)
        if not line:
            return {"status": "failed", "reason": self.last_words()}
        self.signal("SIGSTOP")
        reply = json.loads(line)
        assert isinstance(reply, dict)
        return reply

    def start(self) -> subprocess.Popen[bytes]:
        """The running process, started if there is none."""
        if self.process is None:
            self.log = self.log_path.open("wb")
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.log,
                env=self.environment,
                cwd=ROOT,
                start_new_session=True,
            )
        return self.process

    def signal(self, name: str) -> None:
        """Stop or continue the process, where the system can."""
        if self.process is not None and hasattr(signal, name):
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(getattr(signal, name))

    def last_words(self) -> str:
        """Why the process ended: its exit status, and the last line it wrote."""
        assert self.process is not None
        self.process.wait()
        code = self.process.returncode
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        self.close()
        lines = self.log_path.read_text(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"process {how}" + (f" ({last[:160]})" if last else "")

    def close(self) -> None:
        """End the process and whatever it started."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.log):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        self.process = None


def too_long(timeout: float) -> Reply:
    """The reply of one who has not replied in time."""
    return {"status": "over", "reason": f"{timeout:.0f} s"}


def read_line(descriptor: int, timeout: float) -> bytes:
    """One line from a pipe, empty at its end; raises `TimeoutError`."""
    line = b""
    deadline = monotonic() + timeout
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - monotonic()))
        if not ready:
            raise TimeoutError
        part = os.read(descriptor, 1 << 16)
        if not part:
            return b""
        line += part
    return line
