"""The abilities of the terminal, and text that fits it."""

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
    """A terminal: its columns, its colours (0, 256 or 2**24), and whether it has `▀`."""

    columns: int = 80
    colours: int = 0
    blocks: bool = False

    def bold(self, text: str) -> str:
        """`text` in bold, if the terminal has it."""
        return f"\033[1m{text}\033[0m" if self.colours else text

    def title(self, text: str) -> None:
        """Print a section title."""
        print("\n" + "\n".join(self.bold(line) for line in textwrap.wrap(text, self.columns)))

    def say(self, text: str) -> None:
        """Print a paragraph, wrapped."""
        print(textwrap.fill(" ".join(text.split()), self.columns))

    def show(self, text: str, most: int | None = None) -> None:
        """Print lines of code or graph indented, cut at the edge, `most` lines of them."""
        lines = text.splitlines()
        for line in lines[:most]:
            whole = f"    {line}".rstrip()
            print(whole if len(whole) <= self.columns else f"{whole[: self.columns - 1]}…")
        if most is not None and len(lines) > most:
            print(f"    … {len(lines) - most} more lines")


class Output(Protocol):
    """The part of a stream that is used."""

    def isatty(self) -> bool: ...


def find_screen(
    stream: Output | None = None, environment: Mapping[str, str] | None = None
) -> Screen:
    """The screen behind a stream (default: standard output), judged by it and the environment."""
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
