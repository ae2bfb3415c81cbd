"""Normalization: values, running statistics, kernels and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import ogive
from ogive import Tensor
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from ogive.nn import functional
from tests.tensor.oracle import (
    ErrorCase,
    agree,
    agree_on_dtype,
    each_error,
    normal,
    refuses,
    uniform,
)

AFFINE = [{}, {"weight": normal(4), "bias": normal(4)}, {"weight": normal(4)}]


@pytest.mark.parametrize("affine", AFFINE, ids=lambda options: str(list(options)))
@pytest.mark.parametrize("shape", [(3, 4), (3, 4, 5), (2, 4, 3, 5)], ids=str)
def test_batches_agree_with_torch(shape: Any, affine: Any) -> None:
    x = normal(*shape)
    agree("batch_norm", x, None, None, training=True, **affine)
    agree("batch_norm", x, normal(4), uniform(4), training=False, eps=0.1, **affine)
    agree("group_norm", x, 2, **affine)
    if len(shape) > 2:
        agree("instance_norm", x, **affine)
        agree("instance_norm", x, normal(4), uniform(4), use_input_stats=False, **affine)


@pytest.mark.parametrize("name", ["batch_norm", "instance_norm"])
@pytest.mark.parametrize("momentum", [0.1, 1.0])
def test_running_statistics_follow_as_in_torch(name: str, momentum: float) -> None:
    option = {"training" if name == "batch_norm" else "use_input_stats": True}
    x, mean, variance = normal(3, 4, 5), normal(4), uniform(4)
    expected = torch.tensor(mean), torch.tensor(variance)
    getattr(F, name)(torch.tensor(x), *expected, momentum=momentum, **option)
    actual = Tensor(mean), Tensor(variance)
    getattr(functional, name)(Tensor(x), *actual, momentum=momentum, **option)
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-9)


def test_the_momentum_may_be_a_tensor() -> None:
    mean, variance = ogive.zeros(1), ogive.ones(1)
    for number, value in enumerate((2.0, 4.0, 9.0), 1):
        x = Tensor([[value - 1], [value + 1]])
        x.batch_norm(mean, variance, training=True, momentum=1 / Tensor(float(number)))
    np.testing.assert_allclose(mean.numpy(), [5], rtol=1e-6)


def test_running_statistics_stay_out_of_training() -> None:
    mean, variance = ogive.zeros(3), ogive.ones(3)
    before = mean.node, variance.node
    ogive.ones(4, 3).batch_norm(mean, variance)
    assert (mean.node, variance.node) == before


def test_rows_agree_with_torch() -> None:
    x = normal(3, 4, 5)
    agree("layer_norm", x, (5,))
    agree("layer_norm", x, (4, 5), normal(4, 5), normal(4, 5), eps=0.1)
    agree("layer_norm", normal(0, 5), (5,))
    agree("rms_norm", x, (5,))
    agree("rms_norm", x, (4, 5), normal(4, 5), eps=0.1)
    agree("rms_norm", normal(3).astype("float32"), (3,), tolerance=1e-6)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_local_responses_agree_with_torch(size: int) -> None:
    agree("local_response_norm", normal(2, 5, 3, 2), size, alpha=0.3, beta=0.6, k=1.2)
    agree("local_response_norm", normal(2, 5, 3), size)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_the_dtype_stays(dtype: str) -> None:
    x = normal(4, 6, 3)
    agree_on_dtype("layer_norm", dtype, x, (3,))
    agree_on_dtype("group_norm", dtype, x, 2, normal(6), normal(6))
    agree_on_dtype("batch_norm", dtype, x, normal(6), uniform(6) + 1)


def test_half_precision_takes_parameters_of_float32() -> None:
    x = ogive.ones(2, 3, dtype="float16")
    made = x.layer_norm(3, ogive.ones(3), ogive.ones(3))
    assert made.dtype is ogive.float16 and made.tolist() == [[1, 1, 1]] * 2


def test_a_row_is_normalized_in_one_kernel() -> None:
    x = Tensor(normal(64, 96).astype("float32"))
    weight, bias = Tensor(normal(96).astype("float32")), Tensor(normal(96).astype("float32"))
    assert len(x.layer_norm(96, weight, bias).prepare().kernels) == 1
    assert len(x.rms_norm(96, weight).prepare().kernels) == 1


X = ogive.zeros(2, 4, 3)
NUMBER: Any = 1.0

ERRORS: list[ErrorCase] = [
    (lambda: X.batch_norm(), ArgumentError, "running_mean and running_var are needed unless"),
    (lambda: X.batch_norm(ogive.zeros(3), ogive.ones(4)), ShapeError,
     r"batch_norm: running_mean has the shape \(3,\); expected \(4,\)"),
    (lambda: X.batch_norm(ogive.zeros(4), NUMBER), ArgumentTypeError, "running_var must be a tens"),
    (lambda: X[:1, :, :1].batch_norm(training=True), ShapeError, "more than one value per channel"),
    (lambda: X[:, :, :1].instance_norm(), ShapeError, "expected more than one value per channel"),
    (lambda: X[0, 0].batch_norm(training=True), ShapeError, r"expected \(batch, channels, ...\)"),
    (lambda: X.group_norm(3), ShapeError, "has 4 channels, which num_groups=3 does not divide"),
    (lambda: X.group_norm(2, ogive.ones(2)), ShapeError, r"weight has the shape \(2,\); expected"),
    (lambda: X.layer_norm(4), ShapeError, r"\(2, 4, 3\) does not end in the normalized shape \(4,"),
    (lambda: X.layer_norm(3, X), ShapeError, r"weight has the shape \(2, 4, 3\); expected \(3,\)"),
    (lambda: X.layer_norm(3, ogive.ones(3).double()), DtypeError, "weight is float64 and the inp"),
    (lambda: X.int().layer_norm(3), DtypeError, "layer_norm does not take int32"),
    (lambda: X.rms_norm(4), ShapeError, "does not end in the normalized shape"),
    (lambda: X[0].local_response_norm(2), ShapeError, "at least three axes"),
]  # fmt: skip


@each_error(ERRORS)
def test_errors_name_the_argument_and_what_was_expected(case: ErrorCase) -> None:
    refuses(*case)
