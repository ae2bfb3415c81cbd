"""Symbolic integers: lengths and indices that change from run to run without recompiling.

>>> n = Variable("n", 1, 32).bind(4)
>>> n
n=4
>>> n * 2 + 1
(n=4)*2 + 1
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import substitute, walk
from ogive.errors import ArgumentTypeError, VariableError, user_origin


class Variable:
    """A named integer between `low` and `high`, both included.

    `bind` gives it a value for one graph. The result, and sums and products of it, may be used in
    shapes and indices. The compiled code serves every value between the bounds.

    >>> Variable("n", 1, 32)
    Variable('n', 1, 32)

    Raises `VariableError` for bounds out of order or out of range, and `ArgumentTypeError` for
    bounds that are not integers.
    """

    __slots__ = ("high", "low", "name", "node")

    def __init__(self, name: str, low: int, high: int) -> None:
        if not isinstance(name, str) or not name.isidentifier():
            raise VariableError(f"a variable's name must be an identifier, got {name!r}")
        least, greatest = _whole(low), _whole(high)
        if least is None or greatest is None:
            raise ArgumentTypeError(
                f"variable {name!r}: bounds are integers, got {low!r} and {high!r}"
            )
        if not 0 <= least <= greatest <= MOST:
            raise VariableError(
                f"variable {name!r}: bounds must satisfy 0 <= low <= high <= {MOST}, got {least} "
                f"and {greatest}"
            )
        self.name, self.low, self.high = name, least, greatest
        self.node = UOp(Op.VARIABLE, dtypes.index, (), (name, least, greatest))

    def bind(self, value: int) -> UOp:
        """The variable with a value, for shapes and indices.

        >>> Variable("n", 1, 32).bind(4)
        n=4

        Raises `VariableError` for a value that is outside the bounds or not an integer.
        """
        return _bound(self.node, check_binding(self.name, self.low, self.high, value))

    def __repr__(self) -> str:
        return f"Variable({self.name!r}, {self.low}, {self.high})"


MOST = 1 << 47
"""The greatest bound of a variable. No memory has more elements."""


OWN = "#"
"""The prefix of the compiler's own variables. A user's name cannot begin with it."""


def names_in(value: UOp) -> set[str]:
    """The names of the variables in an expression."""
    return {node.name for node in value.walk() if node.op is Op.VARIABLE}


def _whole(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def check_binding(name: str, low: int, high: int, value: Any) -> int:
    """`value` as an integer. Raises `VariableError` unless it is one within the bounds."""
    number = _whole(value)
    if number is None:
        raise VariableError(f"variable {name!r} takes an integer, got {value!r}")
    if not low <= number <= high:
        raise VariableError(f"variable {name!r} is between {low} and {high}, got {number}")
    return number


def bindings(sizes: Iterable[Any]) -> dict[str, int]:
    """The values of the bound variables in lengths or positions, by name.

    Raises `VariableError` where one name has two values, or stands for two variables.
    """
    values: dict[str, int] = {}
    variables: dict[str, UOp] = {}
    for node in walk(tuple([size for size in sizes if isinstance(size, UOp)])):
        if node.op is Op.BIND:
            note_binding(node, values)
        elif node.op is Op.VARIABLE:
            note_variable(node, variables)
    return values


def note_variable(node: UOp, variables: dict[str, UOp]) -> None:
    """Add a VARIABLE. Raises `VariableError` if its name already stands for another variable."""
    name = node.name
    if variables.setdefault(name, node) is not node:
        raise VariableError(
            f"two variables named {name!r} with different bounds, {variables[name].arg[1:]} and "
            f"{node.arg[1:]}, are in one graph"
        )


def note_binding(node: UOp, values: dict[str, int]) -> None:
    """Add the value of a BIND. Raises `VariableError` if its name already has another value."""
    name, value = node.variable.name, node.bound.literal
    if values.setdefault(name, value) != value:
        raise VariableError(
            f"variable {name!r} is bound to {values[name]} and to {value} in one graph",
            node.origin,
        )


def rebind(node: UOp, values: Mapping[str, int]) -> UOp:
    """A graph with its variables bound to other values; names that are not in `values` stay."""
    changes = {
        bound: _bound(bound.variable, values[bound.variable.name])
        for bound in node.walk()
        if bound.op is Op.BIND and bound.variable.name in values
    }
    return substitute((node,), changes, revisit=False)[0]


def _bound(variable: UOp, value: int) -> UOp:
    node = UOp(Op.BIND, dtypes.index, (variable, UOp.const(dtypes.index, value)))
    if node.origin is None:
        node.origin = user_origin(2)
    return node
