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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ogive.ir import dtype as dtypes
from ogive.ir.memory import OPEN_ENDED, shaped, upper_count
from ogive.ir.node import UOp
from ogive.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.ir.shape import Dim, Shape, as_length, common_shape, greatest, split_argument
from ogive.ir.symbolic.variable import OWN
from ogive.named import NamedTuple

LEAST_ROOM = 512
"""The least bound of a variable, so that small first sizes leave room for others."""

MANY = 4096
"""Lengths up to this leave more room than those beyond."""

ROOM = 8
"""How many times the longest seen a length may be, if that is at most `MANY`."""

ROOM_FOR_MANY = 2
"""The same of longer ones."""

LARGEST = 1 << 32
"""How many bytes the greatest value of a general graph may have: there is room for it in memory,
whether it comes or not."""

MOST_PARTS = 8
"""The greatest divisor that is tried in expressions like (n + 1) // 2."""

SPECIAL = (0, 1)
"""Lengths that are part of a graph's structure."""

LENGTH, POSITION, VALUE = "length", "position", "value"

_NOT_GENERAL = frozenset({Op.CUSTOM, Op.COPY, Op.VARIABLE, Op.BIND, Op.BUFFER})
"""What keeps a graph from being generalized: its shapes are somebody else's too."""

Numbers = tuple[Any, ...]
"""Integers for lengths and positions, interned CONST nodes for constants."""


class Skeleton(NamedTuple):
    """A graph taken apart. `kinds` says what each of the `numbers` is, `places` in which node, by
    its position in the walk."""

    key: tuple[Any, ...]
    numbers: Numbers
    kinds: tuple[str, ...]
    places: tuple[int, ...]
    order: list[UOp]


def take_apart(sink: UOp) -> Skeleton | None:
    """The skeleton of a graph, and its numbers; None for graphs that stay as they are."""
    devices = set(sink.arg)
    if len(devices) > 1:
        return None
    # A constant is a number of each of its users: two that happen to be equal are one node.
    order = [node for node in sink.walk() if node.op is not Op.CONST]
    at: dict[UOp, int] = {}
    key: list[Any] = []
    numbers: list[Any] = []
    kinds: list[str] = []
    places: list[int] = []
    for position, node in enumerate(order):
        at[node] = position
        op = node.op
        if op in _NOT_GENERAL or node.dtype is dtypes.index:
            return None
        if op is Op.PARAM and node.arg[2] not in devices:
            return None
        argument, found = _HOLES[op](node) if op in _HOLES else (node.arg, [])
        found += [(VALUE, source) for source in node.src if source.op is Op.CONST]
        for kind, number in found:
            numbers.append(number)
            kinds.append(kind)
            places.append(position)
        sources = tuple([at.get(source, source.dtype) for source in node.src])
        key.append((op, node.dtype, sources, argument, node.tag))
    return Skeleton(tuple(key), tuple(numbers), tuple(kinds), tuple(places), order)


Found = tuple[Any, list[tuple[str, Any]]]
"""What of an argument belongs to the skeleton, and its numbers."""


def _parameter(node: UOp) -> Found:
    slot, count, device = node.arg
    return (slot, count if count in SPECIAL else None, device), _lengths((count,))


def _shape(node: UOp) -> Found:
    fixed = tuple([size if size in SPECIAL else None for size in node.arg])
    return fixed, _lengths(node.arg)


def _iota(node: UOp) -> Found:
    return (node.arg if node.arg in SPECIAL else None), _lengths((node.arg,))


def _shrink(node: UOp) -> Found:
    return len(node.arg), [(POSITION, number) for pair in node.arg for number in pair]


def _pad(node: UOp) -> Found:
    pairs, fill = node.arg
    return (len(pairs), fill, str(fill)), [(POSITION, number) for pair in pairs for number in pair]


def _lengths(sizes: Iterable[int]) -> list[tuple[str, int]]:
    return [(LENGTH, size) for size in sizes if size not in SPECIAL]


