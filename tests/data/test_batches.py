"""Batches: what is in them, in which order, and what is refused."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy
import pytest

import ogive
from ogive import Tensor, data, random
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from tests.raising import raises

NUMBERS = ogive.arange(10)
ANYTHING: Any = 1.5
IMAGES = Tensor(numpy.arange(40, dtype=numpy.float32).reshape(10, 4))


def labels_of(batches: data.Batches) -> list[int]:
    return [label for _, labels in batches for label in labels.tolist()]


@pytest.mark.parametrize(("drop_last", "sizes"), [(False, [4, 4, 2]), (True, [4, 4])])
@pytest.mark.parametrize("prefetch", [0, 2])
def test_batches_have_their_sizes(drop_last: bool, sizes: list[int], prefetch: int) -> None:
    batches = data.Batches((IMAGES, NUMBERS), 4, drop_last=drop_last, prefetch=prefetch)
    assert len(batches) == len(sizes)
    shapes = [(x.shape, y.shape) for x, y in batches]
    assert shapes == [((size, 4), (size,)) for size in sizes]


def test_rows_stay_together_and_keep_their_dtype() -> None:
    for images, numbers in data.Batches((IMAGES, NUMBERS), 3, shuffle=True, seed=1):
        assert images.dtype is ogive.float32
        assert numbers.dtype is ogive.int64
        assert (images.numpy() == IMAGES.numpy()[numbers.numpy()]).all()


def test_without_shuffling_the_order_is_that_of_the_data() -> None:
    batches = data.Batches((IMAGES, NUMBERS), 4)
    assert labels_of(batches) == labels_of(batches) == list(range(10))


def test_epochs_come_in_the_order_that_keys_say() -> None:
    batches = data.Batches((IMAGES, NUMBERS), 4, shuffle=True, seed=5)
    for epoch in range(3):
        assert batches.epoch == epoch
        order = random.randperm(10, key=random.fold_in(random.key(5), epoch))
        assert labels_of(batches) == order.tolist()


def test_an_epoch_can_be_chosen() -> None:
    batches = data.Batches((IMAGES, NUMBERS), 4, shuffle=True, seed=5)
    epochs = [labels_of(batches) for _ in range(3)]
    batches.epoch = 1
    assert labels_of(batches) == epochs[1] != epochs[0]


def test_without_a_seed_the_default_generator_decides() -> None:
    def first_epoch() -> list[int]:
        return labels_of(data.Batches((IMAGES, NUMBERS), 4, shuffle=True))

    ogive.manual_seed(3)
    expected = first_epoch()
    assert first_epoch() != expected
    ogive.manual_seed(3)
    data.Batches((IMAGES, NUMBERS), 4)  # without shuffling, it takes nothing
    assert first_epoch() == expected


def test_prefetching_changes_nothing() -> None:
    plain, ahead = [
        data.Batches((IMAGES, NUMBERS), 3, shuffle=True, seed=2, prefetch=count) for count in (0, 3)
    ]
    for _ in range(2):
        assert labels_of(plain) == labels_of(ahead)


def test_one_tensor_an_array_or_named_ones_can_be_cut() -> None:
    assert [x.tolist() for x in data.Batches(NUMBERS, 6)] == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9]]
    array = numpy.arange(4, dtype=numpy.int32)
    assert [x.dtype for x in data.Batches(array, 2)] == [ogive.int32] * 2
    (named,) = data.Batches({"image": IMAGES, "label": NUMBERS}, 10)
    assert named["image"].shape == (10, 4)
    assert named["label"].tolist() == list(range(10))


class Squares:
    """A data set of ours."""

    def __len__(self) -> int:
        return 5

    def __getitem__(self, position: int) -> tuple[Any, int]:
        return numpy.full(3, position, dtype=numpy.float32), position**2


def test_any_data_set_is_read_item_by_item() -> None:
    batches = list(data.Batches(Squares(), 2, prefetch=1))
    assert [x.shape for x, _ in batches] == [(2, 3), (2, 3), (1, 3)]
    assert [y.tolist() for _, y in batches] == [[0, 1], [4, 9], [16]]
    assert [x.tolist() for x in data.Batches([3, 1, 2], 2)] == [[3, 1], [2]]


def test_a_collate_function_of_ones_own_is_used() -> None:
    batches = data.Batches(Squares(), 2, collate=lambda items: [item[1] for item in items])
    assert list(batches) == [[0, 1], [4, 9], [16]]


class Point(NamedTuple):
    x: float
    name: str


def test_items_are_collated_by_their_form() -> None:
    numbers = data.collate([1.5, 2.5])
    assert numbers.dtype is ogive.float64
    assert numbers.tolist() == [1.5, 2.5]
    assert data.collate([True, False]).dtype is ogive.bool
    assert data.collate([numpy.float64(1), numpy.float64(2)]).dtype is ogive.float64
    assert data.collate([Tensor([1, 2]), Tensor([3, 4])]).tolist() == [[1, 2], [3, 4]]
    nested = data.collate([{"a": [1, 2.0]}, {"a": [3, 4.0]}])
    assert [each.tolist() for each in nested["a"]] == [[1, 3], [2.0, 4.0]]
    points = data.collate([Point(1.0, "p"), Point(2.0, "q")])
    assert isinstance(points, Point)
    assert list(points.name) == ["p", "q"]
    names, _ = data.collate([("a", 1)])
    assert names == ("a",)
    assert isinstance(data.collate([(1, 2), (3, 4)]), list)


@pytest.mark.parametrize(
    ("action", "error", "words"),
    [
        (lambda: data.Batches(NUMBERS, 0), ArgumentError, "size is 0, and must be at least 1"),
        (lambda: data.Batches(NUMBERS, ANYTHING), ArgumentTypeError, "size must be an integer"),
        (lambda: data.Batches(NUMBERS, 2, prefetch=-1), ArgumentError, "prefetch is -1, and cann"),
        (lambda: data.Batches(7, 2), ArgumentTypeError, "with __len__ and __getitem__, not int"),
        (
            lambda: data.Batches((IMAGES, ogive.arange(9)), 2),
            ShapeError,
            r"1 has the shape \(9,\), where the first has \(10, 4\)",
        ),
        (lambda: data.Batches(Tensor(7), 2), ShapeError, r"'the tensor' has the shape \(\)"),
        (lambda: data.Batches({"a": [1]}, 2), ArgumentTypeError, "'a' must be a tensor or an arr"),
        (lambda: data.collate([]), ArgumentError, "without items"),
        (lambda: data.collate([object()]), ArgumentTypeError, "make a tensor of object"),
        (lambda: data.collate([(1, 2), (1,)]), ShapeError, "item 1 of the batch has 1 entries"),
        (
            lambda: data.collate([numpy.zeros(2), numpy.zeros(3)]),
            ShapeError,
            r"item 1 of the batch has the shape \(3,\), and item 0 has \(2,\)",
        ),
        (lambda: data.collate([numpy.array("a")] * 2), DtypeError, "<U1"),
    ],
)
def test_what_makes_no_batches_is_refused(action: Any, error: type[Exception], words: str) -> None:
    with raises(error, match=words):
        action()
