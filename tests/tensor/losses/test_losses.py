"""Losses: values for every reduction, dtypes and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Tensor
from ogive.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    IndexRangeError,
    ShapeError,
)
from tests.tensor.oracle import (
    ErrorCase,
    agree,
    agree_on_dtype,
    each_error,
    normal,
    refuses,
    uniform,
)

REDUCTIONS = ["mean", "sum", "none"]
X, Y = normal(3, 4), normal(3, 4)
CHANCES, TRUTH = uniform(3, 4), (uniform(3, 4) < 0.5).astype("float64")
SIGNS = np.sign(normal(3, 4))
LABELS = np.array([[3, 0, -1, 1], [-1, 2, 1, 0], [0, 1, 2, 3]])
CLASSES = np.array([2, 0, 3])

CASES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("mse_loss", (X, Y), {}), ("mse_loss", (X, Y), {"weight": uniform(3, 4)}),
    ("l1_loss", (X, Y), {}), ("l1_loss", (X, Y), {"weight": uniform(3, 4)}),
    ("smooth_l1_loss", (X, Y), {}), ("smooth_l1_loss", (X, Y), {"beta": 0.3}),
    ("smooth_l1_loss", (X, Y), {"beta": 0.0}),
    ("huber_loss", (X, Y), {"delta": 0.4}), ("huber_loss", (X, Y), {"weight": uniform(3, 4)}),
    ("kl_div", (X, CHANCES), {}), ("kl_div", (X, TRUTH), {}),
    ("kl_div", (X, Y), {"log_target": True}),
    ("poisson_nll_loss", (X, CHANCES * 4), {"full": True}),
    ("poisson_nll_loss", (CHANCES, CHANCES * 4), {"log_input": False}),
    ("gaussian_nll_loss", (X, Y, uniform(3, 4)), {"full": True}),
    ("gaussian_nll_loss", (X, Y, uniform(3, 1)), {}),
    ("gaussian_nll_loss", (X, Y, uniform(3)), {"eps": 0.5}),
    ("gaussian_nll_loss", (X, Y, 0.5), {}),
    ("binary_cross_entropy", (CHANCES, TRUTH), {"weight": uniform(4)}),
    ("binary_cross_entropy", (TRUTH, 1 - TRUTH), {}),
    ("binary_cross_entropy_with_logits", (X * 90, CHANCES), {}),
    ("binary_cross_entropy_with_logits", (X, CHANCES),
     {"weight": uniform(3, 4), "pos_weight": uniform(4)}),
    ("margin_ranking_loss", (X, Y, SIGNS), {"margin": 0.1}),
    ("hinge_embedding_loss", (X, SIGNS), {"margin": 0.7}),
    ("soft_margin_loss", (X, SIGNS), {}),
    ("cosine_embedding_loss", (X, Y, SIGNS[:, 0]), {"margin": 0.1}),
    ("cosine_embedding_loss", (X[0], Y[0], np.array(1.0)), {}),
    ("multi_margin_loss", (X, CLASSES), {"p": 2, "margin": 0.8}),
    ("multi_margin_loss", (X, CLASSES), {"weight": uniform(4)}),
    ("multi_margin_loss", (X[0], np.array(2)), {}),
    ("multilabel_margin_loss", (X, LABELS), {}), ("multilabel_margin_loss", (X[0], LABELS[0]), {}),
    ("multilabel_soft_margin_loss", (X, TRUTH), {"weight": uniform(4)}),
    ("triplet_margin_loss", (X, Y, SIGNS), {"p": 3.0, "margin": 0.5}),
    ("triplet_margin_loss", (X, Y, SIGNS), {"swap": True}),
    ("triplet_margin_with_distance_loss", (X, Y, SIGNS), {"swap": True}),
]  # fmt: skip


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(
    ("name", "arguments", "options"), CASES, ids=[f"{c[0]} {list(c[2])}" for c in CASES]
)
def test_losses_agree_with_torch(
    name: str, arguments: Any, options: dict[str, Any], reduction: str
) -> None:
    agree(name, *arguments, **options, reduction=reduction)


def targets(shape: tuple[int, ...], ignored: int | None = None) -> Any:
    """Classes below 5 for scores of `shape`, the first of them `ignored`."""
    classes = np.random.default_rng(3).integers(0, 5, (shape[0], *shape[2:]))
    if ignored is not None:
        classes.flat[0] = ignored
    return classes


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("shape", [(3, 5), (2, 5, 3)], ids=str)
def test_cross_entropy_agrees_with_torch(
    shape: tuple[int, ...], smoothing: float, weighted: bool, reduction: str
) -> None:
    weight: dict[str, Any] = {"weight": uniform(5)} if weighted else {}
    options: dict[str, Any] = {"label_smoothing": smoothing, "reduction": reduction, **weight}
    agree("cross_entropy", normal(*shape), targets(shape), **options)
    agree("cross_entropy", normal(*shape), targets(shape, -100), **options)
    agree("cross_entropy", normal(*shape), targets(shape, 7), ignore_index=7, **options)
    agree("cross_entropy", normal(*shape), uniform(*shape), **options)
    agree("nll_loss", normal(*shape), targets(shape, -100), reduction=reduction, **weight)


def test_cross_entropy_of_one_entry_and_of_none_agrees_with_torch() -> None:
    agree("cross_entropy", normal(5), np.array(3))
    agree("nll_loss", normal(5), np.array(3))
    agree("cross_entropy", normal(0, 5), np.zeros(0, "int64"), reduction="sum")
    agree("cross_entropy", normal(2, 5), np.full(2, -100))
    agree("cross_entropy", normal(2, 5), np.array([1, 4], "uint8"))


def test_the_batch_mean_divides_by_the_batch() -> None:
    agree("kl_div", X, CHANCES, reduction="batchmean")


def test_a_distance_of_ones_own_is_used() -> None:
    x, near, far = Tensor(X), Tensor(Y), Tensor(SIGNS)
    loss = x.triplet_margin_with_distance_loss(
        near, far, distance_function=lambda a, b: (a - b).abs().amax(-1), reduction="none"
    )
    wanted = np.abs(X - Y).max(-1) - np.abs(X - SIGNS).max(-1) + 1
    np.testing.assert_allclose(loss.numpy(), np.maximum(wanted, 0), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_the_dtype_stays(dtype: str) -> None:
    agree_on_dtype("mse_loss", dtype, X, Y)
    agree_on_dtype("cross_entropy", dtype, X, CLASSES)


def test_dtypes_meet_as_in_torch() -> None:
    agree("mse_loss", X.astype("float32"), Y, tolerance=1e-6)


def test_cross_entropy_is_one_kernel_for_the_rows_and_one_for_their_mean() -> None:
    loss = Tensor(normal(64, 96).astype("float32")).cross_entropy(Tensor(np.zeros(64, "int64")))
    assert len(loss.prepare().kernels) == 2


A = ogive.zeros(3, 4)
LOSS: Any = "total"

ERRORS: list[ErrorCase] = [
    (lambda: A.mse_loss(A, reduction=LOSS), ArgumentError, "must be 'mean', 'sum', 'none'; got 't"),
    (lambda: A.kl_div(A, reduction=LOSS), ArgumentError, "'none', 'batchmean'; got 'total'"),
    (lambda: A.mse_loss(LOSS), ArgumentTypeError, "mse_loss: target must be a tensor, got 'total'"),
    (lambda: A.int().mse_loss(A.int()), DtypeError, "mse_loss does not take int32"),
    (lambda: A.mse_loss(A, weight=A[0]), ShapeError, r"weight has the shape \(4,\); expected \(3,"),
    (lambda: A.huber_loss(A, delta=0), ArgumentError, "delta must be positive, got 0"),
    (lambda: A.smooth_l1_loss(A, beta=-1), ArgumentError, "beta must not be negative, got -1"),
    (lambda: A.gaussian_nll_loss(A, A[0]), ShapeError, r"var has the shape \(4,\); expected that"),
    (lambda: A.cross_entropy(Tensor([1, 2])), ShapeError,
     r"target has the shape \(2,\); expected \(3,\) for classes on axis 1 of the input \(3, 4\)"),
    (lambda: A.cross_entropy(Tensor([1, 2, 3]).int()), DtypeError, "class indices are int64 or u"),
    (lambda: A.cross_entropy(Tensor([1, 2, 4])).realize(), IndexRangeError, "outside"),
    (lambda: A.cross_entropy(Tensor([1, 2, 3]), ogive.ones(3)), ShapeError, r"weight is \(3,\); e"),
    (lambda: A.cross_entropy(Tensor([1, 2, 3]), label_smoothing=2), ArgumentError, "between 0 and"),
    (lambda: A.nll_loss(LOSS), ArgumentTypeError, "nll_loss: target must be a tensor"),
    (lambda: A.binary_cross_entropy(A[0]), ShapeError, r"target has the shape \(4,\); expected"),
    (lambda: A.cosine_embedding_loss(A, A), ShapeError, r"expected \(batch, n\) twice and \(batch"),
    (lambda: A.multi_margin_loss(Tensor([1, 2, 3]), p=3), ArgumentError, "p must be 1 or 2, got 3"),
    (lambda: A.multilabel_margin_loss(A), DtypeError, "target is float32; class indices are int64"),
    (lambda: A.triplet_margin_loss(A, A[0]), ShapeError, "expected as many axes"),
    (lambda: A.triplet_margin_loss(A, A, margin=0), ArgumentError, "margin must be positive, got"),
]  # fmt: skip


@each_error(ERRORS)
def test_errors_name_the_argument_and_what_was_expected(case: ErrorCase) -> None:
    refuses(*case)
