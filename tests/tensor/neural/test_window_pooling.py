"""Pooling, unfolding and folding: values, positions, shapes and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import ogive
from ogive import Tensor
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from tests.raising import raises
from tests.tensor.oracle import (
    ErrorCase,
    agree,
    agree_on_dtype,
    each_error,
    normal,
    refuses,
    uniform,
)

Shape = tuple[int, ...]

WINDOWS: list[tuple[int, Shape, dict[str, Any]]] = [
    (1, (2, 3, 9), {"kernel_size": 2}),
    (1, (3, 10), {"kernel_size": 4, "stride": 3, "padding": 2, "ceil_mode": True}),
    (2, (2, 3, 7, 8), {"kernel_size": 3, "stride": 2, "padding": 1}),
    (2, (2, 3, 7, 8), {"kernel_size": (2, 3), "ceil_mode": True}),
    (2, (2, 3, 7, 8), {"kernel_size": (2, 4), "stride": (3, 1), "padding": (1, 2)}),
    (2, (3, 6, 5), {"kernel_size": 1, "stride": 2}),
    (2, (0, 3, 6, 5), {"kernel_size": 2}),
    (3, (1, 2, 5, 4, 6), {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True}),
]


@pytest.mark.parametrize(("axes", "shape", "options"), WINDOWS, ids=str)
def test_the_greatest_and_its_first_position_agree_with_torch(
    axes: int, shape: Shape, options: dict[str, Any]
) -> None:
    x = np.round(normal(*shape))  # with ties
    agree(f"max_pool{axes}d", x, **options, return_indices=True)
    agree(f"max_pool{axes}d", x, **options)


@pytest.mark.parametrize(("axes", "shape", "options"), [*WINDOWS[:4], WINDOWS[-1]], ids=str)
def test_the_first_of_equal_elements_has_the_gradient(
    axes: int, shape: Shape, options: dict[str, Any]
) -> None:
    values = np.round(normal(*shape)).clip(0)
    _compare_gradients(lambda F, x: getattr(F, f"max_pool{axes}d")(x, **options), values)


def test_the_first_of_equal_elements_has_the_gradient_in_windows_of_any_size() -> None:
    values = np.round(normal(2, 3, 7, 6)).clip(0)
    _compare_gradients(lambda F, x: F.adaptive_max_pool2d(x, (3, 2)), values)
    samples = np.full((2, 3, 2), 0.3)
    _compare_gradients(
        lambda F, x: F.fractional_max_pool2d(
            x, 2, output_size=(4, 3), _random_samples=type(x)(samples)
            if isinstance(x, Tensor) else torch.tensor(samples)
        ), values,
    )  # fmt: skip


def _compare_gradients(pool: Callable[[Any, Any], Any], values: Any) -> None:
    mine, other = Tensor(values, requires_grad=True), torch.tensor(values, requires_grad=True)
    weights = normal(*pool(F, other).shape)
    (pool(ogive.nn.functional, mine) * Tensor(weights)).sum().backward()
    (pool(F, other) * torch.tensor(weights)).sum().backward()
    assert mine.grad is not None and other.grad is not None
    np.testing.assert_allclose(mine.grad.numpy(), other.grad.numpy(), rtol=1e-12, atol=1e-14)


def test_the_greatest_of_dilated_windows_agrees_with_torch() -> None:
    agree("max_pool1d", normal(2, 3, 9), 3, dilation=2, padding=1, return_indices=True)
    agree("max_pool2d", normal(2, 3, 9, 8), (3, 2), 2, dilation=(2, 3), ceil_mode=True)


@pytest.mark.parametrize(("axes", "shape", "options"), WINDOWS, ids=str)
@pytest.mark.parametrize("counted", [True, False])
def test_averages_agree_with_torch(axes: int, shape: Shape, options: Any, counted: bool) -> None:
    agree(f"avg_pool{axes}d", normal(*shape), **options, count_include_pad=counted)


def test_the_divisor_of_averages_can_be_given() -> None:
    agree("avg_pool2d", normal(2, 3, 7, 8), 3, 2, 1, divisor_override=5)
    agree("avg_pool3d", normal(1, 2, 4, 4, 4), 2, divisor_override=-1)


@pytest.mark.parametrize("power", [1, 2, 3.5])
def test_norms_agree_with_torch(power: float) -> None:
    agree("lp_pool1d", uniform(2, 3, 9), power, 2)
    agree("lp_pool2d", uniform(2, 3, 7, 8), power, (2, 3), stride=2, ceil_mode=True)
    agree("lp_pool3d", uniform(1, 2, 4, 5, 6), power, 2)


ADAPTIVE: list[tuple[int, Shape, Any]] = [
    (1, (2, 3, 9), 3), (1, (3, 7), 4), (2, (2, 3, 8, 6), (2, 3)), (2, (2, 3, 7, 5), (3, None)),
    (2, (3, 5, 7), (1, 1)), (2, (0, 3, 5, 7), 2), (3, (1, 2, 5, 3, 4), (2, 3, 5)),
]  # fmt: skip


@pytest.mark.parametrize(("axes", "shape", "size"), ADAPTIVE, ids=str)
def test_pooling_to_a_size_agrees_with_torch(axes: int, shape: Shape, size: Any) -> None:
    agree(f"adaptive_avg_pool{axes}d", normal(*shape), size)
    agree(f"adaptive_max_pool{axes}d", np.round(normal(*shape)), size, return_indices=True)


@pytest.mark.parametrize("options", [
    {"kernel_size": 3}, {"kernel_size": (2, 3), "stride": 2, "padding": 1},
    {"kernel_size": 2, "dilation": (3, 1), "stride": (1, 3)}, {"kernel_size": 1, "stride": 4},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("shape", [(2, 3, 7, 8), (3, 6, 5)])
def test_unfolding_and_folding_agree_with_torch(shape: Shape, options: Any) -> None:
    x = normal(*shape)
    agree("unfold", x, **options)
    columns = F.unfold(torch.tensor(x), **options).numpy()
    agree("fold", columns, shape[-2:], **options)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_the_dtype_stays(dtype: str) -> None:
    x = normal(1, 2, 6, 6)
    for name in ("max_pool2d", "avg_pool2d", "adaptive_avg_pool2d"):
        agree_on_dtype(name, dtype, x, 3)


def test_integers_have_a_greatest_and_a_truncated_average() -> None:
    values = np.arange(-36, 36).reshape(2, 6, 6)
    agree("max_pool2d", values, 3, padding=1)
    agree("avg_pool2d", values, 3, padding=1)
    agree("avg_pool2d", values, 2, divisor_override=3)
    with raises(DtypeError, match="avg_pool2d does not take bool"):
        Tensor(values > 0).avg_pool2d(2)


def test_not_a_number_is_the_greatest() -> None:
    x = Tensor([[[1.0, float("nan"), 3.0, 4.0]]])
    values, positions = x.max_pool1d(2, return_indices=True)
    np.testing.assert_array_equal(values.numpy(), [[[np.nan, 4]]])
    assert positions.tolist() == [[[1, 3]]]


def test_views_are_pooled_as_they_are_seen() -> None:
    x = normal(9, 8, 3, 2)
    seen = torch.tensor(x).permute(3, 2, 1, 0)
    pooled = Tensor(x).permute(3, 2, 1, 0).max_pool2d(3, 2, 1)
    np.testing.assert_array_equal(pooled.numpy(), F.max_pool2d(seen, 3, 2, 1).numpy())


X = ogive.zeros(2, 3, 6, 6)

ERRORS: list[ErrorCase] = [
    (lambda: X.max_pool2d(7), ShapeError, r"input \(2, 3, 6, 6\) .* has no room for windows of"),
    (lambda: X.max_pool2d(2, padding=2), ArgumentError, r"padding=\(2, 2\) is more than half of"),
    (lambda: X.max_pool2d(0), ArgumentError, "kernel_size must be at least 1, got 0"),
    (lambda: X.max_pool2d((2, 2, 2)), ArgumentTypeError, "kernel_size is one integer or 2 of them"),
    (lambda: X.max_pool1d(2), ShapeError, r"max_pool1d: input has the shape \(2, 3, 6, 6\); exp"),
    (lambda: X.bool().max_pool2d(2), DtypeError, "max_pool2d does not take bool"),
    (lambda: X.avg_pool2d(2, divisor_override=0), ArgumentError, "divisor_override must not be 0"),
    (lambda: X.adaptive_avg_pool2d((1, 2, 3)), ArgumentTypeError, "output_size is one integer or"),
    (lambda: ogive.zeros(2, 3, 0, 6).adaptive_avg_pool2d(1), ShapeError, "only the batch may be"),
    (lambda: X.unfold_windows(7), ShapeError, r"has no room for windows of \(7, 7\)"),
    (lambda: X[0].fold_windows(6, 2), ShapeError, r"fold: input has the shape \(3, 6, 6\); exp.*"
     r"a multiple of 4, 25"),
]  # fmt: skip


@each_error(ERRORS)
def test_errors_name_the_argument_and_what_was_expected(case: ErrorCase) -> None:
    refuses(*case)
