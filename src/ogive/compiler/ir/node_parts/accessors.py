"""The names of the op table as attributes of nodes: `store.value`, `counter.extent`.

Most reads ask for the first or the second source. A name that means one of these two in every op
is an alias of the slot that holds that source, and a name that always means the whole argument is
an alias of `arg`: reading either is as fast as reading any field. All other names are properties,
which look up the position that the node's op gives them.

    counter.placement    RANGE: the second field of its argument
    load.value           AttributeError: LOAD has no 'value', but place, lanes, stride

An alias does not check the op: a RANGE gives its extent for `left`. After `check_accessors()`,
which the tests and `OGIVE_VERIFY=1` call, every name is checked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir.ops import Op

if TYPE_CHECKING:
    from ogive.compiler.ir.node import UOp


class Accessors:
    """The attributes through which nodes give their sources and arguments; each op has some."""

    __slots__ = ()

    if TYPE_CHECKING:
        # Sources
        base: UOp
        bound: UOp
        condition: UOp
        counter: UOp
        extent: UOp
        function: UOp
        holds: UOp
        identity: UOp
        if_false: UOp
        if_true: UOp
        left: UOp
        loop: UOp
        offset: UOp
        operand: UOp
        place: UOp
        right: UOp
        start: UOp
        starts: UOp
        groups: UOp
        target: UOp
        value: UOp
        variable: UOp
        gate: UOp | None
        initial: UOp | None
        lanes: UOp | None
        symbolic: UOp | None
        effects: tuple[UOp, ...]
        further: tuple[UOp, ...]
        indices: tuple[UOp, ...]
        inputs: tuple[UOp, ...]
        lengths: tuple[UOp, ...]
        operands: tuple[UOp, ...]
        parts: tuple[UOp, ...]
        roots: tuple[UOp, ...]

        # Fields of arguments
        arguments: Any
        axes: tuple[int, ...]
        axis: int
        callee: str
        combine: Any  # an op, or None: every field typed Any may be absent
        count: Any
        descending: bool
        device: Any  # a name
        devices: tuple[str, ...] | None
        fallback: int
        fill: Any
        high: int
        hints: Any
        left_dtype: str
        length: int
        literal: Any
        low: int
        may_fault: int
        mesh: tuple[int, ...]
        name: str
        number: int
        order: tuple[int, ...]
        output: int
        outputs: tuple[Any, ...]
        placement: str | None
        right_dtype: str
        rule: Any
        site: int
        size: int
        sizes: tuple[int | None, ...]
        slot: int
        sorted_count: int | None
        space: str
        spans: tuple[tuple[int | None, int | None], ...]
        split: tuple[int, ...]
        stop: int | None
        stride: Any
        widths: tuple[tuple[int | None, int | None], ...]


KEPT = frozenset({"number", "placement"})
"""Fields that are read so often that a node caches them at the first read."""

_Getter = Callable[[Any], Any]


def _positions() -> tuple[dict[str, dict[Op, int]], dict[str, dict[Op, int | None]]]:
    """For each name, its position in each op that has it: among the sources, among the fields.

    A field's position is None where it is the whole argument.
    """
    sources: dict[str, dict[Op, int]] = {}
    fields: dict[str, dict[Op, int | None]] = {}
    for op in Op:
        for position, source in enumerate(op.sources):
            sources.setdefault(source.name, {})[op] = position
        for position, field in enumerate(op.fields):
            fields.setdefault(field.name, {})[op] = position if op.is_tuple else None
    return sources, fields


SOURCES, FIELDS = _positions()
_PLAIN = {
    name: set(where.values()).pop()
    for name, where in SOURCES.items()
    if len(set(where.values())) == 1
    and not any(
        source.name == name and (source.is_optional or source.is_rest)
        for op in where
        for source in op.sources
    )
}
"""Names of sources that are never optional and have the same position in every op."""

_WHOLE = {name for name, places in FIELDS.items() if set(places.values()) == {None}} - KEPT
"""Names of fields that are the whole argument in every op that has them."""


def install(node_class: type) -> None:
    """Give `node_class`, which has the slots `_first` and `_second`, the names of the op table."""
    slots = [node_class.__dict__["_first"], node_class.__dict__["_second"]]
    for name, where in SOURCES.items():
        if name in node_class.__dict__:
            continue  # the class defines it itself
        position = _PLAIN.get(name, len(slots))
        accessor = slots[position] if position < len(slots) else property(_source(name, where))
        setattr(node_class, name, accessor)
    for name, places in FIELDS.items():
        if name in KEPT:
            accessor = node_class.__dict__["_" + name]
        elif name in _WHOLE:
            accessor = node_class.__dict__["arg"]
        else:
            accessor = property(_field(name, places))
        setattr(node_class, name, accessor)


def check_accessors(node_class: type) -> None:
    """Make every later read check that the node's op has the name."""
    for name in _PLAIN:
        setattr(node_class, name, property(_source(name, SOURCES[name])))
    for name in _WHOLE:
        setattr(node_class, name, property(_field(name, FIELDS[name])))


def _source(name: str, where: dict[Op, int]) -> _Getter:
    is_rest = {op: op.sources[position].is_rest for op, position in where.items()}
    optional = {op for op, position in where.items() if op.sources[position].is_optional}

    def get(node: UOp) -> Any:
        op = node.op
        position = where.get(op)
        if position is None:
            raise AttributeError(name)
        if is_rest[op]:
            return node.src[position:]
        if position < len(node.src):
            return node.src[position]
        if op in optional:
            return None
        raise AttributeError(name)

    return get


def _field(name: str, places: dict[Op, int | None]) -> _Getter:
    (position, *others) = set(places.values())
    fields = [field for op in places for field in op.fields if field.name == name]
    if position is None or others or any(field.may_be_left_out for field in fields):
        return lambda node: read_field(node, name)

    def get(node: UOp) -> Any:
        if node.op in places:
            return node.arg[position]
        raise AttributeError(name)

    return get


def read_field(node: UOp, name: str) -> Any:
    """The field `name` of a node's argument. Raises `AttributeError` if its op has none."""
    try:
        position = FIELDS[name][node.op]
    except KeyError:
        raise AttributeError(name) from None
    if position is None:
        return node.arg
    if position >= len(node.arg) and node.op.fields[position].may_be_left_out:
        return None
    return node.arg[position]


def explain_missing(op: Op, name: str) -> str:
    """The error message for a name that `op` does not have."""
    names = [source.name for source in op.sources] + [field.name for field in op.fields]
    return f"{op.name} has no {name!r}, but {', '.join(names) or 'neither sources nor argument'}"
