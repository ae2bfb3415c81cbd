"""Interned graph nodes.

Building the same node twice, from any thread, gives the same object, so `is` is structural
equality and a graph is its root. The intern table holds nodes weakly: a node goes when its last
user goes. Children stand in the table's key by identity, which is exact and cheap; the *content
key* is a separate structural hash for what outlives the process.

    >>> from ogive.ir.dtype import float32
    >>> one = UOp.const(float32, 1.0)
    >>> UOp(Op.ADD, float32, (one, one)) is UOp(Op.ADD, float32, (one, one))
    True
"""

from __future__ import annotations

import itertools
import operator
import os
import struct
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from ogive.digest import blake2b
from ogive.errors import Origin
from ogive.ir import accessors
from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType, Scalar
from ogive.ir.ops import Op

Value = TypeVar("Value")
Metadata = TypeVar("Metadata")


class computed(Generic[Value]):
    """A node property derived from the same property of its sources, computed once per node.

    The slot `_name` takes the property's place in the class: what is known is read like any field,
    and `UOp.__getattr__` is asked for the rest. The sources' are computed first, iteratively, so
    that a chain of any depth works.
    """

    def __init__(self, function: Callable[[UOp], Value]) -> None:
        self.function = function

    def __set_name__(self, owner: type, name: str) -> None:
        slot = owner.__dict__["_" + name]
        setattr(owner, name, slot)
        _computed[name] = slot, self.function

    if TYPE_CHECKING:

        @overload
        def __get__(self, node: None, owner: type) -> computed[Value]: ...
        @overload
        def __get__(self, node: UOp, owner: type) -> Value: ...
        def __get__(self, node: UOp | None, owner: type) -> Any: ...


_computed: dict[str, tuple[Any, Callable[[Any], Any]]] = {}
"""The slot and the function of each computed property."""


def _compute(node: UOp, slot: Any, function: Callable[[UOp], Any]) -> Any:
    """Fill in a property of a node and of all nodes under it that lack it."""
    read = slot.__get__
    stack = [node]
    while stack:
        current = stack[-1]
        depth = len(stack)
        for source in current.src:
            try:
                read(source)
            except AttributeError:
                stack.append(source)
        if len(stack) > depth:
            continue
        stack.pop()
        try:
            read(current)
        except AttributeError:
            slot.__set__(current, function(current))
    return read(node)  # which another thread may have been the one to fill in


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
_next_id = itertools.count(1).__next__
_detached: weakref.WeakSet[UOp] = weakref.WeakSet()


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
        found = reference()
        if found is not None:
            return found
    node = _make(cls, op, dtype, src, arg, tag)
    node.reference = reference = _TableReference(node, _forget)
    reference.key = key
    while True:
        # Filling an empty place is one atomic step; taking a dead node's place needs the lock.
        present = _table.setdefault(key, reference)
        if present is reference:
            return node
        found = present()
        if found is not None:
            return found
        _forget(present)


