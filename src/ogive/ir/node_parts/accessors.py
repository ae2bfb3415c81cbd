"""The names of the op table as attributes of nodes: `store.value`, `counter.extent`.

Most nodes are asked for their first or second source, many times. A name that stands for either of
them, in whatever op has it, is another name of the slot in which a node has that source, and one
that stands for a whole argument another name of `arg`: both are read as fast as any field. Other
names are properties that look up where their op has them.

    counter.placement    RANGE: the second field of its argument
    load.value           AttributeError: LOAD has no 'value', but place, lanes, stride

Names of slots are checked only as far as there is something: a RANGE gives its extent for `left`.
After `check_accessors()`, as in the tests and with `OGIVE_VERIFY=1`, all are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ogive.ir.ops import Op

if TYPE_CHECKING:
    from ogive.ir.node import UOp


class Accessors:
    """The names by which nodes are asked for their sources and arguments; each op has some."""

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
        combine: Any  # an op; None where it is optional and absent, as for all that are Any
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
"""Fields that are asked for so often that a node keeps them, from the first time on."""

_Getter = Callable[[Any], Any]


def _positions() -> tuple[dict[str, dict[Op, int]], dict[str, dict[Op, int | None]]]:
    """Where each op has the sources and the fields of a name; None: the field is the argument."""
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
"""Names that stand for a source which is always there, and always at that position."""

_WHOLE = {name for name, places in FIELDS.items() if set(places.values()) == {None}} - KEPT
"""Names of fields that are the argument itself, in whatever op has them."""


def install(node_class: type) -> None:
    """Give a class of nodes, which has the slots `_first` and `_second`, the names of the table."""
    slots = [node_class.__dict__["_first"], node_class.__dict__["_second"]]
    for name, where in SOURCES.items():
        if name in node_class.__dict__:
            continue  # the class has more to say about it
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
    """From now on no node gives a source for a name that its op does not have."""
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
    """A field of the argument of a node. Raises `AttributeError` where its op has none."""
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
    """The error's text for a name that a node does not have."""
    names = [source.name for source in op.sources] + [field.name for field in op.fields]
    return f"{op.name} has no {name!r}, but {', '.join(names) or 'neither sources nor argument'}"
