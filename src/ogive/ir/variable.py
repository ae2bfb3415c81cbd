"""Symbolic integers: lengths and indices that change from run to run without recompiling.

>>> n = Variable("n", 1, 32)
>>> n.bind(4)
n[1..32]=4
"""

from __future__ import annotations

from collections.abc import Mapping

from ogive.errors import ArgumentTypeError, VariableError, user_origin
from ogive.ir import dtype as dtypes
from ogive.ir.node import UOp, substitute
from ogive.ir.ops import Op


class Variable:
    """A named integer between `low` and `high`, both included.

    `bind` gives it a value for one graph; the result may stand in shapes and indices. Whatever is
    compiled serves every value between the bounds. Raises `VariableError` for senseless bounds.
    """

    __slots__ = ("high", "low", "name", "node")

    def __init__(self, name: str, low: int, high: int) -> None:
        if not isinstance(name, str) or not name.isidentifier():
            raise VariableError(f"a variable's name must be an identifier, got {name!r}")
        if not (type(low) is int and type(high) is int):
            raise ArgumentTypeError(f"variable {name!r}: bounds are integers, got {low!r}, {high!r}")
        if not 0 <= low <= high:
            raise VariableError(
                f"variable {name!r}: bounds must satisfy 0 <= low <= high, got {low} and {high}"
            )
        self.name, self.low, self.high = name, low, high
        self.node = UOp(Op.VARIABLE, dtypes.index, (), (name, low, high))

    def bind(self, value: int) -> UOp:
        """The variable with a value, for shapes and indices."""
        check_binding(self.name, self.low, self.high, value)
        return _bound(self.node, value)

    def __repr__(self) -> str:
        return f"Variable({self.name!r}, {self.low}, {self.high})"


def check_binding(name: str, low: int, high: int, value: int) -> None:
    """Raise `VariableError` unless `value` is an integer within the bounds."""
    if type(value) is not int:
        raise VariableError(f"variable {name!r} takes an integer, got {value!r}")
    if not low <= value <= high:
        raise VariableError(f"variable {name!r} is between {low} and {high}, got {value}")


def rebind(node: UOp, values: Mapping[str, int]) -> UOp:
    """A graph with its bound variables bound to other values; names left out stay."""
    changes = {
        bound: _bound(bound.src[0], values[bound.src[0].arg[0]])
        for bound in node.walk()
        if bound.op is Op.BIND and bound.src[0].arg[0] in values
    }
    return substitute((node,), changes, revisit=False)[0]


def _bound(variable: UOp, value: int) -> UOp:
    node = UOp(Op.BIND, dtypes.index, (variable, UOp.const(dtypes.index, value)))
    if node.origin is None:
        node.origin = user_origin(2)
    return node
