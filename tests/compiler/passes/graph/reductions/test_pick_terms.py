"""Sums of which one term counts, at a position that is data, read that term alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import ogive
from ogive import Config, Tensor
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.graph.reductions.pick_terms import pick_terms
from tests.compiler.passes.parametric import normalize

CHECKED = Config(verify=True, disk_cache=False)
Array = Any


def data(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


def sums(tensor: Tensor) -> int:
    """How many sums are left."""
    nodes = pick_terms(normalize((tensor.node,)).sink).walk()
    return [node.op for node in nodes].count(Op.REDUCE_AXES)


def chosen(x: Tensor, places: Tensor, axis: int) -> Tensor:
    """The sum over an axis of the elements at `places` along it."""
    line = [1] * x.ndim
    line[axis] = -1
    counts = ogive.arange(x.shape[axis]).reshape(*line)
    return ogive.where(counts == places.unsqueeze(axis), x, 0.0).sum(axis)


@pytest.mark.parametrize(
    ("shape", "axis"), [((5, 7), 1), ((5, 7), 0), ((3, 4, 6), 1), ((9,), 0)], ids=str
)
def test_the_only_term_is_read(shape: tuple[int, ...], axis: int) -> None:
    values = data(*shape)
    others = tuple(size for number, size in enumerate(shape) if number != axis)
    places = np.random.default_rng(1).integers(0, 100, others)
    tensor = chosen(Tensor(values), Tensor(places) % shape[axis], axis)
    assert sums(tensor) == 0
    wanted = np.expand_dims(places % shape[axis], axis)
    expected = np.take_along_axis(values, wanted, axis).squeeze(axis)
    np.testing.assert_array_equal(tensor.realize(config=CHECKED).numpy(), expected)


def test_the_negative_of_the_only_term_is_read() -> None:
    values = data(5, 7)
    counts = ogive.arange(7).reshape(1, -1)
    places = Tensor([3, 1, 6, 0, 2]) % 7
    tensor = (-ogive.where(counts == places.unsqueeze(1), Tensor(values), 0.0)).sum(1)
    assert sums(tensor) == 0
    np.testing.assert_array_equal(tensor.numpy(), -values[np.arange(5), [3, 1, 6, 0, 2]])


def test_terms_that_count_for_nothing_may_be_anything() -> None:
    values = data(3, 4)
    values[0, 1], values[1, 2], values[2, 0] = np.nan, np.inf, -np.inf
    tensor = chosen(Tensor(values), Tensor([3, 3, 3]) % 4, 1)
    np.testing.assert_array_equal(tensor.numpy(), values[:, 3])


@pytest.mark.parametrize(
    "build",
    [
        lambda x, t: chosen(x, t, 1),  # which may lie outside, where the sum is 0
        lambda x, t: ogive.where(ogive.arange(7) >= (t % 7)[:, None], x, 0.0).sum(1),
        lambda x, t: ogive.where(ogive.arange(7) == (t % 7)[:, None], x, 1.0).sum(1),
        lambda x, t: ogive.where(ogive.arange(7) == (t % 7)[:, None], x, 0.0).amax(1),
        lambda x, t: ogive.where(ogive.arange(5)[:, None] == (t % 7)[:, None], x, 0.0).sum(1),
    ],
)
def test_other_sums_stay_as_they_are(build: Callable[[Tensor, Tensor], Tensor]) -> None:
    tensor = build(Tensor(data(5, 7)), Tensor([1, 2, 3, 4, 9]))
    assert sums(tensor) == 1


def test_a_cross_entropy_reads_one_likelihood_a_row() -> None:
    scores, classes = data(6, 300), np.array([0, 299, -100, 5, 7, 120])
    losses = Tensor(scores).cross_entropy(Tensor(classes), reduction="none")
    assert sums(losses) == 2  # the maximum, and the sum of exponentials
    expected = torch.nn.functional.cross_entropy(
        torch.from_numpy(scores).double(), torch.from_numpy(classes), reduction="none"
    )
    np.testing.assert_allclose(losses.realize(config=CHECKED).numpy(), expected, rtol=1e-6)
