"""`torch.distributed` over several ranks."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import ogive.torch as torch
from ogive import distributed
from ogive.errors import ArgumentError, DeviceError, DistributedError
from tests.raising import raises

RANK, SIZE = distributed.rank(), distributed.size()
dist: Any = torch.distributed
dist.init_process_group("gloo")


def own(*shape: int) -> Any:
    """A tensor of this rank's number from 1."""
    return torch.full(shape, float(RANK + 1))


def check_the_world_is_that_of_the_ranks() -> None:
    assert (dist.get_rank(), dist.get_world_size()) == (RANK, SIZE)
    assert dist.new_group(list(range(SIZE))).size() == SIZE


def check_a_group_of_some_ranks_exchanges_alone() -> None:
    group = dist.new_group([SIZE - 1])
    assert dist.get_world_size(group) == (1 if RANK == SIZE - 1 else -1)
    if RANK == SIZE - 1:
        x = own(2)
        dist.all_reduce(x, group=group)
        dist.broadcast(x, src=SIZE - 1, group=group)
        assert x.tolist() == [SIZE] * 2 and dist.get_group_rank(group, SIZE - 1) == 0
    else:
        with raises(ArgumentError, match="not in the group"):
            dist.all_reduce(own(2), group=group)


def check_reductions_are_in_place() -> None:
    every = numpy.arange(1, SIZE + 1)
    operations = dist.ReduceOp
    for op, expected in [
        (operations.SUM, every.sum()), (operations.AVG, every.mean()),
        (operations.MAX, SIZE), (operations.MIN, 1), (operations.PRODUCT, every.prod()),
    ]:  # fmt: skip
        x = own(2)
        dist.all_reduce(x, op)
        assert x.tolist() == [expected] * 2
    bits = torch.tensor([RANK + 1])
    dist.all_reduce(bits, operations.BOR)
    assert bits.item() == numpy.bitwise_or.reduce(every)
    x = own(2)
    work = dist.reduce(x, dst=1, async_op=True)
    assert work.wait() and x.tolist() == [every.sum() if RANK == 1 else RANK + 1] * 2


def check_branches_for_one_rank_may_call_at_another_line() -> None:
    x = own(3)
    if RANK == 0:
        dist.broadcast(x, src=0)
    else:
        dist.broadcast(x, src=0)
    assert x.tolist() == [1.0] * 3


def check_lists_and_tensors_of_parts() -> None:
    gathered = [torch.zeros(2) for _ in range(SIZE)]
    dist.all_gather(gathered, own(2))
    assert [part[0].item() for part in gathered] == list(range(1, SIZE + 1))
    whole = torch.zeros(SIZE * 2)
    dist.all_gather_into_tensor(whole, own(2))
    assert whole.tolist() == [rank + 1.0 for rank in range(SIZE) for _ in range(2)]
    part = torch.zeros(1)
    dist.scatter(part, [torch.full((1,), float(n)) for n in range(SIZE)] if RANK == 0 else None)
    assert part.item() == RANK
    dist.reduce_scatter(part, [torch.full((1,), float(n)) for n in range(SIZE)])
    assert part.item() == RANK * SIZE
    swapped = torch.zeros(SIZE)
    dist.all_to_all_single(swapped, own(SIZE))
    assert swapped.tolist() == list(range(1, SIZE + 1))


def check_objects() -> None:
    every: list[Any] = [None] * SIZE
    dist.all_gather_object(every, {"rank": RANK, "text": "x" * RANK})
    assert every == [{"rank": rank, "text": "x" * rank} for rank in range(SIZE)]
    shared = ["first", 1] if RANK == 0 else [None, None]
    dist.broadcast_object_list(shared)
    assert shared == ["first", 1]


def check_messages() -> None:
    x = own(2)
    if RANK == 0:
        dist.send(x, 1)
    if RANK == 1:
        assert dist.recv(x, 0) == 0
        assert x.tolist() == [1.0, 1.0]


def check_replicas_learn_what_one_process_learns() -> None:
    torch.manual_seed(RANK)
    inner = torch.nn.Linear(3, 1)
    model = torch.nn.parallel.DistributedDataParallel(inner)
    alone = torch.nn.Linear(3, 1)
    alone.load_state_dict(inner.state_dict())
    rows = torch.tensor(numpy.random.default_rng(0).standard_normal((SIZE, 4, 3)).astype("float32"))
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in (model, alone)]
    for _ in range(2):
        for optimizer, m, x in zip(optimizers, (model, alone), (rows[RANK], rows), strict=True):
            optimizer.zero_grad()
            m(x.reshape(-1, 3)).square().mean().backward()
            optimizer.step()
    learnt, expected = inner.weight.detach().numpy(), alone.weight.detach().numpy()
    numpy.testing.assert_allclose(learnt, expected, rtol=1e-5)


def check_gradients_that_are_kept_back_are_averaged_with_the_next() -> None:
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1, bias=False))
    with model.no_sync():
        model(own(1, 1)).sum().backward()
    assert model.module.weight.grad.item() == RANK + 1
    model(own(1, 1)).sum().backward()
    assert model.module.weight.grad.item() == pytest.approx(SIZE + 1)


def check_what_would_not_be_shared_is_refused() -> None:
    with raises(DeviceError, match="fully_shard works in one process only"):
        dist.fsdp.fully_shard(torch.nn.Linear(1, 1))
    with raises(DeviceError, match="SyncBatchNorm works in one process only"):
        torch.nn.SyncBatchNorm(2)


def check_divergence_is_told() -> None:
    x = own(2)
    with raises(DistributedError, match=r"torch.distributed.all_reduce(.|\n)*barrier"):
        dist.all_reduce(x) if RANK == 0 else dist.barrier()
