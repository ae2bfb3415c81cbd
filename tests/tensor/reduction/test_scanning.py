"""Running sums, products and extremes against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import ogive
from ogive import Tensor, Variable
from ogive.errors import AxisError, DtypeError
from tests.raising import raises

RANDOM = np.random.default_rng(23)
SHAPES = [((), 0), ((1,), 0), ((13,), -1), ((4, 21), 0), ((4, 21), 1), ((3, 0), 0), ((0, 3), 0)]
DTYPES = ["float64", "float32", "int64", "int32", "uint8", "bool"]


def pair(name: str, shape: tuple[int, ...]) -> tuple[Tensor, Any]:
    """The same random values, here and there, with many equal ones among them."""
    values = RANDOM.integers(0, 2 if name == "bool" else 4, shape)
    array = np.asarray(values).astype(name)
    return Tensor(array), torch.from_numpy(array.copy())


def same(got: Tensor, wanted: Any) -> None:
    assert got.dtype.name == str(wanted.dtype).removeprefix("torch.")
    assert got.shape == tuple(wanted.shape)
    np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-6)


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize(("shape", "dim"), SHAPES, ids=str)
def test_running_sums_and_products(name: str, shape: tuple[int, ...], dim: int) -> None:
    x, y = pair(name, shape)
    same(x.cumsum(dim), y.cumsum(dim))
    same(x.cumprod(dim), y.cumprod(dim))


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize(("shape", "dim"), SHAPES, ids=str)
def test_running_extremes_and_where_they_are(
    name: str, shape: tuple[int, ...], dim: int
) -> None:
    x, y = pair(name, shape)
    for got, wanted in ((x.cummax(dim), y.cummax(dim)), (x.cummin(dim), y.cummin(dim))):
        same(got.values, wanted.values)
        same(got.indices, wanted.indices)


def test_nan_is_the_extreme_of_all_that_follow() -> None:
    array = np.array([1.0, 3.0, np.nan, 4.0, np.nan, 0.0])
    x, y = Tensor(array), torch.from_numpy(array)
    for got, wanted in ((x.cummax(0), y.cummax(0)), (x.cummin(0), y.cummin(0))):
        same(got.values, wanted.values)
        same(got.indices, wanted.indices)


def test_infinities_are_extremes_like_others() -> None:
    array = np.array([-np.inf, -np.inf, np.inf, 1.0])
    x, y = Tensor(array), torch.from_numpy(array)
    for got, wanted in ((x.cummax(0), y.cummax(0)), (x.cummin(0), y.cummin(0))):
        same(got.values, wanted.values)
        same(got.indices, wanted.indices)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_half_width_floats_add_up_in_float32(name: str) -> None:
    x = Tensor(np.full(3000, 0.25)).cast(name)
    assert x.cumsum(0).dtype.name == name
    assert x.cumsum(0)[-1].item() in (750.0, 752.0)


@pytest.mark.parametrize("name", ["float64", "int32"])
def test_a_dtype_may_be_asked_for(name: str) -> None:
    x, y = pair("int64", (3, 5))
    wanted = getattr(torch, name)
    same(x.cumsum(1, dtype=name), y.cumsum(1, dtype=wanted))
    same(x.cumprod(1, dtype=name), y.cumprod(1, dtype=wanted))


@pytest.mark.parametrize(("shape", "dim"), SHAPES, ids=str)
@pytest.mark.parametrize("name", ["float64", "float32"])
def test_logarithms_of_running_sums_of_exponentials(
    name: str, shape: tuple[int, ...], dim: int
) -> None:
    x, y = pair(name, shape)
    same(x.logcumsumexp(dim), y.logcumsumexp(dim))


def test_logcumsumexp_neither_overflows_nor_loses_what_is_small() -> None:
    array = np.array([-1000.0, -np.inf, -999.0, 3.0, 1000.0, 1000.0, -5.0])
    x, y = Tensor(array), torch.from_numpy(array)
    same(x.logcumsumexp(0), y.logcumsumexp(0))
    nothing = Tensor([-np.inf, -np.inf, 1.0])
    assert nothing.logcumsumexp(0).tolist() == [-np.inf, -np.inf, 1.0]


@pytest.mark.parametrize("dim", [0, 1])
def test_logcumsumexp_changes_along_tangents_as_it_should(dim: int) -> None:
    array, tangent = RANDOM.normal(size=(3, 7)), RANDOM.normal(size=(3, 7))

    def sums(x: Any) -> Any:
        return x.logcumsumexp(dim)

    _, got = ogive.jvp(sums, (Tensor(array),), (Tensor(tangent),))
    _, wanted = torch.func.jvp(sums, (torch.tensor(array),), (torch.tensor(tangent),))
    same(got, wanted)


def test_gradients_of_logcumsumexp_have_gradients_where_nothing_comes_back() -> None:
    array = RANDOM.normal(size=5)

    def slopes(library: Any) -> Any:
        x = library.tensor(array, requires_grad=True)
        weights = library.tensor(np.array([1.0, 0.0, -2.0, 0.0, 3.0]), requires_grad=True)
        total = (x.logcumsumexp(0) * weights).sum()
        (first,) = library.autograd.grad(total, [x], create_graph=True)
        first.square().sum().backward()
        return weights.grad

    # PyTorch goes by logarithms of what comes back: NaN where that is zero.
    got, wanted = slopes(ogive).numpy(), slopes(torch).numpy()
    np.testing.assert_allclose(got[::2], wanted[::2], rtol=1e-9)
    step = 1e-6
    for place in (1, 3):
        sizes = []
        for moved in (step, -step):
            x = torch.tensor(array, requires_grad=True)
            weights = torch.tensor([1.0, 0.0, -2.0, 0.0, 3.0], dtype=torch.float64)
            weights[place] += moved
            (first,) = torch.autograd.grad((x.logcumsumexp(0) * weights).sum(), [x])
            sizes.append(first.square().sum().item())
        np.testing.assert_allclose(got[place], (sizes[0] - sizes[1]) / (2 * step), rtol=1e-5)


def test_views_are_scanned_as_they_are_seen() -> None:
    x, y = pair("float64", (6, 10))
    same(x.T[::2].cumsum(0), y.T[::2].cumsum(0))
    same(x.flip(1).cummax(1).indices, y.flip(1).cummax(1).indices)


def test_symbolic_lengths_are_scanned() -> None:
    n = Variable("n", 1, 9)
    array = RANDOM.random(9)
    part = Tensor(array)[: n.bind(6)]
    np.testing.assert_allclose(part.cumsum(0).numpy(), array[:6].cumsum())
    np.testing.assert_allclose(
        part.logcumsumexp(0).numpy(), np.log(np.exp(array[:6]).cumsum())
    )
    assert part.cummax(0).indices.tolist() == torch.from_numpy(array[:6]).cummax(0).indices.tolist()


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"])
def test_an_axis_that_there_is_not_is_refused(name: str) -> None:
    for shape, dim in (((3, 4), 2), ((3, 4), -3), ((), 1)):
        with raises(AxisError, match=f"{name}: .*has no axis {dim}"):
            getattr(Tensor(np.zeros(shape)), name)(dim)


def test_logcumsumexp_takes_floats_alone() -> None:
    with raises(DtypeError, match="logcumsumexp takes floats, not int64"):
        Tensor([1, 2]).logcumsumexp(0)


def test_the_gradient_of_a_long_logcumsumexp_is_no_large_code() -> None:
    x = Tensor(np.linspace(-3, 3, 300).astype(np.float32), requires_grad=True)
    (x * x).logcumsumexp(0).sum().backward()
    assert x.grad is not None
    sources = [kernel.ir for kernel in x.grad.prepare().kernels]
    assert max(map(len, sources)) < 100_000
    theirs = torch.linspace(-3, 3, 300, dtype=torch.float64).requires_grad_()
    (theirs * theirs).logcumsumexp(0).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), theirs.grad, rtol=1e-4, atol=1e-4)
