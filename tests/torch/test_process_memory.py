"""Processes write to the tensors that share memory, and train one model."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import ogive.torch as torch
from ogive.errors import StateError
from tests.raising import raises

nn: Any = torch.nn


def write(tensor: Any) -> None:
    with torch.no_grad():
        tensor.add_(1)
        tensor[0] = 7


def train(model: Any, name: str, steps: int) -> None:
    torch.set_num_threads(1)
    optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        (model(torch.ones(4, 3)) - 2).square().mean().backward()
        optimizer.step()


def write_number(number: int, tensor: Any) -> None:
    tensor[number] = number + 1.0


def run(function: Any, *args: Any, method: str = "fork", count: int = 1) -> None:
    processes = [
        torch.multiprocessing.get_context(method).Process(target=function, args=args)
        for _ in range(count)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0


@pytest.mark.parametrize("size", [3, 100_000])
def test_what_a_process_writes_is_read_by_the_others(size: int) -> None:
    x = torch.zeros(size).share_memory_()
    assert x.is_shared()
    run(write, x)
    assert x[:3].tolist() == [7, 1, 1]


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_processes_train_one_model(name: str) -> None:
    model = nn.Linear(3, 1)
    assert model.share_memory() is model
    assert all(p.is_shared() and p.is_leaf for p in model.parameters())

    def loss() -> Any:
        return (model(torch.ones(4, 3)) - 2).square().mean().item()

    before = loss()
    run(train, model, name, 20, count=2)
    assert loss() < before / 10


@pytest.mark.soak  # two new interpreters
def test_spawned_processes_write_to_the_memory_of_their_arguments() -> None:
    x = torch.zeros(2, 1).share_memory_()
    torch.multiprocessing.spawn(write_number, (x,), nprocs=2)
    assert x.tolist() == [[1], [2]]


def test_a_copy_shares_nothing() -> None:
    x = torch.zeros(2).share_memory_()
    for other in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.clone()):
        assert not other.is_shared()
        other.add_(1)
    assert x.tolist() == [0, 0]
    assert x[1:].is_shared()


def test_a_tensor_whose_memory_is_shown_cannot_move() -> None:
    x = nn.Parameter(torch.zeros(3))
    shown = x.detach().numpy()
    with raises(StateError, match="share_memory_"):
        x.share_memory_()
    assert shown.tolist() == [0, 0, 0]
