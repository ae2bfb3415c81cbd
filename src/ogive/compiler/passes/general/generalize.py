"""Parametric graphs that differ in numbers only become one graph over variables.

    before   MUL(RESHAPE(PARAM 0, (5, 64)), CONST 0.1)
             MUL(RESHAPE(PARAM 0, (8, 64)), CONST 0.3)
    after    MUL(SHRINK(RESHAPE(PARAM 0, (512, 64)), (0, n)), PARAM 1)
             with n = 5 or 8, and 0.1 or 0.3 in PARAM 1

A graph is taken apart into a *skeleton*, which is equal for graphs of one structure, and its
*numbers*, in order: lengths, positions and constants. Lengths 0 and 1 belong to the skeleton, since
they mean something else (nothing, and broadcasting). `unify` looks at the numbers of a few graphs
of one skeleton. Those that are equal in all of them stay. Constants that differ become data, one
element of memory each. Lengths and positions that differ become expressions of few variables, which
are lengths of inputs where possible: n, 64·n, n − 1, (n + 1) // 2, n·m.

The expressions are found by trying (`derive_lengths.py`, `express_sizes.py`), so nothing follows
from them alone. That the graph over them has a meaning for all values of its variables is proved
(`prove_general.py`), and `General.match` compares each number of a further graph with what they
give: it fits if all are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.symbolic.evaluate import evaluate_each
from ogive.compiler.passes.general.build_general import NoRoom, restore
from ogive.compiler.passes.general.derive_lengths import Series
from ogive.compiler.passes.general.express_sizes import ROOMS, Expressed, Wanted, express_sizes
from ogive.compiler.passes.general.prove_general import Doubtful
from ogive.compiler.passes.general.skeleton import VALUE, NotGeneral, Numbers, Skeleton
from ogive.named import NamedTuple

STEPS = (1, 2, 4, 8, 16, 32, 3, 6)
"""The lengths of inputs may be multiples of these, with or without a rest: 2·k and 2·k + 1. Images
that are halved are so: those that are not even have another graph."""

MOST_CORRECTIONS = 16
"""How often the bounds of a graph's variables are corrected."""


class General(NamedTuple):
    """One graph for all of a skeleton whose numbers fit.

    `fixed` has the numbers that are as they are, by place in the list of numbers; `expressed` what
    the others are; `data` the places of the constants that are elements of memory, in the order of
    their slots, which follow those of `parameters` others, and `repeated` those of constants that
    have been equal to one of them. `nodes` has what became of each node in the walk, `used` the
    names of the variables that are in the graph: others are only compared.
    """

    sink: UOp
    nodes: tuple[UOp, ...]
    fixed: tuple[tuple[int, Any], ...]
    expressed: Expressed
    data: tuple[int, ...]
    repeated: tuple[tuple[int, int], ...]
    parameters: int
    used: frozenset[str]

    @property
    def bounds(self) -> tuple[tuple[int, int], ...]:
        """The bounds of the variables."""
        return tuple([(each.node.low, each.node.high) for each in self.expressed.variables])

    def match(self, numbers: Numbers) -> dict[str, int] | None:
        """The values of the variables that give exactly these numbers, or None."""
        for place, number in self.fixed:
            if numbers[place] != number:
                return None
        for place, first in self.repeated:
            if numbers[place] is not numbers[first]:
                return None
        values: dict[str, int] = {}
        for node, place, step, rest in self.expressed.variables:
            value = values[node.name] = (numbers[place] - rest) // step
            if not node.low <= value <= node.high:
                return None
        known = evaluate_each(self.expressed.order, values)
        for expression, places in self.expressed.sizes:
            wanted = known[expression]
            for place in places:
                if numbers[place] != wanted:
                    return None
        return {name: value for name, value in values.items() if name in self.used}


def unify(skeleton: Skeleton, instances: Sequence[Numbers]) -> General:
    """One graph for all `instances` of a skeleton, of which one is its own. Raises `NotGeneral`."""
    series = list(zip(*instances, strict=True))
    varying = [len(set(each)) > 1 for each in series]
    data: dict[Any, list[int]] = {}
    for place, varies in enumerate(varying):
        if varies and skeleton.kinds[place] is VALUE:
            data.setdefault(series[place], []).append(place)
    groups = list(data.values())
    nodes, expressed = _expressed(skeleton, instances, series, groups)
    walked = set(nodes[-1].walk())
    general = General(
        nodes[-1],
        tuple(nodes),
        tuple([(place, each[0]) for place, each in enumerate(series) if not varying[place]]),
        expressed,
        tuple([places[0] for places in groups]),
        tuple([(place, first) for first, *more in groups for place in more]),
        skeleton.parameters,
        frozenset([each.node.name for each in expressed.variables if each.node in walked]),
    )
    if any(general.match(numbers) is None for numbers in instances):
        raise Doubtful("what is proved of larger sizes is not proved of all that came")
    return general


def _expressed(
    skeleton: Skeleton,
    instances: Sequence[Numbers],
    series: list[Series],
    data: Sequence[Sequence[int]],
) -> tuple[list[UOp], Expressed]:
    """The nodes of the general graph, and its sizes, as the first attempt gives them that is proved
    to have a meaning."""
    shapes = _shapes(skeleton, instances)
    # Not the error itself: it would refer to this frame and the frame to it, and both would keep
    # alive the tensors of all frames below until the garbage is collected.
    kind, reason = NotGeneral, "nothing was tried"
    for is_related in (False, True):
        for step in STEPS:
            wanted = Wanted(step, is_related, ROOMS[0], {})
            for _ in range(MOST_CORRECTIONS):
                try:
                    return express_sizes(skeleton, series, shapes, data, wanted)
                except (NoRoom, Doubtful) as doubt:
                    kind, reason = type(doubt), str(doubt)
                    corrected = _corrected(wanted, doubt)
                if corrected is None:
                    break
                wanted = corrected
    raise kind(reason)


def _corrected(wanted: Wanted, doubt: NoRoom | Doubtful) -> Wanted | None:
    """The expressions to try where those were too much."""
    if isinstance(doubt, NoRoom):
        place = ROOMS.index(wanted.room) + 1
        return wanted._replace(room=ROOMS[place]) if place < len(ROOMS) else None
    if doubt.correction is None:
        return None
    name, low, high = doubt.correction
    least, greatest = wanted.bounds.get(name, (0, high))
    return wanted._replace(
        bounds={**wanted.bounds, name: (max(low, least), min(high, greatest))}
    )


def _shapes(skeleton: Skeleton, instances: Sequence[Numbers]) -> list[list[Series]]:
    """The lengths of each node's value in each of some instances."""
    restored = [restore(skeleton, numbers) for numbers in instances]
    return [
        list(zip(*[node.shape for node in nodes], strict=True))
        for nodes in zip(*restored, strict=True)
    ]
