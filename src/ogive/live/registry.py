"""The graphs that are alive: tensors, the nodes they hold, and the memory behind buffer nodes.

Every tensor is known, weakly, by an id that is never reused. From each node of a tensor graph weak
edges lead up to the nodes built on it and to the tensors that hold it, so that replacing a node
costs what lies above it and not what is alive.

    before   a ── exp ── sum ── t          substitute({exp: buffer})
                   └──── neg ── u

    after    buffer ── sum ── t
                └───── neg ── u

`graph_lock` makes this one step: whoever builds on a node holds it from reading the node until the
new node's edges are registered, so a substitution misses nothing. An exception may end any function
here anywhere: edges and holders are added before they are needed, and what tensors hold changes in
the end, `at_once`.
"""

from __future__ import annotations

import itertools
import operator
import os
import threading
import weakref
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Protocol

from ogive.at_once import Change, at_once
from ogive.ir.calls import is_gradient
from ogive.ir.dtype import DType
from ogive.ir.node import UOp
from ogive.ir.node_table import intern_node, interned_nodes
from ogive.ir.ops import MOVEMENT, Op
from ogive.ir.traversal import substitute as substitute_below
from ogive.live import history
from ogive.live.attached import Live, WeakList

graph_lock = threading.RLock()
"""Held while a tensor graph grows or changes."""


effect_lock = threading.RLock()
"""Held while a graph with assignments is realized: an effect must happen once."""


def _renew_effect_lock() -> None:
    """Forget a lock that a thread of the parent process held when it forked."""
    global effect_lock
    effect_lock = threading.RLock()
    graph_lock.release()


# A child must not inherit a graph in the middle of a change.
os.register_at_fork(
    before=graph_lock.acquire,
    after_in_parent=graph_lock.release,
    after_in_child=_renew_effect_lock,
)


class Holder(Protocol):
    """The part of a tensor that the registry knows.

    What is no reader only wants to know what becomes of its node, if somebody else reads it. One
    that is eager has no node any more.
    """

    id: int
    node: UOp

    @property
    def is_eager(self) -> bool: ...

    @property
    def is_reader(self) -> bool: ...


_MEMORY = frozenset({Op.BUFFER, Op.AFTER})
"""What stands for memory, or for what will be in it."""

_EDGELESS = frozenset({Op.CONST, Op.VARIABLE, Op.UNIQUE})
"""Never replaced below another node, and used by too many to keep count."""

VIEWS = MOVEMENT | {Op.DETACH}
"""What shows the elements of memory as they are."""

_GROUND = _EDGELESS | {Op.BUFFER}
"""What is built on nothing."""

_tensors: dict[int, weakref.ref[Any]] = {}
_tensor_limit = 1024
_lazy: dict[int, weakref.ref[Any]] = {}
_lazy_limit = 1024
_visited = 0


# Tensors


next_id = itertools.count(1).__next__
"""A number for a new tensor."""


def add_tensor(tensor: Holder) -> None:
    """Give a new tensor its id and make it known. Its node is already connected."""
    tensor.id = next_id()
    admit_tensor(tensor, tensor.node)


def admit_tensor(tensor: Holder, node: UOp) -> None:
    """Make a tensor known that has an id, and holds a connected node or is about to."""
    global _tensor_limit
    number = tensor.id
    _tensors[number] = reference = weakref.ref(tensor)
    if len(_tensors) > _tensor_limit:
        for dead in [key for key, value in list(_tensors.items()) if value() is None]:
            del _tensors[dead]
        _tensor_limit = max(2 * len(_tensors), 1024)
    _add_holder(node, number, reference)


def add_holder(holder: Holder) -> None:
    """Let the node of something that is no tensor, but has one, be replaced as those of tensors
    are. It has an id from now on."""
    holder.id = next_id()
    _add_holder(holder.node, holder.id, weakref.ref(holder))


def tensor(number: int) -> Any:
    """The live tensor of that id, or None."""
    reference = _tensors.get(number)
    return None if reference is None else reference()


