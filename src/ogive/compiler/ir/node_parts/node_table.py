"""The table of all nodes: building the same node twice gives the same object.

The table holds nodes weakly: a node is freed when its last user drops it. A node's key holds its
sources by identity, which is exact and cheap to compare.
"""

from __future__ import annotations

import itertools
import os
import struct
import threading
import weakref
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.ops import Op

if TYPE_CHECKING:
    from ogive.compiler.ir.node import UOp


class _TableReference(weakref.ref["UOp"]):
    """A weak reference that knows the table entry it stands for."""

    __slots__ = ("key",)
    key: tuple[Any, ...]


_table: dict[tuple[Any, ...], _TableReference] = {}
_table_lock = threading.RLock()
os.register_at_fork(
    before=_table_lock.acquire,
    after_in_parent=_table_lock.release,
    after_in_child=_table_lock.release,
)
next_id = itertools.count(1).__next__
detached_nodes: weakref.WeakSet[UOp] = weakref.WeakSet()
"""Nodes with metadata of their own, which are not in the table."""


def _forget(reference: _TableReference, table: Any = _table, lock: Any = _table_lock) -> None:
    """Drop the entry of a dead node, unless a new node has taken its place.

    The table and the lock are defaults of parameters, because at the end of a process nodes may
    outlive the names of this module.
    """
    with lock:
        if table.get(reference.key) is reference:
            del table[reference.key]
        reference.key = ()  # a source may still list this reference, and the key holds the source


def intern_node(
    cls: type[UOp],
    op: Op,
    dtype: DType = dtypes.void,
    src: tuple[UOp, ...] = (),
    arg: Any = None,
    tag: Any = None,
) -> UOp:
    """The node with that identity, made if there is none: what `UOp(...)` does.

    Code that makes nodes by the hundred calls this function, which is faster than the class.
    """
    identity = arg
    if op is Op.CONST:
        if not (dtype is dtypes.index and arg.__class__ is int):
            arg = dtype.canonical(arg)
            identity = _bits(arg)
    elif op is Op.PAD:
        identity = exact_argument(op, arg)
    key = (op, dtype, src, identity, tag)
    reference = _table.get(key)
    if reference is not None:
        known = reference()
        if known is not None:
            return known
    node = make_node(cls, op, dtype, src, arg, tag)
    node.reference = reference = _TableReference(node, _forget)
    reference.key = key
    while True:
        # Filling an empty place is atomic. Only replacing a dead node's entry needs the lock.
        present = _table.setdefault(key, reference)
        if present is reference:
            return node
        known = present()
        if known is not None:
            return known
        _forget(present)


def make_node(cls: type[UOp], op: Op, dtype: DType, src: Any, arg: Any, tag: Any) -> UOp:
    """A new node that is not in the table and has no `reference` yet."""
    node = object.__new__(cls)
    node.op = op
    node.dtype = dtype
    node.src = src
    if src:
        node._first = src[0]
        if len(src) > 1:
            node._second = src[1]
    node.arg = arg
    node.tag = tag
    node.id = next_id()
    node.metadata = node.origin = node.live = None
    return node


def exact_argument(op: Op, argument: Any) -> Any:
    """The argument of a node, with a constant replaced by its bits.

    `==` does not tell 0.0 from -0.0 and finds a NaN different from itself; NaNs with different bits
    print alike.
    """
    if op is Op.CONST:
        return _bits(argument)
    return (argument[0], _bits(argument[1])) if op is Op.PAD else argument


def _bits(value: Any) -> Any:
    if isinstance(value, float):
        return "f", struct.pack("<d", value)
    if isinstance(value, complex):
        return "c", struct.pack("<dd", value.real, value.imag)
    return value


def live_uop_ids() -> list[int]:
    """The ids of all live nodes, in order of creation."""
    return sorted([node.id for node in (*interned_nodes(), *detached_nodes)])


def interned_nodes() -> list[UOp]:
    """All live nodes except those with metadata of their own."""
    with _table_lock:
        references = list(_table.values())
    return [node for reference in references if (node := reference()) is not None]


def gc_dead_refs() -> int:
    """Drop the entries of all dead nodes; gives how many there were.

    Entries go by themselves. This is for callers that need the table to be exact now.
    """
    with _table_lock:
        # `list(values())` is atomic. A list of items allocates pairs, which may collect garbage.
        dead = [reference.key for reference in list(_table.values()) if reference() is None]
        for key in dead:
            _table.pop(key, None)
    return len(dead)
