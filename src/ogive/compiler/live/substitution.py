"""Substitution: replaces nodes in every live tensor whose graph contains them, in one step.

    before   a ── exp ── sum ── t          substitute_everywhere({exp: buffer})
                   └──── neg ── u

    after    buffer ── sum ── t
                └───── neg ── u

Weak references lead from a node to its users (`registry.py`), so that the cost depends on the nodes
above the replaced ones, not on all live nodes. If few tensors are lazy, a walk down from those
takes less. `graph_lock` makes it one step, and the nodes of tensors change last, `at_once`.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterable, Iterator, Mapping

from ogive.at_once import Change, at_once
from ogive.compiler.ir.calls import is_gradient
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import MOVEMENT, Op
from ogive.compiler.ir.traversal import substitute
from ogive.compiler.live import history
from ogive.compiler.live.registry import (
    EDGELESS,
    MOST_LOOKED_AT,
    connect,
    graph_lock,
    has_holder,
    holders_of,
    nodes_of_readers,
    note_holder,
    users_of,
)

_MEMORY = frozenset({Op.BUFFER, Op.AFTER})
"""Ops of nodes that are memory, or a later version of memory."""

_GROUND = EDGELESS | {Op.BUFFER}
"""Ops of nodes at which a walk down ends."""

_by_id = operator.attrgetter("id")
_visited = 0


class Moves:
    """Where memory went since somebody last took note of it.

    For code that holds nodes but no tensors while code of the user runs: that may read values, and
    what was a version still to be written is memory then. To compute it from the old node would
    write a second time.
    """

    def __init__(self) -> None:
        self._now: dict[UOp, UOp] = {}

    def __bool__(self) -> bool:
        return bool(self._now)

    def note(self, versions: Mapping[UOp, UOp]) -> None:
        """Versions of memory were replaced."""
        before = substitute(tuple(self._now.values()), versions, revisit=False)
        self._now = {**versions, **dict(zip(self._now, before, strict=True))}

    def take(self) -> Mapping[UOp, UOp]:
        """What was replaced by what since this was last called."""
        now, self._now = self._now, {}
        return now


_followed: list[Moves] = []


@contextlib.contextmanager
def following() -> Iterator[Moves]:
    """Within this context, where memory goes is noted. `graph_lock` is held."""
    moves = Moves()
    _followed.append(moves)
    try:
        yield moves
    finally:
        _followed.remove(moves)


def caught_up(nodes: Iterable[UOp], moved: Mapping[UOp, UOp]) -> list[UOp]:
    """Nodes that were held while memory `moved`, as they are by now."""
    current = list(substitute(tuple(nodes), moved, revisit=False))
    for node in current:
        connect(node)
    return current


def substitute_everywhere(
    mapping: Mapping[UOp, UOp], walk: bool = False, together: Iterable[Change] = ()
) -> None:
    """Replace nodes in every live tensor whose graph contains them, in one step.

    The changes in `together` are made in the same step.

    Keys inside replacements are replaced as well. With `walk`, replacements are used as they are: a
    replacement that contains its own key needs this (`BUFFER` becomes `AFTER(BUFFER, ASSIGN(BUFFER,
    value))`). Tensors above none of the keys are not touched.
    """
    with graph_lock:
        done = {key: value for key, value in mapping.items() if key is not value}
        if not done:
            at_once(together)
            return
        if not walk:
            values = substitute(tuple(done.values()), done)
            done = dict(zip(done, values, strict=True))
        affected = _affected(done, set(done.values()) if walk else set())
        tracking = history.is_tracking()
        for key, value in done.items():
            connect(value)
            if tracking:
                history.inherit(key, value)
        versions = {key: value for key, value in done.items() if key.op in _MEMORY}
        if versions:
            for followed in _followed:
                followed.note(versions)
        for node in affected:
            if is_gradient(node):
                # Its operand is an expression, not a value: only memory under it is replaced.
                rebuilt = node.replace(src=substitute(node.src, versions, revisit=False))
                connect(rebuilt)
                done[node] = rebuilt
                continue
            # A constant that a tensor holds may be replaced, but as an operand it stays.
            sources = [s if s.op in EDGELESS else done.get(s, s) for s in node.src]
            if node.op is Op.ASSIGN:
                sources[0] = _moved_place(node.target, done)
            rebuilt = node.replace(src=tuple(sources))
            connect(rebuilt)
            if tracking and node.op is Op.AFTER:
                history.inherit(node, rebuilt)
            done[node] = rebuilt
        # All moves are collected first, since a replacement may itself be a node to replace.
        moves: list[Change] = []
        for node, replacement in done.items():
            if node.live is not None and node.live.holders:
                moves += _holder_moves(node, replacement)
        at_once([*moves, *together])


def _holder_moves(node: UOp, replacement: UOp) -> list[Change]:
    """The changes that make the holders of `node` hold `replacement`."""
    moves: list[Change] = []
    for reference in list(node.live.holders or ()) if node.live is not None else ():
        holder = reference()
        if holder is not None and not holder.is_eager and holder.node is node:
            note_holder(replacement, holder.id, reference)
            moves.append((holder, "node", replacement))
    return moves


def _moved_place(view: UOp, replacements: Mapping[UOp, UOp]) -> UOp:
    """The target of a store after a substitution: the same view of its memory's replacement.

    The view itself may also have a replacement, if it was computed as a value; but that is a copy,
    to which the store must not go.
    """
    moves: list[UOp] = []
    while view.op in MOVEMENT:
        moves.append(view)
        view = view.operand
    place = replacements.get(view, view)
    for move in reversed(moves):
        place = move.replace(src=(place, *move.src[1:]))
    return place


def move_holders(node: UOp, replacement: UOp) -> None:
    """Make the holders of `node` hold `replacement`; nodes built on `node` stay as they are."""
    with graph_lock:
        connect(replacement)
        at_once(_holder_moves(node, replacement))


def _affected(replaced: Mapping[UOp, UOp], kept: set[UOp]) -> list[UOp]:
    """The nodes of live tensors that contain a key, sources first.

    Keys are left out, and so are nodes that contain keys only through a `kept` node.
    """
    if not any(key.live for key in replaced):
        return []  # nothing at all is built on them
    if not any(key.op is Op.BUFFER for key in replaced):
        below = _below_tensors(replaced, kept)
        if below is not None:
            return below
    affected = _above(replaced, kept)
    return [] if len(affected) == len(replaced) else _held(affected, replaced)


def _below_tensors(replaced: Mapping[UOp, UOp], kept: set[UOp]) -> list[UOp] | None:
    """The same, found by a walk down from lazy tensors; None if it would be long.

    In a loop these are mostly few, while many nodes of other iterations are above the keys.
    """
    global _visited
    stack = nodes_of_readers()
    if stack is None:
        return None
    seen = set(stack)
    while stack:
        node = stack.pop()
        if node in replaced or node in kept:
            continue
        for source in node.src:
            if source not in seen and source.op not in _GROUND:
                seen.add(source)
                stack.append(source)
        if len(seen) > MOST_LOOKED_AT:
            return None
    _visited += len(seen)
    if seen.isdisjoint(replaced):
        return []
    containing: dict[UOp, None] = {}
    for node in sorted(seen, key=_by_id):
        if node in replaced or node in kept:
            continue
        if any(source in replaced or source in containing for source in node.src):
            containing[node] = None
    return list(containing)


def _above(keys: Iterable[UOp], kept: set[UOp]) -> list[UOp]:
    """The keys and every node above one, sources first, without nodes above only `kept` ones."""
    global _visited
    above = {key for key in keys if key.live is not None}
    stack = list(above)
    while stack:
        for reference in stack.pop().live:
            user = reference()
            if user is not None and user not in above and user not in kept:
                above.add(user)
                stack.append(user)
    _visited += len(above)
    return sorted(above, key=_by_id)


def _held(affected: list[UOp], replaced: Mapping[UOp, UOp]) -> list[UOp]:
    """The `affected` nodes that are in the graph of a live tensor, in the same order.

    A holder of a `replaced` node will hold the replacement, and needs nothing below it.
    """
    needed: set[UOp] = set()
    for node in reversed(affected):
        if node in replaced:
            continue
        if has_holder(node) or any(reference() in needed for reference in node.live):
            needed.add(node)
    return [node for node in affected if node in needed]


def forget_detached(buffers: Iterable[UOp]) -> None:
    """Drop the histories of buffers that are read only through `DETACH`: nothing can need them.

    Otherwise a state that a loop carries through `detach()` would keep its whole past alive:

        before   buffer 2 ── from ── DETACH(buffer 1) ── buffer 1 ── from ── DETACH(buffer 0) ──
        after    buffer 2 ── from ── DETACH(buffer 1)
    """
    with graph_lock:
        for buffer in buffers:
            if history.record_of(buffer) is not None and _is_detached(buffer):
                history.forget(buffer)


def _is_detached(buffer: UOp) -> bool:
    """Whether all readers of a buffer, tensors and histories, read it through `DETACH`."""
    stack = [buffer]
    while stack:
        node = stack.pop()
        if any(holder.node is node for holder in holders_of(node)):
            return False
        for user in users_of(node):
            if user.op in MOVEMENT:
                stack.append(user)
            elif user.op is not Op.DETACH:
                return False
    return True


def visited_count() -> int:
    """The number of nodes that substitutions have visited since the process began."""
    return _visited
