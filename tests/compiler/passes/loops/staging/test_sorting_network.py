"""Sorting networks: every pass by itself, and as instructions under any placement."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Config, Tensor
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dialects.verify import verify
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live.registry import graph_lock, make
from ogive.compiler.passes.loops.staging.sorting_network import (
    exchange_count,
    filled_length,
    sorting_passes,
)
from ogive.errors import VerifyError
from ogive.tensor.core import wrap
from tests.compiler.passes.place.test_placements import Kernel, check
from tests.costs import EXCHANGED
from tests.raising import raises

RANDOM = np.random.default_rng(29)


def in_order(x: Any) -> Tensor:
    tensor = x if isinstance(x, Tensor) else Tensor(x)
    with graph_lock:
        return wrap(make(Op.SORT, tensor.dtype, (tensor.node,)), tensor.device)


def exchanged(lines: Any) -> Any:
    """What the passes make of lines (count, lines)."""
    count = len(lines)
    row = np.full((filled_length(count), lines.shape[1]), np.iinfo(lines.dtype).max)
    row[:count] = lines
    for each in sorting_passes(count):
        for run, group in itertools.product(range(each.runs), range(each.groups)):
            at = [run * each.length + first + step * group for first, step in each.places]
            assert len(set(at)) == len(at)
            for low, high in each.exchanges:
                assert at[low] < at[high]
                row[[at[low], at[high]]] = np.sort(row[[at[low], at[high]]], axis=0)
    return row[:count]


@pytest.mark.parametrize("count", [2, 3, 7, 12])
def test_networks_sort_all_that_two_values_can_be(count: int) -> None:
    lines = np.array([*itertools.product((0, 1), repeat=count)]).T
    np.testing.assert_array_equal(exchanged(lines), np.sort(lines, axis=0))


@pytest.mark.parametrize("count", [16, 17, 33, 50, 64, 65, 100, 200])
def test_networks_sort_rows_of_any_length(count: int) -> None:
    cuts = np.arange(count)
    # Rows of two values, with every number of each: in order, backwards, and anyhow.
    lines = (RANDOM.permuted(np.tile(cuts, (20, 1)), axis=1)[:, :, None] < cuts).transpose(1, 0, 2)
    lines = np.concatenate([lines.reshape(count, -1), cuts[:, None] < cuts], axis=1).astype(int)
    np.testing.assert_array_equal(exchanged(lines), np.sort(lines, axis=0))


def test_fewer_elements_take_fewer_exchanges() -> None:
    counts = [exchange_count(count) for count in (5, 8, 16, 24, 40, 64, 65, 100, 128)]
    assert counts == sorted(counts) and exchange_count(65) < 0.7 * exchange_count(128)


@pytest.mark.parametrize("shape", [(3, 2), (9, 13), (20, 40), (2, 3, 70), (1, 300)], ids=str)
@pytest.mark.parametrize("dtype", ["int64", "uint16"])
def test_kernels_sort_rows(shape: tuple[int, ...], dtype: str) -> None:
    limits = np.iinfo(dtype)
    x = RANDOM.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    for config in (Config(verify=True), Config(vectorize=False)):
        np.testing.assert_array_equal(in_order(x).realize(config).numpy(), np.sort(x, -1))


def test_random_placements_keep_the_result() -> None:
    check(Kernel(in_order(RANDOM.integers(-90, 90, (5, 3, 19)))), 3, 8)


def test_rows_that_lie_across_memory_are_read_as_they_lie() -> None:
    x = RANDOM.integers(-90, 90, (21, 64))
    (kernel,) = in_order(Tensor(x).T + 1).prepare().kernels
    assert "shufflevector" not in kernel.ir.partition("store")[0]
    np.testing.assert_array_equal(in_order(Tensor(x).T + 1).numpy(), np.sort(x.T + 1, -1))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32", "int64", "uint64"])
def test_keys_of_every_width_are_ordered(dtype: str) -> None:
    limits = np.iinfo(dtype)
    keys = RANDOM.integers(limits.min, limits.max, (9, 40), dtype, endpoint=True)
    keys[:, :4] = [[limits.max, limits.min, limits.max, limits.min]]
    keys[4:] //= 64  # so that many are equal, or differ in one half
    order = Tensor(keys).argsort().realize(Config(costs=EXCHANGED))
    np.testing.assert_array_equal(order.numpy(), np.argsort(keys, axis=1, kind="stable"))


def test_lines_are_sorted_whose_number_is_known_later() -> None:
    count = ogive.Variable("count", 1, 12)
    x = RANDOM.integers(-90, 90, (12, 20)).astype(np.int32)
    for number in (1, 9, 12):
        order = Tensor(x)[: count.bind(number)].argsort(-1)
        np.testing.assert_array_equal(order.numpy(), np.argsort(x[:number], kind="stable"))


def test_the_verifier_knows_sorts() -> None:
    for dtype, length, words in (
        (dtypes.float32, 6, "integers to put in order"),
        (dtypes.int32, 1, "two or more elements"),
    ):
        x = UOp(Op.PARAM, dtype, (), (0, length, "CPU"))
        with raises(VerifyError, match=words):
            verify(UOp(Op.SINK, dtypes.void, (UOp(Op.SORT, dtype, (x,)),)), "parametric")
