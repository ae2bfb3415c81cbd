"""Cut a graph into windows, which graph search looks at one by one.

    before   x → norm → attention → + → norm → two products → + → …   twelve times
    after    two windows, each of which occurs twelve times; equal windows are searched once

A window ends after a value if the rest of the graph reads nothing else of the window. The value
must not be in the middle of what a rule might match: either several nodes read it, or it is not a
sum, product or movement. Nodes with effects (assignments, copies, calls) are in no window.
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
"""The least nodes of a window: which values to keep in memory is decided over many nodes."""

MOST_NODES = 320
"""The nodes after which a window is ended at the place where it has the fewest live elements."""

MOST_SEARCHED = 10_000
"""The most nodes of a graph that are cut into windows, from its first node on. Cutting more takes
longer than the time there is for the search."""

_LINEAR = frozenset({Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.NEG, Op.CAST, Op.REDUCE_AXES, *MOVEMENT})
_LEAVES = frozenset({Op.CONST, Op.IOTA, Op.VARIABLE})
_VALUES = (
    ELEMENTWISE | MOVEMENT | _LEAVES
    | {Op.REDUCE_AXES, Op.GATHER, Op.SORT, Op.SCAN_AXIS, Op.ARRANGE, Op.CONTIGUOUS}
)  # fmt: skip
_EFFECTS = frozenset({Op.ASSIGN, Op.AFTER, Op.COPY, Op.CUSTOM})


class Window(NamedTuple):
    """A piece of a graph, with `PARAM`s of its own in the place of what it reads.

    The `PARAM` of slot i stands for `leaves[i]` in the whole graph, and the i-th source of `sink`
    for `roots[i]`.
    """

    sink: UOp
    leaves: tuple[UOp, ...]
    roots: tuple[UOp, ...]


def find_windows(
    sink: UOp, order: Sequence[UOp], most: int = MOST_SEARCHED
) -> Iterator[Window]:
    """The windows of the first `most` nodes of a graph, in order.

    `order` is the walk of `sink`, without `sink` itself.
    """
    readers: dict[UOp, int] = {}
    last_reads: dict[UOp, int] = {}
    read_outside = set(sink.src)
    targets: set[UOp] = set()
    order, rest = order[:most], order[most:]
    if rest:
        read_outside.update([source for node in rest for source in node.src])
        for node in [node for node in rest if node.op in _EFFECTS]:
            targets.update(_path_to_memory(node.src[0]))
    for position, node in enumerate(order):
        for source in node.src:
            readers[source] = readers.get(source, 0) + 1
            last_reads[source] = position
        if node.op in _EFFECTS:
            read_outside.update(node.src)
            targets.update(_path_to_memory(node.src[0]))
    for root in read_outside:
        last_reads[root] = len(order)
    open_window = _OpenWindow(last_reads)
    for position, node in enumerate(order):
        window: Window | None = None
        if node.op in _EFFECTS:
            # Later nodes may read what it wrote, so they must not share a window with earlier ones.
            window = open_window.close(position - 1)
        open_window.step(position, node, _is_searched(node, targets))
        if window is None and open_window.may_end_at(node, readers):
            window = open_window.close(position)
        elif window is None and len(open_window.inside) >= MOST_NODES:
            window = open_window.close_where_least_is_alive()
        if window is not None and window.roots:
            yield window
    window = open_window.close(len(order) - 1)
    if window.roots:
        yield window


class _OpenWindow:
    """The window that is open at a position of a walk over a graph.

    `inside` lists its nodes, each with its position and the number of elements alive after it. A
    value is alive from its computation to its last reader, whose position is in `last_reads`.
    Values that follow from constants alone, such as masks, are never alive: each window that reads
    one has a copy of it.
    """

    def __init__(self, last_reads: dict[UOp, int]) -> None:
        self.last_reads = last_reads
        self.inside: list[tuple[UOp, int, int]] = []
        self._live: dict[UOp, None] = {}
        self._live_elements = 0
        self._ends: dict[int, list[UOp]] = {}
        self._fixed = set[UOp]()

    def step(self, position: int, node: UOp, is_searched: bool) -> None:
        """Add the next node, and end the lives of the values that it is the last to read."""
        if all(source in self._fixed for source in node.src) and (
            node.op in _LEAVES - {Op.VARIABLE} or (node.src and is_searched)
        ):
            self._fixed.add(node)
        elif is_searched and not _is_moved_input(node):
            self._live[node] = None
            self._live_elements += element_count(node)
            self._ends.setdefault(self.last_reads.get(node, position), []).append(node)
        for ended in self._ends.pop(position, ()):
            if ended in self._live:
                del self._live[ended]
                self._live_elements -= element_count(ended)
        if is_searched:
            self.inside.append((node, position, self._live_elements))

    def may_end_at(self, node: UOp, readers: dict[UOp, int]) -> bool:
        """Whether the window may end after `node`: it is the only live value, and no rule is
        likely to match across it."""
        if len(self.inside) < LEAST_NODES or len(self._live) != 1 or node not in self._live:
            return False
        return readers.get(node, 0) > 1 or node.op not in _LINEAR

    def close(self, position: int) -> Window:
        """The window of all nodes up to a position. Later nodes stay for the next window."""
        nodes = [node for node, place, _ in self.inside if place <= position]
        self.inside = self.inside[len(nodes) :]
        return _cut(nodes, position, self.last_reads, self._fixed)

    def close_where_least_is_alive(self) -> Window:
        """The window up to the last position at which the fewest elements are alive."""
        ends = self.inside[LEAST_NODES:]
        _, position, _ = min(ends, key=lambda end: (end[2], -end[1]))
        return self.close(position)


def _is_searched(node: UOp, targets: set[UOp]) -> bool:
    return node.op in _VALUES and node.dtype is not dtypes.index and node not in targets


def _path_to_memory(node: UOp) -> list[UOp]:
    """The nodes of a view of memory. An assignment's target must stay as it is written."""
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
    inside: Sequence[UOp], position: int, last_reads: dict[UOp, int], fixed: set[UOp]
) -> Window:
    """The window of the nodes `inside`. Its roots are the values read after `position`."""
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
        [node for node in inside if last_reads.get(node, -1) > position and node not in fixed]
    )
    sink = UOp(Op.SINK, dtypes.void, tuple([done[root] for root in roots]))
    return Window(sink, tuple(leaves), roots)


