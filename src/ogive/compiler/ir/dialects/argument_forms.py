"""Checks that an argument has the fields that the op table lists, each of its kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import (
    IRREGULAR,
    LANE,
    LOOP,
    PARALLEL,
    REDUCING,
    THREAD,
    UPCAST,
    Field,
    Op,
)

_PLACEMENTS = frozenset({LOOP, PARALLEL, UPCAST, LANE, THREAD})


def is_integer(value: Any) -> bool:
    """Whether a value is an integer, and not True or False."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_size(value: Any) -> bool:
    return value is None or is_integer(value)


def _is_tuple_of(value: Any, is_element: Callable[[Any], bool]) -> bool:
    return isinstance(value, tuple) and all(map(is_element, value))


def _is_pair(value: Any) -> bool:
    return _is_tuple_of(value, _is_size) and len(value) == 2


def _is_output(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], DType)


TESTS: dict[str, Callable[[Any], bool]] = {
    "any": lambda value: True,
    "int": is_integer,
    "flag": lambda value: isinstance(value, bool),
    "str": lambda value: isinstance(value, str),
    "scalar": lambda value: isinstance(value, bool | int | float | complex),
    "combining": lambda value: isinstance(value, Op) and value in REDUCING,
    "axes": lambda value: _is_tuple_of(value, is_integer),
    "sizes": lambda value: _is_tuple_of(value, _is_size),
    "pairs": lambda value: _is_tuple_of(value, _is_pair),
    "outputs": lambda value: _is_tuple_of(value, _is_output),
    "devices": lambda value: _is_tuple_of(value, lambda name: isinstance(name, str)),
    "placement": lambda value: isinstance(value, str) and value in _PLACEMENTS,
    "stride": lambda value: is_integer(value) or value == IRREGULAR,
}
"""For each of `ops.KINDS`, whether a value is of that kind."""


def expect_argument(node: UOp) -> str | None:
    """The argument that the op table expects, in words; None if the node's argument fits."""
    op = node.op
    if not op.fields:
        return None if node.arg is None else "no argument"
    values = node.arg if op.is_tuple else (node.arg,)
    if isinstance(values, tuple) and _fits(op.fields, values):
        return None
    return f"{describe_argument(op)} as argument"


def _fits(fields: tuple[Field, ...], values: tuple[Any, ...]) -> bool:
    given, left_out = fields[: len(values)], fields[len(values) :]
    fits = len(given) == len(values) and all(field.may_be_left_out for field in left_out)
    return fits and all(map(_is_of_kind, given, values))


def _is_of_kind(field: Field, value: Any) -> bool:
    return (value is None and field.is_optional) or TESTS[field.kind](value)


def describe_argument(op: Op) -> str:
    """The argument of an op as the table writes it: `(number: int, placement: placement?)`."""
    texts = [_describe_field(field) for field in op.fields]
    return f"({', '.join(texts)})" if op.is_tuple else texts[0]


def _describe_field(field: Field) -> str:
    text = f"{field.name}: {field.kind}{'?' * field.is_optional}"
    return f"[{text}]" if field.may_be_left_out else text
