"""A program that nobody has started as ranks is the only one, and needs no MPI."""

from __future__ import annotations

from typing import Any

import pytest

import ogive
from ogive import Tensor, distributed, nn
from ogive.distributed.mpi_library import is_announced, load_mpi
from ogive.distributed.world import World
from ogive.errors import (
    ArgumentError,
    ArgumentTypeError,
    AxisError,
    DtypeError,
    MissingPackageError,
)
from tests.new_process import output_of
from tests.raising import raises


def test_exchanges_of_one_rank_give_what_they_are_given() -> None:
    distributed.init()
    assert (distributed.rank(), distributed.size()) == (0, 1)
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    distributed.barrier()
    for made in [
        distributed.all_reduce(x), distributed.all_reduce(x, "mean"), distributed.all_gather(x, 1),
        distributed.reduce_scatter(x, "max", 1), distributed.broadcast(x),
        distributed.all_to_all(x, 0, 1),
    ]:  # fmt: skip
        assert made.tolist() == x.tolist()


def test_what_is_given_back_is_a_tensor_of_its_own() -> None:
    x = Tensor([1.0])
    made = distributed.all_reduce(x)
    x += 1
    assert made.tolist() == [1.0]


def test_gradients_flow_through_exchanges_of_one_rank() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    (distributed.all_gather(distributed.all_reduce(x) * 2) * 3).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [6.0, 6.0]


def test_gradients_of_one_rank_are_their_own_mean() -> None:
    model = nn.Linear(2, 1)
    model(ogive.ones(3, 2)).sum().backward()
    distributed.broadcast_parameters(model)
    distributed.average_gradients(model)
    assert model.weight.grad is not None and model.weight.grad.tolist() == [[3.0, 3.0]]


def test_mistakes_are_told_without_other_ranks() -> None:
    with raises(ArgumentError, match="did you mean 'max'"):
        distributed.all_reduce(ogive.ones(2), "maxi")
    with raises(DtypeError, match="there is no max of complex64"):
        distributed.all_reduce(ogive.ones(2, dtype="complex64"), "max")
    with raises(AxisError, match="has no axis 2"):
        distributed.all_gather(ogive.ones(2), 2)
    with raises(ArgumentError, match="root is 1, and the ranks are 0 to 0"):
        distributed.broadcast(ogive.ones(2), 1)
    with raises(ArgumentError, match="bucket_bytes must be at least 1"):
        distributed.average_gradients(nn.Linear(2, 1), bucket_bytes=0)


@pytest.mark.parametrize(
    "name", ["all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all"]
)
def test_what_is_no_tensor_is_refused(name: str) -> None:
    with raises(ArgumentTypeError, match=f"{name} takes a tensor, not 3.0"):
        getattr(distributed, name)(3.0)


def test_nothing_of_mpi_is_loaded_for_one_rank() -> None:
    program = "import sys, ogive; ogive.distributed.all_reduce(ogive.ones(2)).tolist(); "
    program += "print([name for name in sys.modules if name.startswith('mpi4py')])"
    done = output_of(program)
    assert done.strip() == "[]"


def test_several_ranks_without_mpi4py_are_told_what_to_install() -> None:
    def absent(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}")

    world = World({"PMI_RANK": "1"}, lambda: load_mpi(absent))
    with raises(MissingPackageError, match=r"pip install 'ogive\[mpi\]'"):
        world.ranks()


def test_what_starts_ranks_announces_them() -> None:
    assert is_announced({"PMI_RANK": "0"}) and is_announced({"OMPI_COMM_WORLD_RANK": "1"})
    assert not is_announced({"HOME": "/"})