class UOp(accessors.Accessors):
    """A node: operation, element type, sources, argument and tag, which make its identity.

    `id` is monotonic and never reused. `metadata` does not take part in identity; see
    `with_metadata`. `origin` is the first line of the user's that made the node.
    """

    __slots__ = (
        "__weakref__", "_below", "_bounds", "_content_key", "_first", "_has_index", "_linear",
        "_number", "_order", "_placement", "_ranges_below", "_second", "_shape", "_simplified",
        "_sound_bounds", "arg", "dtype", "id", "live", "metadata", "op", "origin", "reference",
        "src", "tag", "trace",
    )  # fmt: skip

    op: Op
    dtype: DType
    src: tuple[UOp, ...]
    arg: Any
    tag: Any
    id: int
    metadata: Mapping[type, Any] | None
    origin: Origin | None
    _first: UOp  # the first two sources, under the names that they have in the op table
    _second: UOp
    _below: list[UOp]
    _bounds: tuple[Any, Any]
    _linear: tuple[dict[UOp, int], int] | None  # kept by `ir.symbolic.linear_forms`
    _order: tuple[Any, ...]  # kept by `ir.symbolic.linear_forms`
    _simplified: UOp | None  # kept by `ir.symbolic.index_arithmetic`
    trace: tuple[str, UOp] | None  # with tracing on: the rule that made this node, and from what
    reference: weakref.ref[UOp]  # to the node itself, for whoever must not keep it alive
    live: Any  # what the process knows of the node; None to the language

    if TYPE_CHECKING:

        def __new__(
            cls,
            op: Op,
            dtype: DType = dtypes.void,
            src: tuple[UOp, ...] = (),
            arg: Any = None,
            tag: Any = None,
        ) -> UOp: ...

    else:
        __new__ = intern_node

        def __getattr__(self, name: str) -> Any:
            """A property that is not known yet; known ones are fields."""
            found = _computed.get(name)
            if found is not None:
                return _compute(self, *found)
            if name in accessors.KEPT and self.op in accessors.FIELDS[name]:
                value = accessors.read_field(self, name)
                setattr(self, "_" + name, value)
                return value
            raise AttributeError(accessors.explain_missing(self.op, name))

    @staticmethod
    def const(dtype: DType, value: Scalar | complex) -> UOp:
        """A constant; equal bit patterns of one dtype are one node."""
        return UOp(Op.CONST, dtype, (), value)

    @staticmethod
    def unique() -> UOp:
        """A fresh identity, equal to no other."""
        return UOp(Op.UNIQUE, dtypes.void, (), _next_id())

    def replace(
        self, *, dtype: DType | None = None, src: tuple[UOp, ...] | None = None, arg: Any = ...
    ) -> UOp:
        """This node with other sources, dtype or argument; the tag and the metadata stay."""
        made = UOp(
            self.op,
            self.dtype if dtype is None else dtype,
            self.src if src is None else src,
            self.arg if arg is ... else arg,
            self.tag,
        )
        if made.origin is None:
            made.origin = self.origin
        if self.metadata and made is not self and made.metadata is None:
            return made.with_metadata(*self.metadata.values())
        return made

    def with_sources(self, src: tuple[UOp, ...]) -> UOp:
        """This node over other sources; itself if they are the ones it has."""
        return self if all(map(_same, src, self.src)) else self.replace(src=src)

    def with_tag(self, tag: Any) -> UOp:
        """The same node under another tag, which is another node."""
        return UOp(self.op, self.dtype, self.src, self.arg, tag)

    def with_metadata(self, *values: Any) -> UOp:
        """A node of its own, not interned, with a fresh id and this node's content key.

        Each value is kept under its type; `find_metadata` finds it again.
        """
        node = _make(UOp, self.op, self.dtype, self.src, self.arg, self.tag)
        node.origin = self.origin
        node.metadata = {**(self.metadata or {}), **{type(value): value for value in values}}
        node.reference = weakref.ref(node)
        _detached.add(node)
        return node

    def find_metadata(self, kind: type[Metadata]) -> Metadata | None:
        """The attached metadata of that type, if any."""
        return self.metadata.get(kind) if self.metadata else None

    @computed
    def content_key(self) -> bytes:
        """A 128-bit structural hash, the same in every process; ignores tag and metadata."""
        argument = exact_argument(self.op, self.arg)
        digest = blake2b(
            f"{self.op.name}|{self.dtype.name}|{argument!r}|".encode(), digest_size=16
        )
        for source in self.src:
            digest.update(source.content_key)
        return digest.digest()

    @property
    def ranges(self) -> frozenset[UOp]:
        """The loop counters this value depends on: those below it that nothing has closed."""
        return frozenset((self,)) if self.op is Op.RANGE else self.ranges_below

    @computed
    def ranges_below(self) -> frozenset[UOp]:
        """`ranges`, but for a counter, which must not hold itself, those of its extent."""
        used: frozenset[UOp] = frozenset()
        for source in self.src:
            used = used | source.ranges if used else source.ranges
        if self.op in _CLOSING:
            closed = self.src[_CLOSING[self.op] :]
            used = used.difference(closed)
            for counter in closed:
                # How often a loop runs may depend on the loops around it.
                if counter.ranges_below:
                    used = used | counter.ranges_below
        return used

    @property
    def closed(self) -> tuple[UOp, ...]:
        """The loop counters that this node closes."""
        return self.src[_CLOSING[self.op] :] if self.op in _CLOSING else ()

    @computed
    def has_index(self) -> bool:
        """Whether a place in memory is named by this node or below it."""
        return self.op is Op.INDEX or any(source.has_index for source in self.src)

    @computed
    def shape(self) -> tuple[Any, ...]:
        """Lengths of the axes, each an integer or an index node; () for scalars."""
        return infer_shape(self)

    @computed
    def bounds(self) -> tuple[Scalar, Scalar]:
        """The least and greatest value (vmin, vmax), taking index arithmetic not to overflow."""
        return infer_bounds(self)

    @computed
    def sound_bounds(self) -> tuple[int, int] | None:
        """Bounds that hold even where fixed-width integers wrap; None where not provable."""
        return infer_sound_bounds(self)

    @property
    def vmin(self) -> Scalar:
        return self.bounds[0]

    @property
    def vmax(self) -> Scalar:
        return self.bounds[1]

    def walk(self) -> list[UOp]:
        """All nodes of the graph, each once, sources before users, in a fixed order."""
        if self.op is not Op.SINK:
            return walk((self,))
        # Some thirty passes look at the same graph of a kernel.
        below = getattr(self, "_below", None)
        if below is None:
            below = self._below = walk(self.src)
        return [*below, self]

    def backward_slice(self) -> set[UOp]:
        """Every node this one is computed from, itself left out."""
        nodes = set(self.walk())
        nodes.discard(self)
        return nodes

    # Arithmetic of index expressions and conditions; the result is simplified. `==` stays identity.

    def __add__(self, other: UOp | int) -> UOp:
        return index_arithmetic.add(self, other)

    def __radd__(self, other: int) -> UOp:
        return index_arithmetic.add(other, self)

    def __sub__(self, other: UOp | int) -> UOp:
        return index_arithmetic.subtract(self, other)

    def __rsub__(self, other: int) -> UOp:
        return index_arithmetic.subtract(other, self)

    def __mul__(self, other: UOp | int) -> UOp:
        return index_arithmetic.multiply(self, other)

    def __rmul__(self, other: int) -> UOp:
        return index_arithmetic.multiply(other, self)

    def __floordiv__(self, other: UOp | int) -> UOp:
        return index_arithmetic.floordiv(self, other)

    def __rfloordiv__(self, other: int) -> UOp:
        return index_arithmetic.floordiv(other, self)

    def __mod__(self, other: UOp | int) -> UOp:
        return index_arithmetic.modulo(self, other)

    def __rmod__(self, other: int) -> UOp:
        return index_arithmetic.modulo(other, self)

    def __neg__(self) -> UOp:
        return index_arithmetic.negate(self)

    def __and__(self, other: UOp | bool) -> UOp:
        return index_arithmetic.logical_and(self, other)

    def __or__(self, other: UOp | bool) -> UOp:
        return index_arithmetic.logical_or(self, other)

    def __invert__(self) -> UOp:
        return index_arithmetic.logical_not(self)

    def lt(self, other: UOp | int) -> UOp:
        return index_arithmetic.less(self, other)

    def le(self, other: UOp | int) -> UOp:
        return index_arithmetic.less_equal(self, other)

    def gt(self, other: UOp | int) -> UOp:
        return index_arithmetic.less(other, self)

    def ge(self, other: UOp | int) -> UOp:
        return index_arithmetic.less_equal(other, self)

    def eq(self, other: UOp | int) -> UOp:
        return index_arithmetic.equal(self, other)

    def ne(self, other: UOp | int) -> UOp:
        return index_arithmetic.not_equal(self, other)

    def __repr__(self) -> str:
        from ogive.ir.printer import format_node

        return format_node(self)

    def __reduce__(self) -> Any:
        raise TypeError("nodes are interned by identity and cannot be pickled")


