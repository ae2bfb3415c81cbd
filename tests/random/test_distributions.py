"""Draws of floats and integers follow their distributions, in every dtype, within their bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy
import pytest

import ogive
from ogive import Tensor, random
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, ExecuteError, ShapeError
from tests.raising import raises
from tests.random.statistics import (
    assert_distributed,
    assert_frequencies,
    assert_uncorrelated,
    normal_distribution,
)

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
COUNT = 20_000
TEXT: Any = "a"
HALF: Any = 0.5

DISTRIBUTIONS: dict[str, tuple[Callable[..., Tensor], Callable[[float], float]]] = {
    "rand": (lambda **given: random.rand(COUNT, **given), lambda x: x),
    "uniform": (
        lambda **given: random.uniform(COUNT, low=-3, high=5, **given),
        lambda x: (x + 3) / 8,
    ),
    "randn": (lambda **given: random.randn(COUNT, **given), normal_distribution),
    "normal": (
        lambda **given: random.normal(2.0, 0.5, (COUNT,), **given),
        lambda x: normal_distribution((x - 2) / 0.5),
    ),
    "exponential": (
        lambda **given: random.exponential(COUNT, rate=3, **given),
        lambda x: -math.expm1(-3 * x),
    ),
    "cauchy": (
        lambda **given: random.cauchy(COUNT, median=2, sigma=3, **given),
        lambda x: 0.5 + math.atan((x - 2) / 3) / math.pi,
    ),
    "log_normal": (
        lambda **given: random.log_normal(COUNT, mean=0.5, std=0.25, **given),
        lambda x: normal_distribution((math.log(x) - 0.5) / 0.25),
    ),
    "gumbel": (
        lambda **given: random.gumbel(COUNT, **given),
        lambda x: math.exp(-math.exp(-x)),
    ),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_floats_follow_the_distribution(name: str, dtype: str) -> None:
    draw, distribution = DISTRIBUTIONS[name]
    values = draw(key=random.key(1), dtype=dtype).numpy()
    assert values.dtype == dtype
    assert_distributed(values, distribution)
    assert_uncorrelated(values[1:], values[:-1])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["rand", "randn", "exponential"])
def test_half_floats_are_near_the_same_distribution(name: str, dtype: str) -> None:
    draw, _ = DISTRIBUTIONS[name]
    values = draw(key=random.key(1), dtype=dtype)
    assert values.dtype.name == dtype
    numbers = values.numpy().astype(numpy.float64)
    expected = draw(key=random.key(1), dtype="float64").numpy()
    assert abs(numbers.mean() - expected.mean()) < 0.02
    assert abs(numbers.std() - expected.std()) < 0.02


@pytest.mark.parametrize("name", ["rand", "randn"])
def test_every_bit_of_float64_is_random(name: str) -> None:
    """Were the numbers made of 32 bits, some of 20,000 would be equal."""
    draw, _ = DISTRIBUTIONS[name]
    values = draw(key=random.key(1), dtype="float64").numpy()
    assert len(set(values.tolist())) == COUNT
    if name == "rand":
        last = (values * 2.0**53).astype(numpy.int64) & 0xFF
        assert_frequencies(numpy.bincount(last, minlength=256), numpy.ones(256))


@pytest.mark.parametrize(
    ("dtype", "bits"), [("bfloat16", 8), ("float16", 11), ("float32", 24), ("float64", 53)]
)
def test_uniform_numbers_are_multiples_of_the_precision_below_one(dtype: str, bits: int) -> None:
    values = random.rand(COUNT, dtype=dtype, key=random.key(2)).numpy().astype(numpy.float64)
    scaled = values * 2.0**bits
    assert (scaled == numpy.floor(scaled)).all()
    assert 0 <= values.min() < 0.01 and 0.99 < values.max() < 1


@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform_numbers_stay_below_their_end(dtype: str) -> None:
    """From 1 up, rounding would reach 1.05 were it not kept away."""
    kind = numpy.dtype(getattr(ml_dtypes, dtype, dtype))
    low, high = [float(kind.type(bound)) for bound in (1, 1 + 8 * float(ml_dtypes.finfo(kind).eps))]
    values = random.uniform(COUNT, low=low, high=high, dtype=dtype).numpy().astype(numpy.float64)
    assert values.min() == low
    assert values.max() == float(numpy.nextafter(kind.type(high), kind.type(low)))


def test_uniform_over_nothing_is_its_bound() -> None:
    assert random.uniform(3, low=2.5, high=2.5).tolist() == [2.5] * 3


def test_exponential_and_gumbel_numbers_are_finite_and_positive() -> None:
    assert random.exponential(1_000_000, key=random.key(0)).min().item() > 0
    assert numpy.isfinite(random.gumbel(1_000_000, key=random.key(0)).numpy()).all()


def test_the_normal_distribution_has_its_tails() -> None:
    values = numpy.abs(random.randn(1_000_000, key=random.key(0)).numpy())
    for deviations in (3, 4):
        expected = 2e6 * normal_distribution(-deviations)
        assert abs((values > deviations).sum() - expected) < 4 * math.sqrt(expected)


def test_normal_takes_tensors_that_broadcast() -> None:
    mean, deviation = Tensor([[0.0], [100.0]]).double(), Tensor([1.0, 0.0, 2.0]).double()
    values = random.normal(mean, deviation, key=random.key(0))
    assert values.shape == (2, 3)
    assert values.dtype is ogive.float64
    assert values[:, 1].tolist() == [0.0, 100.0]
    z = random.randn(2, 3, dtype="float64", key=random.key(0)).numpy()
    assert (values.numpy() == z * deviation.numpy() + mean.numpy()).all()
    assert random.normal(mean, 0.0).tolist() == [[0.0], [100.0]]


# Integers


@pytest.mark.parametrize(("low", "high"), [(0, 10), (-7, 93), (5, 6)])
def test_integers_are_equally_frequent(low: int, high: int) -> None:
    values = random.randint(low, high, (COUNT,), key=random.key(1)).numpy()
    assert values.dtype == numpy.int64
    assert low <= values.min() and values.max() < high
    if high - low > 1:
        counts = numpy.bincount(values - low, minlength=high - low)
        assert_frequencies(counts, numpy.ones(high - low))


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_integers_come_in_every_dtype(dtype: str) -> None:
    signed = not dtype.startswith("u")
    low = -5 if signed else 2
    values = random.randint(low, 100, (1000,), dtype=dtype, key=random.key(1))
    expected = random.randint(low, 100, (1000,), key=random.key(1)).numpy()
    assert values.dtype.name == dtype
    assert (values.numpy().astype(numpy.int64) == expected).all()


def test_integers_span_the_whole_of_their_dtype() -> None:
    signs = random.randint(-(1 << 63), 1 << 63, (100,), key=random.key(0)).numpy() > 0
    assert 0 < signs.sum() < 100
    words = random.randint(1 << 64, (1000,), dtype="uint64", key=random.key(0)).numpy()
    ones = [int((words >> numpy.uint64(bit) & numpy.uint64(1)).sum()) for bit in range(64)]
    assert all(400 < count < 600 for count in ones)
    assert set(random.randint(2, (100,), dtype="bool").tolist()) == {False, True}


def test_likes_have_the_shape_and_dtype_of_their_tensor() -> None:
    tensor = ogive.zeros(2, 3, dtype="float64")
    for made in (ogive.rand_like(tensor), ogive.randn_like(tensor), ogive.randint_like(tensor, 9)):
        assert made.shape == (2, 3)
        assert made.dtype is ogive.float64
    assert ogive.rand_like(ogive.arange(3), dtype="float32").dtype is ogive.float32
    assert ogive.randint_like(ogive.zeros(3, dtype="int8"), 1, 2).tolist() == [1, 1, 1]


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0, 2), (2, 3, 5)])
def test_draws_take_any_shape(shape: tuple[int, ...]) -> None:
    assert random.rand(*shape).numpy().shape == shape
    assert random.randn(shape).numpy().shape == shape
    assert random.randint(5, shape).numpy().shape == shape
    assert random.bernoulli(ogive.full(shape, 0.5)).numpy().shape == shape


# Choices


@pytest.mark.parametrize("dtype", FLOATS)
def test_bernoulli_is_one_as_often_as_it_should(dtype: str) -> None:
    probabilities = ogive.full((COUNT,), 0.25, dtype=dtype)
    for values in (random.bernoulli(probabilities, key=random.key(1)),
                   probabilities.bernoulli(0.25, key=random.key(1))):  # fmt: skip
        assert values.dtype.name == dtype
        ones = int(values.sum(dtype="float32").item())
        assert_frequencies(numpy.array([ones, COUNT - ones]), numpy.array([0.25, 0.75]))


def test_bernoulli_is_certain_of_zero_and_one() -> None:
    certain = Tensor([0.0, 1.0]).unsqueeze(1).expand(2, COUNT)
    assert certain.bernoulli().sum(1).tolist() == [0, COUNT]
    assert ogive.ones(COUNT).bernoulli(0.0).sum().item() == 0
    assert ogive.ones(COUNT).bernoulli(1.0).sum().item() == COUNT


def test_permutations_have_every_number_once_and_are_equally_frequent() -> None:
    assert sorted(random.randperm(1000, key=random.key(1)).tolist()) == list(range(1000))
    generator = random.Generator(0)
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(600):
        order = tuple(random.randperm(3, generator=generator).tolist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6
    assert_frequencies(numpy.array(list(counts.values())), numpy.ones(6))
    assert random.randperm(5, dtype="int32").dtype is ogive.int32
    assert random.randperm(0).tolist() == []


def test_multinomial_with_replacement_draws_in_proportion() -> None:
    weights = Tensor([[1.0, 0.0, 2.0, 5.0], [1.0, 1.0, 1.0, 0.0]])
    drawn = random.multinomial(weights, COUNT, replacement=True, key=random.key(1))
    assert drawn.dtype is ogive.int64
    first, second = [numpy.bincount(row, minlength=4) for row in drawn.numpy()]
    assert first[1] == second[3] == 0
    assert_frequencies(first[[0, 2, 3]], numpy.array([1.0, 2.0, 5.0]))
    assert_frequencies(second[:3], numpy.ones(3))


def test_multinomial_without_replacement_draws_one_after_the_other() -> None:
    weights = ogive.Tensor([1.0, 2.0, 0.0, 5.0]).expand(8000, 4)
    drawn = random.multinomial(weights, 2, key=random.key(1)).numpy()
    assert (drawn[:, 0] != drawn[:, 1]).all() and not (drawn == 2).any()
    first = numpy.bincount(drawn[:, 0], minlength=4)
    assert_frequencies(first[[0, 1, 3]], numpy.array([1.0, 2.0, 5.0]))
    after = numpy.bincount(drawn[drawn[:, 0] == 3, 1], minlength=4)
    assert_frequencies(after[[0, 1]], numpy.array([1.0, 2.0]))


def test_multinomial_without_replacement_can_draw_all() -> None:
    assert sorted(Tensor([0.5, 0.1, 7.0]).multinomial(3).tolist()) == [0, 1, 2]


# In place


@pytest.mark.parametrize("dtype", INTEGERS)
def test_random_fills_integers_up_to_the_greatest(dtype: str) -> None:
    values = ogive.zeros(5000, dtype=dtype).random_(key=random.key(0)).numpy()
    greatest = numpy.iinfo(dtype).max
    assert values.min() >= 0
    assert float(values.max()) > 0.98 * greatest


def test_random_fills_floats_and_takes_bounds() -> None:
    values = ogive.zeros(5000, dtype="float16").random_(key=random.key(0)).numpy()
    assert values.max() <= 2048 and (values == numpy.floor(values)).all()
    drawn = ogive.zeros(5000, dtype="int32").random_(-3, 4).numpy()
    assert sorted(set(drawn.tolist())) == list(range(-3, 4))


def test_filling_in_place_gives_the_draw_and_the_tensor_itself() -> None:
    key = random.key(1)
    for name, expected in [
        ("uniform_", random.rand(4, key=key)),
        ("normal_", random.randn(4, key=key)),
        ("exponential_", random.exponential(4, key=key)),
        ("random_", random.randint((1 << 24) + 1, (4,), key=key)),
    ]:
        tensor = Tensor([1.0, 2.0, 3.0, 4.0])
        assert getattr(tensor, name)(key=key) is tensor
        assert tensor.tolist() == expected.tolist()
    assert ogive.ones(2, 2).bernoulli_(Tensor([0.0, 1.0])).tolist() == [[0, 1], [0, 1]]
    assert ogive.zeros(3, dtype="bool").bernoulli_(1).tolist() == [True] * 3


@pytest.mark.parametrize(
    ("action", "error", "words"),
    [
        (lambda: random.rand(2, dtype="int32"), DtypeError, "rand draws float64.*, not int32"),
        (lambda: random.randn(2, dtype="float8_e5m2"), DtypeError, "not float8_e5m2; cast"),
        (lambda: random.rand(-1), ShapeError, "negative length"),
        (lambda: random.uniform(2, low=2, high=1), ArgumentError, "low is 2, which is greater"),
        (lambda: random.uniform(2, high=float("inf")), ArgumentError, "the bounds 0.0 and inf"),
        (lambda: random.uniform(2, low=-3e38, high=3e38), ArgumentError, "cannot hold the bounds"),
        (lambda: random.uniform(2, low=TEXT), ArgumentTypeError, "uniform takes"),
        (lambda: random.normal(0.0, -1.0, (2,)), ArgumentError, "std is -1.0, and cannot be neg"),
        (lambda: random.normal(0.0, 1.0), ArgumentError, "two numbers need a size"),
        (lambda: random.normal(Tensor([0.0]), size=(2,)), ArgumentError, "leave it out"),
        (lambda: random.exponential(2, rate=0), ArgumentError, "rate is 0, and must be positive"),
        (lambda: random.randint(3, 3, (2,)), ArgumentError, r"no integer in \[3, 3\)"),
        (lambda: random.randint(5), ArgumentTypeError, r"takes \(high, size\) or \(low, high"),
        (lambda: random.randint(300, (2,), dtype="uint8"), ArgumentError, "cannot hold 0 to 299"),
        (lambda: random.randint(1.5, (2,)), ArgumentTypeError, "a bound must be an integer"),
        (lambda: random.bernoulli(Tensor([1])), DtypeError, "bernoulli draws float64"),
        (lambda: random.bernoulli(HALF), ArgumentTypeError, "takes a tensor of probabilities"),
        (lambda: ogive.ones(2).bernoulli(1.5), ArgumentError, "between 0 and 1, not 1.5"),
        (lambda: random.randperm(-1), ArgumentError, "n is -1, and cannot be negative"),
        (lambda: random.randperm(300, dtype="uint8"), ArgumentError, "cannot hold 0 to 299"),
        (lambda: random.multinomial(ogive.ones(3), 4), ArgumentError, "4 samples without replac"),
        (lambda: random.multinomial(ogive.ones(3), 0), ArgumentError, "is 0, and must be positive"),
        (lambda: random.multinomial(ogive.ones(1, 1, 3), 1), ShapeError, r"\(rows, n\), not"),
        (lambda: random.multinomial(ogive.arange(3), 1), DtypeError, "weights of floats"),
        (
            lambda: random.multinomial(Tensor([1.0, -1.0]), 1).realize(),
            ExecuteError,
            "'multinomial' raised ValueError: weights must be finite and not negative",
        ),
        (
            lambda: random.multinomial(Tensor([1.0, 0.0]), 2).realize(),
            ExecuteError,
            "2 of the weights must be positive",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(action: Any, error: type[Exception], words: str) -> None:
    with raises(error, match=words):
        action()


def test_trials_until_success_follow_the_geometric_distribution() -> None:
    drawn = random.geometric(COUNT, p=0.25, key=random.key(3)).numpy()
    assert drawn.dtype == numpy.int64 and drawn.min() == 1
    counts = numpy.bincount(numpy.minimum(drawn, 9))[1:]
    assert_frequencies(counts, numpy.array([*[0.25 * 0.75**k for k in range(8)], 0.75**8]))
    with raises(ArgumentError, match="above 0"):
        random.geometric(3, p=0.0)
