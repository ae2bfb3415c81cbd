"""Small regions, written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from ogive.compiler.devices.protocol import KernelFault
from ogive.compiler.devices.reference.evaluate_region import evaluate_region
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dialects.verify import verify
from ogive.compiler.ir.dtype import DType, to_dtype
from ogive.compiler.ir.meaning.number_formats import Array
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op


def parameter(slot: int, shape: tuple[int, ...], dtype: DType = dtypes.float32) -> UOp:
    """The memory of a slot, in a shape."""
    flat = UOp(Op.PARAM, dtype, (), (slot, int(np.prod(shape, dtype=int))))
    return UOp(Op.RESHAPE, dtype, (flat,), shape)


def move(op: Op, node: UOp, argument: Any, *lengths: UOp) -> UOp:
    return UOp(op, node.dtype, (node, *lengths), argument)


def store(target: UOp, value: UOp, *indices: UOp, op: Op | None = None) -> UOp:
    return UOp(Op.ASSIGN, dtypes.void, (target, value, *indices), op)


def run(memory: list[Array], *stores: UOp, **variables: int) -> int | None:
    """Evaluate a region over flat arrays, which change; the number of the op that failed."""
    region = UOp(Op.SINK, dtypes.void, stores)
    verify(region, "region")
    try:
        calls = evaluate_region(region, dict(enumerate(memory)), variables)
    except KernelFault as fault:
        return fault.site
    for function, *arguments in calls:
        function(*arguments)
    return None


def result_of(value: UOp, *arrays: Array, **variables: int) -> Array:
    """What a value over the slots from 1 on is; what memory no store has written is 99."""
    shape = tuple([int(size) for size in value.shape])
    out = np.full(int(np.prod(shape, dtype=int)), 99, value.dtype.numpy)
    memory = [out, *[array.reshape(-1) for array in arrays]]
    assert run(memory, store(parameter(0, shape, value.dtype), value), **variables) is None
    return out.reshape(shape)


def given(slot: int, array: Array) -> UOp:
    """The slot that has an array."""
    return parameter(slot, array.shape, to_dtype(array.dtype))
