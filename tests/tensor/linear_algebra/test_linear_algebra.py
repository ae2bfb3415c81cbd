"""Linear algebra against PyTorch in float64: values, shapes, gradients, errors."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import ogive
from ogive import Tensor, linalg
from ogive.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    GradientError,
    LinearAlgebraError,
    ShapeError,
)
from tests.raising import raises

random = np.random.default_rng(3)
SQUARE = random.standard_normal((2, 4, 4))
TALL = random.standard_normal((5, 3))
WIDE = random.standard_normal((2, 3, 5))
VECTORS = random.standard_normal((2, 4))
POSITIVE = SQUARE @ SQUARE.transpose(0, 2, 1) + np.eye(4)
SYMMETRIC = SQUARE + SQUARE.transpose(0, 2, 1)

# `f(linear algebra, tensors...)`; what is given up to a sign is made free of it.
Case = tuple[str, Callable[..., Any], tuple[Any, ...]]
CASES: list[Case] = [
    ("inv", lambda la, a: la.inv(a), (SQUARE,)),
    ("pinv", lambda la, a: la.pinv(a), (TALL,)),
    ("pinv of wide", lambda la, a: la.pinv(a), (WIDE,)),
    ("solve", lambda la, a, b: la.solve(a, b), (SQUARE, SQUARE[:, :, :2] + 1)),
    ("solve vectors", lambda la, a, b: la.solve(a, b), (SQUARE, VECTORS)),
    ("solve one vector", lambda la, a, b: la.solve(a, b), (SQUARE[0], VECTORS[0])),
    ("solve broadcast", lambda la, a, b: la.solve(a, b), (SQUARE[0], SQUARE[:, :, :1])),
    ("solve right", lambda la, a, b: la.solve(a, b, left=False), (SQUARE, SQUARE[:, :2])),
    ("triangle", lambda la, a, b: la.solve_triangular(a, b, upper=False), (POSITIVE, SQUARE)),
    (
        "unit triangle",
        lambda la, a, b: la.solve_triangular(a, b, upper=True, unitriangular=True),
        (SQUARE, SQUARE[:, :, :1]),
    ),
    ("det", lambda la, a: la.det(a), (SQUARE,)),
    ("det 1", lambda la, a: la.det(a), (SQUARE[:, :1, :1],)),
    ("det 2", lambda la, a: la.det(a), (SQUARE[:, :2, :2],)),
    ("det 3", lambda la, a: la.det(a), (SQUARE[:, :3, :3],)),
    ("slogdet", lambda la, a: la.slogdet(a).logabsdet, (SQUARE,)),
    ("cholesky", lambda la, a: la.cholesky(a), (POSITIVE,)),
    ("cholesky upper", lambda la, a: la.cholesky(a, upper=True), (POSITIVE,)),
    ("qr", lambda la, a: _fixed_qr(*la.qr(a)), (TALL,)),
    ("qr square", lambda la, a: _fixed_qr(*la.qr(a)), (SQUARE,)),
    ("qr wide", lambda la, a: _fixed_qr(*la.qr(a)), (WIDE,)),
    ("svd", lambda la, a: _fixed_svd(*la.svd(a, full_matrices=False)), (TALL,)),
    ("svd wide", lambda la, a: _fixed_svd(*la.svd(a, full_matrices=False)), (WIDE,)),
    ("svdvals", lambda la, a: la.svdvals(a), (WIDE,)),
    ("eigh", lambda la, a: _fixed_eigh(*la.eigh(a)), (SYMMETRIC,)),
    ("eigvalsh", lambda la, a: la.eigvalsh(a, UPLO="U"), (SYMMETRIC,)),
    ("matrix_power", lambda la, a: la.matrix_power(a, 5), (SQUARE,)),
    ("matrix_power 0", lambda la, a: la.matrix_power(a, 0) * a, (SQUARE,)),
    ("matrix_power -2", lambda la, a: la.matrix_power(a, -2), (SQUARE,)),
    ("matrix_norm", lambda la, a: la.matrix_norm(a), (WIDE,)),
    ("matrix_norm keepdim", lambda la, a: la.matrix_norm(a, 1, (0, 1), keepdim=True), (WIDE,)),
    *[
        (f"matrix_norm {p}", lambda la, a, p=p: la.matrix_norm(a, p), (WIDE,))
        for p in ("nuc", 2, -2, 1, -1, float("inf"), -float("inf"))
    ],
    ("vector_norm", lambda la, a: la.vector_norm(a, 3, dim=1), (WIDE,)),
    ("norm", lambda la, a: la.norm(a) + la.norm(a, 1) + la.norm(a, "nuc"), (TALL,)),
    ("cond", lambda la, a: la.cond(a) + la.cond(a, -2), (SQUARE,)),
    ("lstsq", lambda la, a, b: la.lstsq(a, b).solution, (TALL, TALL[:, :2] + 1)),
    ("cross", lambda la, a, b: la.cross(a, b), (TALL, TALL + 1)),
    ("vecdot", lambda la, a, b: la.vecdot(a, b), (TALL, TALL + 1)),
    ("diagonal", lambda la, a: la.diagonal(a, offset=1), (SQUARE,)),
]


def _fixed_qr(q: Any, r: Any) -> Any:
    sign = r.diagonal(0, -2, -1).sign().detach()
    left, right = q * sign.unsqueeze(-2), r * sign.unsqueeze(-1)
    return left.sum(-1).sum(-1) + (right * 2).cos().sum(-1).sum(-1)


def _fixed_svd(u: Any, s: Any, vh: Any) -> Any:
    sign = u.sum(-2).sign().detach()
    left, right = u * sign.unsqueeze(-2), vh * sign.unsqueeze(-1)
    return (left.cos() * s.unsqueeze(-2)).sum(-1).sum(-1) + (right * right * right).sum(-1).sum(-1)


def _fixed_eigh(values: Any, vectors: Any) -> Any:
    return (vectors * vectors * values.unsqueeze(-2)).cos()


@pytest.mark.parametrize(("name", "function", "arrays"), CASES, ids=[case[0] for case in CASES])
def test_values_and_gradients_agree_with_torch(
    name: str, function: Callable[..., Any], arrays: tuple[Any, ...]
) -> None:
    ours = [Tensor(array, requires_grad=True) for array in arrays]
    theirs = [torch.tensor(array, requires_grad=True) for array in arrays]
    found, expected = function(linalg, *ours), function(torch.linalg, *theirs)
    assert tuple(found.shape) == tuple(expected.shape)
    np.testing.assert_allclose(found.numpy(), expected.detach().numpy(), rtol=1e-8, atol=1e-10)
    weights = random.standard_normal(expected.shape)
    (found * Tensor(weights)).sum().backward()
    (expected * torch.tensor(weights)).sum().backward()
    for one, other in zip(ours, theirs, strict=True):
        assert one.grad is not None and other.grad is not None
        np.testing.assert_allclose(one.grad.numpy(), other.grad.numpy(), rtol=1e-7, atol=1e-9)


def test_an_inverse_can_be_differentiated_twice() -> None:
    def ours(a: Any) -> Any:
        return (linalg.inv(a) ** 2).sum()

    a = torch.tensor(SQUARE[0], requires_grad=True)
    (first,) = torch.autograd.grad((torch.linalg.inv(a) ** 2).sum(), a, create_graph=True)
    (second,) = torch.autograd.grad((first**2).sum(), a)
    found = ogive.grad(lambda a: (ogive.grad(ours)(a) ** 2).sum())(Tensor(SQUARE[0]))
    np.testing.assert_allclose(found.numpy(), second.numpy(), rtol=1e-6)


@pytest.mark.parametrize("array", [TALL, WIDE, SQUARE, TALL.T, np.zeros((0, 3, 3))])
def test_decompositions_give_the_matrix_back(array: Any) -> None:
    a = Tensor(array)
    for full in (False, True):
        U, S, Vh = linalg.svd(a, full)
        k = int(S.shape[-1])
        product = (U[..., :k] * S.unsqueeze(-2)) @ Vh[..., :k, :]
        np.testing.assert_allclose(product.numpy(), array, atol=1e-12)
        expected = torch.linalg.svd(torch.tensor(array), full)
        assert [tuple(p.shape) for p in (U, S, Vh)] == [tuple(p.shape) for p in expected]
    for mode in ("reduced", "complete", "r"):
        Q, R = linalg.qr(a, mode)
        assert tuple(R.shape) == tuple(torch.linalg.qr(torch.tensor(array), mode).R.shape)
        if mode != "r":
            np.testing.assert_allclose((Q @ R).numpy(), array, atol=1e-12)


def test_float32_is_computed_in_float32() -> None:
    a = Tensor(SQUARE.astype("float32"))
    assert a.inverse().dtype is ogive.float32
    np.testing.assert_allclose(a.inverse().numpy(), np.linalg.inv(SQUARE), rtol=1e-3)


def test_methods_agree_with_torch() -> None:
    a, b = Tensor(POSITIVE), torch.tensor(POSITIVE)
    pairs = [
        (a.det(), b.det()), (a.logdet(), b.logdet()), (a.slogdet().sign, b.slogdet().sign),
        (a.inverse(), b.inverse()), (a.cholesky(), torch.linalg.cholesky(b)),
        (a[0].pinverse(), b[0].pinverse()), (a.matrix_power(2), b.matrix_power(2)),
        (a.svd()[1], b.svd()[1]), (a[0].trace(), b[0].trace()),
    ]  # fmt: skip
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-9)
    U, S, V = Tensor(TALL).svd()
    np.testing.assert_allclose((U * S @ V.T).numpy(), TALL, atol=1e-12)
    assert Tensor([[-1.0]]).logdet().isnan().item()


def test_ranks_and_traces_agree_with_torch() -> None:
    product = TALL @ TALL.T
    assert linalg.matrix_rank(Tensor(product)).item() == 3
    assert linalg.matrix_rank(Tensor(product), hermitian=True).item() == 3
    assert linalg.matrix_rank(Tensor(SQUARE)).tolist() == [4, 4]
    np.testing.assert_allclose(
        linalg.trace(Tensor(SQUARE)).numpy(), np.trace(SQUARE, axis1=1, axis2=2)
    )
    np.testing.assert_allclose(linalg.cond(Tensor(SQUARE), 1).numpy(), np.linalg.cond(SQUARE, 1))
    found = linalg.lstsq(Tensor(TALL), Tensor(TALL[:, :1] + 1))
    expected = torch.linalg.lstsq(torch.tensor(TALL), torch.tensor(TALL[:, :1] + 1), driver="gelsd")
    np.testing.assert_allclose(found.residuals.numpy(), expected.residuals.numpy(), atol=1e-12)
    assert found.rank.item() == 3


def test_everything_the_standard_names_is_there() -> None:
    names = {
        "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm",
        "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet",
        "solve", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
    }  # fmt: skip
    assert names <= set(linalg.__all__)
    assert all(callable(getattr(linalg, name)) for name in linalg.__all__)


def test_steps_are_lazy_and_captured() -> None:
    y = linalg.inv(Tensor(SQUARE) * 2)
    assert not y.is_realized

    @ogive.jit
    def inverse(a: Tensor) -> Tensor:
        return linalg.inv(a) + 1

    for scale in (1.0, 2.0, 3.0):
        found = inverse(Tensor(SQUARE * scale)).numpy()
        np.testing.assert_allclose(found, np.linalg.inv(SQUARE * scale) + 1)


SINGULAR = Tensor(np.ones((2, 3, 3)))
FAULTS: list[tuple[Callable[[], Tensor], str]] = [
    (lambda: linalg.inv(SINGULAR), "linalg.inv: a matrix is singular"),
    (lambda: linalg.solve(SINGULAR, SINGULAR), "linalg.solve: a matrix is singular"),
    (lambda: linalg.cholesky(-SINGULAR), "linalg.cholesky: a matrix is not positive definite"),
]


@pytest.mark.parametrize(("call", "words"), FAULTS)
def test_matrices_that_do_not_do_are_errors_at_the_users_line(
    call: Callable[[], Tensor], words: str
) -> None:
    lazy = call()
    line = inspect.getsourcelines(call)[1]
    quoting = rf"test_linear_algebra\.py:{line}:"
    with raises(LinearAlgebraError, match=words, quoting=quoting) as caught:
        lazy.numpy()
    assert isinstance(caught.value, ValueError)


X = Tensor(TALL)
ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: linalg.inv(X), ShapeError, r"linalg.inv: the shape is \(5, 3\); expected \(..., n, n"),
    (lambda: linalg.svd(X[0]), ShapeError, r"linalg.svd: the shape is \(3,\); expected \(..., m"),
    (lambda: linalg.det([[1.0]]), ArgumentTypeError, "linalg.det takes a tensor"),  # type: ignore[arg-type]
    (lambda: linalg.qr(X.half()), DtypeError, "complex numbers of them, not float16; cast it"),
    (lambda: linalg.solve(Tensor(SQUARE), X), ShapeError, r"B of shape \(..., 4, k\)"),
    (lambda: linalg.qr(X, "full"), ArgumentError, "'reduced', 'complete' or 'r', got 'full'"),
    (lambda: linalg.eigh(Tensor(SQUARE), "X"), ArgumentError, "UPLO is 'L' or 'U'"),
    (lambda: linalg.matrix_norm(X, 3), ArgumentError, "ord is 'fro', 'nuc'"),
    (lambda: X.matrix_power(2), ShapeError, r"matrix_power: the shape is \(5, 3\)"),
]


@pytest.mark.parametrize(("call", "error", "words"), ERRORS)
def test_errors_are_in_words(call: Callable[[], Any], error: type[Exception], words: str) -> None:
    with raises(error, match=words):
        call()


def test_a_complete_q_has_no_gradient() -> None:
    a = Tensor(TALL, requires_grad=True)
    with raises(GradientError, match=r"linalg\.qr"):
        linalg.qr(a, "complete").Q.sum().backward()


def test_vmap_gives_the_steps_all_examples_at_once() -> None:
    def function(a: Tensor) -> Tensor:
        return linalg.inv(a).sum() + linalg.svdvals(a).sum() + linalg.det(a)

    found = ogive.vmap(function)(Tensor(SQUARE))
    expected = [function(Tensor(matrix)).item() for matrix in SQUARE]
    np.testing.assert_allclose(found.numpy(), expected)
    slopes = ogive.vmap(ogive.grad(function))(Tensor(SQUARE))
    for slope, matrix in zip(slopes.numpy(), SQUARE, strict=True):
        np.testing.assert_allclose(slope, ogive.grad(function)(Tensor(matrix)).numpy())
