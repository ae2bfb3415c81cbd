"""The registry of live graphs: tensors, the nodes that they hold, and the memory of buffer nodes.

Every tensor is known, weakly, by an id that is never reused. Each node of a tensor graph has weak
references to the nodes built on it and to the tensors that hold it; `substitution.py` follows
these edges to replace nodes.

Code that builds on a node holds `graph_lock` from reading the node until the edges of the new node
are registered, so that no substitution misses it. After `require_lock(True)`, as in the tests,
`make` checks that. An exception may interrupt any function here at any point. Therefore edges and
holders are added before they are needed, and the nodes of tensors change last, `at_once`.
"""

from __future__ import annotations

import itertools
import operator
import os
import threading
import weakref
from collections.abc import Callable, Collection
from typing import Any, Protocol

from ogive.at_once import Change, at_once
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_parts.node_table import intern_node, interned_nodes
from ogive.compiler.ir.ops import MOVEMENT, Op
from ogive.compiler.live import history
from ogive.compiler.live.attached import Live, WeakList

graph_lock = threading.RLock()
"""Held while a tensor graph grows or changes."""

effect_lock = threading.RLock()
"""Held while a graph with assignments is realized, since each effect must happen once."""


def _renew_effect_lock() -> None:
    """Replace the effect lock, which another thread may have held when the process forked."""
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

    A holder that is not a reader does not keep a value needed; it only follows replacements of its
    node. An eager holder has no node any more.
    """

    id: int
    node: UOp

    @property
    def is_eager(self) -> bool: ...

    @property
    def is_reader(self) -> bool: ...


EDGELESS = frozenset({Op.CONST, Op.VARIABLE, Op.UNIQUE})
"""Ops of nodes without edges: they are never replaced as sources, and have too many users."""

VIEWS = MOVEMENT | {Op.DETACH}
"""Ops of nodes that show the elements of memory unchanged."""

_tensors: dict[int, weakref.ref[Any]] = {}
_tensor_limit = 1024
_lazy: dict[int, weakref.ref[Any]] = {}
_lazy_limit = 1024


# Tensors


next_id = itertools.count(1).__next__
"""Gives the id of a new tensor."""


def add_tensor(tensor: Holder) -> None:
    """Give a new tensor its id and register it. Its node is connected already."""
    tensor.id = next_id()
    admit_tensor(tensor, tensor.node)


def admit_tensor(tensor: Holder, node: UOp) -> None:
    """Register a tensor that has an id and holds, or is about to hold, the connected `node`."""
    global _tensor_limit
    number = tensor.id
    _tensors[number] = reference = weakref.ref(tensor)
    if len(_tensors) > _tensor_limit:
        for dead in [key for key, value in list(_tensors.items()) if value() is None]:
            del _tensors[dead]
        _tensor_limit = max(2 * len(_tensors), 1024)
    note_holder(node, number, reference)


def add_holder(holder: Holder) -> None:
    """Give an id to a holder that is not a tensor, and register it, so that its node is replaced as
    those of tensors are."""
    holder.id = next_id()
    note_holder(holder.node, holder.id, weakref.ref(holder))


def tensor(number: int) -> Any:
    """The live tensor of that id, or None."""
    reference = _tensors.get(number)
    return None if reference is None else reference()


def forget_tensor(tensor: Holder) -> None:
    """Unregister a tensor that is about to hold no node."""
    _tensors.pop(tensor.id, None)
    _lazy.pop(tensor.id, None)


def tensors_on(node: UOp) -> list[Any]:
    """The live tensors that hold the node itself."""
    return [each for each in holders_of(node) if each.node is node and each.id in _tensors]


def holders_of(node: UOp) -> list[Any]:
    """The live holders that hold a node, or have held it."""
    live = node.live
    references = () if live is None else live.holders or ()
    holders = [holder for reference in references if (holder := reference()) is not None]
    return [holder for holder in holders if not holder.is_eager]


def has_holder(node: UOp, besides: Collection[int] = ()) -> bool:
    """Whether a live reader holds the node itself. Ids in `besides` do not count."""
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


def users_of(node: UOp) -> list[UOp]:
    """The live nodes that have the node as a source."""
    references = node.live or ()
    return [user for reference in references if (user := reference()) is not None]


def live_tensor_ids() -> list[int]:
    """The ids of all live tensors, in order of creation."""
    with graph_lock:
        return [number for number, reference in _tensors.items() if reference() is not None]


def move_tensor(tensor: Holder, node: UOp) -> None:
    """Make a tensor hold `node`."""
    with graph_lock:
        at_once(moves_to(tensor, node))


def moves_to(tensor: Holder, node: UOp) -> list[Change]:
    """The changes that make a tensor hold `node`. `graph_lock` is held until they are made."""
    connect(node)
    history.follow(tensor, node)
    note_holder(node, tensor.id, weakref.ref(tensor))
    return [(tensor, "node", node)]


def note_holder(node: UOp, number: int, reference: weakref.ref[Any]) -> None:
    """Record a holder, present or imminent, of a connected node. `graph_lock` is held."""
    live = node.live
    if live.holders is None:
        live.holders = WeakList((reference,))
    else:
        live.holders.add(reference)
    if node.op is not Op.BUFFER:
        _lazy[number] = reference
        if len(_lazy) > _lazy_limit:
            forget_realized()


# Lazy holders: those of nodes that are not memory yet


held_node: Callable[[Any], UOp] = operator.attrgetter("node")
"""Reads the node of a holder without a trace noticing: tracing watches ordinary reads."""


def bind_held_node(function: Callable[[Any], UOp]) -> None:
    """Set the function that reads the node of a holder unnoticed."""
    global held_node
    held_node = function


def lazy_holders() -> list[Any]:
    """The live holders of nodes that are neither a buffer nor a view of one."""
    forget_realized()
    holders = [holder for reference in _lazy.values() if (holder := reference()) is not None]
    return [holder for holder in holders if not holder.is_eager]


MOST_LOOKED_AT = 256
"""The most nodes that a walk down from tensors visits before a walk up is taken to be shorter."""


def nodes_of_readers(
    besides: Collection[int] = (), most: int = MOST_LOOKED_AT
) -> list[UOp] | None:
    """The nodes that lazy readers hold; None if there are more than `most`.

    Readers whose ids are in `besides` do not count.
    """
    if len(_lazy) > most:
        forget_realized()
    if len(_lazy) > most:
        return None
    return [
        held_node(holder)
        for holder in lazy_holders()
        if holder.is_reader and holder.id not in besides
    ]


def forget_realized() -> None:
    """Drop holders that are gone, or hold memory by now, from the lazy ones."""
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
_intern: Callable[..., UOp] = intern_node


def require_lock(is_required: bool) -> None:
    """Set whether `make` checks that its caller holds `graph_lock`.

    The tests require it. Programs do not, and then `make` checks nothing.
    """
    global _intern
    _intern = _intern_under_lock if is_required else intern_node


def _intern_under_lock(*arguments: Any) -> UOp:
    is_held = graph_lock._is_owned()  # type: ignore[attr-defined]  # as `threading.Condition` asks
    assert is_held, "a node of a tensor graph is made, and graph_lock is not held"
    return intern_node(*arguments)


def make(
    op: Op,
    dtype: DType,
    src: tuple[UOp, ...] = (),
    arg: Any = None,
    shape: tuple[Any, ...] | None = None,
) -> UOp:
    """A node of a tensor graph, with its edges registered.

    Its sources are connected already, and `graph_lock` has been held since they were read. A caller
    that knows the `shape` saves computing it.
    """
    node = _intern(UOp, op, dtype, src, arg)
    if node.live is None:
        if shape is not None:
            _set_shape(node, shape)
        _connect_one(node)
    return node


def connect(root: UOp) -> None:
    """Register the edges of a graph that was not built by `make`, down to connected nodes."""
    if root.live is not None:
        return
    with graph_lock:
        new = {root}
        stack = [root]
        while stack:
            for source in stack.pop().src:
                if source not in new and source.live is None:
                    new.add(source)
                    stack.append(source)
        # A node is younger than its sources, so ids are a topological order.
        for node in sorted(new, key=operator.attrgetter("id")):
            _connect_one(node)


def _connect_one(node: UOp) -> None:
    """Register the edges of one node. It counts as connected once all of them are registered."""
    reference = node.reference
    for source in node.src:
        if source.op in EDGELESS:
            continue
        if source.live is None:
            connect(source)
        users = source.live
        users.append(reference)
        if len(users) > users.limit:
            users.prune()
    live = Live()
    live.limit = WeakList.limit
    live.holders = live.memory = live.role = live.history = live.leaf = live.beside = None
    live.ran = live.remembered = False
    node.live = live


# Buffers


def set_buffer(node: UOp, buffer: Any) -> None:
    """Give a BUFFER node its memory, once."""
    with graph_lock:
        connect(node)
        assert node.live.memory is None, "a buffer node has its memory for life"
        node.live.memory = buffer


def buffer_of(node: UOp) -> Any:
    """The memory of a BUFFER node, or None."""
    live = node.live
    return None if live is None else live.memory


def nodes_on(buffer: Any) -> list[UOp]:
    """The live nodes whose memory is `buffer`. This searches all nodes."""
    with graph_lock:
        return [node for node in interned_nodes() if buffer_of(node) is buffer]


def buffer_count() -> int:
    """The number of live nodes that have memory."""
    return len([node for node in interned_nodes() if buffer_of(node) is not None])
