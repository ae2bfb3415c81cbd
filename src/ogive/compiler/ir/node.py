"""Interned graph nodes.

Building the same node twice, from any thread, gives the same object (`node_parts/node_table.py`).
So `is` is structural equality, and a graph is its root. The *content key* is a structural hash
besides, which is the same in every process: the caches on disk use it.

    >>> from ogive.compiler.ir.dtype import float32
    >>> one = UOp.const(float32, 1.0)
    >>> UOp(Op.ADD, float32, (one, one)) is UOp(Op.ADD, float32, (one, one))
    True
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ogive.compiler.digest import blake2b
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType, Scalar
from ogive.compiler.ir.node_parts import accessors
from ogive.compiler.ir.node_parts.computed_properties import PROPERTIES, compute_property, computed
from ogive.compiler.ir.node_parts.node_table import (
    detached_nodes,
    exact_argument,
    intern_node,
    make_node,
    next_id,
)
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import walk
from ogive.errors import Origin

Metadata = TypeVar("Metadata")


class UOp(accessors.Accessors):
    """A node: operation, element type, sources, argument and tag, which together identify it.

    `id` is monotonic and never reused. `metadata` is not part of the identity; see
    `with_metadata`. `origin` is the line of the user's program that first made the node.
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
    _first: UOp  # the first two sources; accessors.py gives these slots the op table's names
    _second: UOp
    _below: list[UOp]
    _bounds: tuple[Any, Any]
    _linear: tuple[dict[UOp, int], int] | None  # kept by `ir.symbolic.linear_forms`
    _order: tuple[Any, ...]  # kept by `ir.symbolic.linear_forms`
    _simplified: UOp | None  # kept by `ir.symbolic.index_arithmetic`
    trace: tuple[str, UOp] | None  # with tracing on: the rule that made this node, and the old node
    reference: weakref.ref[UOp]  # to the node itself, for tables that must not keep it alive
    live: Any  # the state of `live/`; the language never reads it

    # Computed by functions of other modules, which `ir/node_parts/node_extensions.py` installs.
    shape: tuple[Any, ...]  # lengths of the axes, integers or index nodes; () for scalars
    bounds: tuple[Scalar, Scalar]  # the least and greatest value, if no index overflows
    sound_bounds: tuple[int, int] | None  # the same without that assumption; None: not provable

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
            """Compute a property that is not known yet; Python finds known ones in their slots."""
            computed = PROPERTIES.get(name)
            if computed is not None:
                return compute_property(self, *computed)
            if name in accessors.KEPT and self.op in accessors.FIELDS[name]:
                value = accessors.read_field(self, name)
                setattr(self, "_" + name, value)
                return value
            raise AttributeError(accessors.explain_missing(self.op, name))

    @staticmethod
    def const(dtype: DType, value: Scalar | complex) -> UOp:
        """The constant `value`. Two of one dtype are the same node if their bits are equal."""
        return UOp(Op.CONST, dtype, (), value)

    @staticmethod
    def unique() -> UOp:
        """A new identity, different from all others."""
        return UOp(Op.UNIQUE, dtypes.void, (), next_id())

    def replace(
        self, *, dtype: DType | None = None, src: tuple[UOp, ...] | None = None, arg: Any = ...
    ) -> UOp:
        """This node with another dtype, sources or argument, and the same tag and metadata."""
        replaced = UOp(
            self.op,
            self.dtype if dtype is None else dtype,
            self.src if src is None else src,
            self.arg if arg is ... else arg,
            self.tag,
        )
        if replaced.origin is None:
            replaced.origin = self.origin
        if self.metadata and replaced is not self and replaced.metadata is None:
            return replaced.with_metadata(*self.metadata.values())
        return replaced

    def with_sources(self, src: tuple[UOp, ...]) -> UOp:
        """This node with `src` as its sources; the node itself if it has them already."""
        return self if all(map(operator.is_, src, self.src)) else self.replace(src=src)

    def with_tag(self, tag: Any) -> UOp:
        """The node that differs from this one in its tag only."""
        return UOp(self.op, self.dtype, self.src, self.arg, tag)

    def with_metadata(self, *values: Any) -> UOp:
        """A copy of this node that is not interned: a new id, and the same content key.

        Each value is kept under its type, by which `find_metadata` looks it up.
        """
        node = make_node(UOp, self.op, self.dtype, self.src, self.arg, self.tag)
        node.origin = self.origin
        node.metadata = {**(self.metadata or {}), **{type(value): value for value in values}}
        node.reference = weakref.ref(node)
        detached_nodes.add(node)
        return node

    def find_metadata(self, kind: type[Metadata]) -> Metadata | None:
        """The attached metadata of type `kind`, or None."""
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
        """The loop counters that this value depends on: those below it that no node closes."""
        return frozenset((self,)) if self.op is Op.RANGE else self.ranges_below

    @computed
    def ranges_below(self) -> frozenset[UOp]:
        """`ranges`; but for a counter those of its extent, since a node must not hold itself."""
        used: frozenset[UOp] = frozenset()
        for source in self.src:
            used = used | source.ranges if used else source.ranges
        if self.op in _CLOSING:
            closed = self.src[_CLOSING[self.op] :]
            used = used.difference(closed)
            for counter in closed:
                # The extent of a loop may depend on the counters of loops around it.
                if counter.ranges_below:
                    used = used | counter.ranges_below
        return used

    @property
    def closed(self) -> tuple[UOp, ...]:
        """The loop counters that this node closes."""
        return self.src[_CLOSING[self.op] :] if self.op in _CLOSING else ()

    @computed
    def has_index(self) -> bool:
        """Whether this node or a node below it is an INDEX."""
        return self.op is Op.INDEX or any(source.has_index for source in self.src)

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
        # Kept for a SINK, because some thirty passes walk the same graph of a kernel.
        below = getattr(self, "_below", None)
        if below is None:
            below = self._below = walk(self.src)
        return [*below, self]

    def backward_slice(self) -> set[UOp]:
        """All nodes that this one is computed from, without itself."""
        nodes = set(self.walk())
        nodes.discard(self)
        return nodes

    if TYPE_CHECKING:
        # Arithmetic of index expressions and conditions, from `node_parts/node_extensions.py`.
        # Results are simplified. `==` stays identity.
        def __add__(self, other: UOp | int) -> UOp: ...
        def __radd__(self, other: int) -> UOp: ...
        def __sub__(self, other: UOp | int) -> UOp: ...
        def __rsub__(self, other: int) -> UOp: ...
        def __mul__(self, other: UOp | int) -> UOp: ...
        def __rmul__(self, other: int) -> UOp: ...
        def __floordiv__(self, other: UOp | int) -> UOp: ...
        def __rfloordiv__(self, other: int) -> UOp: ...
        def __mod__(self, other: UOp | int) -> UOp: ...
        def __rmod__(self, other: int) -> UOp: ...
        def __neg__(self) -> UOp: ...
        def __and__(self, other: UOp | bool) -> UOp: ...
        def __or__(self, other: UOp | bool) -> UOp: ...
        def __invert__(self) -> UOp: ...
        def lt(self, other: UOp | int) -> UOp: ...
        def le(self, other: UOp | int) -> UOp: ...
        def gt(self, other: UOp | int) -> UOp: ...
        def ge(self, other: UOp | int) -> UOp: ...
        def eq(self, other: UOp | int) -> UOp: ...
        def ne(self, other: UOp | int) -> UOp: ...

    def __repr__(self) -> str:
        from ogive.compiler.ir.printer import format_node

        return format_node(self)

    def __reduce__(self) -> Any:
        raise TypeError("nodes are interned by identity and cannot be pickled")


_CLOSING = accessors.SOURCES["closed"]
"""The ops that close loops, each with the position of the first closed range in its sources."""

accessors.install(UOp)
