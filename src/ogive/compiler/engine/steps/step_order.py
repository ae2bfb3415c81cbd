"""The order of steps that needs the least memory, as far as a greedy choice finds it.

A schedule visits what its results need one result after the other. The gradients of a network,
asked for from the first layer to the last, then all wait for their updates until the first layer's
is known:

    before   g3 g2 g1  u1 u2 u3          three gradients alive at once
    after    g3 u3  g2 u2  g1 u1         one or two

Of the steps that can run, the one that frees the most runs next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

from ogive.compiler.passes.regions.slots import CallStep, Slot

if TYPE_CHECKING:
    from ogive.compiler.engine.steps.compiled_graph import Step

MOST_STEPS = 4096
"""Longer schedules stay as they are: choosing takes time."""


def order_for_memory(
    steps: Sequence[Step], slots: Sequence[Slot], left_out: Container[int]
) -> tuple[int, ...]:
    """Positions of `steps` in an order that keeps every dependency and little memory.

    Slots `left_out` are not the run's own, and their bytes count for nothing.
    """
    if len(steps) > MOST_STEPS:
        return tuple(range(len(steps)))
    before, after = _dependencies(steps)
    waiting = [len(sources) for sources in before]
    sizes = [0 if n in left_out else slot.nbytes for n, slot in enumerate(slots)]
    touched = [[slot for slot in set(step.slots) if sizes[slot]] for step in steps]
    users = Counter([slot for own in touched for slot in own])
    begun: set[int] = set()
    ready = [position for position, count in enumerate(waiting) if not count]
    order: list[int] = []

    def growth(position: int) -> tuple[int, int]:
        """By how many bytes what is alive grows when a step has run; the earlier step wins ties."""
        change = 0
        for slot in touched[position]:
            change += sizes[slot] * ((slot not in begun) - (users[slot] == 1))
        return change, position

    while ready:
        position = min(ready, key=growth)
        ready.remove(position)
        order.append(position)
        for slot in touched[position]:
            begun.add(slot)
            users[slot] -= 1
        for reader in after[position]:
            waiting[reader] -= 1
            if not waiting[reader]:
                ready.append(reader)
    return tuple(order)


def _dependencies(steps: Sequence[Step]) -> tuple[list[set[int]], list[set[int]]]:
    """For each step those that must run before it, and those that must run after it.

    A step follows whoever wrote what it uses, and whoever used what it overwrites. Calls of Python
    functions follow each other: nobody knows what they do.
    """
    before: list[set[int]] = [set() for _ in steps]
    after: list[set[int]] = [set() for _ in steps]
    writer: dict[int, int] = {}
    readers: dict[int, list[int]] = {}
    last_call: int | None = None
    for position, step in enumerate(steps):
        own = step.written
        sources = {writer[slot] for slot in step.slots if slot in writer}
        for slot in own:
            sources.update(readers.get(slot, ()))
        if isinstance(step, CallStep):
            sources |= set() if last_call is None else {last_call}
            last_call = position
        before[position] = sources
        for source in sources:
            after[source].add(position)
        for slot in step.slots:
            readers.setdefault(slot, []).append(position)
        for slot in own:
            writer[slot] = position
            readers[slot] = []
    return before, after
