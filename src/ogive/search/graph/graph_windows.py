"""A graph is searched in windows: pieces with one value between them, equal ones once.

    before   x → norm → attention → + → norm → two products → + → …   twelve times
    after    two windows, each of which stands there twelve times

A window ends after a value if that is all that the rest of the graph needs of it, and if it is not
in the midst of something that a rule is about: several nodes read it, or it is no sum, product or
movement. What has an effect (an assignment, a copy, a call) is in no window.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ogive.ir import dtype as dtypes
from ogive.ir.memory import shaped, upper_count
from ogive.ir.node import UOp
from ogive.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.named import NamedTuple
from ogive.search.graph.leaves import element_count

LEAST_NODES = 32
"""Nodes below which a window does not end: what is kept is chosen for more than a few."""

MOST_NODES = 320
"""Nodes of a window that ends nowhere by itself."""

MOST_SEARCHED = 10_000
"""Nodes of a graph that are cut into windows, the first ones: more take longer to cut than there is
time to search."""

_LINEAR = frozenset({Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.NEG, Op.CAST, Op.REDUCE_AXES, *MOVEMENT})
_LEAVES = frozenset({Op.CONST, Op.IOTA, Op.VARIABLE})
_VALUES = (
    ELEMENTWISE | MOVEMENT | _LEAVES
    | {Op.REDUCE_AXES, Op.GATHER, Op.SORT, Op.SCAN_AXIS, Op.ARRANGE, Op.CONTIGUOUS}
)  # fmt: skip


_EFFECTS = frozenset({Op.ASSIGN, Op.AFTER, Op.COPY, Op.CUSTOM})


class Window(NamedTuple):
    """A piece of a graph over its own `PARAM`s, which stand for `leaves` of the whole graph. The
    roots of `sink` stand for `roots` of it."""

    sink: UOp
    leaves: tuple[UOp, ...]
    roots: tuple[UOp, ...]


def find_windows(
    sink: UOp, order: Sequence[UOp], most: int = MOST_SEARCHED
) -> Iterator[Window]:
    """The windows of a graph, in order, of its first `most` nodes. `order` is its walk, without the
    sink."""
    readers: dict[UOp, int] = {}
    last: dict[UOp, int] = {}
    wanted = set(sink.src)
    targets: set[UOp] = set()
    order, rest = order[:most], order[most:]
    if rest:
        wanted.update([source for node in rest for source in node.src])
        for node in [node for node in rest if node.op in _EFFECTS]:
            targets.update(_path_to_memory(node.src[0]))
    for position, node in enumerate(order):
        for source in node.src:
            readers[source] = readers.get(source, 0) + 1
            last[source] = position
        if node.op in _EFFECTS:
            wanted.update(node.src)
            targets.update(_path_to_memory(node.src[0]))
    for root in wanted:
        last[root] = len(order)
    window = _Opened(last)
    for position, node in enumerate(order):
        made: Window | None = None
        if node.op in _EFFECTS:
            # What comes after may read it, and so must not become one with what is before.
            made = window.close(position - 1)
        window.step(position, node, _is_searched(node, targets))
        if made is None and window.may_end_at(node, readers):
            made = window.close(position)
        elif made is None and len(window.inside) >= MOST_NODES:
            made = window.close_where_least_is_alive()
        if made is not None and made.roots:
            yield made
    made = window.close(len(order) - 1)
    if made.roots:
        yield made


class _Opened:
    """The window that is open at a position of a walk: its nodes, `inside`, and what is alive
    there: what has been computed and is read later, by the `last` reader of each value.

    What follows from numbers alone, as masks do, is in every window that reads it: it is not alive.
    """

    def __init__(self, last: dict[UOp, int]) -> None:
        self.last = last
        self.inside: list[tuple[UOp, int, int]] = []
        self._live: dict[UOp, None] = {}
        self._live_elements = 0
        self._ends: dict[int, list[UOp]] = {}
        self._fixed = set[UOp]()

    def step(self, position: int, node: UOp, is_searched: bool) -> None:
        """Take the next node, and leave what nobody reads after it."""
        if all(source in self._fixed for source in node.src) and (
            node.op in _LEAVES - {Op.VARIABLE} or (node.src and is_searched)
        ):
            self._fixed.add(node)
        elif is_searched and not _is_moved_input(node):
            self._live[node] = None
            self._live_elements += element_count(node)
            self._ends.setdefault(self.last.get(node, position), []).append(node)
        for ended in self._ends.pop(position, ()):
            if ended in self._live:
                del self._live[ended]
                self._live_elements -= element_count(ended)
        if is_searched:
            self.inside.append((node, position, self._live_elements))

    def may_end_at(self, node: UOp, readers: dict[UOp, int]) -> bool:
        """Whether a node is all that is needed of what is before it, and in the midst of nothing.
        """
        if len(self.inside) < LEAST_NODES or len(self._live) != 1 or node not in self._live:
            return False
        return readers.get(node, 0) > 1 or node.op not in _LINEAR

    def close(self, position: int) -> Window:
        """The window of all nodes up to a position; those behind it are in the next one."""
        nodes = [node for node, place, _ in self.inside if place <= position]
        self.inside = self.inside[len(nodes) :]
        return _cut(nodes, position, self.last, self._fixed)

    def close_where_least_is_alive(self) -> Window:
        """The window up to where the fewest elements are needed of what is before."""
        ends = self.inside[LEAST_NODES:]
        _, position, _ = min(ends, key=lambda end: (end[2], -end[1]))
        return self.close(position)


def _is_searched(node: UOp, targets: set[UOp]) -> bool:
    return node.op in _VALUES and node.dtype is not dtypes.index and node not in targets


def _path_to_memory(node: UOp) -> list[UOp]:
    """A view of memory that is written to, which stays as it is."""
    path = [node]
    while node.op in MOVEMENT:
        node = node.src[0]
        path.append(node)
    return path


def _is_moved_input(node: UOp) -> bool:
    while node.op in MOVEMENT:
        node = node.src[0]
    return not node.src


def _cut(
    inside: Sequence[UOp], position: int, last: dict[UOp, int], fixed: set[UOp]
) -> Window:
    """The window of these nodes, of which the rest of the graph reads what is read later."""
    done: dict[UOp, UOp] = {}
    leaves: list[UOp] = []
    for node in inside:
        sources = []
        for source in node.src:
            if source not in done:
                done[source] = source if source in fixed else _leaf(source, leaves)
            sources.append(done[source])
        done[node] = UOp(node.op, node.dtype, tuple(sources), node.arg, node.tag)
    roots = tuple(
        [node for node in inside if last.get(node, -1) > position and node not in fixed]
    )
    sink = UOp(Op.SINK, dtypes.void, tuple([done[root] for root in roots]))
    return Window(sink, tuple(leaves), roots)


def _leaf(source: UOp, leaves: list[UOp]) -> UOp:
    """A value from outside, as a slot of the window: of an input with the device that it is on."""
    if source.dtype is dtypes.index or source.op in _LEAVES:
        return source
    leaves.append(source)
    return _stand_in(len(leaves) - 1, source)


def _stand_in(slot: int, leaf: UOp) -> UOp:
    """What stands for a leaf in its window."""
    if leaf.op is Op.PARAM:
        return UOp(Op.PARAM, leaf.dtype, (), (slot, *leaf.arg[1:]))
    memory = UOp(Op.PARAM, leaf.dtype, (), (slot, upper_count(leaf.shape)))
    return shaped(memory, leaf.shape)


def put_back(window: Window, roots: Sequence[UOp], done: dict[UOp, UOp]) -> tuple[UOp, ...]:
    """Roots over the slots of a window, over what its leaves have become in the whole graph."""
    made = {
        _stand_in(slot, leaf): done.get(leaf, leaf) for slot, leaf in enumerate(window.leaves)
    }
    for node in UOp(Op.SINK, dtypes.void, tuple(roots)).walk()[:-1]:
        if node in made:
            continue
        if node.op is Op.PARAM:
            made[node] = _in_line(done.get(window.leaves[node.slot], window.leaves[node.slot]))
        else:
            made[node] = node.with_sources(tuple([made[source] for source in node.src]))
    return tuple([made[root] for root in roots])


def _in_line(leaf: UOp) -> UOp:
    """A leaf as the memory that stands for it: rules may read that in another shape."""
    count = upper_count(leaf.shape)
    return leaf if leaf.shape == (count,) else UOp(Op.RESHAPE, leaf.dtype, (leaf,), (count,))
