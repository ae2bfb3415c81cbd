"""Orders of small tensors, done at once."""

from __future__ import annotations

import numpy
import pytest
import torch

import ogive.errors
import ogive.torch
from tests.eager.agreement import Case, arrays, check

ORDERS: dict[str, Case] = {
    "sort": lambda t, x: x.sort(stable=True),
    "sort descending": lambda t, x: t.sort(x, dim=1, descending=True, stable=True),
    "kthvalue": lambda t, x: x.kthvalue(2)[0],
    "kthvalue along one": lambda t, x: x.kthvalue(2, 1, keepdim=True)[0],
    "topk": lambda t, x: x.topk(2)[0],
    "topk least": lambda t, x: t.topk(x, 2, dim=1, largest=False)[0],
    "median": lambda t, x: x.median(),
    "median along one": lambda t, x: x.median(1)[0],
    "median that keeps the axis": lambda t, x: x.median(-1, keepdim=True)[0],
    "mode": lambda t, x: x.mode()[0],
    "mode along one": lambda t, x: x.mode(1, keepdim=True)[0],
}

APART: dict[str, Case] = {
    "argsort": lambda t, x: x.argsort(stable=True),
    "argsort along one": lambda t, x: x.argsort(dim=0, descending=True, stable=True),
    "unique": lambda t, x: x.unique(),
    "unique, where, and how often": lambda t, x: t.unique(
        x, return_inverse=True, return_counts=True
    ),
    "isin": lambda t, x: t.isin(x, x[0, 0]),
    "searchsorted": lambda t, x: t.searchsorted(x.flatten().sort()[0], x),
    "searchsorted right": lambda t, x: t.searchsorted(x.flatten().sort()[0], x, right=True),
    "bucketize": lambda t, x: t.bucketize(x, x.flatten().sort()[0], out_int32=True),
}


@pytest.mark.parametrize("name", [*ORDERS, *APART])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8"])
def test_order_gives_what_pytorch_gives(name: str, dtype: str) -> None:
    check((ORDERS | APART)[name], arrays((2, 3, 4), dtype=dtype))


@pytest.mark.parametrize("name", ORDERS)
def test_gradient_flows_back_to_where_elements_came_from(name: str) -> None:
    check(ORDERS[name], arrays((2, 3, 4)), tracked=True)


@pytest.mark.parametrize("name", ["sort", "sort descending", "median", "median along one", "topk"])
def test_nan_counts_as_the_greatest_in_orders(name: str) -> None:
    array = arrays((2, 3, 4))[0]
    array[0, 1, 2] = array[1, 1, 1] = numpy.nan
    check(ORDERS[name], [array])


def test_indices_of_elements_without_ties_are_those_of_pytorch() -> None:
    for case in (
        lambda t, x: x.topk(3, 1),
        lambda t, x: x.kthvalue(2, 0),
        lambda t, x: x.median(2),
    ):
        check(case, arrays((3, 4, 5)))


COUNTS: dict[str, Case] = {
    "bincount": lambda t, x: x.bincount(),
    "bincount that is longer": lambda t, x: t.bincount(x, minlength=20),
    "bincount of weights": lambda t, x: x.bincount(t.tensor([0.5] * 7)),
}


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_numbers_are_counted_as_in_pytorch(name: str, dtype: str) -> None:
    check(COUNTS[name], [abs(arrays((7,), dtype="int64")[0]).astype(dtype)])


@pytest.mark.parametrize("bounds", [(), (4, -1, 1), (3, 0.5, 0.75), (1,)])
def test_histogram_is_as_in_pytorch(bounds: tuple[float, ...]) -> None:
    check(lambda t, x: x.histc(*bounds), arrays((5, 4)))


REFUSED: dict[str, tuple[Case, type[Exception]]] = {
    "more than there are": (lambda t, x: x.topk(9), ogive.errors.IndexRangeError),
    "the number 0": (lambda t, x: x.kthvalue(0), ogive.errors.IndexRangeError),
    "no middle": (lambda t, x: x[:0].median(), ogive.errors.IndexRangeError),
    "no such axis": (lambda t, x: x.sort(1), ogive.errors.AxisError),
    "negative numbers": (
        lambda t, x: t.tensor([-1, 2]).bincount(), ogive.errors.IndexRangeError,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_form_refuses_raises_our_error(name: str) -> None:
    case, error = REFUSED[name]
    with pytest.raises(error):
        case(ogive.torch, ogive.torch.tensor(arrays((5,))[0])).tolist()


MANY_ELEMENTS = {
    "distinct": lambda random: random.random((40, 300)),
    "some equal": lambda random: random.integers(0, 5000, (40, 300)) / 7,
    "most equal": lambda random: random.integers(0, 9, (40, 300)) / 7,
    "with NaN": lambda random: numpy.where(random.random((40, 300)) < 0.02, numpy.nan, 1.0)
    * random.random((40, 300)),
    "zeros of both signs": lambda random: random.integers(-400, 400, (40, 300)) * 0.0,
    "one line": lambda random: random.integers(0, 1 << 17, 9000) / 7,
}


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dim", [0, -1])
@pytest.mark.parametrize("name", MANY_ELEMENTS)
def test_many_elements_that_are_equal_stay_as_they_were(
    name: str, dim: int, descending: bool
) -> None:
    given = MANY_ELEMENTS[name](numpy.random.default_rng(3)).astype("float32")
    found = ogive.torch.tensor(given).sort(dim, descending, stable=True)
    wanted = torch.tensor(given).sort(dim=dim, descending=descending, stable=True)
    assert found[0].is_eager
    numpy.testing.assert_array_equal(numpy.asarray(found[0]), wanted[0])
    numpy.testing.assert_array_equal(numpy.asarray(found[1]), wanted[1])


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("name", MANY_ELEMENTS)
def test_the_first_of_many_elements_are_found(name: str, largest: bool) -> None:
    given = MANY_ELEMENTS[name](numpy.random.default_rng(4)).astype("float32")
    values, places = ogive.torch.tensor(given).topk(7, -1, largest=largest)
    wanted = torch.tensor(given).topk(7, dim=-1, largest=largest).values
    numpy.testing.assert_array_equal(numpy.asarray(values), wanted)
    numpy.testing.assert_array_equal(
        numpy.take_along_axis(given, numpy.asarray(places), -1), wanted
    )
    assert all(len(set(line)) == 7 for line in numpy.asarray(places).reshape(-1, 7).tolist())