def forget_tensor(tensor: Holder) -> None:
    """Let a tensor be unknown: it is about to hold no node."""
    _tensors.pop(tensor.id, None)
    _lazy.pop(tensor.id, None)


def tensors_on(node: UOp) -> list[Any]:
    """The live tensors that hold the very node."""
    return [each for each in holders_of(node) if each.node is node and each.id in _tensors]


def holders_of(node: UOp) -> list[Any]:
    """The tensors, and what is like them, that hold a node or have held it."""
    live = node.live
    references = () if live is None else live.holders or ()
    holders = [holder for reference in references if (holder := reference()) is not None]
    return [holder for holder in holders if not holder.is_eager]


def users_of(node: UOp) -> list[UOp]:
    """The live nodes that are built on the very node."""
    references = node.live or ()
    return [user for reference in references if (user := reference()) is not None]


def live_tensor_ids() -> list[int]:
    """The ids of all live tensors, in order of creation."""
    with graph_lock:
        return [number for number, reference in _tensors.items() if reference() is not None]


def move_tensor(tensor: Holder, node: UOp) -> None:
    """Let a tensor hold `node` from now on."""
    with graph_lock:
        at_once(moves_to(tensor, node))


def moves_to(tensor: Holder, node: UOp) -> list[Change]:
    """The changes by which a tensor holds `node`. `graph_lock` is held until they are made."""
    connect(node)
    history.follow(tensor, node)
    _add_holder(node, tensor.id, weakref.ref(tensor))
    return [(tensor, "node", node)]


def _add_holder(node: UOp, number: int, reference: weakref.ref[Any]) -> None:
    live = node.live
    if live.holders is None:
        live.holders = WeakList((reference,))
    else:
        live.holders.add(reference)
    if node.op is not Op.BUFFER:
        _lazy[number] = reference
        if len(_lazy) > _lazy_limit:
            forget_realized()


# What is held and is no memory yet


held_node: Callable[[Any], UOp] = operator.attrgetter("node")
"""The node of a holder, read by who is not interested in that holder: a trace watches what is."""


def bind_held_node(function: Callable[[Any], UOp]) -> None:
    """Say how the node of a holder is read without being noticed."""
    global held_node
    held_node = function


def lazy_holders() -> list[Any]:
    """The live holders of nodes that are neither a buffer nor a view of one."""
    forget_realized()
    holders = [holder for reference in _lazy.values() if (holder := reference()) is not None]
    return [holder for holder in holders if not holder.is_eager]


MOST_LOOKED_AT = 256
"""How many nodes under tensors are looked at before it is taken to be less to look above."""


def nodes_of_readers(besides: Collection[int] = ()) -> list[UOp] | None:
    """The nodes that tensors hold, without buffers and views of buffers; None where they are many.

    The tensors `besides`, by their ids, do not count.
    """
    if len(_lazy) > MOST_LOOKED_AT:
        forget_realized()
    if len(_lazy) > MOST_LOOKED_AT:
        return None
    return [
        held_node(holder)
        for holder in lazy_holders()
        if holder.is_reader and holder.id not in besides
    ]


def forget_realized() -> None:
    """Let holders be lazy no longer that are gone, or hold memory by now."""
    global _lazy_limit
    with graph_lock:
        for number, reference in list(_lazy.items()):
            holder = reference()
            if holder is None or holder.is_eager or is_shown_memory(held_node(holder)):
                del _lazy[number]
        _lazy_limit = max(2 * len(_lazy), 1024)


def is_shown_memory(node: UOp) -> bool:
    """Whether a node is a buffer or a view of one, detached or not."""
    while node.op in VIEWS:
        node = node.operand
    return node.op is Op.BUFFER


# Edges


_set_shape = UOp.__dict__["_shape"].__set__


