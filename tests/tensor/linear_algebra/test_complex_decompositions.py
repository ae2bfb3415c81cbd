"""Gradients of decompositions of complex matrices, against PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor


def matrices(*shape: int) -> Any:
    random = numpy.random.default_rng(9)
    return random.normal(size=shape) + 1j * random.normal(size=shape)


def weigh(value: Any, seed: int = 3) -> Any:
    """A real number that every element of a tensor has its part in."""
    shape = tuple(value.shape)
    random = numpy.random.default_rng(seed)
    weights = random.normal(size=shape) + 1j * random.normal(size=shape)
    own = Tensor(weights) if isinstance(value, Tensor) else torch.tensor(weights)
    return (value * own).real.sum()


def positive(x: Any) -> Any:
    return x @ x.mH + 2 * (x @ x.mH).real.mean()


def projector(vectors: Any) -> Any:
    """What vectors span: it does not depend on their angles."""
    return weigh(vectors[..., :2] @ vectors[..., :2].mH)


def of_svd(xp: Any, x: Any) -> Any:
    U, S, Vh = xp.linalg.svd(x, full_matrices=False)
    together = (U[..., :2] * S[..., None, :2].cos()) @ Vh[..., :2, :]
    return weigh(S.square(), 1) + weigh(together) + projector(U)


def of_eigh(xp: Any, x: Any) -> Any:
    values, vectors = xp.linalg.eigh(x + x.mH)
    return weigh(values.sin()) + projector(vectors)


def of_eig(xp: Any, x: Any) -> Any:
    values, vectors = xp.linalg.eig(x)
    order = values.abs().argsort(-1)  # which libraries are free to choose
    index = order[..., None, :].expand(*vectors.shape)
    by_size = xp.gather(vectors, -1, index)
    return weigh(values.square().sum(-1)) + weigh(by_size.abs().square())


def of_qr(xp: Any, x: Any) -> Any:
    Q, R = xp.linalg.qr(x)
    return weigh(Q) + weigh(R, 4)


def of_lu(xp: Any, x: Any) -> Any:
    _, L, U = xp.linalg.lu(x)
    return weigh(L) + weigh(U, 4)


def of_slogdet(xp: Any, x: Any) -> Any:
    sign, logarithm = xp.linalg.slogdet(x)
    return weigh(sign) + weigh(logarithm, 4)


CASES: dict[str, tuple[Callable[[Any, Any], Any], tuple[int, ...]]] = {
    "inv": (lambda xp, x: weigh(xp.linalg.inv(x)), (2, 4, 4)),
    "pinv, tall": (lambda xp, x: weigh(xp.linalg.pinv(x)), (5, 3)),
    "pinv, wide": (lambda xp, x: weigh(xp.linalg.pinv(x)), (3, 5)),
    "det": (lambda xp, x: weigh(xp.linalg.det(x)), (2, 4, 4)),
    "small det": (lambda xp, x: weigh(xp.linalg.det(x)), (3, 3)),
    "slogdet": (of_slogdet, (2, 4, 4)),
    "solve": (lambda xp, x: weigh(xp.linalg.solve(x[..., :3], x[..., 3:])), (2, 3, 5)),
    "solve_triangular": (
        lambda xp, x: weigh(xp.linalg.solve_triangular(x[..., :3], x[..., 3:], upper=True)),
        (2, 3, 5),
    ),
    "cholesky": (lambda xp, x: weigh(xp.linalg.cholesky(positive(x))), (2, 3, 3)),
    "qr": (of_qr, (2, 5, 3)),
    "qr, wide": (of_qr, (3, 5)),
    "svd, tall": (of_svd, (2, 5, 3)),
    "svd, wide": (of_svd, (3, 4)),
    "svdvals": (lambda xp, x: weigh(xp.linalg.svdvals(x)), (2, 5, 3)),
    "eigh": (of_eigh, (2, 4, 4)),
    "eigvalsh": (lambda xp, x: weigh(xp.linalg.eigvalsh(x + x.mH)), (4, 4)),
    "eig": (of_eig, (2, 4, 4)),
    "lu": (of_lu, (4, 4)),
    "lu, tall": (of_lu, (5, 3)),
    "matrix_exp": (lambda xp, x: weigh(xp.linalg.matrix_exp(x)), (2, 3, 3)),
    "lstsq": (lambda xp, x: weigh(xp.linalg.lstsq(x[..., :3], x[..., 3:])[0]), (5, 4)),
    "cond": (lambda xp, x: xp.linalg.cond(x).sum(), (2, 3, 3)),
    "nuclear norm": (lambda xp, x: xp.linalg.matrix_norm(x, "nuc").sum(), (2, 4, 3)),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_complex_matrices_are_pytorchs(name: str) -> None:
    function, shape = CASES[name]
    array = matrices(*shape)
    ours = Tensor(array, requires_grad=True)
    theirs = torch.tensor(array, requires_grad=True)
    value, expected = function(ogive, ours), function(torch, theirs)
    numpy.testing.assert_allclose(value.item(), expected.item(), rtol=1e-9)
    value.backward()
    expected.backward()
    assert ours.grad is not None and theirs.grad is not None
    numpy.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["eigvalsh", "pinv", "matrix_rank", "cholesky"])
def test_of_hermitian_matrices_the_lower_triangle_and_a_real_diagonal_are_read(name: str) -> None:
    array = matrices(2, 4, 4) + 5 * numpy.eye(4)
    options = {"hermitian": True} if name in ("pinv", "matrix_rank") else {}
    found = getattr(ogive.linalg, name)(Tensor(array), **options).numpy()
    expected = getattr(torch.linalg, name)(torch.tensor(array), **options).numpy()
    numpy.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
