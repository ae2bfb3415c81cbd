"""The varying lengths and positions of a skeleton as expressions of few variables.

    RESHAPE(PARAM 0, (5 | 8, 64))                    #n0 and 64
    PAD(…, (1, 1)), SHRINK(…, (0, 6 | 9))            (0, #n0 + 1) of #n0 + 2

Lengths of inputs come first: they are variables, or multiples and products of others. Then node by
node, each over the general forms of its sources, whose lengths are those that a number follows from
most likely; one of which nothing is known waits until others are done. The result is proved, node
by node, or refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Dim, as_length
from ogive.compiler.ir.symbolic.variable import OWN
from ogive.compiler.ir.traversal import walk
from ogive.compiler.passes.general.build_general import Builder
from ogive.compiler.passes.general.derive_lengths import (
    KNOWN,
    ODD,
    Series,
    derive,
    merged,
    multiple_of,
    relate,
    split,
)
from ogive.compiler.passes.general.prove_general import Doubtful, Proof
from ogive.compiler.passes.general.skeleton import VALUE, NotGeneral, Skeleton
from ogive.named import NamedTuple

LEAST_ROOM = 512
"""The least bound of a length, so that small first sizes leave room for others."""

MANY = 4096
"""Lengths up to this leave more room than those beyond."""

ROOMS = ((8, 2), (2, 1), (1, 1))
"""How many times the longest seen a length may be, if that is at most `MANY`, and if it is more;
less where memory would not hold what is computed."""


class Wanted(NamedTuple):
    """The expressions to try: lengths of inputs that are `step` times a variable and a rest, and
    follow from each other by a few elements or not.

    Variables have `room` to grow, within `bounds` by their names, where a graph is known to have
    no meaning beyond.
    """

    step: int
    is_related: bool
    room: tuple[int, int]
    bounds: dict[str, tuple[int, int]]


class Defined(NamedTuple):
    """A variable: the number at a place is `step` times it, and `rest`."""

    node: UOp
    place: int
    step: int
    rest: int


class Expressed(NamedTuple):
    """All varying numbers: expressions with the places that they are at; `order` is their walk."""

    variables: tuple[Defined, ...]
    sizes: tuple[tuple[UOp, tuple[int, ...]], ...]
    order: tuple[UOp, ...]


def variable_name(number: int) -> str:
    """The names of the variables; no user's variable has one of them."""
    return f"{OWN}n{number}"


def express_sizes(
    skeleton: Skeleton,
    series: Sequence[Series],
    shapes: Sequence[Sequence[Series]],
    data: Sequence[Sequence[int]],
    wanted: Wanted,
) -> tuple[list[UOp], Expressed]:
    """The nodes of the general graph and the sizes in it, given what each number and each node's
    lengths are in some instances. Raises `NotGeneral`."""
    return _Expressing(skeleton, series, shapes, data, wanted).run()


