"""Evaluate small graphs of constants, counters, and values in memory.

    CONST 2.0                                   →   array(2.)
    EXPAND(RESHAPE(IOTA 3)) == EXPAND(...)      →   the mask of a diagonal, as `eye` makes it
    LOG(MUL(BUFFER, CONST 2.0))                 →   the logarithm of twice a scale of a distribution

A library function called with eager tensors may make such small graphs itself. Their values are
known. So when an eager tensor meets one, the graph is evaluated and becomes eager, and the eager
tensor need not settle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from ogive.compiler.ir.meaning.array_functions import MOVEMENT_FUNCTIONS
from ogive.compiler.ir.meaning.element_functions import (
    ELEMENT_FUNCTIONS,
    FLOAT_FUNCTIONS,
    INTEGER_FUNCTIONS,
)
from ogive.compiler.ir.meaning.number_formats import cast, held, rounded
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_NODES = 48
"""The most nodes of a graph that is evaluated here. `eye` has 7."""

_LEFT_OUT = {Op.THREEFRY, Op.SHL, Op.SHR}
"""Ops that are not evaluated here: random draws, and shifts, whose counts may be too large."""


def constant_value(node: UOp, read: Callable[[UOp], NDArray[Any] | None]) -> NDArray[Any] | None:
    """The value of a node that follows from constants, counters and memory; None for other nodes.

    `read` gives the values of memory, or None.
    """
    order = _in_order(node)
    if order is None:
        return None
    known: dict[UOp, Any] = {}
    for each in order:
        value = _evaluate(each, [known.get(source) for source in each.src], read)
        if value is None:
            return None
        known[each] = value
    return numpy.array(numpy.broadcast_to(known[node], node.shape), node.dtype.numpy)


def _in_order(root: UOp) -> list[UOp] | None:
    """The nodes under one, sources first; None if they are many."""
    order: dict[UOp, None] = {}
    stack = [(root, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            order[node] = None
        elif node not in order:
            if len(stack) + len(order) > 2 * MOST_NODES:
                return None
            stack.append((node, True))
            # The sources of a BUFFER are not values.
            stack += [] if node.op is Op.BUFFER else [(source, False) for source in node.src]
    return list(order)


def _evaluate(node: UOp, sources: list[Any], read: Callable[[UOp], Any]) -> Any:
    """The value of one node, with floats in float64; None if it is not evaluated here."""
    op, dtype = node.op, node.dtype
    if op is Op.BUFFER:
        array = read(node)
        return None if array is None else held(array, dtype)
    if dtype.is_complex or any(source.dtype.is_complex for source in node.src):
        return None
    if op is Op.CONST:
        return held(numpy.asarray(node.arg, dtype.numpy), dtype)
    if op is Op.IOTA:
        return None if node.arg is None else numpy.arange(node.arg, dtype=dtype.numpy)
    if op in MOVEMENT_FUNCTIONS and len(node.src) == 1:
        argument = node.shape if op in (Op.RESHAPE, Op.EXPAND) else node.arg
        return MOVEMENT_FUNCTIONS[op](sources[0], argument)
    if op is Op.CAST:
        return cast(sources[0], node.src[0].dtype, dtype)
    function = _function(node)
    if function is None:
        return None
    with numpy.errstate(all="ignore"):
        return rounded(numpy.asarray(function(*sources)), dtype)


def _function(node: UOp) -> Callable[..., Any] | None:
    op, is_float = node.op, node.src[0].dtype.is_float if node.src else False
    if op in _LEFT_OUT or (op in INTEGER_FUNCTIONS and not is_float):
        return None  # division by zero: the graph itself reports the fault
    return FLOAT_FUNCTIONS.get(op) if op in FLOAT_FUNCTIONS else ELEMENT_FUNCTIONS.get(op)