_HOLES = {
    Op.PARAM: _parameter,
    Op.RESHAPE: _shape,
    Op.EXPAND: _shape,
    Op.IOTA: _iota,
    Op.SHRINK: _shrink,
    Op.PAD: _pad,
}


class Expression(NamedTuple):
    """factor · (product of variables + shift) // divisor + offset."""

    variables: tuple[int, ...]
    factor: int = 1
    shift: int = 0
    divisor: int = 1
    offset: int = 0

    def at(self, values: Sequence[int]) -> int:
        """Its value, given those of all variables."""
        product = 1
        for number in self.variables:
            product *= values[number]
        return self.factor * ((product + self.shift) // self.divisor) + self.offset

    def over(self, variables: Sequence[UOp]) -> Dim:
        """The expression as an index node."""
        product: Dim = 1
        for number in self.variables:
            product = variables[number] * product
        return as_length((product + self.shift) // self.divisor * self.factor + self.offset)


class General(NamedTuple):
    """One graph for all of a skeleton whose numbers fit.

    `fixed` has the numbers that are as they are, by place in the list of numbers; `defining` the
    place of each variable's value, `bounds` what these lie between; `dependent` the expressions of
    the others; `data` the places of the constants that are elements of memory, in the order of
    their slots, and `repeated` those of constants that have been equal to one of them. `nodes` has
    what became of each node in the walk.
    """

    sink: UOp
    nodes: tuple[UOp, ...]
    fixed: tuple[tuple[int, Any], ...]
    defining: tuple[int, ...]
    bounds: tuple[tuple[int, int], ...]
    dependent: tuple[tuple[int, Expression], ...]
    data: tuple[int, ...]
    repeated: tuple[tuple[int, int], ...]

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
    """What the variables are called: names that no user's have."""
    return f"{OWN}n{number}"


class NotGeneral(Exception):
    """Why graphs of one skeleton do not become one; for the log."""


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
        first: dict[int, int] = {}
        for place, position in enumerate(skeleton.places):
            first.setdefault(position, place)
        self.first = first

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
        nodes = _Builder(self, sizes, list(data.values())).build()
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
        )

    def _inputs(self) -> list[int]:
        """The varying lengths that inputs have, the least first: n before 64·n."""
        order, found = self.skeleton.order, []
        for position, node in enumerate(order):
            is_input = node.op in (Op.PARAM, Op.IOTA) or (
                node.op is Op.RESHAPE and node.src[0].op is Op.PARAM
            )
            if is_input:
                found += [p for p in self.places_of(position) if self.varying[p]]
        return sorted(found, key=lambda place: (self.series[place], place))

    def places_of(self, position: int) -> Iterator[int]:
        """The places of the numbers of a node."""
        place = self.first.get(position)
        while (
            place is not None
            and place < len(self.skeleton.places)
            and self.skeleton.places[place] == position
        ):
            yield place
            place += 1

    def _express(self, place: int, is_input: bool) -> None:
        series = self.series[place]
        known = [self.series[number] for number in self.defining]
        found = express(series, known)
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

    def _slice_room(self, node: UOp, place: int) -> tuple[int, int]:
        """Where a slice may begin: it is of one length, in an axis of one length."""
        offset = place - self.first[self.skeleton.places[place]]
        axis, is_end = divmod(offset, 2)
        begins, ends = (self.series[place - is_end], self.series[place - is_end + 1])
        lengths = {end - begin for begin, end in zip(begins, ends, strict=True)}
        source = node.src[0]
        if is_end or len(lengths) > 1 or self._varies(source):
            raise NotGeneral("a slice is of another length each time")
        return 0, source.shape[axis] - lengths.pop()

    def _varies(self, node: UOp) -> bool:
        """Whether the lengths of a node may be others in other graphs of the skeleton."""
        order = self.skeleton.order
        position = {each: number for number, each in enumerate(order)}
        return any(
            self.varying[place] and self.skeleton.kinds[place] is not VALUE
            for below in node.walk()
            if below.op is not Op.CONST
            for place in self.places_of(position[below])
        )


def express(series: tuple[int, ...], known: Sequence[tuple[int, ...]]) -> Expression | None:
    """A series of numbers as an expression of other series, plain ones first.

    >>> express((10, 16), [(5, 8)])
    Expression(variables=(0,), factor=2, shift=0, divisor=1, offset=0)
    >>> express((3, 4), [(5, 8)])
    Expression(variables=(0,), factor=1, shift=1, divisor=2, offset=0)
    """
    single = [((number,), values) for number, values in enumerate(known)]
    pairs = [
        ((one, other), tuple([a * b for a, b in zip(known[one], known[other], strict=True)]))
        for one in range(len(known))
        for other in range(one, len(known))
    ]
    for variables, values in (*single, *pairs):
        factor, rest = divmod(series[0], values[0] or 1)
        if not rest and factor and series == tuple([factor * value for value in values]):
            return Expression(variables, factor)
    candidates: list[Expression] = []
    for variables, values in single:
        for divisor in range(2, MOST_PARTS + 1):
            for shift in range(divisor):
                parts = [(value + shift) // divisor for value in values]
                offset = series[0] - parts[0]
                if series == tuple([part + offset for part in parts]):
                    candidates.append(Expression(variables, 1, shift, divisor, offset))
    for variables, values in single:
        found = _affine(series, values)
        if found is not None:
            candidates.append(Expression(variables, found[0], 0, 1, found[1]))
    return min(candidates, key=lambda each: (abs(each.offset), each.divisor), default=None)


def _affine(series: tuple[int, ...], values: tuple[int, ...]) -> tuple[int, int] | None:
    """The factor and offset that lead from `values` to `series`, if there are some."""
    low, high = min(values), max(values)
    first, last = series[values.index(low)], series[values.index(high)]
    if high == low or (last - first) % (high - low):
        return None
    factor = (last - first) // (high - low)
    offset = first - factor * low
    fits = series == tuple([factor * value + offset for value in values])
    return (factor, offset) if fits and factor > 0 else None


class _Builder:
    """Builds the general graph."""

    def __init__(
        self, unifier: _Unifier, sizes: Mapping[int, Dim], data: Sequence[Sequence[int]]
    ) -> None:
        self.unifier = unifier
        self.order = unifier.skeleton.order
        self.sizes = sizes
        slots = [node.arg[0] for node in self.order if node.op is Op.PARAM]
        self.parameters = max(slots, default=-1) + 1
        self.device = self.order[-1].arg[0]
        self.positions = {node: position for position, node in enumerate(self.order)}
        self.assigned = {_base(node) for node in self.order if node.op is Op.AFTER}
        self.data = {place: number for number, places in enumerate(data) for place in places}

    def build(self) -> tuple[UOp, ...]:
        """What becomes of each node in the walk."""
        done: dict[UOp, UOp] = {}
        for position, node in enumerate(self.order):
            made = done[node] = self._general(position, node, done)
            if upper_count(made.shape) * max(made.dtype.itemsize, 1) > LARGEST:
                raise NotGeneral(f"there is no room for a value of shape {made.shape}")
        for root in done[self.order[-1]].src:
            if not is_dense(root.shape):
                raise NotGeneral(f"a result of shape {root.shape} would not be dense in memory")
        return tuple([done[node] for node in self.order])

    def _general(self, position: int, node: UOp, done: Mapping[UOp, UOp]) -> UOp:
        op = node.op
        if op is Op.PARAM:
            return self._seen(position, node, self._argument(position, node))
        sources = self._spread(position, node, [done.get(source, source) for source in node.src])
        if op is Op.RESHAPE and node.src[0].op is Op.PARAM:
            parameter = node.src[0]
            at = self.positions[parameter]
            return self._seen(at, parameter, self._argument(position, node))
        if op in (Op.ORDER, Op.ORDERED) and not isinstance(sources[0].shape[-1], int):
            raise NotGeneral(f"{op.name} goes along an axis that is of another length each time")
        if op in _HOLES:
            argument, symbolic = split_argument(self._argument(position, node))
            if op is Op.IOTA:
                return UOp(op, node.dtype, symbolic, argument, node.tag)
            return UOp(op, node.dtype, (*sources, *symbolic), argument, node.tag)
        return UOp(op, node.dtype, sources, node.arg, node.tag) if node.src else node

    def _spread(self, position: int, node: UOp, sources: list[UOp]) -> tuple[UOp, ...]:
        """The sources of a node. A constant has any shape; an element of memory has to be given
        the shape of the sources beside it."""
        kinds = self.unifier.skeleton.kinds
        places = [p for p in self.unifier.places_of(position) if kinds[p] is VALUE]
        constants = [number for number, source in enumerate(node.src) if source.op is Op.CONST]
        elements = {
            number: self._element(node.src[number], place)
            for number, place in zip(constants, places, strict=True)
            if place in self.data
        }
        if not elements:
            return tuple(sources)
        if node.op is Op.EXPAND:
            return (shaped(elements[0], (1,) * len(node.arg)),)
        if node.op not in ELEMENTWISE:
            raise NotGeneral(f"{node.op.name} takes a constant that is another each time")
        shape = common_shape(tuple(sources))
        for number, element in elements.items():
            sources[number] = spread(element, shape)
        return tuple(sources)

    def _element(self, constant: UOp, place: int) -> UOp:
        """The memory that holds a constant."""
        slot = self.parameters + self.data[place]
        return UOp(Op.PARAM, constant.dtype, (), (slot, 1, self.device))

    def _seen(self, position: int, parameter: UOp, shape: Shape) -> UOp:
        """A parameter with a shape. One that varies is the front of memory that ends somewhere:

            SHRINK(RESHAPE(SHRINK(PARAM, (0, 512·64)), (512, 64)), (0, n), (0, 64))
        """
        slot, _, device = parameter.arg
        (size,) = self._argument(position, parameter)
        if isinstance(size, int):
            if any(not isinstance(length, int) for length in shape):
                raise NotGeneral("memory of one length is seen with other shapes")
            return shaped(UOp(Op.PARAM, parameter.dtype, (), (slot, size, device)), shape)
        if parameter in self.assigned:
            raise NotGeneral("memory of another length each time is written to")
        if not is_dense(shape) or upper_count(shape) != greatest(size):
            raise NotGeneral(f"an input of shape {shape} is not dense in memory")
        memory = UOp(Op.PARAM, parameter.dtype, (), (slot, OPEN_ENDED, device))
        front = UOp(Op.SHRINK, parameter.dtype, (memory,), ((0, greatest(size)),))
        return shaped(front, shape)

    def _argument(self, position: int, node: UOp) -> Any:
        """The argument of a node, with expressions where numbers vary."""
        places = self.unifier.places_of(position)

        def size(number: Any, is_hole: bool) -> Any:
            return self.sizes.get(next(places), number) if is_hole else number

        if node.op is Op.PARAM:
            return (size(node.arg[1], node.arg[1] not in SPECIAL),)
        if node.op is Op.IOTA:
            return size(node.arg, node.arg not in SPECIAL)
        if node.op is Op.PAD:
            pairs, fill = node.arg
            return tuple([tuple([size(n, True) for n in pair]) for pair in pairs]), fill
        if node.op is Op.SHRINK:
            return tuple([tuple([size(n, True) for n in pair]) for pair in node.arg])
        return tuple([size(n, n not in SPECIAL) for n in node.arg])


def _base(node: UOp) -> UOp:
    """The memory that an assignment writes to."""
    while node.op is Op.AFTER or node.op in MOVEMENT:
        node = node.src[0]
    return node


def spread(element: UOp, shape: Shape) -> UOp:
    """One element of memory, repeated along all axes of a shape."""
    point = shaped(element, (1,) * len(shape))
    if not shape:
        return point
    argument, symbolic = split_argument(shape)
    return UOp(Op.EXPAND, element.dtype, (point, *symbolic), argument)


def is_dense(shape: Shape) -> bool:
    """Whether a value lies in the front of memory made for its greatest shape, without gaps: only
    its first axis that is longer than 1 may vary."""
    longer = [size for size in shape if not (isinstance(size, int) and size == 1)]
    return all(isinstance(size, int) for size in longer[1:])
