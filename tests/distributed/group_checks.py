"""Groups of ranks, meshes of them, values that travel in fewer bits, several messages at once."""

from __future__ import annotations

import time
from typing import Any

import numpy

import ogive
from ogive import Tensor, distributed, nn
from ogive.distributed.rank_calls import Call
from ogive.distributed.ranks import Ranks
from ogive.distributed.training.buckets import add_over_ranks
from ogive.distributed.world import world
from ogive.errors import ArgumentError, DistributedError, DtypeError
from tests.raising import raises

RANK, SIZE = distributed.rank(), distributed.size()
EVEN = [rank for rank in range(SIZE) if rank % 2 == 0]


def own(*shape: int) -> Tensor:
    """A tensor of this rank's number from 1."""
    return ogive.full(shape, float(RANK + 1))


def check_only_members_take_part_in_a_group() -> None:
    group = distributed.new_group(EVEN)
    assert group.ranks == tuple(EVEN) and group.size == len(EVEN)
    if RANK in EVEN:
        assert group.rank == EVEN.index(RANK)
        total = sum(rank + 1 for rank in EVEN)
        assert distributed.all_reduce(own(2), group=group).tolist() == [total] * 2
        gathered = distributed.all_gather(own(1), group=group).tolist()
        assert gathered == [rank + 1 for rank in EVEN]
        last = distributed.broadcast(own(1), root=len(EVEN) - 1, group=group)
        assert last.item() == EVEN[-1] + 1
        parts = distributed.reduce_scatter(own(len(EVEN)), group=group)
        assert parts.tolist() == [total]
        distributed.barrier(group)
    else:
        assert group.rank is None
        with raises(ArgumentError, match=rf"all_reduce: rank {RANK} is not in the group"):
            distributed.all_reduce(own(2), group=group)


def check_gradients_stay_within_a_group() -> None:
    group = distributed.new_group(EVEN)
    if RANK in EVEN:
        x = own(2).requires_grad_()
        distributed.all_reduce(x * x, group=group).sum().backward()
        assert x.grad is not None and x.grad.tolist() == [2.0 * (RANK + 1) * len(EVEN)] * 2


def check_members_that_diverge_are_named_by_their_numbers_among_all() -> None:
    odd = [rank for rank in range(SIZE) if rank % 2]
    group = distributed.new_group(odd)
    if RANK in odd and len(odd) > 1:
        named = rf"rank {odd[0]}: all_reduce.*\n.*{odd[1]}: all_gather"
        with raises(DistributedError, match=named):
            if odd[0] == RANK:
                distributed.all_reduce(own(2), group=group)
            else:
                distributed.all_gather(own(2), group=group)


def check_a_mesh_has_a_group_along_each_axis() -> None:
    mesh = distributed.RankMesh(("data", SIZE // 2), ("model", 2))
    first = RANK // 2 * 2
    assert mesh["model"].ranks == (first, first + 1)
    assert mesh["data"].ranks == tuple(range(RANK % 2, SIZE, 2))
    assert (mesh.place("data"), mesh.place("model")) == (RANK // 2, RANK % 2)
    assert distributed.all_reduce(own(), group=mesh["model"]).item() == 2 * first + 3
    with raises(ArgumentError, match=r"has no axis 'modle' \(did you mean 'model'\?\)"):
        mesh["modle"]
    with raises(ArgumentError, match=rf"takes {SIZE + 1} ranks, and there are {SIZE}"):
        distributed.RankMesh(("data", SIZE + 1))


def check_a_group_of_no_ranks_is_refused() -> None:
    for ranks in ([], [SIZE], [-1]):
        with raises(ArgumentError, match="must be some of 0 to"):
            distributed.new_group(ranks)


def check_values_travel_in_fewer_bits_on_request() -> None:
    every = numpy.random.default_rng(0).standard_normal((SIZE, 37)).astype("float32")
    rounded = numpy.stack([Tensor(row).cast("bfloat16").cast("float32").numpy() for row in every])
    for op, expected in (("sum", rounded.sum(0)), ("mean", rounded.mean(0)),
                         ("max", rounded.max(0))):  # fmt: skip
        found = distributed.all_reduce(Tensor(every[RANK]), op, compress="bfloat16")
        numpy.testing.assert_allclose(found.numpy(), expected, rtol=2**-8, atol=1e-6)
        bits = distributed.all_gather(found.reshape(1, -1)).numpy()
        assert (bits == bits[0]).all()
    with raises(DtypeError, match="cannot be sent as float32"):
        distributed.all_reduce(own(2), compress="float32")


class NotedRanks:
    """Ranks whose flights note when exchanges are started and waited for."""

    def __init__(self, ranks: Ranks, events: list[str]) -> None:
        self.ranks, self.events, self.mpi = ranks, events, ranks.mpi

    def begin(self, call: Call) -> NotedRanks:
        self.flight = self.ranks.begin(call)
        return self

    def start(self, *given: Any) -> None:
        self.events.append("start")
        self.flight.start(*given)

    def finish(self) -> None:
        self.events.append("finish")
        self.flight.finish()


def check_several_messages_are_all_started_before_one_is_waited_for() -> None:
    ranks = world.ranks()
    assert ranks is not None
    rows = numpy.random.default_rng(RANK).standard_normal((3, 50)).astype("float32")
    every = distributed.all_gather(Tensor(rows[None])).numpy().sum(0)
    events: list[str] = []
    noted: Any = NotedRanks(ranks, events)

    def total(x: Tensor) -> list[Tensor]:
        messages = [x[number] * 1 for number in range(3)]
        return add_over_ranks(noted, messages, Call("a check", None))

    for function in (total, ogive.jit(total)):
        events.clear()
        for found, expected in zip(function(Tensor(rows)), every, strict=True):
            numpy.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-6)
        assert events[:4] == ["start", "start", "start", "finish"]


def check_large_messages_move_while_a_rank_does_not_call_mpi() -> None:
    ranks = world.ranks()
    assert ranks is not None
    given = numpy.full(1 << 20, RANK + 1, numpy.float32)
    total = numpy.empty_like(given)
    requests: list[Any] = []

    def start(over: Any) -> Any:
        requests.append(over.Iallreduce(given, total))
        return requests[0]

    flight = ranks.begin(Call("a check", None))
    flight.start(start, (given, total), given.nbytes)
    until = time.monotonic() + 30
    while requests[0] != ranks.mpi.REQUEST_NULL and time.monotonic() < until:
        time.sleep(0.01)
    assert requests[0] == ranks.mpi.REQUEST_NULL
    flight.finish()
    assert (total == sum(range(1, SIZE + 1))).all()


def check_gradients_are_averaged_in_a_group_and_in_fewer_bits() -> None:
    group = distributed.new_group(EVEN)
    if RANK in EVEN:
        model = nn.Linear(3, 2)
        (model(ogive.ones(1, 3)).sum() * (RANK + 1)).backward()
        expected = numpy.mean([rank + 1 for rank in EVEN])
        distributed.average_gradients(model, bucket_bytes=8, group=group, compress="bfloat16")
        assert model.weight.grad is not None
        numpy.testing.assert_allclose(model.weight.grad.numpy(), expected, rtol=2**-7)
