"""Gathering, scattering, masks, counts and elements without repetition, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import ogive
from ogive import Tensor
from ogive.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    IndexRangeError,
    ShapeError,
)
from tests.raising import raises

random = np.random.default_rng(11)
A = random.standard_normal((3, 4))
V = random.standard_normal(6)
ROWS = np.array([[0, 2, 1, 2], [1, 1, 0, 0], [2, 0, 2, 1]])
COLUMNS = np.array([[3, 0], [1, 2], [2, 2]])
DISTINCT = np.array([[3, 0, 1, 2], [1, 2, 3, 0], [2, 3, 0, 1]])
LINE = np.array([2, 0, 2])
SOURCE = random.standard_normal((4, 5))
FLAT = np.array([[-1, 3], [0, 7]])
MASK = A > 0
CASES: dict[str, Callable[[Any, Any], Any]] = {
    # Each takes a tensor of shape (3, 4) and what makes tensors of arrays.
    "gather": lambda x, t: x.gather(0, t(ROWS)),
    "gather smaller": lambda x, t: x.gather(1, t(COLUMNS)),
    "take_along_dim": lambda x, t: x.take_along_dim(t(COLUMNS[:1]), 1),
    "take_along_dim flat": lambda x, t: x.take_along_dim(t(np.array([[0, 11], [5, 5]]))),
    "take": lambda x, t: x.take(t(FLAT)),
    "index_select": lambda x, t: x.index_select(0, t(LINE)) * 2,
    "index_select of a column": lambda x, t: x.index_select(-1, t(np.array([3]))),
    "scatter": lambda x, t: x.scatter(1, t(DISTINCT), t(SOURCE).to(x.dtype)),
    "scatter of fewer": lambda x, t: x.scatter(0, t(ROWS[:1, :3]), t(SOURCE).to(x.dtype)),
    "scatter value": lambda x, t: x.scatter(1, t(COLUMNS), 7),
    "scatter add": lambda x, t: x.scatter(1, t(COLUMNS), t(SOURCE).to(x.dtype), reduce="add"),
    "scatter multiply": lambda x, t: x.scatter(
        1, t(COLUMNS), t(SOURCE).to(x.dtype), reduce="multiply"
    ),
    "scatter_add": lambda x, t: x.scatter_add(0, t(ROWS), t(SOURCE).to(x.dtype)),
    "index_add": lambda x, t: x.index_add(0, t(LINE), t(SOURCE[:3, :4]).to(x.dtype)),
    "index_add alpha": lambda x, t: x.index_add(1, t(LINE), t(SOURCE[:3, :3]).to(x.dtype), alpha=3),
    "index_copy": lambda x, t: x.index_copy(0, t(LINE[:2]), t(SOURCE[:2, :4]).to(x.dtype)),
    "index_fill": lambda x, t: x.index_fill(1, t(LINE), 5),
    "index_put": lambda x, t: x.index_put((t(LINE[:2]), t(LINE[:2])), t(V[:2]).to(x.dtype)),
    "index_put of a mask": lambda x, t: x.index_put((t(MASK),), t(V[:1]).to(x.dtype)),
    "index_put accumulate": lambda x, t: x.index_put(
        (t(LINE),), t(V[:4]).to(x.dtype), accumulate=True
    ),
    "put": lambda x, t: x.put(t(FLAT), t(SOURCE[:2, :2]).to(x.dtype)),
    "put accumulate": lambda x, t: x.put(t(FLAT), t(SOURCE[:2, :2]).to(x.dtype), True),
    "masked_select": lambda x, t: x.masked_select(t(MASK)),
    "masked_select broadcast": lambda x, t: x.masked_select(t(MASK[0])),
    "masked_scatter": lambda x, t: x.masked_scatter(t(MASK), t(SOURCE).to(x.dtype)),
    "masked_fill": lambda x, t: x.masked_fill(t(MASK), 3),
    "repeat_interleave": lambda x, t: x.repeat_interleave(t(np.array([2, 0, 3])), 0),
    "repeat_interleave of all": lambda x, t: x.repeat_interleave(t(np.array([2])), 1),
    "scalar gather": lambda x, t: x[0, 0].gather(0, t(np.array([0]))),
    "scalar scatter": lambda x, t: x[0, 0].scatter(0, t(np.array(0)), x[1, 1]),
    "empty index": lambda x, t: x.index_select(0, t(LINE[:0])),
    "turned": lambda x, t: x.transpose(0, 1).gather(1, t(ROWS[:, :3].T % 3)),
}


def to_ours(array: Any) -> Tensor:
    return Tensor(np.asarray(array))


def check(ours: Tensor, theirs: torch.Tensor) -> None:
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert ours.dtype.name == str(theirs.dtype).split(".")[1]
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "int32"])
@pytest.mark.parametrize("name", CASES)
def test_values_agree_with_torch(name: str, dtype: str) -> None:
    array = (A * 10).astype(dtype)
    theirs = CASES[name](torch.tensor(array), torch.tensor)
    check(CASES[name](Tensor(array), to_ours), theirs)


WITHOUT_GRADIENT = {"scatter add", "scatter multiply", "empty index"}
"""PyTorch has no gradient of these, or there is nothing to differentiate."""


@pytest.mark.parametrize("name", [name for name in CASES if name not in WITHOUT_GRADIENT])
def test_gradients_agree_with_torch(name: str) -> None:
    x = Tensor(A, requires_grad=True)
    y = torch.tensor(A, requires_grad=True)
    ours, theirs = CASES[name](x, to_ours), CASES[name](y, torch.tensor)
    weights = random.standard_normal(theirs.shape)
    (ours * Tensor(weights)).sum().backward()
    (theirs * torch.tensor(weights)).sum().backward()
    assert x.grad is not None and y.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-12)


@pytest.mark.parametrize("include_self", [False, True])
@pytest.mark.parametrize("how", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_scatter_reduce_agrees_with_torch(how: str, include_self: bool, dtype: str) -> None:
    array, source = (A * 10).astype(dtype), (SOURCE * 10).astype(dtype)
    index = np.array([[0, 0, 3, 3], [1, 1, 1, 1]])
    ours = Tensor(array).scatter_reduce(
        1, Tensor(index), Tensor(source), how, include_self=include_self
    )
    theirs = torch.tensor(array).scatter_reduce(
        1, torch.tensor(index), torch.tensor(source), how, include_self=include_self
    )
    check(ours, theirs)
    if how != "sum":
        lines = np.array([0, 0, 2])
        ours = Tensor(array).index_reduce(
            0, Tensor(lines), Tensor(source[:3, :4]), how, include_self=include_self
        )
        theirs = torch.tensor(array).index_reduce(
            0, torch.tensor(lines), torch.tensor(source[:3, :4]), how, include_self=include_self
        )
        check(ours, theirs)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32"])
def test_means_of_narrow_integers_keep_their_dtype(dtype: str) -> None:
    array, source = np.array([1, 2, 3], dtype), np.array([100, 100, 50] * 90, dtype)
    for index in (np.array([0, 0, 1] * 90), np.array([2] * 270)):
        arguments = (0, Tensor(index), Tensor(source), "mean")
        others = (0, torch.tensor(index), torch.tensor(source), "mean")
        check(Tensor(array).scatter_reduce(*arguments), torch.tensor(array).scatter_reduce(*others))
        check(Tensor(array).index_reduce(*arguments), torch.tensor(array).index_reduce(*others))


def test_in_place_forms_write_to_the_tensor_itself() -> None:
    x = Tensor(A)
    same = x.scatter_(1, Tensor(COLUMNS), 7.0)
    assert same is x
    x.index_add_(0, Tensor(LINE), Tensor(SOURCE[:3, :4])).index_fill_(1, Tensor([0]), 2.0)
    x.index_put_((Tensor([0]), Tensor([1])), Tensor([9.0]).double()).put_(
        Tensor([11]), Tensor([8.0]).double()
    )
    y = torch.tensor(A).scatter_(1, torch.tensor(COLUMNS), 7.0)
    y.index_add_(0, torch.tensor(LINE), torch.tensor(SOURCE[:3, :4]))
    y.index_fill_(1, torch.tensor([0]), 2.0)
    y[0, 1], y[2, 3] = 9.0, 8.0
    check(x, y)


@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (2, 0)])
def test_positions_of_what_is_not_zero_agree_with_torch(shape: tuple[int, ...]) -> None:
    array = random.integers(0, 2, shape)
    ours, theirs = Tensor(array), torch.tensor(array)
    check(ours.nonzero(), theirs.nonzero())
    check(ours.argwhere(), theirs.argwhere())
    for one, other in zip(ours.nonzero(as_tuple=True), theirs.nonzero(as_tuple=True), strict=True):
        check(one, other)
    for one, other in zip(ogive.where(ours > 0), torch.where(theirs > 0), strict=True):
        check(one, other)


def test_counts_agree_with_torch() -> None:
    integers, weights = random.integers(0, 9, 40), random.standard_normal(40)
    ours, theirs = Tensor(integers), torch.tensor(integers)
    check(ours.bincount(), theirs.bincount())
    check(ours.bincount(minlength=20), theirs.bincount(minlength=20))
    check(ours.bincount(Tensor(weights)), theirs.bincount(torch.tensor(weights)))
    assert ogive.zeros(0, dtype="int64").bincount(minlength=2).tolist() == [0, 0]


def test_histograms_agree_with_torch() -> None:
    array = random.standard_normal(60)
    ours, theirs = Tensor(array), torch.tensor(array)
    check(ours.histc(7), theirs.histc(7))
    check(ours.histc(5, -1, 0.5), theirs.histc(5, -1, 0.5))
    edges, weights = np.array([-2.0, -0.5, 0.1, 1.0]), random.random(60)
    for density in (False, True):
        found = ours.histogram(6, range=(-1.0, 2.0), density=density)
        expected = theirs.histogram(6, range=(-1.0, 2.0), density=density)
        check(found.hist, expected.hist)
        check(found.bin_edges, expected.bin_edges)
        check(
            ours.histogram(Tensor(edges), weight=Tensor(weights), density=density).hist,
            theirs.histogram(
                torch.tensor(edges), weight=torch.tensor(weights), density=density
            ).hist,
        )
    check(Tensor(np.ones(3)).histc(3), torch.ones(3, dtype=torch.float64).histc(3))


@pytest.mark.parametrize("dim", [None, 0, 1])
@pytest.mark.parametrize("dtype", ["int64", "float64", "bool"])
def test_unique_agrees_with_torch(dim: int | None, dtype: str) -> None:
    array = random.integers(0, 2, (6, 3)).astype(dtype)
    ours, theirs = Tensor(array), torch.tensor(array)
    for one, other in zip(
        ours.unique(return_inverse=True, return_counts=True, dim=dim),
        theirs.unique(return_inverse=True, return_counts=True, dim=dim), strict=True,
    ):  # fmt: skip
        check(one, other)
    for one, other in zip(
        ours.unique_consecutive(return_inverse=True, return_counts=True, dim=dim),
        theirs.unique_consecutive(return_inverse=True, return_counts=True, dim=dim), strict=True,
    ):  # fmt: skip
        check(one, other)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
def test_unique_of_nothing_is_nothing(shape: tuple[int, ...]) -> None:
    values, inverse, counts = ogive.zeros(*shape).unique(return_inverse=True, return_counts=True)
    assert (values.shape, inverse.shape, counts.shape) == ((0,), shape, (0,))


def test_unique_counts_the_zeros_as_one_and_every_nan_alone() -> None:
    values, counts = Tensor([0.0, np.nan, -0.0, np.nan]).unique(return_counts=True)
    assert counts.tolist() == [2, 1, 1] and values.isnan().tolist() == [False, True, True]
    assert Tensor([2.0, 1.0]).bfloat16().unique().tolist() == [1.0, 2.0]


def test_a_position_outside_is_a_fault_that_names_the_line() -> None:
    x, index = ogive.ones(3), Tensor([0, 3])
    lazy = [
        x.gather(0, index), x.index_select(0, index), x.take(index), x.scatter(0, index, 1.0),
        x.index_add(0, index, ogive.ones(2)), x.masked_scatter(x > 0, ogive.ones(2)),
    ]  # fmt: skip
    for tensor in lazy:
        with raises(
            IndexRangeError, match="outside the tensor it selects from",
            quoting=r"test_selection\.py",
        ):
            tensor.numpy()


X = Tensor(A)
I = Tensor(LINE)  # noqa: E741
ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: X.gather(0, 1), ArgumentTypeError, "index must be a tensor"),  # type: ignore[arg-type]
    (lambda: X.gather(0, X), DtypeError, "the index is of float64; positions are integers"),
    (lambda: X.gather(0, I), ShapeError, r"index of shape \(3,\) for the shape \(3, 4\)"),
    (lambda: X.gather(1, Tensor(np.zeros((4, 1), int))), ShapeError, "be no longer"),
    (lambda: X.index_select(0, Tensor(ROWS)), ShapeError, "expected one axis"),
    (lambda: X.scatter(0, Tensor(ROWS), I), DtypeError, "source is of int64 and the tensor of"),
    (lambda: X.scatter(0, Tensor(ROWS), 1.0, reduce="max"), ArgumentError, "'add' or 'multiply'"),
    (lambda: X.scatter(0, Tensor(ROWS)), ArgumentTypeError, "got neither"),
    (lambda: X.scatter_reduce(0, Tensor(ROWS), X, "avg"), ArgumentError, "sum, mean, prod"),
    (lambda: X.scatter_add(1, Tensor(DISTINCT), X[:, :2]), ShapeError, "an element for each"),
    (lambda: X.index_add(0, I, X[:2]), ShapeError, r"shape \(2, 4\); expected \(3, 4\)"),
    (lambda: X.index_fill(0, I, X), ArgumentTypeError, "a number or a scalar"),
    (lambda: X.put(I, X), ShapeError, "12 elements for 3 positions"),
    (lambda: X.take_along_dim(I, 0), ShapeError, "they must have as many axes"),
    (lambda: X.masked_select(X), DtypeError, "the mask must be bool, not float64"),
    (lambda: X.masked_scatter(X > 0, I), DtypeError, "source is of int64"),
    (lambda: X.bincount(), ShapeError, "bincount takes one axis"),
    (lambda: X[0].bincount(), DtypeError, "counts integers, not float64"),
    (lambda: I.histc(), DtypeError, "histc takes floats, not int64"),
    (lambda: X.histc(0), ArgumentError, "bins must be positive"),
    (lambda: X.histc(3, 2, 1), ArgumentError, "wrong order"),
    (lambda: X.repeat_interleave(Tensor([1, 2]), 0), ShapeError, "numbers for 3 elements"),
    (lambda: X.repeat_interleave(Tensor([-1]), 0), ArgumentError, "-1 is negative"),
    (lambda: X.repeat_interleave(Tensor([0.5]), 0), DtypeError, "float32, not integers"),
]


@pytest.mark.parametrize(("call", "error", "words"), ERRORS)
def test_errors_are_in_words(call: Callable[[], Any], error: type[Exception], words: str) -> None:
    with raises(error, match=words):
        call()