_CLOSING = accessors.SOURCES["closed"]
"""The ops that close loops, and where their ranges begin among the sources."""

accessors.install(UOp)


def _make(cls: type[UOp], op: Op, dtype: DType, src: Any, arg: Any, tag: Any) -> UOp:
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
    node.id = _next_id()
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


def walk(roots: tuple[UOp, ...]) -> list[UOp]:
    """All nodes under `roots`, each once, sources first; the order depends on structure alone."""
    order: list[UOp] = []
    seen: set[UOp] = set()
    stack: list[tuple[UOp, Iterator[UOp]]] = []
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        stack.append((root, iter(root.src)))
        while stack:
            node, sources = stack[-1]
            for source in sources:
                if source not in seen:
                    seen.add(source)
                    if source.src:
                        stack.append((source, iter(source.src)))
                        break
                    order.append(source)
            else:
                stack.pop()
                order.append(node)
    return order


def substitute(
    roots: tuple[UOp, ...], replacements: Mapping[UOp, UOp], *, revisit: bool = True
) -> tuple[UOp, ...]:
    """`roots` with nodes replaced, each shared node once.

    `revisit` also replaces inside the replacements. Without it they are taken as they are, which
    is what a replacement that contains its own key needs (`BUFFER` → `AFTER(BUFFER, STORE)`).
    """
    done: dict[UOp, UOp] = {}
    open_keys: set[UOp] = set()
    stack: list[tuple[UOp, bool]] = [(root, False) for root in reversed(roots)]
    while stack:
        node, ready = stack.pop()
        if node in done:
            continue
        replacement = replacements.get(node)
        if replacement is not None and replacement is not node:
            if not revisit:
                done[node] = replacement
            elif replacement in done:
                done[node] = done[replacement]
            elif node in open_keys:
                raise RecursionError("a replacement contains its own key; substitute once instead")
            else:
                open_keys.add(node)
                stack.append((node, True))
                stack.append((replacement, False))
        elif ready:
            done[node] = node.with_sources(tuple([done[source] for source in node.src]))
        else:
            stack.append((node, True))
            stack.extend([(source, False) for source in reversed(node.src) if source not in done])
    return tuple([done[root] for root in roots])


_same = operator.is_


def transform(root: UOp, change: Callable[[UOp], UOp]) -> UOp:
    """A graph in which every node, its sources transformed, has been given to `change`."""
    done: dict[UOp, UOp] = {}
    for node in root.walk():
        done[node] = change(node.with_sources(tuple([done[source] for source in node.src])))
    return done[root]


def live_uop_ids() -> list[int]:
    """The ids of all nodes alive, in order of creation."""
    return sorted([node.id for node in (*interned_nodes(), *_detached)])


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


from ogive.ir.shape import infer_shape  # noqa: E402
from ogive.ir.symbolic import index_arithmetic  # noqa: E402
from ogive.ir.symbolic.bounds import infer_bounds, infer_sound_bounds  # noqa: E402 - they need UOp
