"""Sums along the rows of memory and sums across them are kernels of their own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ogive import Tensor
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.fuse.reads.reduction_directions import goes_along_rows
from tests.compiler.passes.fuse.test_keep_times import data, kernels
from tests.compiler.passes.parametric import normalize


def direction(value: Tensor) -> bool | None:
    sink = normalize((value.node,)).sink
    (found,) = [node for node in sink.walk() if node.op is Op.REDUCE_AXES]
    return goes_along_rows(found)


def test_a_sum_goes_along_the_rows_that_its_values_have_in_memory() -> None:
    x, w = data(30, 40), data(40)
    assert direction(x.sum(1)) is True
    assert direction(x.sum(0)) is False
    assert direction(x.T.sum(0)) is True
    assert direction((x * w + 1).sum(0)) is False
    assert direction((x.T.exp() - 2).sum(1)) is False
    assert direction(data(2, 30, 40).sum((0, 1))) is False
    assert direction(data(4, 30).reshape(2, 2, 30).sum(2)) is True


APART: dict[str, Callable[[], Tensor]] = {
    "sums along both axes": lambda: data(256, 256).sum(0) + data(256, 256).sum(1),
    "maximum and sum": lambda: data(96, 96).amax(1) * data(96, 96, seed=1).sum(0),
    "products with vectors": lambda: data(128, 128) @ data(128) + data(128) @ data(128, 128),
}


@pytest.mark.parametrize("name", APART)
def test_sums_of_both_directions_are_two_kernels(name: str) -> None:
    assert len(kernels(APART[name]())) == 2


TOGETHER: dict[str, Callable[[], Tensor]] = {
    "both along rows": lambda: data(96, 96).sum(1) + data(96, 96, seed=1).sum(1),
    "both across rows": lambda: data(96, 96).sum(0) + data(96, 96).amax(0),
    "few terms": lambda: data(6, 6).sum(0) + data(6, 6).sum(1),
}


@pytest.mark.parametrize("name", TOGETHER)
def test_sums_of_one_direction_and_short_ones_are_one_kernel(name: str) -> None:
    assert len(kernels(TOGETHER[name]())) == 1


def test_values_of_both_directions_are_right() -> None:
    x = data(130, 130)
    wanted = x.numpy().astype(np.float64)
    found = (x.sum(0) + x.sum(1)).numpy()
    np.testing.assert_allclose(found, wanted.sum(0) + wanted.sum(1), rtol=1e-4, atol=1e-4)
