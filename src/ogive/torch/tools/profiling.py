"""`torch.profiler`: times of named parts and of steps of a program.

`profile` of `ogive.jit` gives the times of single kernels; see docs/performance.md.
"""

from __future__ import annotations

import enum
import functools
import json
import os
import time
from collections.abc import Callable
from typing import Any

__all__ = [
    "ProfilerAction", "ProfilerActivity", "emit_nvtx", "profile", "record_function", "schedule",
    "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerActivity(enum.Enum):
    """The devices whose activities are recorded."""

    CPU = 0
    CUDA = 1
    XPU = 2


class ProfilerAction(enum.Enum):
    """The action of a profile in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class _Ranges:
    """The named parts that active profiles have recorded: (name, start, seconds)."""

    def __init__(self) -> None:
        self.profiles: list[profile] = []

    def add(self, name: str, start: float, seconds: float) -> None:
        for each in self.profiles:
            each._ranges.append((name, start, seconds))


_watched = _Ranges()


class record_function:
    """Names a part of a program. A context or a decorator."""

    def __init__(self, name: str, args: Any = None) -> None:
        self.name = name

    def __enter__(self) -> record_function:
        self._start = time.perf_counter()
        return self

    def __exit__(self, *error: object) -> None:
        _watched.add(self.name, self._start, time.perf_counter() - self._start)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name):
                return function(*args, **kwargs)

        return recorded


class _Average:
    """The times of a named part over all of its runs, in microseconds."""

    def __init__(self, key: str, count: int, seconds: float) -> None:
        self.key, self.count = key, count
        self.cpu_time_total = self.self_cpu_time_total = seconds * 1e6
        self.cpu_time = self.cpu_time_total / count


class _Averages(list[_Average]):
    """A list of parts that prints as a table."""

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: Any) -> str:
        """A table of each part's name, total time and number of calls."""
        rows = sorted(self, key=lambda row: -row.cpu_time_total)[:row_limit]
        lines = [f"{'Name':40}{'CPU total':>14}{'# of Calls':>12}"]
        lines += [f"{r.key[:39]:40}{r.cpu_time_total:>12.1f}us{r.count:>12}" for r in rows]
        return "\n".join(lines)


class profile:
    """Records the times of the parts that `record_function` names, and of steps."""

    def __init__(
        self,
        *,
        activities: Any = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None,
        **options: Any,
    ) -> None:
        self._schedule, self._ready = schedule, on_trace_ready
        self._ranges: list[tuple[str, float, float]] = []
        self.step_num = 0

    def start(self) -> None:
        """Start recording."""
        _watched.profiles.append(self)
        self._step_start = time.perf_counter()

    def stop(self) -> None:
        """Stop recording."""
        _watched.profiles.remove(self)
        if self._ready is not None and self._schedule is None:
            self._ready(self)

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def step(self) -> None:
        """Mark the end of a step of the program."""
        now = time.perf_counter()
        taken = now - self._step_start
        self._ranges.append((f"ProfilerStep#{self.step_num}", self._step_start, taken))
        action = self._schedule(self.step_num) if self._schedule is not None else None
        if action is ProfilerAction.RECORD_AND_SAVE and self._ready is not None:
            self._ready(self)
        self.step_num += 1
        self._step_start = time.perf_counter()

    def key_averages(self, *args: Any, **kwargs: Any) -> _Averages:
        """The parts by name."""
        times: dict[str, list[float]] = {}
        for name, _, seconds in self._ranges:
            times.setdefault(name.partition("#")[0], []).append(seconds)
        return _Averages([_Average(key, len(all_), sum(all_)) for key, all_ in times.items()])

    def export_chrome_trace(self, path: str) -> None:
        """Write the recorded parts to a file for the trace viewer of browsers."""
        events = [
            {"name": name, "ph": "X", "ts": start * 1e6, "dur": seconds * 1e6, "pid": os.getpid(),
             "tid": 0}
            for name, start, seconds in self._ranges
        ]  # fmt: skip
        with open(path, "w") as file:
            json.dump({"traceEvents": events}, file)


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, **options: Any
) -> Callable[[int], ProfilerAction]:
    """A schedule that repeatedly skips `wait` and `warmup` steps, then records `active` steps."""

    def action(step: int) -> ProfilerAction:
        at, length = step - skip_first, wait + warmup + active
        if at < 0 or (repeat and at >= repeat * length):
            return ProfilerAction.NONE
        at %= length
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        is_last = at == length - 1
        return ProfilerAction.RECORD_AND_SAVE if is_last else ProfilerAction.RECORD

    return action


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[Any], None]:
    """A function that writes each profile into a folder."""

    def write(seen: profile) -> None:
        os.makedirs(dir_name, exist_ok=True)
        name = f"{worker_name or os.getpid()}.{time.time_ns()}.pt.trace.json"
        seen.export_chrome_trace(os.path.join(dir_name, name))

    return write


class emit_nvtx(record_function):
    """Marks parts for NVIDIA's profiler. Here it only records a part."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        super().__init__("nvtx")
