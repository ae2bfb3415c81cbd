"""The composition root: runs the stages, owns the caches. `Tensor.realize` calls only this."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ogive.engine.announced_writes import wait_for_writers
from ogive.engine.plan import Plan
from ogive.engine.realize import prepare, realize

if TYPE_CHECKING:
    from ogive.engine.repeated_assignments import carry_out_noting
    from ogive.engine.spread_values import is_spread_memory, layout_of, stated_layout

__all__ = [
    "Plan", "carry_out_noting", "is_spread_memory", "layout_of", "prepare", "realize",
    "stated_layout", "wait_for_writers",
]  # fmt: skip

_LOADED_LATER = {
    "carry_out_noting": "ogive.engine.repeated_assignments",
    "is_spread_memory": "ogive.engine.spread_values",
    "layout_of": "ogive.engine.spread_values",
    "stated_layout": "ogive.engine.spread_values",
}
"""What a first result does without: the steps of optimizers, values over several devices."""


def __getattr__(name: str) -> Any:
    if name not in _LOADED_LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = getattr(importlib.import_module(_LOADED_LATER[name]), name)
    return found
