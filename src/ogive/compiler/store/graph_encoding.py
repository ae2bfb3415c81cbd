"""Encoding of graphs and index expressions as bytes, and decoding with a check of every node.

A graph is a list of nodes, sources first and referred to by position, so that shared nodes stay
shared. Ops and dtypes are written by their numbers in this compiler. The reader is the same
compiler, since its sources are part of every key. Tags and metadata are left out, as in content
keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.store.encoding import (
    MOST_BYTES,
    Bounds,
    CannotEncode,
    DamagedRecord,
    Reader,
    Writer,
    within,
)

MOST_NODES = 1 << 20
MOST_DEPTH = 8
"""The greatest depth of nested tuples in an argument."""

_OPS = tuple(Op)
_OP_NUMBERS = {op: number for number, op in enumerate(_OPS)}
_DTYPES = (*dict.fromkeys(dtypes.BY_NAME.values()), dtypes.index, dtypes.void)
_DTYPE_NUMBERS = {dtype: number for number, dtype in enumerate(_DTYPES)}
_NONE, _FALSE, _TRUE, _INTEGER, _REAL, _TEXT, _OPERATION, _TUPLE = range(8)

NodeCheck = Callable[[Op, DType, tuple[UOp, ...], Any], None]
"""Raises `DamagedRecord` if a node of this (op, dtype, sources, argument) must not be built."""


# Graphs


def write_graph(writer: Writer, root: UOp) -> None:
    """Write a graph. Raises `CannotEncode` for an argument of a type without an encoding."""
    nodes = root.walk()
    numbers = {node: number for number, node in enumerate(nodes)}
    writer.number(len(nodes))
    for node in nodes:
        writer.byte(_OP_NUMBERS[node.op])
        writer.byte(_DTYPE_NUMBERS[node.dtype])
        writer.numbers([numbers[source] for source in node.src])
        _write_argument(writer, node.arg)


def read_graph(reader: Reader, check: NodeCheck) -> UOp:
    """Read a graph, with every node passed to `check`. Raises `DamagedRecord`."""
    nodes: list[UOp] = []
    for _ in range(reader.number(1, MOST_NODES)):
        op = _OPS[reader.byte(len(_OPS) - 1)]
        dtype = _DTYPES[reader.byte(len(_DTYPES) - 1)]
        sources = tuple([nodes[number] for number in reader.numbers(0, len(nodes) - 1)])
        argument = _read_argument(reader, MOST_DEPTH)
        check(op, dtype, sources, argument)
        nodes.append(UOp(op, dtype, sources, argument))
    return nodes[-1]


def _write_argument(writer: Writer, argument: Any) -> None:
    kind = type(argument)
    if argument is None:
        writer.byte(_NONE)
    elif kind is bool:
        writer.byte(_TRUE if argument else _FALSE)
    elif kind is int:
        writer.byte(_INTEGER)
        writer.integer(argument)
    elif kind is float:
        writer.byte(_REAL)
        writer.real(argument)
    elif kind is str:
        writer.byte(_TEXT)
        writer.text(argument)
    elif kind is Op:
        writer.byte(_OPERATION)
        writer.byte(_OP_NUMBERS[argument])
    elif kind is tuple:
        writer.byte(_TUPLE)
        writer.number(len(argument))
        for part in argument:
            _write_argument(writer, part)
    else:
        raise CannotEncode(f"an argument of type {kind.__name__}")


def _read_argument(reader: Reader, depth: int) -> Any:
    kind = reader.byte()
    if kind == _TUPLE and depth:
        return tuple([_read_argument(reader, depth - 1) for _ in range(reader.number())])
    read = _ARGUMENTS.get(kind)
    if read is None:
        raise DamagedRecord("an argument is of no known type")
    return read(reader)


_ARGUMENTS: dict[int, Callable[[Reader], Any]] = {
    _NONE: lambda reader: None,
    _FALSE: lambda reader: False,
    _TRUE: lambda reader: True,
    _INTEGER: Reader.integer,
    _REAL: Reader.real,
    _TEXT: Reader.text,
    _OPERATION: lambda reader: _OPS[reader.byte(len(_OPS) - 1)],
}


# Index expressions

_ARITHMETIC = {
    Op.ADD: 2, Op.SUB: 2, Op.MUL: 2, Op.FLOORDIV: 2, Op.MOD: 2, Op.NEG: 1, Op.MAXIMUM: 2,
    Op.MINIMUM: 2,
}  # fmt: skip
_COMPARISONS = (Op.CMPLT, Op.CMPLE, Op.CMPEQ, Op.CMPNE)
_LOGIC = {Op.AND: 2, Op.OR: 2, Op.NOT: 1}
_FORMS = frozenset(
    {
        *[(op, dtypes.index, (dtypes.index,) * arity) for op, arity in _ARITHMETIC.items()],
        *[(op, dtypes.bool_, (dtypes.index,) * 2) for op in _COMPARISONS],
        *[(op, dtypes.bool_, (dtypes.bool_,) * arity) for op, arity in _LOGIC.items()],
        (Op.WHERE, dtypes.index, (dtypes.bool_, dtypes.index, dtypes.index)),
    }
)
"""The nodes that an expression may have besides leaves: (op, dtype, dtypes of the sources)."""

_EXPRESSION = -(1 << 62)
"""A marker in the place of an integer, which says that a graph follows."""


def write_expression(writer: Writer, value: int | UOp, variables: Bounds) -> None:
    """Write an index expression over `variables`, or an integer. Raises `CannotEncode`."""
    if isinstance(value, int):
        writer.number(value)
        return
    for node in value.walk():
        if not _is_index_arithmetic(node.op, node.dtype, node.src, node.arg, variables):
            raise CannotEncode(f"{node.op.name} in an index expression")
    writer.number(_EXPRESSION)
    write_graph(writer, value)


def read_expression(reader: Reader, variables: Bounds) -> int | UOp:
    """Read a count: an expression over `variables` that is never negative and never faults.

    Raises `DamagedRecord`.
    """
    value = reader.number(_EXPRESSION, MOST_BYTES)
    if value != _EXPRESSION:
        return within(value, 0, MOST_BYTES)

    def check(op: Op, dtype: DType, sources: tuple[UOp, ...], argument: Any) -> None:
        if not _is_index_arithmetic(op, dtype, sources, argument, variables):
            raise DamagedRecord("an expression is no index arithmetic")
        if op in (Op.FLOORDIV, Op.MOD) and sources[1].vmin <= 0 <= sources[1].vmax:
            raise DamagedRecord("a divisor may be zero")

    root = read_graph(reader, check)
    if root.dtype is not dtypes.index or not (root.vmin >= 0 and root.vmax <= MOST_BYTES):
        raise DamagedRecord("a count is out of range")
    return int(root.arg) if root.op is Op.CONST else root


def _is_index_arithmetic(
    op: Op, dtype: DType, sources: tuple[UOp, ...], argument: Any, variables: Bounds
) -> bool:
    if op is Op.CONST and dtype is dtypes.bool_:
        return type(argument) is bool and not sources
    if op is Op.CONST:
        fits = type(argument) is int and -MOST_BYTES <= argument <= MOST_BYTES
        return fits and dtype is dtypes.index and not sources
    if op is Op.VARIABLE:
        known = [(name, *bounds) for name, bounds in variables.items()]
        return argument in known and dtype is dtypes.index and not sources
    return argument is None and (op, dtype, tuple([s.dtype for s in sources])) in _FORMS
