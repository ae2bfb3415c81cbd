"""Show progress on standard error while kernels are compiled, after half a second."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import ogive

PATIENCE = 0.5
"""Seconds until the first line."""

INTERVAL = 0.2
"""Seconds between updates on a terminal. Elsewhere one line is written."""


@contextmanager
def showing_progress(stream: TextIO | None = None, patience: float = PATIENCE) -> Iterator[None]:
    """Show the progress of compiling until the block ends."""
    stream = stream or sys.stderr
    ended = threading.Event()
    thread = threading.Thread(target=_show, args=(stream, patience, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _show(stream: TextIO, patience: float, ended: threading.Event) -> None:
    start, before = time.perf_counter(), _compiled()
    if ended.wait(patience):
        return
    is_terminal = stream.isatty()
    while True:
        number = _compiled() - before + 1
        line = f"compiling: kernel {number}, {time.perf_counter() - start:.1f} s"
        stream.write(f"\r{line}" if is_terminal else f"{line}\n")
        stream.flush()
        if not is_terminal:
            return
        if ended.wait(INTERVAL):
            stream.write("\r" + " " * (len(line) + 4) + "\r")
            stream.flush()
            return


def _compiled() -> int:
    return int(ogive.counters()["kernels_compiled"])
