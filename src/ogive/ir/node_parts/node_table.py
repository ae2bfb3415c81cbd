"""The table of all nodes: building the same node twice gives the same object.

The table holds nodes weakly: a node goes when its last user goes. Sources stand in a node's key by
identity, which is exact and cheap.
"""

from __future__ import annotations

import itertools
import os
import struct
import threading
import weakref
from typing import TYPE_CHECKING, Any

from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType
from ogive.ir.ops import Op

if TYPE_CHECKING:
    from ogive.ir.node import UOp


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
    """Drop a dead node's entry, unless its place has been taken by a new one.

    At the end of a process nodes outlive this module's names.
    """
    with lock:
        if table.get(reference.key) is reference:
            del table[reference.key]
        reference.key = ()  # it may be kept for a while by the sources, which are in its key


def intern_node(
    cls: type[UOp],
    op: Op,
    dtype: DType = dtypes.void,
    src: tuple[UOp, ...] = (),
    arg: Any = None,
    tag: Any = None,
) -> UOp:
    """`UOp(...)`: the node of that identity, made if there is none.

    Where nodes are made by the hundred this is called by its name, which is faster than a class is.
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
        # Filling an empty place is one atomic step; taking a dead node's place needs the lock.
        present = _table.setdefault(key, reference)
        if present is reference:
            return node
        known = present()
        if known is not None:
            return known
        _forget(present)


def make_node(cls: type[UOp], op: Op, dtype: DType, src: Any, arg: Any, tag: Any) -> UOp:
    """A new node, in no table and without a `reference` to itself."""
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
    """The argument of a node, with the bits of a constant for its value.

    `==` takes 0.0 for -0.0 and no NaN for itself, and not every NaN prints the same.
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
    """The ids of all nodes alive, in order of creation."""
    return sorted([node.id for node in (*interned_nodes(), *detached_nodes)])


def interned_nodes() -> list[UOp]:
    """All nodes alive but those with metadata of their own."""
    with _table_lock:
        references = list(_table.values())
    return [node for reference in references if (node := reference()) is not None]


def gc_dead_refs() -> int:
    """Sweep entries of dead nodes at once; gives how many there were.

    Nothing needs this: entries go by themselves. It is for callers that want the table exact now.
    """
    with _table_lock:
        # A list of values is made in one step. One of pairs may have garbage collected meanwhile.
        dead = [reference.key for reference in list(_table.values()) if reference() is None]
        for key in dead:
            _table.pop(key, None)
    return len(dead)
