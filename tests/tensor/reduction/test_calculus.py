"""Integrals, derivatives and choices: what they refuse, and shapes that samples do not have."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Tensor
from ogive.errors import ArgumentError, AxisError, IndexRangeError, ShapeError
from ogive.nn.functional import pdist
from tests.raising import raises

LINE = Tensor([1.0, 2.0, 4.0])

REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: ogive.trapezoid(LINE, Tensor([0.0, 1.0])), ShapeError, "along the axis they must be"),
    (lambda: ogive.trapezoid(LINE, dim=1), AxisError, "has no axis 1"),
    (lambda: ogive.gradient(LINE, edge_order=3), ArgumentError, "edge_order is 1 or 2, got 3"),
    (lambda: ogive.gradient(LINE[:1]), ShapeError, "has 1 points; an edge_order of 1 needs 2"),
    (lambda: ogive.gradient(LINE, spacing=[1.0, 2.0]), ArgumentError, "2 spacings are given for 1"),
    (lambda: ogive.combinations(Tensor([[1]])), ShapeError, "expected a vector"),
    (lambda: pdist(LINE), ShapeError, "expected (n, m)"),
    (lambda: pdist(Tensor([[1.0]]), p=-1), ArgumentError, "p is -1, and cannot be negative"),
    (lambda: ogive.linspace(LINE, 1, 3), ShapeError, "expected one element"),
    (lambda: LINE.narrow(0, Tensor(0), 4), IndexRangeError, "4 elements are more than axis 0"),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED)
def test_refusals_say_what_was_expected(
    call: Callable[[], Any], error: type[Exception], words: str
) -> None:
    with raises(error, match=re.escape(words)):
        call()


def test_a_derivative_is_exact_for_parabolas_at_uneven_points() -> None:
    points = np.array([0.0, 1.0, 1.5, 4.0, 4.25])
    values = 3 * points**2 - points
    (slope,) = ogive.gradient(Tensor(values), spacing=[Tensor(points)], edge_order=2)
    np.testing.assert_allclose(slope.numpy(), 6 * points - 1, rtol=1e-12)


def test_the_integral_up_to_the_last_point_is_the_whole() -> None:
    y = Tensor(np.random.default_rng(3).normal(size=(3, 7)))
    parts = ogive.cumulative_trapezoid(y, dx=0.5, dim=0)
    np.testing.assert_allclose(parts[-1].numpy(), ogive.trapezoid(y, dx=0.5, dim=0).numpy())


CONSTANT: list[Callable[[Tensor], Tensor]] = [
    lambda w: w[:0].sum(),
    lambda w: w.sign().sum(),
    lambda w: w.norm(0),
    lambda w: w[:0] @ w[:0],
]


@pytest.mark.parametrize("function", CONSTANT)
def test_what_does_not_depend_on_a_leaf_it_came_from_has_a_gradient_of_nothing(
    function: Callable[[Tensor], Tensor],
) -> None:
    w = Tensor([1.0, -2.0], requires_grad=True)
    loss = function(w)
    assert loss.requires_grad
    (loss + w.sum()).backward()
    assert w.grad is not None
    assert w.grad.tolist() == [1.0, 1.0]
    function(w).backward()
    assert w.grad.tolist() == [1.0, 1.0]


def test_the_length_of_zeros_has_the_gradient_zero() -> None:
    w = Tensor([0.0, 0.0], requires_grad=True)
    (w.norm() + w.norm(3)).backward()
    assert w.grad is not None
    assert w.grad.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int64"])
def test_areas_of_narrow_integers_do_not_wrap(dtype: str) -> None:
    greatest = int(np.iinfo(dtype).max) if dtype != "int64" else 1 << 40
    y = np.array([greatest, greatest, 3, greatest], dtype)
    expected = np.trapezoid(y.astype(float))
    assert ogive.trapezoid(Tensor(y)).item() == pytest.approx(expected, rel=1e-6)
    assert ogive.cumulative_trapezoid(Tensor(y))[-1].item() == pytest.approx(expected, rel=1e-6)
    assert ogive.cumulative_trapezoid(ogive.zeros(2, 0)).shape == (2, 0)


def test_closeness_of_large_integers_and_of_complex_numbers() -> None:
    x = Tensor([1 << 40, 7])
    assert x.isclose(x + 1, rtol=0, atol=0.5).tolist() == [False, False]
    assert x.isclose(x + 1, rtol=1e-6, atol=0).tolist() == [True, False]
    z = Tensor([1 + 1j, 1j])
    assert z.isclose(z * (1 + 1e-7)).tolist() == [True, True]
    assert z.isclose(z.conj()).tolist() == [False, False] and z.allclose(z)
