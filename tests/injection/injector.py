"""Exceptions at chosen moments of a program.

CPython raises what comes from outside (from the handler of a signal, from another thread) where it
looks for such things: when a function begins, when a loop turns back, and after a call. `Bytecodes`
raises at the n-th such place in one module, `alarm` wherever a real signal finds the program, and
`send` in another thread.
"""

from __future__ import annotations

import contextlib
import ctypes
import dis
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

from ogive.errors import ExecuteError


class TimeOut(TimeoutError):
    """Like most time-outs, an `OSError`, which must not be taken for one."""


class Interrupt(BaseException):
    """Like Ctrl-C, nothing that `except Exception` catches."""


KINDS: tuple[type[BaseException], ...] = (TimeOut, Interrupt)

_CALLS = {"CALL", "CALL_FUNCTION_EX", "CALL_KW", "CALL_INTRINSIC_1"}
_looked: dict[CodeType, dict[int, bool]] = {}


def _places(code: CodeType) -> dict[int, bool]:
    """For each instruction, whether CPython has looked for exceptions just before it.

    What it finds there is raised by the instruction before, so the two have to be inside the same
    `try` and `with`: a call that is the last thing in a `with` ends inside of it.
    """
    if code not in _looked:
        handlers: Any = vars(dis.Bytecode(code))["exception_entries"]

        def handler(offset: int) -> Any:
            return next((e.target for e in handlers if e.start <= offset < e.end), None)

        places, last, before = {}, "", 0
        for instruction in dis.get_instructions(code):
            offset, target = instruction.offset, instruction.argval
            looked = last in _CALLS or last == "RESUME"
            places[offset] = looked and handler(before) == handler(offset)
            if "BACKWARD" in instruction.opname:  # it looks where it goes, which is above
                places[target] = places[target] or handler(offset) == handler(target)
            last, before = instruction.opname, offset
        _looked[code] = places
    return _looked[code]


class Bytecodes:
    """Counts the places in frames of modules, and raises at the `at`-th of those in `module`."""

    def __init__(
        self,
        belongs: Callable[[str], str | None],
        module: str | None = None,
        at: int = -1,
        kind: type[BaseException] = Interrupt,
    ) -> None:
        self.belongs = belongs
        self.module = module
        self.left = at
        self.kind = kind
        self.counts: Counter[str] = Counter()
        self.raised_at: str | None = None

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Count, or raise, in this thread."""
        sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(None)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        name = self.belongs(frame.f_code.co_filename)
        if name is None or self.raised_at is not None or self.module not in (None, name):
            return None
        frame.f_trace_lines = False
        frame.f_trace_opcodes = True
        return self._look

    def _look(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event != "opcode" or not _places(frame.f_code).get(frame.f_lasti):
            return self._look
        if self.module is None:
            self.counts[self.belongs(frame.f_code.co_filename) or ""] += 1
        elif self.raised_at is None:
            self.left -= 1
            if self.left < 0:
                self.raised_at = f"{frame.f_code.co_qualname}:{frame.f_lineno}"
                sys.settrace(None)
                raise self.kind("injected")
        return self._look


class Alarm:
    """A timer of the system whose signals raise inside of one program, `times` times at most."""

    def __init__(self, kind: type[BaseException], times: int = 1) -> None:
        self.kind = kind
        self.left = times
        self.raised = 0

    def run(self, program: Callable[[], None], seconds: float, interval: float = 0.0) -> None:
        """Run a program and raise in it after so long, and then at intervals."""
        self.inside = program.__code__
        self.interval = max(interval, 5e-5)
        before = signal.signal(signal.SIGALRM, self._handle)
        try:
            signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))
            program()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        while frame is not None and frame.f_code is not self.inside:
            frame = frame.f_back
        if frame is not None and self.left > 0:
            self.left -= 1
            self.raised += 1
            if self.left:
                signal.setitimer(signal.ITIMER_REAL, self.interval)
            raise self.kind("injected")


def send(kind: type[BaseException], program: Callable[[], None], seconds: float) -> bool:
    """Run a program in a thread and send it an exception after so long; whether it arrived."""
    arrived = []

    def run() -> None:
        try:
            program()
        except kind:
            arrived.append(True)
        except ExecuteError as error:
            arrived.append(isinstance(error.__cause__, kind))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    time.sleep(seconds)
    number = ctypes.c_ulong(thread.ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(number, ctypes.py_object(kind))
    thread.join(60)
    assert not thread.is_alive(), "the thread hangs"
    return bool(arrived)
