"""LU, LDLᵀ, reflections and eigenvalues put together again, for matrices of every form."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor, linalg
from ogive.errors import LinearAlgebraError, ShapeError
from tests.raising import raises

RANDOM = numpy.random.default_rng(5)


@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (2, 5, 3), (0, 2, 2), (1, 1)])
@pytest.mark.parametrize("pivot", [True, False])
def test_triangles_multiply_to_the_matrix(shape: tuple[int, ...], pivot: bool) -> None:
    A = RANDOM.normal(size=shape)
    P, L, U = linalg.lu(Tensor(A), pivot=pivot)
    product = L @ U
    numpy.testing.assert_allclose((P @ product if pivot else product).numpy(), A, atol=1e-12)


def test_gradients_of_triangles_can_be_differentiated_again() -> None:
    A = RANDOM.normal(size=(3, 3))

    def second(x: Any, library: Any) -> Any:
        _, L, U = library.linalg.lu(x)
        return (L * L).sum() + (U**3).sum()

    slope = ogive.grad(lambda x: (ogive.grad(lambda y: second(y, ogive))(x) ** 2).sum())(Tensor(A))
    y = torch.tensor(A, requires_grad=True)
    (first,) = torch.autograd.grad(second(y, torch), y, create_graph=True)
    (expected,) = torch.autograd.grad((first**2).sum(), y)
    numpy.testing.assert_allclose(slope.numpy(), expected.numpy(), rtol=1e-8, atol=1e-8)


def test_a_singular_matrix_is_known_by_its_column() -> None:
    A = Tensor([[[1.0, 2.0], [2.0, 4.0]], [[1.0, 0.0], [0.0, 1.0]]])
    inverse, info = linalg.inv_ex(A)
    assert info.tolist() == [2, 0]
    assert numpy.isnan(inverse.numpy()[0]).all() and inverse[1].tolist() == [[1, 0], [0, 1]]
    with raises(LinearAlgebraError, match="column 2"):
        linalg.inv_ex(A, check_errors=True)
    assert linalg.cholesky_ex(Tensor([[1.0, 2.0], [2.0, 1.0]])).info.item() == 2


@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_symmetric_matrices_are_solved_by_blocks(size: int) -> None:
    half = RANDOM.normal(size=(2, size, size))
    A = half + numpy.swapaxes(half, 1, 2)
    A[0] -= numpy.diag(numpy.diag(A[0]))  # nothing on the diagonal: blocks of two
    if size % 2:
        A[0, 0, 0] = 1.0
    B = RANDOM.normal(size=(2, size, 3))
    X = linalg.ldl_solve(*linalg.ldl_factor(Tensor(A)), Tensor(B)).numpy()
    numpy.testing.assert_allclose(A @ X, B, atol=1e-9)


def test_reflections_make_the_orthogonal_factor() -> None:
    A = RANDOM.normal(size=(2, 5, 3))
    compact, tau = ogive.geqrf(Tensor(A))
    Q = linalg.householder_product(compact, tau)
    numpy.testing.assert_allclose((Q @ compact[:, :3].triu()).numpy(), A, atol=1e-12)
    turned = ogive.ormqr(compact, tau, Tensor(A), transpose=True)
    numpy.testing.assert_allclose(turned[:, :3].numpy(), compact[:, :3].triu().numpy(), atol=1e-12)


def test_eigenvectors_are_only_stretched() -> None:
    A = RANDOM.normal(size=(3, 4, 4))
    found, vectors = linalg.eig(Tensor(A))
    product = Tensor(A).cdouble() @ vectors
    numpy.testing.assert_allclose(product.numpy(), (vectors * found[:, None]).numpy(), atol=1e-10)


@pytest.mark.parametrize("scale", [0.0, 1e-3, 1.0, 30.0])
def test_the_exponential_of_matrices_of_any_size(scale: float) -> None:
    A = RANDOM.normal(size=(2, 4, 4)) * scale
    expected = torch.matrix_exp(torch.tensor(A)).numpy()
    size = numpy.abs(expected).max()
    numpy.testing.assert_allclose(linalg.matrix_exp(Tensor(A)).numpy(), expected, atol=1e-11 * size)


def test_what_does_not_fit_is_refused() -> None:
    factors = linalg.lu_factor(Tensor(RANDOM.normal(size=(3, 3))))
    with raises(ShapeError, match=r"\(..., 3, k\)"):
        linalg.lu_solve(*factors, ogive.ones(2, 1, dtype="float64"))
    with raises(ShapeError, match="as many elements"):
        linalg.tensorinv(ogive.ones(2, 3), 1)
    with raises(ShapeError, match="rows"):
        linalg.householder_product(ogive.ones(2, 3), ogive.ones(2))