def make(
    op: Op,
    dtype: DType,
    src: tuple[UOp, ...] = (),
    arg: Any = None,
    shape: tuple[Any, ...] | None = None,
) -> UOp:
    """A node of a tensor graph, its edges registered. Its sources are connected already.

    A caller that knows the `shape` spares the node working it out.
    """
    node = intern_node(UOp, op, dtype, src, arg)
    if node.live is None:
        if shape is not None:
            _set_shape(node, shape)
        _connect_one(node)
    return node


def connect(root: UOp) -> None:
    """Register the edges of a graph that was not built by `make`, as far down as they are new."""
    if root.live is not None:
        return
    with graph_lock:
        found = {root}
        stack = [root]
        while stack:
            for source in stack.pop().src:
                if source not in found and source.live is None:
                    found.add(source)
                    stack.append(source)
        # A node is younger than its sources, so ids are a topological order.
        for node in sorted(found, key=_by_id):
            _connect_one(node)


def _connect_one(node: UOp) -> None:
    """Register the edges of one node, which counts as connected when all of them are there."""
    reference = node.reference
    for source in node.src:
        if source.op in _EDGELESS:
            continue
        if source.live is None:
            connect(source)
        users = source.live
        users.append(reference)
        if len(users) > users.limit:
            users.prune()
    live = Live()
    live.limit = WeakList.limit
    live.holders = live.memory = live.role = live.history = live.leaf = None
    live.ran = live.remembered = False
    node.live = live


# Substitution


def substitute(
    mapping: Mapping[UOp, UOp], walk: bool = False, together: Iterable[Change] = ()
) -> None:
    """Replace nodes in every live tensor whose graph contains them, in one step.

    What is to change `together` with that changes in the same step.

    Replacements are re-visited: a key inside one is replaced as well. With `walk` they are taken as
    they are, which is what a replacement that contains its own key needs (`BUFFER` becomes
    `AFTER(BUFFER, ASSIGN(BUFFER, value))`). Tensors above none of the keys are not touched.
    """
    with graph_lock:
        done = {key: value for key, value in mapping.items() if key is not value}
        if not done:
            at_once(together)
            return
        if not walk:
            values = substitute_below(tuple(done.values()), done)
            done = dict(zip(done, values, strict=True))
        affected = _affected(done, set(done.values()) if walk else set())
        tracking = history.is_tracking()
        for key, value in done.items():
            connect(value)
            if tracking:
                history.inherit(key, value)
        versions = {key: value for key, value in done.items() if key.op in _MEMORY}
        for node in affected:
            if is_gradient(node):
                # What is differentiated is not a value: only the memory under it is replaced.
                rebuilt = node.replace(src=substitute_below(node.src, versions, revisit=False))
                connect(rebuilt)
                done[node] = rebuilt
                continue
            # A constant that a tensor holds may be replaced; as an operand it stays what it is.
            sources = [s if s.op in _EDGELESS else done.get(s, s) for s in node.src]
            if node.op is Op.ASSIGN:
                sources[0] = _moved_place(node.target, done)
            rebuilt = node.replace(src=tuple(sources))
            connect(rebuilt)
            if tracking and node.op is Op.AFTER:
                history.inherit(node, rebuilt)
            done[node] = rebuilt
        # Found first and moved after: one node's replacement may itself be a node to replace.
        moves: list[Change] = []
        for node, replacement in done.items():
            if node.live is not None and node.live.holders:
                moves += _holder_moves(node, replacement)
        at_once([*moves, *together])


def _holder_moves(node: UOp, replacement: UOp) -> list[Change]:
    """The changes by which the tensors that hold `node` hold `replacement`."""
    moves: list[Change] = []
    for reference in list(node.live.holders or ()) if node.live is not None else ():
        holder = reference()
        if holder is not None and not holder.is_eager and holder.node is node:
            _add_holder(replacement, holder.id, reference)
            moves.append((holder, "node", replacement))
    return moves


