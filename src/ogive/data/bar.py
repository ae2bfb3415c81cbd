"""A progress bar for loops: by `rich` if it is installed, else in plain text."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import Any, Generic, Protocol, TextIO, TypeVar

T = TypeVar("T")

_WIDTH = 24
_INTERVAL = 0.1
"""The time between two updates of the bar, in seconds."""


class _Bar(Protocol):
    def draw(self, done: int, notes: str) -> None: ...

    def finish(self, done: int, notes: str) -> None: ...


class Progress(Generic[T]):
    """An iterable that shows its progress. `progress` makes one."""

    def __init__(
        self, values: Iterable[T], label: str, total: int | None, bar: _Bar | None
    ) -> None:
        self._values = values
        self._bar = bar
        self._notes = ""
        self.label = label
        self.total = total

    def note(self, **values: Any) -> None:
        """Show values beside the bar, such as `note(loss=0.25)`."""
        self._notes = "  ".join(f"{name} {_short(value)}" for name, value in values.items())

    def __len__(self) -> int:
        if self.total is None:
            raise TypeError("the values have no length")
        return self.total

    def __iter__(self) -> Iterator[T]:
        bar = self._bar
        if bar is None:
            yield from self._values
            return
        done = 0
        bar.draw(done, self._notes)
        try:
            for value in self._values:
                yield value
                done += 1
                bar.draw(done, self._notes)
        finally:
            bar.finish(done, self._notes)


def progress(
    values: Iterable[T],
    label: str = "",
    total: int | None = None,
    shown: bool | None = None,
    file: TextIO | None = None,
) -> Progress[T]:
    """Return an iterable of the same values that shows a progress bar on the terminal.

    `total` is `len(values)` by default, if that is known. The bar is drawn on `file`, by default
    standard error, and only if that is a terminal. With `shown`, a line is written for each tenth
    where it is none. The extra `ogive[progress]` installs `rich`, which draws in colour.

    >>> list(progress([1, 2, 3], shown=False))
    [1, 2, 3]
    """
    stream = sys.stderr if file is None else file
    if total is None and isinstance(values, Sized):
        total = len(values)
    terminal = stream.isatty()
    if not (terminal if shown is None else shown):
        return Progress(values, label, total, None)
    bar: _Bar = _Lines(stream, label, total)
    if terminal:
        bar = _rich_bar(stream, label, total) or TextBar(stream, label, total)
    return Progress(values, label, total, bar)


def _short(value: Any) -> str:
    if isinstance(value, int | str):
        return str(value)
    return f"{float(value):.4g}"


class _Text:
    """The text of the plain bars."""

    def __init__(self, stream: TextIO, label: str, total: int | None) -> None:
        self.stream = stream
        self.label = label
        self.total = total
        self.began = time.monotonic()

    def text(self, done: int, notes: str) -> str:
        speed = done / max(time.monotonic() - self.began, 1e-9)
        parts = [self.label, f"{done}/{self.total}" if self.total else str(done)]
        if self.total:
            filled = _WIDTH * done // self.total
            parts.insert(1, "█" * filled + "░" * (_WIDTH - filled))
        return "  ".join([part for part in (*parts, f"{speed:.1f}/s", notes) if part])


class TextBar(_Text):
    """A bar for terminals: one line that is overwritten."""

    drawn = 0.0
    longest = 0
    interval = _INTERVAL

    def draw(self, done: int, notes: str) -> None:
        if time.monotonic() - self.drawn >= self.interval:
            self._write(done, notes, "")

    def finish(self, done: int, notes: str) -> None:
        self._write(done, notes, "\n")

    def _write(self, done: int, notes: str, end: str) -> None:
        text = self.text(done, notes)
        self.longest = max(self.longest, len(text))
        self.stream.write(f"\r{text:{self.longest}}{end}")
        self.stream.flush()
        self.drawn = time.monotonic()


class _Lines(_Text):
    """A bar for logs: a line for each tenth."""

    tenths = 0

    def draw(self, done: int, notes: str) -> None:
        if self.total and done < self.total and 10 * done // self.total > self.tenths:
            self.tenths = 10 * done // self.total
            self.stream.write(self.text(done, notes) + "\n")

    def finish(self, done: int, notes: str) -> None:
        self.stream.write(self.text(done, notes) + "\n")
        self.stream.flush()


def _rich_bar(stream: TextIO, label: str, total: int | None) -> _Bar | None:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress
    except ImportError:
        return None
    display = RichProgress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("{task.fields[notes]}"), console=Console(file=stream),
    )  # fmt: skip
    return _RichBar(display, label, total)


class _RichBar:
    def __init__(self, display: Any, label: str, total: int | None) -> None:
        self.display = display
        self.task = display.add_task(label, total=total, notes="")
        self.started = False

    def draw(self, done: int, notes: str) -> None:
        if not self.started:
            self.started = True
            self.display.start()
        self.display.update(self.task, completed=done, notes=notes)

    def finish(self, done: int, notes: str) -> None:
        self.draw(done, notes)
        self.display.stop()
