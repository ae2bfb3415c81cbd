"""Python code in Markdown pages, run as it stands."""

from __future__ import annotations

import doctest
import linecache
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced block of Python; `line` is where its code begins, counted from 1."""

    page: Path
    line: int
    code: str

    @property
    def is_session(self) -> bool:
        """Whether it is a session of the interpreter, with expected output."""
        return ">>>" in self.code


def python_blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, text[: match.start(1)].count("\n") + 1, match[1])
        for match in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ]


def run_block(block: Block, namespace: dict[str, Any]) -> None:
    """Run a block; an error points at the line of the page."""
    if block.is_session:
        _run_session(block, namespace)
        return
    # Errors quote the user's line, which they look up here.
    linecache.checkcache(str(block.page))
    padding = "\n" * (block.line - 1)
    exec(compile(padding + block.code, str(block.page), "exec"), namespace)


def _run_session(block: Block, namespace: dict[str, Any]) -> None:
    name = f"{block.page.name}:{block.line}"
    session = doctest.DocTestParser().get_doctest(
        block.code, namespace, name, str(block.page), block.line - 1
    )
    runner = doctest.DocTestRunner(optionflags=OPTIONS, verbose=False)
    complaints: list[str] = []
    runner.run(session, out=complaints.append, clear_globs=False)
    assert not complaints, "".join(complaints)
    namespace.update(session.globs)
