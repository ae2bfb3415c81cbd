"""Which argument words of a native plan each part of a call fills in.

    f(x): return x @ w     slots   0 is input x, 1 is w, which it captures, 2 is the result
                           words   (result, x, w): slot 0 fills in word 1, 1 word 2, 2 word 0
"""

from __future__ import annotations

from ogive.jit.tracing.prepare import Owner, Prepared, ResultSlot
from ogive.jit.tracing.traced_function import Trace
from ogive.named import NamedTuple

Words = tuple[int, ...]
"""Positions among the argument words of a native plan."""


class Wiring(NamedTuple):
    """Where addresses go.

    `words` has the argument words of each slot, `inputs` those of each input. `captured` and
    `supplies` have, of the captured tensors and of the numbers that it takes, those
    that the graph reads, by position. `fresh` are the results with new memory, one for each slot:
    several results may lie in it. `given` are the slots whose memory a call brings along, and
    `sources` those that panels are made from, with their owners.
    """

    words: list[Words]
    inputs: list[Words]
    captured: list[tuple[int, Words]]
    supplies: list[tuple[int, Words]]
    fresh: list[ResultSlot]
    given: frozenset[int]
    sources: list[tuple[int, Owner]]


def wire(trace: Trace, prepared: Prepared) -> Wiring:
    """The wiring of what was prepared from a trace."""
    graph = prepared.graph
    positions: list[list[int]] = [[] for _ in graph.slots]
    for position, slot in graph.word_slots:
        positions[slot].append(position)
    words = [tuple(own) for own in positions]
    by_owner = {owner: words[slot] for slot, owner in prepared.owners.items()}

    def used(kind: str, count: int) -> list[tuple[int, Words]]:
        owners = [Owner(kind, at) for at in range(count)]
        return [(owner.position, by_owner[owner]) for owner in owners if owner in by_owner]

    computed = [*prepared.results, *[moved for _, moved in prepared.moved]]
    fresh = {m.slot: m for m in computed if m.slot is not None and m.donated is None}
    packed = {slot for panel in graph.panels for slot in panel.sources}
    return Wiring(
        words=words,
        inputs=[by_owner.get(Owner("input", at), ()) for at in range(len(trace.numbers))],
        captured=used("captured", len(trace.captured)),
        supplies=used("supply", len(trace.supplies)),
        fresh=list(fresh.values()),
        given=frozenset([*prepared.owners, *fresh]),
        sources=[
            (slot, owner)
            for slot, owner in prepared.owners.items()
            if slot in packed and owner.kind != "supply"
        ],
    )
