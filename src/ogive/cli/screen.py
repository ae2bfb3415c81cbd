"""The terminal's abilities, and text that fits into it."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Mapping
from typing import Protocol

from ogive.named import record

NARROWEST, WIDEST = 20, 100


@record(frozen=True)
class Screen:
    """`columns` to write into; `colours` is 0, 256 or 2**24; `blocks` allows `▀` and the like."""

    columns: int = 80
    colours: int = 0
    blocks: bool = False

    def bold(self, text: str) -> str:
        """`text` emphasized, where that is possible."""
        return f"\033[1m{text}\033[0m" if self.colours else text

    def title(self, text: str) -> None:
        """Print the head of a section."""
        print("\n" + "\n".join(self.bold(line) for line in textwrap.wrap(text, self.columns)))

    def say(self, text: str) -> None:
        """Print a paragraph, wrapped."""
        print(textwrap.fill(" ".join(text.split()), self.columns))

    def show(self, text: str, most: int | None = None) -> None:
        """Print lines of code or graph as they are: indented, cut at the edge, at most so many."""
        lines = text.splitlines()
        for line in lines[:most]:
            whole = f"    {line}".rstrip()
            print(whole if len(whole) <= self.columns else f"{whole[: self.columns - 1]}…")
        if most is not None and len(lines) > most:
            print(f"    … {len(lines) - most} more lines")


class Output(Protocol):
    """The methods that are asked of a stream."""

    def isatty(self) -> bool: ...


def find_screen(
    stream: Output | None = None, environment: Mapping[str, str] | None = None
) -> Screen:
    """The screen that a stream (standard output) is, as far as it and the environment tell."""
    stream = sys.stdout if stream is None else stream
    encoding = getattr(stream, "encoding", None) or "ascii"
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")
    columns = min(max(shutil.get_terminal_size().columns - 1, NARROWEST), WIDEST)
    is_terminal = stream.isatty()
    colours = _count_colours(os.environ if environment is None else environment)
    return Screen(columns, colours if is_terminal else 0, is_terminal and _can_encode(encoding))


def _count_colours(environment: Mapping[str, str]) -> int:
    if environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return 0
    return 1 << 24 if environment.get("COLORTERM") in ("truecolor", "24bit") else 256


def _can_encode(encoding: str) -> bool:
    try:
        "▀░▒▓█".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
