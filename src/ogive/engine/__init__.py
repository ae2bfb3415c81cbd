"""The composition root: runs the stages, owns the caches. `Tensor.realize` calls only this."""

from ogive.engine.announced_writes import wait_for_writers
from ogive.engine.plan import Plan
from ogive.engine.realize import prepare, realize
from ogive.engine.repeated_assignments import carry_out_noting
from ogive.engine.spread_values import is_spread_memory, layout_of, stated_layout

__all__ = [
    "Plan", "carry_out_noting", "is_spread_memory", "layout_of", "prepare", "realize",
    "stated_layout", "wait_for_writers",
]  # fmt: skip
