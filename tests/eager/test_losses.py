"""Losses of eager tensors, compared with PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import ogive.errors
import ogive.torch as ours
from tests.eager.both_libraries import compare, numbers
from tests.raising import raises

REDUCTIONS = ["mean", "sum", "none"]
DTYPES = ["float32", "float64"]
DISTANCES: list[tuple[str, dict[str, Any]]] = [
    ("mse_loss", {}), ("l1_loss", {}), ("smooth_l1_loss", {}), ("smooth_l1_loss", {"beta": 0.3}),
    ("huber_loss", {}), ("huber_loss", {"delta": 0.4}),
]  # fmt: skip


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "options"), DISTANCES)
def test_losses_of_differences(
    name: str, options: dict[str, Any], dtype: str, reduction: str
) -> None:
    def call(library: Any, x: Any, y: Any) -> Any:
        return getattr(library.nn.functional, name)(x, y, reduction=reduction, **options)

    for shape in [(4, 3), (5,), (), (2, 1, 3), (0, 3)]:
        compare(call, numbers(*shape, dtype=dtype), numbers(*shape, dtype=dtype, seed=1))


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])
def test_a_target_of_another_shape_broadcasts(name: str) -> None:
    def call(library: Any, x: Any, y: Any) -> Any:
        return getattr(library.nn.functional, name)(x, y)

    compare(call, numbers(4, 1), numbers(3))
    compare(call, numbers(3), numbers(2, 3))


@pytest.mark.parametrize("reduction", [*REDUCTIONS, "batchmean"])
@pytest.mark.parametrize("log_target", [False, True])
def test_divergence(log_target: bool, reduction: str) -> None:
    def call(library: Any, x: Any, y: Any) -> Any:
        return library.nn.functional.kl_div(x, y, reduction=reduction, log_target=log_target)

    compare(call, numbers(4, 3), numpy.abs(numbers(4, 3, seed=1)))
    compare(call, numbers(4, 3), numpy.array([[0, 0.5, 1]] * 4, "float32"), tracked=False)


def test_divergence_of_a_target_of_zero_is_that_of_pytorch() -> None:
    goal = numpy.array([0, 0.5, 1], "float32")
    compare(lambda library, x, y: library.nn.functional.kl_div(x, y), numbers(3), goal)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_binary_cross_entropy(dtype: str, reduction: str) -> None:
    def call(library: Any, x: Any, y: Any, *weight: Any) -> Any:
        return library.nn.functional.binary_cross_entropy(x, y, *weight, reduction=reduction)

    draw = numpy.random.default_rng(0)
    x, y = draw.random((4, 3)).astype(dtype), draw.random((4, 3)).astype(dtype)
    compare(call, x, y)
    x[0, 0], x[1, 1] = 0, 1
    compare(call, x, y, tracked=False)
    compare(call, x, y, numbers(3, dtype=dtype), tracked=False)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weights", ["", "weight", "pos_weight", "both"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_binary_cross_entropy_with_logits(dtype: str, weights: str, reduction: str) -> None:
    more = {
        name: numpy.abs(numbers(3, dtype=dtype)) + 0.5
        for name in ("weight", "pos_weight")
        if weights in (name, "both")
    }

    def call(library: Any, x: Any, y: Any) -> Any:
        named = {name: library.tensor(value) for name, value in more.items()}
        function = library.nn.functional.binary_cross_entropy_with_logits
        return function(x, y, reduction=reduction, **named)

    compare(call, numbers(4, 3, dtype=dtype) * 4, numpy.abs(numbers(4, 3, dtype=dtype)))
    compare(call, numpy.array([[-200.0, 0, 200]], dtype), numpy.array([[1.0, 0, 0]], dtype))


CLASSES = [((4, 3), (4,)), ((3,), ()), ((2, 3, 4), (2, 4)), ((2, 3, 2, 2), (2, 2, 2))]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("shape", "entries"), CLASSES)
@pytest.mark.parametrize("ignored", [-100, 1])
@pytest.mark.parametrize("name", ["cross_entropy", "smoothed", "nll_loss"])
def test_losses_of_classes(
    name: str, shape: tuple[int, ...], entries: tuple[int, ...], weighted: bool, ignored: int,
    reduction: str,
) -> None:  # fmt: skip
    options: dict[str, Any] = {"reduction": reduction, "ignore_index": ignored}
    if name == "smoothed":
        name, options["label_smoothing"] = "cross_entropy", 0.2
    weights = numpy.array([0.5, 1.5, 2], "float64")
    target = numpy.random.default_rng(2).integers(0, 3, entries)
    target = numpy.where(target == 1, 2, target) if entries == () else target

    def call(library: Any, x: Any, y: Any) -> Any:
        weight = library.tensor(weights) if weighted else None
        return getattr(library.nn.functional, name)(x, y, weight, **options)

    compare(call, numbers(*shape, dtype="float64"), target)


def test_targets_that_are_ignored_count_nothing() -> None:
    def call(library: Any, x: Any, y: Any) -> Any:
        return library.nn.functional.cross_entropy(x, y)

    compare(call, numbers(4, 3), numpy.array([0, -100, 2, -100]))
    compare(call, numbers(2, 3), numpy.array([-100, -100]), tracked=False)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("shape", [(4, 3), (3,), (2, 3, 4)])
def test_cross_entropy_of_probabilities(
    shape: tuple[int, ...], smoothing: float, weighted: bool, reduction: str
) -> None:
    def call(library: Any, x: Any, y: Any) -> Any:
        weight = library.tensor(numpy.array([0.5, 1.5, 2], "float32")) if weighted else None
        function = library.nn.functional.cross_entropy
        return function(x, y, weight, reduction=reduction, label_smoothing=smoothing)

    compare(call, numbers(*shape), numpy.abs(numbers(*shape, seed=1)))


def test_scores_that_are_large_do_not_overflow() -> None:
    def call(library: Any, x: Any, y: Any) -> Any:
        return library.nn.functional.cross_entropy(x, y)

    compare(call, numpy.array([[1000.0, -1000], [0, 500]], "float32"), numpy.array([0, 0]))


@pytest.mark.parametrize("classes", [[0, 3], [-1, 0]])
def test_a_class_that_is_not_there_raises(classes: list[int]) -> None:
    with pytest.raises(ogive.errors.IndexRangeError):
        ours.nn.functional.cross_entropy(ours.ones(2, 3), ours.tensor(classes))


def test_a_reduction_that_is_not_known_raises() -> None:
    x = ours.tensor([1.0])
    with raises(ogive.errors.ArgumentError, match="reduction"):
        ours.nn.functional.mse_loss(x, x, reduction="median")


def test_classes_of_another_dtype_raise() -> None:
    with raises(ogive.errors.DtypeError, match="class indices"):
        ours.nn.functional.cross_entropy(ours.ones(2, 3), ours.tensor([0, 1]).int())
