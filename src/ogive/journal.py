"""Log lines on standard error, which `OGIVE_LOG` turns on.

The name `ogive.log` is that of the logarithm.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TypeVar

from ogive.config import Config

Result = TypeVar("Result")


def log(topic: str, text: str) -> None:
    """Print one line. Ask `Config.logs` first."""
    if sys.stderr is not None:
        print(f"ogive: {topic}: {text}", file=sys.stderr, flush=True)


def logging_time(
    execute: Callable[[], Result], config: Config, what: str
) -> Callable[[], Result]:
    """`execute` with a log line about its time; `execute` itself if that is not logged."""
    if not config.logs("execute"):
        return execute

    def timed() -> Result:
        start = time.perf_counter()
        result = execute()
        log("execute", f"{what} in {since(start)}")
        return result

    return timed


def since(start: float) -> str:
    """The time since `start`, a value of `time.perf_counter`, as text.

    >>> since(time.perf_counter()).endswith(" ms")
    True
    """
    return f"{(time.perf_counter() - start) * 1e3:.3f} ms"


def show_bytes(count: float) -> str:
    """A size in bytes as text, in the largest unit in which it is at least 1.

    >>> show_bytes(48 << 10), show_bytes(0), show_bytes(3 << 19), show_bytes(1020)
    ('48 KiB', '0 B', '1.5 MiB', '1020 B')
    """
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if size >= 1000 else f"{size:.3g} {unit}"
