"""The graphs that are alive: tensors, the nodes they hold, and the memory behind buffer nodes.

Every tensor is known, weakly, by an id that is never reused. From each node of a tensor graph weak
edges lead up to the nodes built on it and to the tensors that hold it (`substitution.py` replaces
nodes by them).

Whoever builds on a node holds `graph_lock` from reading the node until the new node's edges are
registered, so that a substitution misses nothing. `require_lock` holds callers of `make` to it, as
the tests do. An exception may end any function here anywhere: edges and holders are added before
they are needed, and what tensors hold changes in the end, `at_once`.
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
from ogive.ir.dtype import DType
from ogive.ir.node import UOp
from ogive.ir.node_parts.node_table import intern_node, interned_nodes
from ogive.ir.ops import MOVEMENT, Op
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


EDGELESS = frozenset({Op.CONST, Op.VARIABLE, Op.UNIQUE})
"""Never replaced below another node, and used by too many to keep count."""

VIEWS = MOVEMENT | {Op.DETACH}
"""What shows the elements of memory as they are."""

_tensors: dict[int, weakref.ref[Any]] = {}
_tensor_limit = 1024
_lazy: dict[int, weakref.ref[Any]] = {}
_lazy_limit = 1024


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
    note_holder(node, number, reference)


def add_holder(holder: Holder) -> None:
    """Let the node of something that is no tensor, but has one, be replaced as those of tensors
    are. It has an id from now on."""
    holder.id = next_id()
    note_holder(holder.node, holder.id, weakref.ref(holder))


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
    note_holder(node, tensor.id, weakref.ref(tensor))
    return [(tensor, "node", node)]


def note_holder(node: UOp, number: int, reference: weakref.ref[Any]) -> None:
    """Let a connected node know who holds it, or is about to. `graph_lock` is held."""
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


def nodes_of_readers(
    besides: Collection[int] = (), most: int = MOST_LOOKED_AT
) -> list[UOp] | None:
    """The nodes that tensors hold, without buffers and views of buffers; None for more than `most`.

    The tensors `besides`, by their ids, do not count.
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
_intern: Callable[..., UOp] = intern_node


def require_lock(is_required: bool) -> None:
    """Say whether `make` is to fail where its caller does not hold `graph_lock`.

    Where it is required, as in the tests, every node of a graph is asked for. Where it is not, as
    in programs, nothing is asked.
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
    """A node of a tensor graph, its edges registered. Its sources are connected already, and
    `graph_lock` is held since they were read.

    A caller that knows the `shape` spares the node working it out.
    """
    node = _intern(UOp, op, dtype, src, arg)
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
    """Register the edges of one node, which counts as connected when all of them are there."""
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
