"""The table of operators: name, domain and opset range → the function that computes it.

    @operator("Relu")
    def relu(c: Call) -> Value:
        return c.tensor(0).relu()

A function that is `known` is written so that it works on NumPy arrays too. It gets arrays where all
its inputs are known, as the values that come from shapes are, and what it makes is then known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ogive.errors import OgiveError
from ogive.named import NamedTuple

if TYPE_CHECKING:
    from ogive.onnx.call import Call

Value = Any
"""A tensor, a known NumPy array, a list (a sequence), or None (an absent or empty optional)."""

Function = Callable[["Call"], Value]

NEWEST = 1 << 30


class OperatorError(OgiveError, NotImplementedError):
    """An operator that a model uses and that is not there, or not in this form."""


class Entry(NamedTuple):
    """An operator for the opsets from `since` up to, and without, `until`."""

    since: int
    until: int
    function: Function
    known: bool


_table: dict[tuple[str, str], list[Entry]] = {}


def operator(
    *names: str, since: int = 1, until: int = NEWEST, domain: str = "", known: bool = False
) -> Callable[[Function], Function]:
    """Register a function for operators of these names."""

    def register(function: Function) -> Function:
        for name in names:
            _table.setdefault((domain, name), []).append(Entry(since, until, function, known))
        return function

    return register


def find_loaded(domain: str, name: str, version: int) -> Entry | None:
    """The operator of that name in that opset, of the families that are loaded."""
    domain = "" if domain == "ai.onnx" else domain
    for entry in _table.get((domain, name), []):
        if entry.since <= version < entry.until:
            return entry
    return None
