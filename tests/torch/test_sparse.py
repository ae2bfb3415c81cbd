"""Sparse tensors by position and value, beside PyTorch's."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy
import pytest
import torch as pytorch

import ogive.torch
from tests.raising import raises

BOTH = pytest.mark.parametrize("torch", [pytorch, ogive.torch], ids=["pytorch", "ogive"])
POSITIONS, NUMBERS, SHAPE = [[0, 1, 1, 3], [2, 0, 0, 1]], [3.0, 4.0, 5.0, 6.0], (4, 3)
DENSE = [[0.0, 0.0, 3.0], [9.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 6.0, 0.0]]


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, about sparse tensors
        yield


def make(torch: Any) -> Any:
    return torch.sparse_coo_tensor(torch.tensor(POSITIONS), torch.tensor(NUMBERS), SHAPE)


@BOTH
def test_entries_of_one_position_are_added_up(torch: Any) -> None:
    sparse = make(torch)
    assert sparse.to_dense().tolist() == DENSE
    assert not sparse.is_coalesced()
    assert sparse._nnz() == 4
    with raises(RuntimeError, match="uncoalesced"):
        sparse.indices()
    whole = sparse.coalesce()
    assert whole.indices().tolist() == [[0, 1, 3], [2, 0, 1]]
    assert whole.values().tolist() == [3.0, 9.0, 6.0]


@BOTH
def test_a_sparse_tensor_is_a_tensor_that_says_what_it_is(torch: Any) -> None:
    sparse = make(torch)
    assert isinstance(sparse, torch.Tensor)
    assert torch.is_tensor(sparse)
    assert sparse.is_sparse
    assert sparse.layout == torch.sparse_coo
    assert sparse.shape == torch.Size(SHAPE)
    assert (sparse.dim(), sparse.sparse_dim(), sparse.dense_dim(), sparse.numel()) == (2, 2, 0, 12)
    assert repr(sparse.coalesce()) == (
        "tensor(indices=tensor([[0, 1, 3],\n"
        "                       [2, 0, 1]]),\n"
        "       values=tensor([3., 9., 6.]),\n"
        "       size=(4, 3), nnz=3, layout=torch.sparse_coo)"
    )
    assert pickle.loads(pickle.dumps(copy.deepcopy(sparse))).to_dense().tolist() == DENSE


@pytest.mark.parametrize(
    "multiply",
    [
        lambda torch, a, x: torch.sparse.mm(a, x),
        lambda torch, a, x: torch.spmm(a, x),
        lambda torch, a, x: torch.mm(a, x),
        lambda torch, a, x: torch.matmul(a, x),
        lambda torch, a, x: a @ x,
        lambda torch, a, x: x.T @ a.t(),
        lambda torch, a, x: torch.sparse.addmm(torch.ones(4, 2), a, x, beta=2, alpha=3),
    ],
)
def test_gradients_of_a_product_reach_both_factors(multiply: Any) -> None:
    def program(torch: Any) -> list[Any]:
        sparse = make(torch).requires_grad_()
        x = torch.arange(6.0).reshape(3, 2).requires_grad_()
        y = multiply(torch, sparse, x)
        (y * (torch.arange(8.0).reshape(y.shape) + 1)).sum().backward()
        own = sparse.grad.sparse_mask(sparse.coalesce())  # all of it is given for some spellings
        return [each.tolist() for each in (y, x.grad, own.to_dense())]

    assert program(ogive.torch) == program(pytorch)


@pytest.mark.parametrize(
    "compute",
    [
        lambda torch, a: a * 2,
        lambda torch, a: 2 * a,
        lambda torch, a: a / 2,
        lambda torch, a: -a,
        lambda torch, a: a + a,
        lambda torch, a: a - a,
        lambda torch, a: a.t(),
        lambda torch, a: a.double(),
        lambda torch, a: torch.ones(4, 3) + a,
        lambda torch, a: a.sum(),
        lambda torch, a: torch.sparse.sum(a, 0),
        lambda torch, a: torch.sparse.softmax(a, 1),
        lambda torch, a: torch.sparse.log_softmax(a, 0),
        lambda torch, a: torch.sparse.mm(a, a.t()),
        lambda torch, a: torch.tensor(DENSE).to_sparse(),
        lambda torch, a: torch.tensor(DENSE).to_sparse(1),
        lambda torch, a: torch.arange(12.0).reshape(4, 3).sparse_mask(a.coalesce()),
        lambda torch, a: torch.sparse_coo_tensor([[1, 0]], torch.ones(2, 3), (4, 3)),
        lambda torch, a: torch.sparse.FloatTensor(torch.tensor([[1]]), torch.ones(1)),
    ],
)
def test_arithmetic_is_pytorchs(compute: Any) -> None:
    def dense(torch: Any) -> Any:
        made = compute(torch, make(torch))
        return numpy.asarray(made.to_dense() if made.is_sparse else made)

    numpy.testing.assert_allclose(dense(ogive.torch), dense(pytorch), rtol=1e-6)
    assert compute(ogive.torch, make(ogive.torch)).is_sparse == (
        compute(pytorch, make(pytorch)).is_sparse
    )


def test_what_does_not_fit_is_refused() -> None:
    torch = ogive.torch
    with raises(RuntimeError, match=r"size is \(2, 3\), but the positions need \(6, 2\)"):
        torch.sparse_coo_tensor([[5], [1]], [3.0], (2, 3))
    with raises(RuntimeError, match="a position is negative: -1"):
        torch.sparse_coo_tensor([[-1], [1]], [3.0])
    with raises(RuntimeError, match=r"must be \(axes, entries\)"):
        torch.sparse_coo_tensor([[0, 1]], [3.0])
    with raises(RuntimeError, match="cannot be multiplied"):
        make(torch) @ torch.ones(4, 2)
    with raises(RuntimeError, match="same dtype"):
        make(torch) @ torch.ones(3, 2, dtype=torch.float64)
    with raises(TypeError, match="exp takes no sparse tensor"):
        torch.exp(make(torch))


def test_an_operand_that_knows_tensors_is_asked() -> None:
    class Scaled:
        def __rmul__(self, other: Any) -> str:
            return f"scaled {tuple(other.shape)}"

        def __rmatmul__(self, other: Any) -> str:
            return f"multiplied {tuple(other.shape)}"

    for size in (2, 300):
        x = ogive.torch.ones(size, size)
        assert x * Scaled() == f"scaled {(size, size)}"
        assert x @ Scaled() == f"multiplied {(size, size)}"
        with raises(TypeError, match=r"not .*Scaled"):
            x + Scaled()
