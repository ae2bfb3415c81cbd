"""Reductions of small tensors, and what runs along an axis, done at once."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive.errors
import ogive.torch
from tests.eager.agreement import Case, arrays, check

OF_ALL_DTYPES: dict[str, Case] = {
    "sum": lambda t, x: x.sum(),
    "sum along one": lambda t, x: x.sum(1),
    "sum along two": lambda t, x: t.sum(x, (0, -1), keepdim=True),
    "sum by NumPy's names": lambda t, x: x.sum(axis=-1, keepdims=True),
    "sum as float64": lambda t, x: x.sum(dtype=t.float64),
    "prod": lambda t, x: x.prod(),
    "prod along one": lambda t, x: x.prod(2, keepdim=True),
    "amax": lambda t, x: x.amax(),
    "amax along two": lambda t, x: x.amax((0, 2)),
    "amin": lambda t, x: x.amin(-1, keepdim=True),
    "max": lambda t, x: x.max(),
    "max along one": lambda t, x: x.max(1),
    "max that keeps the axis": lambda t, x: t.max(x, dim=-1, keepdim=True),
    "min": lambda t, x: x.min(),
    "min along one": lambda t, x: x.min(0),
    "cumsum": lambda t, x: x.cumsum(1),
    "cumprod": lambda t, x: x.cumprod(-1),
    "cummax": lambda t, x: x.cummax(2),
    "cummin": lambda t, x: x.cummin(0),
}

APART: dict[str, Case] = {
    "any": lambda t, x: x.any(),
    "any along one": lambda t, x: x.any(1, keepdim=True),
    "all": lambda t, x: x.all(),
    "all along one": lambda t, x: x.all(dim=-1),
    "argmax": lambda t, x: x.argmax(),
    "argmax along one": lambda t, x: x.argmax(-1),
    "argmin": lambda t, x: x.argmin(1, keepdim=True),
    "count_nonzero": lambda t, x: x.count_nonzero(),
    "count_nonzero along one": lambda t, x: x.count_nonzero(1),
}

OF_FLOATS: dict[str, Case] = {
    "mean": lambda t, x: x.mean(),
    "mean along one": lambda t, x: x.mean(0),
    "mean along two": lambda t, x: x.mean((1, 2), keepdim=True),
    "nansum": lambda t, x: x.nansum(1),
    "nanmean": lambda t, x: x.nanmean(),
    "var": lambda t, x: x.var(),
    "var along one": lambda t, x: x.var(1, keepdim=True),
    "var of all": lambda t, x: x.var(dim=0, correction=0),
    "var biased": lambda t, x: x.var(unbiased=False),
    "std": lambda t, x: x.std(),
    "std along one": lambda t, x: x.std(-1),
    "std along two": lambda t, x: t.std(x, dim=(0, 1), unbiased=True),
    "norm": lambda t, x: x.norm(),
    "norm along one": lambda t, x: x.norm(dim=1, keepdim=True),
    "norm of 1": lambda t, x: x.norm(1, dim=2),
    "norm of 3": lambda t, x: x.norm(3),
    "norm of infinity": lambda t, x: x.norm(float("inf"), dim=0),
    "linalg.norm": lambda t, x: t.linalg.norm(x[0]),
    "linalg.vector_norm": lambda t, x: t.linalg.vector_norm(x, dim=-1),
    "softmax": lambda t, x: x.softmax(-1),
    "softmax of another axis": lambda t, x: t.nn.functional.softmax(x, dim=1),
    "softmax as float64": lambda t, x: t.softmax(x, 0, dtype=t.float64),
    "log_softmax": lambda t, x: x.log_softmax(2),
    "logsumexp": lambda t, x: x.logsumexp(1),
    "logsumexp of two": lambda t, x: x.logsumexp((0, 2), keepdim=True),
    "normalize": lambda t, x: t.nn.functional.normalize(x, dim=-1),
}


@pytest.mark.parametrize("name", [*OF_ALL_DTYPES, *APART])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "bool"])
def test_reduction_gives_what_pytorch_gives(name: str, dtype: str) -> None:
    if dtype == "bool" and name in ("argmax", "argmax along one", "argmin"):
        pytest.skip("PyTorch has none of truth values")
    if dtype == "uint8" and name.split()[0] in ("any", "all"):
        pytest.skip("PyTorch gives uint8 here, and ours bool as for all others")
    check((OF_ALL_DTYPES | APART)[name], arrays((2, 3, 4), dtype=dtype))


@pytest.mark.parametrize("name", OF_FLOATS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_reduction_of_floats_gives_what_pytorch_gives(name: str, dtype: str) -> None:
    check(OF_FLOATS[name], arrays((2, 3, 4), dtype=dtype))


@pytest.mark.parametrize("name", [*OF_ALL_DTYPES, *OF_FLOATS, *APART])
def test_gradient_flows_back_through_a_reduction(name: str) -> None:
    case = (OF_ALL_DTYPES | OF_FLOATS | APART)[name]
    check(case, arrays((2, 3, 4), dtype="float64"), tracked=name not in APART)


@pytest.mark.parametrize("name", [*OF_ALL_DTYPES, *OF_FLOATS])
def test_reduction_of_a_view_gives_what_pytorch_gives(name: str) -> None:
    case = (OF_ALL_DTYPES | OF_FLOATS)[name]
    check(lambda t, x: case(t, x.permute(2, 0, 1)[:3]), arrays((3, 4, 5)), tracked=True)


TIES: dict[str, Case] = {
    name: OF_ALL_DTYPES[name]
    for name in ("amax", "amax along two", "max", "max along one", "min along one", "prod",
                 "prod along one", "cumprod", "cummax", "cummin")
}  # fmt: skip


@pytest.mark.parametrize("name", TIES)
def test_equal_elements_and_zeros_share_gradients_as_in_pytorch(name: str) -> None:
    check(TIES[name], [arrays((2, 3, 4), dtype="int64")[0].astype("float32")], tracked=True)


MISSING: dict[str, Case] = {
    name: (OF_ALL_DTYPES | APART | OF_FLOATS)[name]
    for name in ("sum", "amax", "max", "max along one", "min along one", "argmax", "argmin",
                 "cummax", "nansum", "nanmean", "mean", "logsumexp")
}  # fmt: skip


@pytest.mark.parametrize("name", MISSING)
def test_nan_is_met_as_in_pytorch(name: str) -> None:
    array = arrays((2, 3, 4))[0]
    array[0, 1, 2] = array[1, 1, 1] = numpy.nan
    check(MISSING[name], [array])


def test_logsumexp_of_infinities_is_as_in_pytorch() -> None:
    array = numpy.array([[-numpy.inf, -numpy.inf], [numpy.inf, 1.0]], numpy.float32)
    check(lambda t, x: x.logsumexp(1), [array])


SCALARS: dict[str, Case] = {
    "sum": lambda t, x: x.sum(),
    "sum along the axis it has not": lambda t, x: x.sum(0),
    "mean": lambda t, x: x.mean(-1),
    "max": lambda t, x: x.max(0),
    "argmax": lambda t, x: x.argmax(0),
    "amin": lambda t, x: x.amin(),
    "norm": lambda t, x: x.norm(),
    "cumsum": lambda t, x: x.cumsum(0),
}


@pytest.mark.parametrize("name", SCALARS)
def test_scalar_is_reduced_as_in_pytorch(name: str) -> None:
    check(SCALARS[name], arrays(()), tracked=name != "argmax")


NOTHING: dict[str, Case] = {
    "sum": lambda t, x: x.sum(),
    "sum along one": lambda t, x: x.sum(0),
    "prod": lambda t, x: x.prod(1),
    "mean": lambda t, x: x.mean(),
    "all": lambda t, x: x.all(),
    "any": lambda t, x: x.any(0),
    "cumsum": lambda t, x: x.cumsum(0),
    "amax of what is left": lambda t, x: x.amax(1),
}


@pytest.mark.parametrize("name", NOTHING)
def test_no_elements_are_reduced_as_in_pytorch(name: str) -> None:
    check(NOTHING[name], arrays((0, 3)))


def test_gradient_of_a_norm_of_zeros_is_zero() -> None:
    check(lambda t, x: x.norm(dim=0), [numpy.zeros((3, 2), numpy.float32)], tracked=True)


def test_gradient_of_a_deviation_of_equal_numbers_is_zero() -> None:
    check(lambda t, x: x.std(0), [numpy.ones((3, 2), numpy.float32)], tracked=True)


@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_float32_adds_up_no_less_exactly_than_in_pytorch(name: str, axis: int | None) -> None:
    array = numpy.random.default_rng(3).random((16384, 4) if axis != 1 else (4, 16384))
    array = array.astype(numpy.float32)
    exact = getattr(array.astype(numpy.float64), name)(axis)
    errors = []
    for module in (ogive.torch, torch):
        made = getattr(module.tensor(array), name)(axis)
        errors.append(abs(numpy.asarray(made) - exact).max())
    assert errors[0] <= 2 * errors[1] + abs(exact).max() * 1e-7


REFUSED: dict[str, tuple[Case, type[Exception]]] = {
    "no greatest of nothing": (lambda t, x: x[:0].max(), ogive.errors.ShapeError),
    "no position of nothing": (lambda t, x: x[:0].argmax(), ogive.errors.ShapeError),
    "an axis that is not there": (lambda t, x: x.sum(2), ogive.errors.AxisError),
    "an axis twice": (lambda t, x: x.sum((0, 0)), ogive.errors.AxisError),
    "no average of integers": (lambda t, x: x.long().mean(), ogive.errors.DtypeError),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_form_refuses_raises_our_error(name: str) -> None:
    case, error = REFUSED[name]
    x: Any = ogive.torch.tensor(arrays((2, 3))[0])
    with pytest.raises(error):
        case(ogive.torch, x).tolist()


SCORES: dict[str, Any] = {
    "near each other": lambda x: x,
    "far apart": lambda x: x * 50,
    "some rows far below": lambda x: numpy.where(numpy.arange(120)[:, None] == 7, x - 40, x),
    "masked": lambda x: numpy.where(numpy.tril(numpy.ones((120, 40))) > 0, x, -numpy.inf),
    "one row masked": lambda x: numpy.where(numpy.arange(120)[:, None] == 9, -numpy.inf, x),
    "with NaN": lambda x: numpy.where(x > 2, numpy.nan, x),
    "with infinity": lambda x: numpy.where(x > 2, numpy.inf, x),
}


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_softmax_of_many_rows(name: str, dtype: str) -> None:
    x = numpy.random.default_rng(4).normal(size=(120, 40))
    scores = SCORES[name](x).astype(dtype)
    found = ogive.torch.tensor(scores).softmax(-1)
    expected = torch.tensor(scores.astype("float64")).softmax(-1).numpy()
    assert found.is_eager
    tolerance = 4e-6 if dtype == "float32" else 1e-13
    numpy.testing.assert_allclose(found.numpy(), expected, tolerance, 1e-30)
