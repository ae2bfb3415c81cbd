"""Small graphs to search in, and what they evaluate to."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ogive.compiler.devices.reference.evaluate_region import evaluate_region
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op

Array = numpy.ndarray[Any, Any]


def given(slot: int, *shape: int, dtype: DType = dtypes.float32, device: str = "CPU") -> UOp:
    """An input of a graph."""
    count = math.prod(shape)
    return move(Op.RESHAPE, UOp(Op.PARAM, dtype, (), (slot, count, device)), shape)


def computed(slot: int, *shape: int, dtype: DType = dtypes.float32) -> UOp:
    """A value that the rest of a graph computes."""
    count = math.prod(shape)
    return move(Op.RESHAPE, UOp(Op.PARAM, dtype, (), (slot, count)), shape)


def move(op: Op, value: UOp, argument: Any) -> UOp:
    return UOp(op, value.dtype, (value,), argument)


def spread(value: UOp, *shape: int) -> UOp:
    """A value of the same rank, or of lower rank and spread over axes in front."""
    ones = (1,) * (len(shape) - len(value.shape)) + value.shape
    placed = value if ones == value.shape else move(Op.RESHAPE, value, ones)
    return move(Op.EXPAND, placed, shape)


def apply(op: Op, *sources: UOp) -> UOp:
    dtype = dtypes.bool_ if op is Op.CMPLT else sources[-1].dtype
    return UOp(op, dtype, sources)


def reduce(value: UOp, *axes: int, combine: Op = Op.ADD) -> UOp:
    return move(Op.REDUCE_AXES, value, (combine, axes))


def product(left: UOp, right: UOp) -> UOp:
    """(m, k) times (k, n), as `Tensor.__matmul__` writes it."""
    (rows, depth), (_, columns) = left.shape, right.shape
    full = (rows, columns, depth)
    one = move(Op.EXPAND, move(Op.RESHAPE, left, (rows, 1, depth)), full)
    turned = move(Op.RESHAPE, move(Op.PERMUTE, right, (1, 0)), (1, columns, depth))
    return move(Op.RESHAPE, reduce(apply(Op.MUL, one, move(Op.EXPAND, turned, full)), 2),
                (rows, columns))  # fmt: skip


def number(value: float, dtype: DType = dtypes.float32) -> UOp:
    return UOp.const(dtype, value)


def sink(*roots: UOp) -> UOp:
    return UOp(Op.SINK, dtypes.void, roots)


def draw(value: UOp, seed: int) -> dict[int, Array]:
    """Random memory for all inputs of a value, by slot."""
    random = numpy.random.default_rng(seed)
    memory: dict[int, Array] = {}
    for node in value.walk():
        if node.op is Op.PARAM:
            if node.dtype.is_float:
                drawn = random.uniform(0.5, 1.5, node.size) * random.choice([-1, 1], node.size)
            else:
                drawn = random.integers(-1000, 1000, node.size)
            memory[node.slot] = drawn.astype(node.dtype.name)
    return memory


def evaluate(value: UOp, memory: dict[int, Array]) -> Array:
    """A value, by the reference: what is kept is kept, and moved to where it is read."""
    done: dict[UOp, UOp] = {}
    renumbered = {slot: slot + 1 for slot in memory}
    for node in value.walk():
        if node.op is Op.PARAM:
            done[node] = UOp(Op.PARAM, node.dtype, (), (renumbered[node.slot], node.size))
        elif node.op is Op.CONTIGUOUS:
            done[node] = done[node.operand]
        else:
            done[node] = node.with_sources(tuple([done[source] for source in node.src]))
    count = math.prod(value.shape)
    target = UOp(Op.PARAM, value.dtype, (), (0, count))
    shaped = move(Op.RESHAPE, target, value.shape)
    region = sink(UOp(Op.ASSIGN, dtypes.void, (shaped, done[value])))
    result = numpy.zeros(count, value.dtype.name)
    slots = {0: result} | {renumbered[slot]: array for slot, array in memory.items()}
    for function, *arguments in evaluate_region(region, slots, {}):
        function(*arguments)
    return result.reshape(value.shape)
