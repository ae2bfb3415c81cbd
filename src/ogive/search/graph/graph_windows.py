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
    live: dict[UOp, None] = {}
    inside: list[UOp] = []
    ends: dict[int, list[UOp]] = {}
    for position, node in enumerate(order):
        if node.op in _EFFECTS and inside:
            # What comes after may read it, and so must not become one with what is before.
            yield _cut(inside, position - 1, last)
            inside = []
        if _is_searched(node, targets):
            inside.append(node)
            if not _is_moved_input(node):
                live[node] = None
                ends.setdefault(last.get(node, position), []).append(node)
        for ended in ends.pop(position, ()):
            live.pop(ended, None)
        is_end = len(inside) >= LEAST_NODES and len(live) == 1 and _may_end(node, live, readers)
        if is_end or len(inside) >= MOST_NODES:
            yield _cut(inside, position, last)
            inside = []
    if inside:
        yield _cut(inside, len(order) - 1, last)


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


def _may_end(node: UOp, live: dict[UOp, None], readers: dict[UOp, int]) -> bool:
    return node in live and (readers.get(node, 0) > 1 or node.op not in _LINEAR)


def _cut(inside: Sequence[UOp], position: int, last: dict[UOp, int]) -> Window:
    """The window of these nodes, of which the rest of the graph reads what is read later."""
    done: dict[UOp, UOp] = {}
    leaves: list[UOp] = []
    for node in inside:
        sources = []
        for source in node.src:
            if source not in done:
                done[source] = _leaf(source, leaves)
            sources.append(done[source])
        done[node] = UOp(node.op, node.dtype, tuple(sources), node.arg, node.tag)
    roots = tuple(
        [node for node in inside if node.src and last.get(node, -1) > position]
    )
    sink = UOp(Op.SINK, dtypes.void, tuple([done[root] for root in roots]))
    return Window(sink, tuple(leaves), roots)


def _leaf(source: UOp, leaves: list[UOp]) -> UOp:
    """A value from outside, as a slot of the window: of an input with the device that it is on."""
    if source.dtype is dtypes.index or source.op in _LEAVES:
        return source
    slot = len(leaves)
    leaves.append(source)
    if source.op is Op.PARAM:
        return UOp(Op.PARAM, source.dtype, (), (slot, *source.arg[1:]))
    memory = UOp(Op.PARAM, source.dtype, (), (slot, upper_count(source.shape)))
    return shaped(memory, source.shape)


def put_back(window: Window, roots: Sequence[UOp], done: dict[UOp, UOp]) -> tuple[UOp, ...]:
    """Roots over the slots of a window, over what its leaves have become in the whole graph."""
    made: dict[UOp, UOp] = {}
    for node in UOp(Op.SINK, dtypes.void, tuple(roots)).walk()[:-1]:
        if node.op is Op.PARAM:
            leaf = window.leaves[node.slot]
            made[node] = done.get(leaf, leaf)
        elif node.op is Op.RESHAPE and node.operand.op is Op.PARAM and len(node.operand.arg) < 3:
            leaf = made[node.operand]
            made[node] = leaf if leaf.shape == node.shape else node.with_sources((leaf,))
        else:
            made[node] = node.with_sources(tuple([made[source] for source in node.src]))
    return tuple([made[root] for root in roots])
