"""The value of an index expression, given the values of its variables or counters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Dim
from ogive.errors import VariableError

_OPERATIONS: dict[Op, Callable[..., int]] = {
    Op.ADD: lambda x, y: x + y,
    Op.SUB: lambda x, y: x - y,
    Op.MUL: lambda x, y: x * y,
    Op.FLOORDIV: lambda x, y: x // y,
    Op.MOD: lambda x, y: x % y,
    Op.NEG: lambda x: -x,
    Op.MAXIMUM: max,
    Op.MINIMUM: min,
    Op.CMPLT: lambda x, y: x < y,
    Op.CMPLE: lambda x, y: x <= y,
    Op.CMPEQ: lambda x, y: x == y,
    Op.CMPNE: lambda x, y: x != y,
    Op.AND: lambda x, y: x and y,
    Op.OR: lambda x, y: x or y,
    Op.NOT: lambda x: not x,
    Op.WHERE: lambda test, x, y: x if test else y,
}


def evaluate(value: Dim, variables: Mapping[str, int] | None = None) -> int:
    """The value of a length: an integer itself, a node for these values of its variables.

    A BIND has its own value. Raises `VariableError` for a variable without a value.
    """
    if isinstance(value, int):
        return value
    done: dict[UOp, int] = {}
    for node in value.walk():
        if node.op is Op.CONST:
            done[node] = node.arg
        elif node.op is Op.VARIABLE:
            name = node.name
            if variables is not None and name in variables:
                done[node] = variables[name]
            elif node is value:
                raise VariableError(f"variable {name!r} has no value; bind it with .bind(...)")
        elif node.op is Op.BIND:
            done[node] = node.bound.literal
        else:
            missing = [s.arg[0] for s in node.src if s not in done]
            if missing:
                raise VariableError(
                    f"variable {missing[0]!r} has no value; bind it with .bind(...)"
                )
            values = [done[source] for source in node.src]
            if node.op in (Op.FLOORDIV, Op.MOD) and values[1] == 0:
                raise VariableError(f"{node!r} divides by a length that is 0")
            done[node] = int(_OPERATIONS[node.op](*values))
    return done[value]


def evaluate_each(order: Sequence[UOp], variables: Mapping[str, int]) -> dict[UOp, int]:
    """The values of all nodes of a walk, given a value for each variable in it."""
    done: dict[UOp, int] = {}
    for node in order:
        if node.op is Op.CONST:
            done[node] = node.arg
        elif node.op is Op.VARIABLE:
            done[node] = variables[node.name]
        else:
            done[node] = _OPERATIONS[node.op](*[done[source] for source in node.src])
    return done


def is_known(value: UOp) -> bool:
    """Whether an expression depends on counters of fixed extent only: no data, no variable."""
    nodes = value.walk()
    return all(n.op in _OPERATIONS or n.op in (Op.CONST, Op.RANGE) for n in nodes) and all(
        source.op is Op.CONST for n in nodes if n.op is Op.RANGE for source in n.src
    )


def tabulate(value: UOp, counters: Mapping[UOp, Sequence[int]]) -> list[int]:
    """The values of an expression, one for each row of `counters`, a table of counters' values."""
    count = len(next(iter(counters.values())))
    done: dict[UOp, Sequence[int]] = dict(counters)
    for node in value.walk():
        if node.op is Op.CONST:
            done[node] = [node.arg] * count
        elif node not in done and node.op is not Op.RANGE:
            sources = [done[source] for source in node.src]
            done[node] = list(map(_OPERATIONS[node.op], *sources))
    return list(done[value])
