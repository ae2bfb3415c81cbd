"""Data sets and loaders by PyTorch's names."""

from __future__ import annotations

from typing import Any

import pytest

import ogive
from ogive import Tensor
from ogive.data import DataLoader, Dataset, Subset, TensorDataset, random_split
from ogive.errors import ArgumentError, ShapeError


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
    with pytest.raises(ArgumentError, match="are not the 10 items there are"):
        random_split(Squares(10), [7, 2])
    with pytest.raises(ArgumentError, match="do not add up to 1"):
        random_split(Squares(10), [0.5, 0.2])


def test_tensors_of_different_lengths_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"tensors of one length, got \(3,\), \(4,\)"):
        TensorDataset(ogive.zeros(3), ogive.zeros(4))
