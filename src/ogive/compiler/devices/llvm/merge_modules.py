"""Several kernels in one module: each keeps its code, and what they share is written once.

    before   define @k { call @ogive.exp }  define internal @ogive.exp  attributes #0     (twice)
    after    define @k.0 { … }  define @k.1 { … }  define internal @ogive.exp  attributes #0
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ogive.errors import CompileError

_NUMBERED = re.compile(r"(?<![\w.$-])([#!])(\d+)\b")
_DEFINED = re.compile(r'define [^@]*@("[^"]+"|[\w.$-]+)\(')


def merge_modules(kernels: Sequence[tuple[str, str, str]]) -> str:
    """One module of kernels, each given by its name, its text, and its new name.

    Raises `CompileError` for helper functions of one name that differ.
    """
    merged = _Merged()
    for name, text, new_name in kernels:
        merged.add(text.replace(f'@"{name}"', f'@"{new_name}"'))
    return merged.text()


class _Merged:
    """Definitions by name, declarations, and numbered groups by their text."""

    def __init__(self) -> None:
        self._functions: dict[str, str] = {}
        self._declarations: dict[str, None] = {}
        self._groups: dict[tuple[str, str], int] = {}

    def add(self, text: str) -> None:
        lines = text.splitlines()
        numbers = self._renumber(lines)

        def renumbered(line: str) -> str:
            return _NUMBERED.sub(lambda match: numbers.get(match[0], match[0]), line)

        at = 0
        while at < len(lines):
            line = lines[at]
            at += 1
            if line.startswith("define "):
                end = lines.index("}", at) + 1
                self._define(line, "\n".join(map(renumbered, lines[at - 1 : end])))
                at = end
            elif line.startswith(("declare ", "@")):
                self._declarations[renumbered(line)] = None
            elif line and not line.startswith(("attributes ", "!", ";")):
                raise CompileError(f"a kernel has a line that is not known here: {line!r}")

    def _define(self, head: str, body: str) -> None:
        match = _DEFINED.match(head)
        assert match is not None, "a function has a name"
        if self._functions.setdefault(match[1], body) != body:
            raise CompileError(f"two kernels have different functions @{match[1]}")

    def _renumber(self, lines: Sequence[str]) -> dict[str, str]:
        """The number in the merged module of each group of attributes and node of metadata."""
        numbers = {}
        for line in lines:
            head, equals, content = line.partition(" = ")
            if equals and head.startswith(("attributes #", "!")):
                own = head.removeprefix("attributes ")
                kind = own[0]
                key = (kind, content)
                known = [each for each in self._groups if each[0] == kind]
                numbers[own] = f"{kind}{self._groups.setdefault(key, len(known))}"
        return numbers

    def text(self) -> str:
        groups = [
            f"{'attributes ' if kind == '#' else ''}{kind}{number} = {content}"
            for (kind, content), number in self._groups.items()
        ]
        return "\n".join([*self._functions.values(), *self._declarations, *groups, ""])
