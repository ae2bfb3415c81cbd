"""The composition root: runs the stages, owns the caches. `Tensor.realize` calls only this.

One realization, from tensors to memory:

    realize             the tensors that have no memory yet are the roots          `realize.py`
    find_route          what must be assigned with them, what waits for the run (`waiting/`), and
                        what was done for the same roots before                    `routes.py`
    to_parametric       their graph over parameters; files read by rows            `parametric.py`
    find_executions     its compiled graph: of this process, of the disk, or new   `caches/`
    Realization.bind    memory for its slots, a plan over them                     `realization.py`
    Execution.run       the plan is replayed by the host's driver                  `execution.py`
    Realization.rebind  every live tensor that held a root reads the memory now    `realization.py`

A prepared plan (`plan.py`) stops before the run, and runs many times. What assigns is announced
(`writes/`), and concluded in one step, or taken back where it faults (`faults.py`).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ogive.compiler.engine.realize import prepare, realize
from ogive.compiler.engine.writes.announced_writes import wait_for_writers

if TYPE_CHECKING:
    from ogive.compiler.engine.plan import Plan
    from ogive.compiler.engine.repeated_assignments import carry_out_noting
    from ogive.compiler.engine.spread_values import is_spread_memory, layout_of, stated_layout

__all__ = [
    "Plan", "carry_out_noting", "is_spread_memory", "layout_of", "prepare", "realize",
    "stated_layout", "wait_for_writers",
]  # fmt: skip

_LOADED_LATER = {
    "Plan": "ogive.compiler.engine.plan",
    "carry_out_noting": "ogive.compiler.engine.repeated_assignments",
    "is_spread_memory": "ogive.compiler.engine.spread_values",
    "layout_of": "ogive.compiler.engine.spread_values",
    "stated_layout": "ogive.compiler.engine.spread_values",
}
"""Names that a first result does without: prepared plans, the steps of optimizers, values over
several devices."""


def __getattr__(name: str) -> Any:
    if name not in _LOADED_LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_LOADED_LATER[name]), name)
    return value
