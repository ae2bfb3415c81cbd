"""Memory that prepared plans fill, and what is known of memory of a symbolic shape.

Whoever reads memory asks here first, whether or not the process has prepared a plan (`plan.py`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.symbolic.variable import bindings
from ogive.compiler.live import registry
from ogive.compiler.live.waiting_plans import unexecuted

if TYPE_CHECKING:
    from ogive.compiler.engine.plan import Plan

values_in: WeakKeyDictionary[Buffer, dict[str, int]] = WeakKeyDictionary()
"""For memory of a symbolic shape, the values of the shape's variables that it was computed with."""


def note_values(memory: UOp, computed: Container[Buffer]) -> None:
    """Note the variables in the shape of `memory` if it is among the buffers just `computed`."""
    values = bindings(memory.shape)
    buffer = registry.buffer_of(memory_leaf(memory)) if values else None
    if buffer is not None and buffer in computed:
        values_in[buffer] = values


def execute_plans_of(memories: Iterable[Any]) -> None:
    """Run the plans that are to fill buffers among `memories`, as far as they have not run."""
    if not unexecuted:
        return
    for buffer in memories:
        plan: Plan | None = unexecuted.get(buffer) if isinstance(buffer, Buffer) else None
        if plan is not None:
            plan.execute_first(reading=True)
