"""Dropout: how much is dropped, what becomes of the rest, and what happens outside training."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor, random
from ogive.errors import ArgumentError, DtypeError, ShapeError
from tests.raising import raises
from tests.random.statistics import assert_frequencies

COUNT = 20_000
METHODS = ["dropout", "alpha_dropout", "dropout1d", "dropout2d", "dropout3d"]


@pytest.mark.parametrize("p", [0.1, 0.5, 0.75])
def test_dropout_zeroes_a_share_and_scales_the_rest(p: float) -> None:
    x = numpy.random.default_rng(0).standard_normal(COUNT) + 10
    y = Tensor(x).dropout(p, key=random.key(1)).numpy()
    kept = y != 0
    assert_frequencies(numpy.array([kept.sum(), COUNT - kept.sum()]), numpy.array([1 - p, p]))
    numpy.testing.assert_allclose(y[kept], x[kept] / (1 - p), rtol=1e-15)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_dropout_keeps_the_dtype(dtype: str) -> None:
    y = ogive.ones(100, dtype=dtype).dropout(0.5)
    assert y.dtype.name == dtype
    assert set(y.float().tolist()) == {0.0, 2.0}


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_dropped_outside_training_or_with_probability_zero(method: str) -> None:
    x = ogive.ones(2, 3, *[4] * ("3d" in method), *[4] * ("1d" not in method), 4)
    drop = getattr(x, method)
    assert drop(0.5, training=False) is x
    assert drop(0.0) is x


@pytest.mark.parametrize("method", METHODS)
def test_everything_is_dropped_with_probability_one(method: str) -> None:
    x = ogive.ones(2, 3, *[4] * ("3d" in method), *[4] * ("1d" not in method), 4)
    assert not getattr(x, method)(1).numpy().any()


@pytest.mark.parametrize(
    ("method", "shape", "channels"),
    [
        ("dropout1d", (40, 5, 3), (40, 5, 1)),
        ("dropout1d", (40, 3), (40, 1)),
        ("dropout2d", (40, 5, 3, 2), (40, 5, 1, 1)),
        pytest.param(
            "dropout2d",
            (40, 5, 3),
            (40, 5, 1),
            marks=pytest.mark.filterwarnings("ignore:dropout2d. Received a 3D input"),
        ),
        ("dropout3d", (40, 5, 3, 2, 2), (40, 5, 1, 1, 1)),
        ("dropout3d", (40, 3, 2, 2), (40, 1, 1, 1)),
    ],
)
def test_channels_are_dropped_as_a_whole(
    method: str, shape: tuple[int, ...], channels: tuple[int, ...]
) -> None:
    y = getattr(ogive.ones(*shape), method)(0.5, key=random.key(0)).numpy()
    first = y[tuple([slice(0, size) for size in channels])]
    assert (y == first).all()
    assert {0.0, 2.0} == set(first.ravel().tolist())
    expected = getattr(torch.nn.functional, method)(torch.ones(shape), 0.5)
    assert y.shape == expected.shape


def test_alpha_dropout_keeps_mean_and_deviation() -> None:
    x = random.randn(200_000, dtype="float64", key=random.key(0))
    y = x.alpha_dropout(0.3, key=random.key(1)).numpy()
    assert abs(y.mean()) < 0.01
    assert abs(y.std() - 1) < 0.01


def test_alpha_dropout_has_the_two_values_of_pytorch() -> None:
    x = torch.full((1000,), 0.5, dtype=torch.float64)
    expected = sorted(set(torch.nn.functional.alpha_dropout(x, 0.3, training=True).tolist()))
    drawn = sorted(set(Tensor(x.numpy()).alpha_dropout(0.3).tolist()))
    numpy.testing.assert_allclose(drawn, expected, rtol=1e-12)


def test_feature_alpha_dropout_drops_channels() -> None:
    y = random.feature_alpha_dropout(ogive.ones(40, 5, 3), 0.5, key=random.key(0)).numpy()
    assert (y == y[:, :, :1]).all()
    assert len(set(y.ravel().tolist())) == 2


def test_dropout_is_one_kernel_with_what_uses_it() -> None:
    x = Tensor(numpy.ones((30, 40), dtype=numpy.float32))
    plan = ((x * 3).relu().dropout(0.5) + 1).prepare()
    assert len(plan.steps) == 1


@pytest.mark.parametrize("dim", [-1, 0])
def test_gumbel_softmax_draws_from_the_softmax(dim: int) -> None:
    weights = numpy.array([1.0, 2.0, 5.0])
    logits = Tensor(numpy.log(weights)).expand(COUNT, 3)
    logits = logits if dim else logits.T
    hard = random.gumbel_softmax(logits, tau=0.5, hard=True, dim=dim, key=random.key(0))
    counts = hard.sum(1 - dim % 2).numpy()
    assert_frequencies(numpy.round(counts), weights)
    soft = random.gumbel_softmax(logits, tau=0.5, dim=dim, key=random.key(0)).numpy()
    numpy.testing.assert_allclose(soft.sum(dim), 1, rtol=1e-12)
    assert (hard.numpy().argmax(dim) == soft.argmax(dim)).all()


@pytest.mark.parametrize(
    ("action", "error", "words"),
    [
        (lambda: ogive.ones(3).dropout(1.5), ArgumentError, "between 0 and 1, not 1.5"),
        (lambda: ogive.ones(3).dropout(-0.1), ArgumentError, "between 0 and 1, not -0.1"),
        (lambda: ogive.arange(3).dropout(0.5), DtypeError, "takes floats, not int64; cast first"),
        (lambda: ogive.ones(3).dropout1d(), ShapeError, r"dropout1d takes 2 or 3 axes, not \(3,\)"),
        (lambda: random.feature_dropout(ogive.ones(3)), ShapeError, r"takes \(N, C, ...\), not"),
        (lambda: random.gumbel_softmax(ogive.ones(3), tau=0), ArgumentError, "tau is 0, and must"),
    ],
)
def test_what_cannot_be_dropped_is_refused(action: Any, error: type[Exception], words: str) -> None:
    with raises(error, match=words):
        action()
