"""Messages between two ranks, and which items of a data set each takes."""

from __future__ import annotations

import os

import numpy

import ogive
from ogive import Tensor, data, distributed
from ogive.errors import ArgumentError
from tests.raising import raises

RANK, SIZE = distributed.rank(), distributed.size()


def check_a_ring_of_messages() -> None:
    after, before = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    for dtype, shape in [("float32", (2, 3)), ("bfloat16", ()), ("int8", (0, 2)), ("bool", (4,))]:
        x = ogive.full(shape, RANK % 2, dtype=dtype)
        if RANK == 0:
            distributed.send(x, after, tag=3)
        got = distributed.recv(before, tag=3)
        if RANK:
            distributed.send(x, after, tag=3)
        assert got.dtype.name == dtype and got.shape == shape
        assert (got.numpy() == before % 2).all()


def check_messages_of_megabytes() -> None:
    if RANK == 0:
        distributed.send(ogive.arange(1_000_000), 1)
    if RANK == 1:
        assert (distributed.recv(0).numpy() == numpy.arange(1_000_000)).all()


def check_messages_to_oneself_are_refused() -> None:
    with raises(ArgumentError, match="which is this rank"):
        distributed.send(Tensor([1.0]), RANK)
    with raises(ArgumentError, match="the ranks are 0 to"):
        distributed.recv(SIZE)


def check_each_rank_loads_its_part_of_an_epoch() -> None:
    sampler = distributed.DistributedSampler(range(10))
    loader = data.DataLoader(data.TensorDataset(ogive.arange(10)), batch_size=2, sampler=sampler)
    orders = []
    for epoch in range(2):
        sampler.set_epoch(epoch)
        own = ogive.cat([batch for (batch,) in loader])
        orders.append(distributed.all_gather(own).tolist())
        assert set(orders[-1]) == set(range(10))
    assert orders[0] != orders[1]


def check_programs_for_another_launcher_find_its_variables() -> None:
    assert int(os.environ["RANK"]) == int(os.environ["LOCAL_RANK"]) == RANK
    assert int(os.environ["WORLD_SIZE"]) == SIZE
