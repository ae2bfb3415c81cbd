"""Cuts a graph into windows that are searched one by one, and equal ones once.

    before   x → norm → attention → + → norm → two products → + → …   twelve times
    after    two windows, each of which occurs twelve times

A window ends after a value if the rest of the graph needs nothing else of it, and if no rule would
match across it: several nodes read the value, or it is not a sum, product or movement. Nodes with
effects (an assignment, a copy, a call) are in no window.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.memory import shaped, upper_count
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.compiler.search.graph.leaves import element_count
from ogive.named import NamedTuple

LEAST_NODES = 32
"""The least nodes of a window, since the choice of kept values needs more than a few."""

MOST_NODES = 320
"""The most nodes of a window."""

MOST_SEARCHED = 10_000
"""The most nodes of a graph that are cut into windows, the first ones. Cutting more would take
longer than the time for the search."""

_LINEAR = frozenset({Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.NEG, Op.CAST, Op.REDUCE_AXES, *MOVEMENT})
_LEAVES = frozenset({Op.CONST, Op.IOTA, Op.VARIABLE})
_VALUES = (
    ELEMENTWISE | MOVEMENT | _LEAVES
    | {Op.REDUCE_AXES, Op.GATHER, Op.SORT, Op.SCAN_AXIS, Op.ARRANGE, Op.CONTIGUOUS}
)  # fmt: skip


EFFECTS = frozenset({Op.ASSIGN, Op.AFTER, Op.COPY, Op.CUSTOM})
"""Ops that are in no window: their order counts, or what they do is not known here."""


class Window(NamedTuple):
    """A piece of a graph over its own `PARAM`s.

    These stand for `leaves` of the whole graph, and the roots of `sink` for its `roots`.
    """

    sink: UOp
    leaves: tuple[UOp, ...]
    roots: tuple[UOp, ...]


def find_windows(
    sink: UOp, order: Sequence[UOp], most: int = MOST_SEARCHED
) -> Iterator[Window]:
    """The windows of the first `most` nodes of a graph, in order.

    `order` is its walk, without the sink.
    """
    readers: dict[UOp, int] = {}
    last: dict[UOp, int] = {}
    roots = set(sink.src)
    targets: set[UOp] = set()
    order, remaining = order[:most], order[most:]
    if remaining:
        roots.update([source for node in remaining for source in node.src])
        for node in [node for node in remaining if node.op in EFFECTS]:
            targets.update(_path_to_memory(node.src[0]))
    for position, node in enumerate(order):
        for source in node.src:
            readers[source] = readers.get(source, 0) + 1
            last[source] = position
        if node.op in EFFECTS:
            roots.update(node.src)
            targets.update(_path_to_memory(node.src[0]))
    for root in roots:
        last[root] = len(order)
    window = _Opened(last)
    for position, node in enumerate(order):
        closed: Window | None = None
        if node.op in EFFECTS:
            # Later nodes may read it, so they must not be in one window with earlier ones.
            closed = window.close(position - 1)
        window.step(position, node, _is_searched(node, targets))
        if closed is None and window.may_end_at(node, readers):
            closed = window.close(position)
        elif closed is None and len(window.inside) >= MOST_NODES:
            closed = window.close_where_least_is_alive()
        if closed is not None and closed.roots:
            yield closed
    closed = window.close(len(order) - 1)
    if closed.roots:
        yield closed


class _Opened:
    """The open window at a position of a walk: its nodes `inside`, and the live values.

    A value is live from its computation to its `last` reader. Values of constants alone, such as
    masks, are repeated in every window that reads them and never count as live.
    """

    def __init__(self, last: dict[UOp, int]) -> None:
        self.last = last
        self.inside: list[tuple[UOp, int, int]] = []
        self._live: dict[UOp, None] = {}
        self._live_elements = 0
        self._ends: dict[int, list[UOp]] = {}
        self._fixed = set[UOp]()

    def step(self, position: int, node: UOp, is_searched: bool) -> None:
        """Add the next node, and end the live ranges of values that nothing reads after it."""
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
        """Whether a node is the only live value, and no rule would match across it."""
        if len(self.inside) < LEAST_NODES or len(self._live) != 1 or node not in self._live:
            return False
        return readers.get(node, 0) > 1 or node.op not in _LINEAR

    def close(self, position: int) -> Window:
        """The window of all nodes up to a position. Later ones are in the next window."""
        nodes = [node for node, place, _ in self.inside if place <= position]
        self.inside = self.inside[len(nodes) :]
        return _cut(nodes, position, self.last, self._fixed)

    def close_where_least_is_alive(self) -> Window:
        """The window up to the position with the fewest live elements."""
        ends = self.inside[LEAST_NODES:]
        _, position, _ = min(ends, key=lambda end: (end[2], -end[1]))
        return self.close(position)


def _is_searched(node: UOp, targets: set[UOp]) -> bool:
    return node.op in _VALUES and node.dtype is not dtypes.index and node not in targets


def _path_to_memory(node: UOp) -> list[UOp]:
    """The nodes of a view of memory that is written, which must stay unchanged."""
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
    """The window of these nodes. Its roots are the values that later nodes read."""
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
    """The slot of the window for a value from outside. An input keeps its device."""
    if source.dtype is dtypes.index or source.op in _LEAVES:
        return source
    leaves.append(source)
    return _stand_in(len(leaves) - 1, source)


def _stand_in(slot: int, leaf: UOp) -> UOp:
    """The node that stands for a leaf in its window."""
    if leaf.op is Op.PARAM:
        return UOp(Op.PARAM, leaf.dtype, (), (slot, *leaf.arg[1:]))
    memory = UOp(Op.PARAM, leaf.dtype, (), (slot, upper_count(leaf.shape)))
    return shaped(memory, leaf.shape)


def put_back(window: Window, roots: Sequence[UOp], done: dict[UOp, UOp]) -> tuple[UOp, ...]:
    """The roots of a window, over the new forms of its leaves in the whole graph."""
    rebuilt = {
        _stand_in(slot, leaf): done.get(leaf, leaf) for slot, leaf in enumerate(window.leaves)
    }
    for node in UOp(Op.SINK, dtypes.void, tuple(roots)).walk()[:-1]:
        if node in rebuilt:
            continue
        if node.op is Op.PARAM:
            rebuilt[node] = _in_line(done.get(window.leaves[node.slot], window.leaves[node.slot]))
        else:
            rebuilt[node] = node.with_sources(tuple([rebuilt[source] for source in node.src]))
    return tuple([rebuilt[root] for root in roots])


def _in_line(leaf: UOp) -> UOp:
    """A leaf as flat memory, since rules may read it in another shape."""
    count = upper_count(leaf.shape)
    return leaf if leaf.shape == (count,) else UOp(Op.RESHAPE, leaf.dtype, (leaf,), (count,))
