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

The expressions are found by trying, so nothing follows from them alone: `General.match` compares
each number of a further graph with what they give, and a graph fits if all are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ogive.ir import dtype as dtypes
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.symbolic.variable import OWN
from ogive.named import NamedTuple
from ogive.passes.general.build_general import build_general
from ogive.passes.general.number_expressions import Expression, express
from ogive.passes.general.skeleton import VALUE, NotGeneral, Numbers, Skeleton

LEAST_ROOM = 512
"""The least bound of a variable, so that small first sizes leave room for others."""

MANY = 4096
"""Lengths up to this leave more room than those beyond."""

ROOM = 8
"""How many times the longest seen a length may be, if that is at most `MANY`."""

ROOM_FOR_MANY = 2
"""The same of longer ones."""


class General(NamedTuple):
    """One graph for all of a skeleton whose numbers fit.

    `fixed` has the numbers that are as they are, by place in the list of numbers; `defining` the
    place of each variable's value, `bounds` what these lie between; `dependent` the expressions of
    the others; `data` the places of the constants that are elements of memory, in the order of
    their slots, which follow those of `parameters` others, and `repeated` those of constants that
    have been equal to one of them. `nodes` has what became of each node in the walk.
    """

    sink: UOp
    nodes: tuple[UOp, ...]
    fixed: tuple[tuple[int, Any], ...]
    defining: tuple[int, ...]
    bounds: tuple[tuple[int, int], ...]
    dependent: tuple[tuple[int, Expression], ...]
    data: tuple[int, ...]
    repeated: tuple[tuple[int, int], ...]
    parameters: int

    def match(self, numbers: Numbers) -> dict[str, int] | None:
        """The values of the variables that give exactly these numbers, or None."""
        for place, number in self.fixed:
            if numbers[place] != number:
                return None
        for place, first in self.repeated:
            if numbers[place] is not numbers[first]:
                return None
        values = [numbers[place] for place in self.defining]
        for value, (low, high) in zip(values, self.bounds, strict=True):
            if not low <= value <= high:
                return None
        for place, expression in self.dependent:
            if numbers[place] != expression.at(values):
                return None
        return {variable_name(number): value for number, value in enumerate(values)}


def variable_name(number: int) -> str:
    """The names of the variables; no user's variable has one of them."""
    return f"{OWN}n{number}"


def unify(skeleton: Skeleton, instances: Sequence[Numbers]) -> General:
    """One graph for all `instances` of a skeleton, of which one is its own. Raises `NotGeneral`."""
    return _Unifier(skeleton, instances).general()


class _Unifier:
    def __init__(self, skeleton: Skeleton, instances: Sequence[Numbers]) -> None:
        self.skeleton = skeleton
        self.series = list(zip(*instances, strict=True))
        self.varying = [len(set(series)) > 1 for series in self.series]
        self.defining: list[int] = []
        self.bounds: list[tuple[int, int]] = []
        self.expressions: dict[int, Expression] = {}
        self.places = skeleton.places_by_node()

    def general(self) -> General:
        kinds = self.skeleton.kinds
        data: dict[Any, list[int]] = {}
        for place, varies in enumerate(self.varying):
            if varies and kinds[place] is VALUE:
                data.setdefault(self.series[place], []).append(place)
        for place in self._inputs():
            self._express(place, is_input=True)
        for place, varies in enumerate(self.varying):
            if varies and kinds[place] is not VALUE and place not in self.expressions:
                self._express(place, is_input=False)
        variables = [
            UOp(Op.VARIABLE, dtypes.index, (), (variable_name(number), *bounds))
            for number, bounds in enumerate(self.bounds)
        ]
        sizes = {p: self.expressions[p].over(variables) for p in self.expressions}
        nodes = build_general(self.skeleton, sizes, list(data.values()))
        return General(
            nodes[-1],
            nodes,
            tuple(
                [(p, series[0]) for p, series in enumerate(self.series) if not self.varying[p]]
            ),
            tuple(self.defining),
            tuple(self.bounds),
            tuple(
                [(p, e) for p, e in self.expressions.items() if p not in self.defining]
            ),
            tuple([places[0] for places in data.values()]),
            tuple([(place, first) for first, *more in data.values() for place in more]),
            self.skeleton.parameters,
        )

    def _inputs(self) -> list[int]:
        """The varying lengths that inputs have, the least first: n before 64·n."""
        order, found = self.skeleton.order, []
        for position, node in enumerate(order):
            is_input = node.op in (Op.PARAM, Op.IOTA) or (
                node.op is Op.RESHAPE and node.operand.op is Op.PARAM
            )
            if is_input:
                found += [p for p in self.places.get(position, ()) if self.varying[p]]
        return sorted(found, key=lambda place: (self.series[place], place))

    def _express(self, place: int, is_input: bool) -> None:
        begin, length = self._window(place)
        if length is not None and place != begin:
            first = self.expressions[begin]
            self.expressions[place] = first._replace(offset=first.offset + length)
            return
        known = [self.series[number] for number in self.defining]
        found = express(self.series[place], known)
        if found is not None and found.divisor > 1 and length is not None:
            found = None  # where a window begins is no part of a length
        if found is None:
            bounds = self._room(place, is_input)
            found = Expression((len(self.defining),))
            self.defining.append(place)
            self.bounds.append(bounds)
        self.expressions[place] = found

    def _room(self, place: int, is_input: bool) -> tuple[int, int]:
        """The bounds of a new variable."""
        node = self.skeleton.order[self.skeleton.places[place]]
        series = self.series[place]
        if is_input:
            longest = max(series)
            room = longest * (ROOM if longest <= MANY else ROOM_FOR_MANY)
            return 2, max(LEAST_ROOM, 1 << (room - 1).bit_length())
        if node.op is Op.SHRINK:
            return self._slice_room(node, place)
        raise NotGeneral(f"{node.op.name} has a length {series} that follows from no input")

    def _window(self, place: int) -> tuple[int, int | None]:
        """The place where a slice begins, for one of its two, and its length if that stays."""
        position = self.skeleton.places[place]
        if self.skeleton.order[position].op is not Op.SHRINK:
            return place, None
        begin = place - (place - self.places[position].start) % 2
        pairs = zip(self.series[begin], self.series[begin + 1], strict=True)
        lengths = {end - first for first, end in pairs}
        return begin, lengths.pop() if len(lengths) == 1 else None

    def _slice_room(self, node: UOp, place: int) -> tuple[int, int]:
        """Where a slice may begin: it is of one length, in an axis of one length."""
        begin, length = self._window(place)
        if length is None or self._varies(node.operand):
            raise NotGeneral("a slice is of another length each time")
        axis = (begin - self.places[self.skeleton.places[place]].start) // 2
        return 0, node.operand.shape[axis] - length

    def _varies(self, node: UOp) -> bool:
        """Whether the lengths of a node may be others in other graphs of the skeleton."""
        order = self.skeleton.order
        position = {each: number for number, each in enumerate(order)}
        return any(
            self.varying[place] and self.skeleton.kinds[place] is not VALUE
            for below in node.walk()
            if below.op is not Op.CONST
            for place in self.places.get(position[below], ())
        )
