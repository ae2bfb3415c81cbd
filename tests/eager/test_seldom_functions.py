"""Functions that programs call now and then are done at once as well, beside PyTorch's."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest
import torch

import ogive
import ogive.torch as ours
from tests.eager.both_libraries import compare, numbers
from tests.raising import raises


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["lgamma", "digamma"])
def test_gamma_functions_of_positive_numbers(name: str, dtype: str) -> None:
    given = (abs(numbers(3, 40)) * 20 + 1e-3).astype(dtype)
    compare(lambda module, x: getattr(module, name)(x), given, tolerance=1e-5)


@pytest.mark.parametrize("value", [0.0, -0.5, -2.0, math.inf, math.nan])
def test_gamma_functions_at_their_poles(value: float) -> None:
    for name in ("lgamma", "digamma"):
        found = getattr(ours.tensor([value]), name)().tolist()
        numpy.testing.assert_allclose(found, getattr(torch.tensor([value]), name)(), rtol=1e-5)


def test_the_inverse_of_erf() -> None:
    given = numpy.concatenate([numpy.linspace(-0.9999, 0.9999, 101), [1e-9, -1e-20, 0]])
    compare(lambda module, x: module.erfinv(x), given.astype("float32"), tolerance=2e-5)
    assert ours.tensor([1.0, -1.0]).erfinv().tolist() == [math.inf, -math.inf]


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_running_sums_of_exponentials(dim: int) -> None:
    compare(lambda module, x: module.logcumsumexp(x, dim), numbers(4, 6, 5) * 30)


@pytest.mark.parametrize("accumulate", [False, True])
def test_elements_put_at_positions_of_all(accumulate: bool) -> None:
    places = [[5, -1], [0, 7]]
    compare(
        lambda module, x, values: x.put(module.tensor(places), values, accumulate=accumulate),
        numbers(3, 4), numbers(2, 2),
    )  # fmt: skip


def test_powers_of_a_line() -> None:
    compare(lambda module, x: module.vander(x, 4), numbers(5), tracked=False)
    compare(lambda module, x: module.linalg.vander(x, N=3), numbers(2, 5), tracked=False)


def test_what_is_joined_is_eager_where_a_later_part_is() -> None:
    ones = ogive.ones(2, 3)
    assert not ones.is_eager
    found = ours.cat([ones, ours.zeros(1, 3)])
    assert found.is_eager
    assert found.tolist() == [[1.0] * 3, [1.0] * 3, [0.0] * 3]


def test_numbers_are_taken_over_at_once() -> None:
    for given in (2.5, 3, True, [1.0, 2.0], (1, 2)):
        found, wanted = ours.asarray(given), torch.asarray(given)
        assert found.is_eager
        assert found.tolist() == wanted.tolist()
        assert str(found.dtype) == str(wanted.dtype)


@pytest.mark.parametrize(
    ("case", "reduction"), [("padded", "mean"), ("in a line", "sum"), ("impossible", "none")]
)
def test_losses_of_alignments(case: str, reduction: str) -> None:
    random = numpy.random.default_rng(8)
    counts, times = numpy.array([3, 2, 4]), numpy.array([12, 9, 10])
    labels = random.integers(1, 6, (3, 4))
    if case == "in a line":
        labels = numpy.concatenate([row[:n] for row, n in zip(labels, counts, strict=True)])
    if case == "impossible":
        times[0] = 2

    def loss(module: Any, x: Any) -> Any:
        return module.nn.functional.ctc_loss(
            x.log_softmax(-1), module.tensor(labels), module.tensor(times), module.tensor(counts),
            reduction=reduction, zero_infinity=case == "impossible",
        )  # fmt: skip

    compare(loss, numbers(12, 3, 6) * 2, tolerance=2e-5)


def test_strides_show_memory() -> None:
    for module in (torch, ours):
        x = module.arange(10.0)
        windows = module.as_strided(x, (4, 3), (2, 1), 1)
        windows[1, 2] = 77.0
        x[1] = 5.0
        assert x.tolist() == [0, 5, 2, 3, 4, 77, 6, 7, 8, 9]
        assert windows.tolist() == [[5, 2, 3], [3, 4, 77], [77, 6, 7], [7, 8, 9]]
        assert module is torch or (windows.is_eager and x.is_eager)
        with raises(Exception, match=r"strided|storage"):
            module.as_strided(x, (4, 3), (4, 1)).tolist()


def test_where_memory_lies_is_told_and_stays() -> None:
    x = ours.zeros(3, 4)
    place = x.data_ptr()
    x += 1
    assert x[1].data_ptr() == place + 16
    assert x.view(-1).data_ptr() == place == x.data_ptr()
    assert x.is_eager


def test_distributions_of_numbers_are_eager() -> None:
    normal = ours.distributions.Normal(0.0, 1.0)
    assert normal.loc.is_eager
    found = normal.cdf(ours.tensor([0.5]))
    assert found.is_eager
    wanted = torch.distributions.Normal(0.0, 1.0).cdf(torch.tensor([0.5]))
    numpy.testing.assert_allclose(found.tolist(), wanted.tolist(), rtol=1e-5)


def test_initial_values_are_drawn_at_once() -> None:
    init = ours.nn.init
    cut = init.trunc_normal_(ours.empty(400), std=0.5, a=-0.6, b=0.6)
    turned = init.orthogonal_(ours.empty(4, 9), gain=2.0)
    assert cut.is_eager
    assert turned.is_eager
    assert abs(numpy.asarray(cut)).max() <= 0.6
    numpy.testing.assert_allclose(
        numpy.asarray(turned @ turned.T), 4 * numpy.eye(4), rtol=1e-5, atol=1e-5
    )