def _leaf(source: UOp, leaves: list[UOp]) -> UOp:
    """The stand-in, in a new slot of the window, for a value from outside; constants stay."""
    if source.dtype is dtypes.index or source.op in _LEAVES:
        return source
    leaves.append(source)
    return _stand_in(len(leaves) - 1, source)


def _stand_in(slot: int, leaf: UOp) -> UOp:
    """The node that stands for a leaf in its window: an input keeps its device."""
    if leaf.op is Op.PARAM:
        return UOp(Op.PARAM, leaf.dtype, (), (slot, *leaf.arg[1:]))
    memory = UOp(Op.PARAM, leaf.dtype, (), (slot, upper_count(leaf.shape)))
    return shaped(memory, leaf.shape)


def put_back(window: Window, roots: Sequence[UOp], done: dict[UOp, UOp]) -> tuple[UOp, ...]:
    """New roots of a window as nodes of the whole graph.

    `done` maps leaves to what they have become there.
    """
    replaced = {
        _stand_in(slot, leaf): done.get(leaf, leaf) for slot, leaf in enumerate(window.leaves)
    }
    for node in UOp(Op.SINK, dtypes.void, tuple(roots)).walk()[:-1]:
        if node in replaced:
            continue
        if node.op is Op.PARAM:
            leaf = window.leaves[node.slot]
            replaced[node] = _flatten(done.get(leaf, leaf))
        else:
            replaced[node] = node.with_sources(tuple([replaced[source] for source in node.src]))
    return tuple([replaced[root] for root in roots])


def _flatten(leaf: UOp) -> UOp:
    """A leaf in one axis, as the `PARAM` that stands for it: rules may reshape that directly."""
    count = upper_count(leaf.shape)
    return leaf if leaf.shape == (count,) else UOp(Op.RESHAPE, leaf.dtype, (leaf,), (count,))
