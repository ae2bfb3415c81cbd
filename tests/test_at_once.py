"""Changes that no exception can divide."""

from __future__ import annotations

import sys
from types import FrameType, SimpleNamespace
from typing import Any

from ogive.at_once import at_once


def test_no_instruction_of_python_comes_between_two_changes() -> None:
    target = SimpleNamespace(one=0, two=0)
    seen: set[tuple[int, int]] = set()

    def look(frame: FrameType, event: str, argument: Any) -> Any:
        frame.f_trace_opcodes = True
        seen.add((target.one, target.two))
        return look

    sys.settrace(look)
    try:
        at_once([(target, "one", 1), (target, "two", 2)])
    finally:
        sys.settrace(None)
    assert seen == {(0, 0), (1, 2)}
