"""Inject exceptions into programs and look what is left: `python -m tests.injection.run --help`.

Each way takes turns with each program. What is wrong is printed with the place of the exception;
a hang is printed with the stacks of all threads, and ends the process.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import random
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import ogive
from ogive.compiler.devices.write_clock import clock
from ogive.compiler.live import registry
from ogive.errors import ExecuteError
from ogive.jit.tracing import watch
from tests.injection.injector import KINDS, Alarm, Bytecodes, send
from tests.injection.programs import PROGRAMS, Program

PACKAGE = str(Path(ogive.__file__).parent) + "/"
OUTSIDE = ("threading.py", "contextlib.py", "queue.py", "weakref.py")
HANG_SECONDS = 60


def module_of(filename: str) -> str | None:
    """The name under which injections into a file are counted, if there are any."""
    if filename.startswith(PACKAGE):
        return filename[len(PACKAGE) :]
    return next((name for name in OUTSIDE if filename.endswith("/" + name)), None)


class Harness:
    """One program, its state, and how long a step of it takes."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.random = random.Random(f"{name} {seed}")
        self.program: Program = PROGRAMS[name]()
        self.arrived: Counter[str] = Counter()
        self.place = ""
        for _ in range(3):
            start = time.perf_counter()
            self.program.step()
            self.seconds = time.perf_counter() - start
            self.program.check()
        counter = Bytecodes(module_of)
        with counter.watching():
            self.program.step()
        self.counts = counter.counts
        self.program.check()

    def inject(self, way: str) -> None:
        """Inject in one way, and check."""
        kind = self.random.choice(KINDS)
        try:
            self.arrived[way] += WAYS[way](self, kind)
        except KINDS:
            self.arrived[way] += 1
        except ExecuteError as error:
            # A custom function cannot be told from the handler of a signal that comes in it.
            assert isinstance(error.__cause__, KINDS)
            self.arrived[way] += 1
        except RuntimeError as error:
            # What Python's own `Thread.start` makes of an exception while it waits.
            assert isinstance(error.__context__, KINDS) and "unlocked lock" in str(error)
            self.arrived[way] += 1
        self.program.check()
        check_process()

    def at_bytecode(self, kind: type[BaseException]) -> int:
        """At a place in one of the modules that a step goes through."""
        module = self.random.choice(sorted(self.counts))
        at = self.random.randrange(self.counts[module])
        injection = Bytecodes(module_of, module, at, kind)
        self.place = f"{module} {at}"
        try:
            with injection.watching():
                self.program.step()
        finally:
            self.place = f"{module} {injection.raised_at}"
        return int(injection.raised_at is not None)

    def by_signal(self, kind: type[BaseException], times: int = 1) -> int:
        """At some moment of a step."""
        alarm = Alarm(kind, times)
        after = self.random.uniform(0, 1.2) * self.seconds
        self.place = f"after {after * 1e3:.3f} ms"
        start = time.perf_counter()
        alarm.run(self.program.step, after, interval=self.seconds / 5 if times > 1 else 0.0)
        self.seconds += 0.1 * (time.perf_counter() - start - self.seconds)
        return alarm.raised

    def by_signals(self, kind: type[BaseException]) -> int:
        """At several moments, of which all but the first come in the middle of what is left."""
        return self.by_signal(kind, times=3)

    def from_thread(self, kind: type[BaseException]) -> int:
        """In another thread. CPython may take one that is just being started for the one it is sent
        to, and that would never begin: so not where threads are started."""
        if self.name == "loading":
            return self.by_signal(kind)
        after = self.random.uniform(0, 1.2) * self.seconds
        self.place = f"after {after * 1e3:.3f} ms, in a thread"
        return int(send(kind, self.program.step, after))


WAYS: dict[str, Callable[[Harness, type[BaseException]], int]] = {
    "bytecode": Harness.at_bytecode,
    "signal": Harness.by_signal,
    "signals": Harness.by_signals,
    "thread": Harness.from_thread,
}


def ignore_injected(unraisable: sys.UnraisableHookArgs) -> None:
    """Say nothing of exceptions that came where Python lets none out: where objects end."""
    if not isinstance(unraisable.exc_value, KINDS):
        sys.__unraisablehook__(unraisable)


def check_process() -> None:
    """Assert that no lock is held, nobody writes, and no thread is left that hinders the end."""
    free: list[bool] = []

    def try_locks() -> None:
        for lock in (registry.graph_lock, registry.effect_lock, watch.trace_lock):
            free.append(lock.acquire(timeout=10))
            if free[-1]:
                lock.release()

    thread = threading.Thread(target=try_locks, daemon=True)
    thread.start()
    thread.join()
    assert all(free), f"locks are held: {free}"
    assert not clock.writers and clock.now == clock.quiet
    assert not watch.is_tracing()
    left = [t.name for t in threading.enumerate() if not t.daemon and t is not thread]
    assert left == ["MainThread"], f"threads are left: {left}"


def main() -> int:
    """Run, and print what was found as the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--programs", nargs="*", default=list(PROGRAMS))
    parser.add_argument("--ways", nargs="*", default=list(WAYS))
    arguments = parser.parse_args()
    arrived: Counter[str] = Counter()
    wrong: list[str] = []
    sys.unraisablehook = ignore_injected
    faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
    harnesses = {name: Harness(name, arguments.seed) for name in arguments.programs}
    for number in range(arguments.count):
        name = arguments.programs[number % len(harnesses)]
        way = arguments.ways[number // len(harnesses) % len(arguments.ways)]
        harness = harnesses[name]
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        try:
            harness.inject(way)
        except BaseException:
            wrong.append(f"{name}, {way}, {harness.place}: {traceback.format_exc()}")
            print(wrong[-1], file=sys.stderr, flush=True)
            if len(wrong) > 20:
                break
            harnesses[name] = Harness(name, arguments.seed + number)
    for name, harness in harnesses.items():
        for way, count in harness.arrived.items():
            arrived[f"{name} {way}"] += count
    print(json.dumps({"arrived": sum(arrived.values()), "by": arrived, "wrong": len(wrong)}))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