def _moved_place(view: UOp, replacements: Mapping[UOp, UOp]) -> UOp:
    """Where a store goes once nodes are replaced: the same view of what became of its memory.

    The view itself may have been computed, as a value; that is a copy, and not where the store
    goes.
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
    """Let the tensors that hold `node` hold another; what is built on `node` stays as it is."""
    with graph_lock:
        connect(replacement)
        at_once(_holder_moves(node, replacement))


def _affected(replaced: Mapping[UOp, UOp], kept: set[UOp]) -> list[UOp]:
    """The nodes that contain a key and that live tensors hold or are built on, sources first. Keys
    are left out, and so are nodes that contain keys only through a `kept` one."""
    if not any(key.live for key in replaced):
        return []  # nothing at all is built on them
    if not any(key.op is Op.BUFFER for key in replaced):
        found = _below_tensors(replaced, kept)
        if found is not None:
            return found
    affected = _above(replaced, kept)
    return [] if len(affected) == len(replaced) else _held(affected, replaced)


def _below_tensors(replaced: Mapping[UOp, UOp], kept: set[UOp]) -> list[UOp] | None:
    """The same, found from the tensors that are no memory: few, as a rule, where many nodes of
    other turns of a loop lie above the keys. None where there is much to look at."""
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
    """The keys and every node above one, sources first; what is above only `kept` is left out."""
    global _visited
    found = {key for key in keys if key.live is not None}
    stack = list(found)
    while stack:
        for reference in stack.pop().live:
            user = reference()
            if user is not None and user not in found and user not in kept:
                found.add(user)
                stack.append(user)
    _visited += len(found)
    return sorted(found, key=_by_id)


def _held(affected: list[UOp], replaced: Mapping[UOp, UOp]) -> list[UOp]:
    """The `affected` nodes that a live tensor holds or is built on, in the same order.

    Who holds what is `replaced` will hold the replacement, and needs nothing below it.
    """
    needed: set[UOp] = set()
    for node in reversed(affected):
        if node in replaced:
            continue
        if has_holder(node) or any(reference() in needed for reference in node.live):
            needed.add(node)
    return [node for node in affected if node in needed]


def has_holder(node: UOp, besides: Collection[int] = ()) -> bool:
    """Whether a live tensor holds the very node; those `besides`, by their ids, do not count."""
    for reference in node.live.holders or ():
        holder = reference()
        if (
            holder is not None
            and not holder.is_eager
            and holder.node is node
            and holder.id not in besides
            and holder.is_reader
        ):
            return True
    return False


def forget_detached(buffers: Iterable[UOp]) -> None:
    """Let go of histories that nobody can ask for any more: of buffers that are read detached only.

    A state that a loop carries with `detach()` would lead to all its past:

        before   buffer 2 ── from ── DETACH(buffer 1) ── buffer 1 ── from ── DETACH(buffer 0) ──
        after    buffer 2 ── from ── DETACH(buffer 1)
    """
    with graph_lock:
        for buffer in buffers:
            if history.record_of(buffer) is not None and _is_detached(buffer):
                history.forget(buffer)


def _is_detached(buffer: UOp) -> bool:
    """Whether all who read a buffer, tensors and histories of others, read it detached."""
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


def _by_id(node: UOp) -> int:
    return node.id


def visited_count() -> int:
    """How many nodes substitutions have looked at since the process began."""
    return _visited


# Buffers


def set_buffer(node: UOp, buffer: Any) -> None:
    """Put memory behind a BUFFER node, once."""
    with graph_lock:
        connect(node)
        assert node.live.memory is None, "a buffer node has its memory for life"
        node.live.memory = buffer


def buffer_of(node: UOp) -> Any:
    """The memory behind a BUFFER node, or None."""
    live = node.live
    return None if live is None else live.memory


def nodes_on(buffer: Any) -> list[UOp]:
    """The live nodes that have `buffer` as their memory. It looks at all there are."""
    with graph_lock:
        return [node for node in interned_nodes() if buffer_of(node) is buffer]


def buffer_count() -> int:
    """How many live nodes have memory."""
    return len([node for node in interned_nodes() if buffer_of(node) is not None])