class _Expressing:
    def __init__(
        self,
        skeleton: Skeleton,
        series: Sequence[Series],
        shapes: Sequence[Sequence[Series]],
        data: Sequence[Sequence[int]],
        wanted: Wanted,
    ) -> None:
        self.skeleton = skeleton
        self.series = series
        self.shapes = shapes
        self.wanted = wanted
        self.places = skeleton.places_by_node()
        self.positions = {node: position for position, node in enumerate(skeleton.order)}
        self.variables: list[Defined] = []
        self.sizes: dict[int, Dim] = {}
        self.known: dict[Series, Dim] = {}
        self.how = KNOWN
        self.proof = Proof()
        self.builder = Builder(skeleton, self.sizes, data, self._open_ended())

    def run(self) -> tuple[list[UOp], Expressed]:
        """All nodes, and their sizes."""
        for place in self._inputs():
            self.sizes[place] = self._input(place)
            self.known.setdefault(self.series[place], self.sizes[place])
        pending = list(range(len(self.skeleton.order)))
        while pending:
            left = [position for position in pending if not self._add(position)]
            if len(left) < len(pending):
                self.how = KNOWN
            elif self.how < ODD:
                self.how += 1
            else:
                node = self.skeleton.order[left[0]]
                raise NotGeneral(f"{node.op.name} has a length that follows from no input")
            pending = left
        return [self.builder.done[node] for node in self.skeleton.order], self._expressed()

    def _add(self, position: int) -> bool:
        """Make the general form of a node, if its sources are made and its numbers are known. A
        guess waits until nothing is known better."""
        node = self.skeleton.order[position]
        if any(source in self.positions and source not in self.builder.done for source in node.src):
            return False
        if not self._express(position, node):
            return False
        general = self.builder.add(position)
        self.proof.prove(general)
        for series, length in zip(self.shapes[position], general.shape, strict=True):
            if not isinstance(length, int):
                self.known.setdefault(series, length)
        self.how = KNOWN
        return True

    def _expressed(self) -> Expressed:
        places: dict[UOp, list[int]] = {}
        for place, size in self.sizes.items():
            if isinstance(size, int):
                raise Doubtful(f"a length that varies is taken for {size}")
            places.setdefault(size, []).append(place)
        sizes = tuple([(size, tuple(where)) for size, where in places.items()])
        return Expressed(tuple(self.variables), sizes, tuple(walk(tuple(places))))

    def _varying(self, position: int) -> list[int]:
        """The places of a node's lengths and positions that vary."""
        kinds, series = self.skeleton.kinds, self.series
        return [
            place
            for place in self.places.get(position, ())
            if kinds[place] is not VALUE and len(set(series[place])) > 1
        ]

    def _open_ended(self) -> frozenset[UOp]:
        """The parameters that are seen with lengths that vary."""
        parameters = set()
        for position, node in enumerate(self.skeleton.order):
            is_view = node.op is Op.RESHAPE and node.operand.op is Op.PARAM
            if (node.op is Op.PARAM or is_view) and self._varying(position):
                parameters.add(node.operand if is_view else node)
        return frozenset(parameters)

    # Inputs

    def _inputs(self) -> list[int]:
        """The varying lengths that inputs have, the least first: n before 64·n. How many elements
        memory has that is only seen with other shapes follows from these."""
        order, places = self.skeleton.order, []
        seen_flat = {
            source for node in order if node.op is not Op.RESHAPE for source in node.src
        }
        for position, node in enumerate(order):
            is_input = node.op is Op.IOTA or (
                node in seen_flat
                if node.op is Op.PARAM
                else node.op is Op.RESHAPE and node.operand.op is Op.PARAM
            )
            if is_input:
                places += self._varying(position)
        return sorted(places, key=lambda place: (self.series[place], place))

    def _input(self, place: int) -> Dim:
        """The length of an input: one that is known, a multiple, or a variable."""
        series = self.series[place]
        if series in self.known:
            return self.known[series]
        length = multiple_of(series, self.known)
        if length is None and self.wanted.is_related:
            length = relate(series, self.known)
        return self._define_length(place) if length is None else length

    def _define_length(self, place: int) -> Dim:
        """A new variable for a length, or for how many steps of it there are."""
        series, (few, many) = self.series[place], self.wanted.room
        longest = max(series)
        room = longest * (few if longest <= MANY else many)
        room = max(LEAST_ROOM * few // ROOMS[0][0], 1 << (room - 1).bit_length())
        rests = {number % self.wanted.step for number in series}
        step, rest = (self.wanted.step, rests.pop()) if len(rests) == 1 else (1, 0)
        return self._define(place, (max(2 - rest, 1) + step - 1) // step, room // step, step, rest)

    def _define(self, place: int, low: int, high: int, step: int = 1, rest: int = 0) -> Dim:
        name = variable_name(len(self.variables))
        least, greatest = self.wanted.bounds.get(name, (low, high))
        bounds = max(low, least), min(high, greatest)
        node = UOp(Op.VARIABLE, dtypes.index, (), (name, *bounds))
        self.variables.append(Defined(node, place, step, rest))
        return as_length(node * step + rest)

    # Other nodes

    def _express(self, position: int, node: UOp) -> bool:
        """Express the numbers of a node over its sources; whether all of them are known."""
        open_places = [place for place in self._varying(position) if place not in self.sizes]
        if node.op is Op.PARAM or not open_places:
            return True
        if node.op is Op.SHRINK:
            self._express_windows(position, node)
        elif node.op is Op.PAD:
            self._express_pads(position, node)
        else:
            for place in open_places:
                self._note(place, self._length(node, self.series[place]))
        return all(place in self.sizes for place in open_places)

    def _note(self, place: int, size: Dim | None) -> None:
        if size is not None:
            self.sizes[place] = size

    def _near(self, node: UOp) -> dict[Series, Dim]:
        """The lengths of a node's sources that vary."""
        near: dict[Series, Dim] = {}
        for source in node.src:
            if source in self.builder.done:
                shape = self.builder.done[source].shape
                lengths = self.shapes[self.positions[source]]
                for series, length in zip(lengths, shape, strict=True):
                    if not isinstance(length, int):
                        near.setdefault(series, length)
        return near

    def _length(self, node: UOp, series: Series) -> Dim | None:
        """A length that a node's argument has."""
        near = self._near(node)
        if node.op is Op.RESHAPE and series not in near:
            operand = node.operand
            lengths = self.shapes[self.positions[operand]]
            shape = self.builder.done[operand].shape
            part_lengths = self.shapes[self.positions[node]]
            length = merged(series, shape, lengths) or split(series, part_lengths, shape, lengths)
            if length is not None:
                return length
        return derive(series, near, self.known, self.how)

    def _pairs(self, position: int) -> list[tuple[int, int]]:
        """The places of the two numbers that a SHRINK or PAD has for each axis."""
        first = self.places[position].start
        rank = len(self.skeleton.order[position].shape)
        return [(first + 2 * axis, first + 2 * axis + 1) for axis in range(rank)]

    def _at(self, place: int) -> Dim | None:
        """The number at a place, as it is or as an expression."""
        varies = len(set(self.series[place])) > 1
        return self.sizes.get(place) if varies else self.series[place][0]

    def _express_windows(self, position: int, node: UOp) -> None:
        """Where windows begin and end. One of a fixed length in an axis of fixed length may begin
        anywhere; in any other, its place follows from the axis."""
        near, shape = self._near(node), self.builder.done[node.operand].shape
        for axis, (begin, end) in enumerate(self._pairs(position)):
            starts, ends = self.series[begin], self.series[end]
            lengths = tuple([b - a for a, b in zip(starts, ends, strict=True)])
            length = self.known.get(lengths) if len(set(lengths)) > 1 else lengths[0]
            if self._at(begin) is None:
                if isinstance(shape[axis], int) and isinstance(length, int):
                    self._note(begin, self._define(begin, 0, shape[axis] - length))
                else:
                    self._note(begin, derive(starts, near, self.known, self.how))
            start = self._at(begin)
            if self._at(end) is None and start is not None:
                is_moved = length is not None and len({0, *starts}) > 1 and ends not in near
                if isinstance(length, int) or is_moved:
                    self._note(end, as_length(start + length))
                else:
                    self._note(end, derive(ends, near, self.known, self.how))

    def _express_pads(self, position: int, node: UOp) -> None:
        """How much is put around the operand: a length that is known, or what is missing in one."""
        near, shape = self._near(node), self.builder.done[node.operand].shape
        for axis, (before, after) in enumerate(self._pairs(position)):
            whole = self.known.get(self.shapes[position][axis])
            for place, other in ((before, after), (after, before)):
                series, beside = self.series[place], self._at(other)
                if self._at(place) is not None:
                    continue
                if series not in near and series not in self.known and whole is not None:
                    missing = None if beside is None else as_length(whole - shape[axis] - beside)
                    self._note(place, missing)
                else:
                    self._note(place, derive(series, near, self.known, self.how))
