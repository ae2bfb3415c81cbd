"""Data sets and loaders by PyTorch's names."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import ogive
from ogive import Tensor
from ogive.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    random_split,
)
from ogive.errors import ArgumentError, ShapeError
from tests.raising import raises


class Squares(Dataset):
    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, position: int, /) -> tuple[float, int]:
        return float(position), position**2


def test_a_data_set_of_ones_own_is_loaded() -> None:
    batches = list(DataLoader(Squares(5), batch_size=2, num_workers=1))
    assert [y.tolist() for _, y in batches] == [[0, 1], [4, 9], [16]]
    assert len(DataLoader(Squares(5), 2, drop_last=True)) == 2


def test_tensors_are_loaded_in_an_order_that_a_generator_fixes() -> None:
    data = TensorDataset(ogive.arange(10), ogive.arange(10) * 2)
    orders = []
    for _ in range(2):
        generator = ogive.Generator().manual_seed(3)
        loader = DataLoader(data, batch_size=4, shuffle=True, generator=generator)
        found = [(x.tolist(), y.tolist()) for x, y in loader]
        assert all([2 * value for value in x] == y for x, y in found)
        orders.append([value for x, _ in found for value in x])
    assert orders[0] == orders[1] != sorted(orders[0])
    assert sorted(orders[0]) == list(range(10))


def test_items_are_put_together_by_a_function() -> None:
    def put_together(items: list[Any]) -> Tensor:
        return Tensor([y for _, y in items])

    loader = DataLoader(Squares(3), 3, collate_fn=put_together)
    assert [batch.tolist() for batch in loader] == [[0, 1, 4]]


def test_a_data_set_is_split_at_random() -> None:
    parts = random_split(Squares(10), [0.7, 0.2, 0.1], ogive.Generator().manual_seed(0))
    assert [len(part) for part in parts] == [7, 2, 1]
    found = sorted([part[at][1] for part in parts for at in range(len(part))])
    assert found == [number**2 for number in range(10)]
    assert isinstance(parts[0], Subset) and len(DataLoader(parts[0], 2)) == 4
    with raises(ArgumentError, match="do not add up to the 10 items"):
        random_split(Squares(10), [7, 2])
    with raises(ArgumentError, match="do not add up to 1"):
        random_split(Squares(10), [0.5, 0.2])


def test_tensors_of_different_lengths_are_refused() -> None:
    with raises(ShapeError, match=r"tensors of one length, got \(3,\), \(4,\)"):
        TensorDataset(ogive.zeros(3), ogive.zeros(4))


class Countdown(IterableDataset):
    def __iter__(self) -> Iterator[int]:
        return iter(range(5, 0, -1))


def lists(loader: Any) -> list[Any]:
    return [batch.tolist() for batch in loader]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_data_set_that_can_only_be_gone_through_is_loaded(workers: int) -> None:
    assert lists(DataLoader(Countdown(), 2, num_workers=workers)) == [[5, 4], [3, 2], [1]]
    assert lists(DataLoader(Countdown(), 2, drop_last=True)) == [[5, 4], [3, 2]]
    assert list(DataLoader(Countdown(), None, num_workers=workers)) == [5, 4, 3, 2, 1]
    with pytest.raises(TypeError):
        len(DataLoader(Countdown(), 2))


def test_samplers_say_which_items_are_loaded() -> None:
    data = TensorDataset(ogive.arange(10))
    found = [x.tolist() for (x,) in DataLoader(data, 2, sampler=[7, 1, 4])]
    assert found == [[7, 1], [4]]
    batches = BatchSampler(range(0, 10, 3), 3, drop_last=True)
    loader = DataLoader(data, batch_sampler=batches)
    assert [x.tolist() for (x,) in loader] == [[0, 3, 6]] and len(loader) == 1
    (first, *_) = DataLoader(Squares(3), batch_size=None, sampler=[2])
    assert first == [2.0, 4]
    (pair,) = DataLoader([{"x": numpy.ones(2)}], batch_size=None)
    assert pair["x"].tolist() == [1.0, 1.0]


class Letters(Dataset):
    def __len__(self) -> int:
        return 2

    def __getitem__(self, position: Any, /) -> float:
        return {"a": 1.0, "b": 2.0}[position]


def test_positions_need_not_be_numbers() -> None:
    assert lists(DataLoader(Letters(), 2, sampler=["b", "a"])) == [[2.0, 1.0]]


def test_rows_of_tensors_are_put_together_by_a_function() -> None:
    loader = DataLoader(ogive.arange(4), 2, collate_fn=lambda rows: ogive.stack(rows) * 10)
    assert lists(loader) == [[0, 10], [20, 30]]


def test_epochs_have_orders_of_their_own_which_the_seed_decides() -> None:
    def epochs(workers: int) -> list[list[int]]:
        ogive.manual_seed(5)
        loader = DataLoader(range(20), 20, shuffle=True, num_workers=workers)
        found = []
        for _ in range(2):
            batches = iter(loader)
            ogive.rand(1)  # whatever is drawn once an epoch has begun
            found += [batch.tolist() for batch in batches]
        return found

    first, second = epochs(0)
    assert first != second and sorted(first) == sorted(second) == list(range(20))
    assert epochs(2) == [first, second]


def test_random_samplers_draw_as_many_as_they_are_told() -> None:
    generator = ogive.Generator(3)
    twice = list(RandomSampler(range(4), num_samples=10, generator=generator))
    assert sorted(twice[:4]) == sorted(twice[4:8]) == [0, 1, 2, 3] and len(twice) == 10
    again = list(RandomSampler(range(4), True, 200, generator))
    assert set(again) == {0, 1, 2, 3} and len(again) == 200
    assert list(RandomSampler([])) == []
    assert sorted(SubsetRandomSampler([8, 2, 5], generator)) == [2, 5, 8]
    weighted = WeightedRandomSampler([1.0, 0.0, 3.0], 400, generator=generator)
    counts = numpy.bincount(list(weighted), minlength=3)
    assert counts[1] == 0 and 60 < counts[0] < 140 and len(weighted) == 400
    assert sorted(WeightedRandomSampler(Tensor([1.0, 2.0, 3.0]), 3, False)) == [0, 1, 2]


@pytest.mark.parametrize("replacement", [False, True])
def test_more_positions_than_memory_holds_are_drawn_as_they_are_asked_for(
    replacement: bool,
) -> None:
    sampler = RandomSampler(range(50), replacement, int(1e12), ogive.Generator(3))
    first = list(itertools.islice(sampler, 200_000))
    assert numpy.bincount(first, minlength=50).min() > 3600 and len(sampler) == 10**12
    assert first[:50] != first[50:100]
    again = RandomSampler(range(50), replacement, 60, ogive.Generator(3))
    assert list(again) == first[:60]


def test_drawing_again_is_randint() -> None:
    drawn = list(RandomSampler(range(7), True, 100_000, ogive.Generator(5)))
    assert drawn == ogive.randint(7, (100_000,), generator=ogive.Generator(5)).tolist()


def test_data_sets_are_joined() -> None:
    both = ConcatDataset([Squares(2), Subset(Squares(9), [8])])
    assert [both[at][1] for at in (0, 1, 2, -1)] == [0, 1, 64, 64]
    with raises(IndexError, match="there is no item 3 of 3"):
        both[3]
    beside = StackDataset(image=Squares(2), name="ab")
    (batch,) = DataLoader(beside, 2)
    assert batch["image"][1].tolist() == [0, 1] and batch["name"] == ["a", "b"]
    with raises(ShapeError, match=r"data sets of one length, got \[2, 3\]"):
        StackDataset(Squares(2), Squares(3))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: DataLoader([1], shuffle=True, sampler=[0]), "sampler does not go with shuffle"),
        (lambda: DataLoader([1], 2, batch_sampler=[[0]]), "does not go with batch_size"),
        (lambda: DataLoader([1], None, drop_last=True), "batch_size=None does not go with drop"),
        (lambda: DataLoader(Countdown(), shuffle=True), "an IterableDataset does not go with"),
        (lambda: DataLoader([1], 0), "batch_size is 0, and must be at least 1"),
        (lambda: RandomSampler([1], num_samples=0), "num_samples is 0"),
        (lambda: list(RandomSampler([], num_samples=2)), "draw 2 items from an empty data set"),
        (lambda: WeightedRandomSampler([1.0], 2, False), "draw 2 of 1 items without"),
        (lambda: ConcatDataset([]), "at least one data set"),
        (lambda: StackDataset(), "all by position or all by name"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(make: Any, words: str) -> None:
    with raises(ArgumentError, match=words):
        make()
