"""Every elementwise op, for every dtype that has it: the reference and the CPU agree."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ogive import Tensor
from ogive.compiler.devices.reference.evaluate_region import FUNCTIONS
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dialects.tensor_forms import expect_dtypes
from ogive.compiler.ir.dialects.verify import DIALECTS
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.meaning.number_formats import Array
from ogive.compiler.ir.ops import BINARY, COMPARISON, ELEMENTWISE, TRANSCENDENTAL, Op
from ogive.compiler.live.registry import graph_lock, make
from ogive.tensor.core import wrap

COMPLEX = {Op.COMPLEX, Op.REAL, Op.IMAGINARY}
"""Complex numbers are pairs of floats in a region."""

NUMBERS = (
    dtypes.bool_, dtypes.int8, dtypes.int64, dtypes.uint64, dtypes.bfloat16, dtypes.float32,
    dtypes.float64,
)  # fmt: skip
CONVERTED = (*NUMBERS, dtypes.uint32, dtypes.float8_e4m3, dtypes.float8_e5m2, dtypes.float16)
ROUNDED = ELEMENTWISE - TRANSCENDENTAL
"""Ops whose results are the nearest numbers that there are."""

RANDOM = np.random.default_rng(12)
COUNT = 400
SPECIAL = (0.0, -0.0, 1, -1, 0.5, 1.5, 2.5, np.inf, -np.inf, np.nan, 1e-30, 1e30, 7, 3, 2.0**31)


def operand(dtype: DType, zero: bool = True) -> Array:
    """Numbers of all sizes, and the special ones; without zero, if that is a fault."""
    if dtype.is_float or dtype.is_bool:
        drawn = RANDOM.normal(size=COUNT) * 10 ** RANDOM.uniform(-3, 3, COUNT)
        drawn[: len(SPECIAL)] = SPECIAL
        values = drawn.astype(np.float32) if dtype.is_float else drawn > 0
    else:
        low, high = [int(limit) for limit in dtype.limits]
        values = RANDOM.integers(low, high, COUNT, dtype.numpy, endpoint=True)
        values[100:] = RANDOM.integers(max(low, -70), 70, COUNT - 100, dtype.numpy)
        values[:4] = low, low + 1, high, high - 1
        values = values if zero else np.where(values == 0, 5, values)
    with np.errstate(all="ignore"):
        return RANDOM.permutation(values).astype(dtype.numpy)


def forms(op: Op) -> list[tuple[Tensor, Tensor]]:
    """An op over operands of each dtype that it takes, giving each that it gives, on both."""
    if op in (Op.CAST, Op.BITCAST):
        pairs = list(itertools.product(CONVERTED, CONVERTED))[::2]  # all are slow to compile
    else:
        pairs = [(dtypes.bool_ if op in COMPARISON else each, each) for each in NUMBERS]
    made = []
    for result, given in pairs:
        operands = [operand(given)]
        if op in BINARY:
            operands.append(operand(given, zero=op not in (Op.FLOORDIV, Op.MOD)))
        elif op is Op.WHERE:
            operands = [operand(dtypes.bool_), operand(result), operand(result)]
        here, there = [apply(op, result, operands, device) for device in ("CPU", "REFERENCE")]
        if expect_dtypes(here.node) is None:
            made.append((here, there))
    return made


def apply(op: Op, dtype: DType, operands: list[Array], device: str) -> Tensor:
    """An op over arrays, on a device."""
    nodes = tuple([Tensor(array, device=device).node for array in operands])
    with graph_lock:
        return wrap(make(op, dtype, nodes), device)


def distance(got: Array, wanted: Array) -> int:
    """How many floats lie between two at most, which are both NaN where one is."""
    assert np.array_equal(np.isnan(got), np.isnan(wanted))
    bits = 8 * got.dtype.itemsize
    ranks = []
    for array in (got, wanted):
        numbers = np.where(np.isnan(array), 0, array).astype(got.dtype)
        ranked = numbers.view(f"i{got.dtype.itemsize}").astype(object)
        ranks.append(np.where(ranked < 0, -(1 << (bits - 1)) - ranked, ranked))
    return int(np.abs(ranks[0] - ranks[1]).max())


def test_every_op_of_a_region_has_a_meaning() -> None:
    assert set(FUNCTIONS) == set(DIALECTS["region"]) - {Op.SINK, Op.ASSIGN} - COMPLEX


@pytest.mark.parametrize("op", sorted(ELEMENTWISE - COMPLEX - {Op.DOT}, key=str), ids=str)
def test_the_cpu_gives_what_the_reference_gives(op: Op) -> None:
    pairs = forms(op)
    assert pairs
    Tensor.realize_batch([tensor for pair in pairs for tensor in pair])
    for here, there in pairs:
        dtype, got, wanted = here.dtype, here.numpy(), there.numpy()
        if dtype.is_float:
            # NumPy's functions are a bit off in float64, too.
            allowed = 0 if op in ROUNDED else 1 if dtype is not dtypes.float64 else 3
            assert distance(got, wanted) <= allowed, f"{op} of {dtype}"
        else:
            np.testing.assert_array_equal(got, wanted, f"{op} to {dtype}")
