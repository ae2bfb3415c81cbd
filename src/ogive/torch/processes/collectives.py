"""`torch.distributed`: the collectives of `ogive.distributed`, with PyTorch's names, in place.

A program that was not started as ranks is a world of size 1, in which each collective gives its
input. Collectives are carried out when they are called, even with `async_op`. Ranks may call one
from different lines, such as a branch for rank 0; its name, shape and dtype are compared.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Sequence
from typing import Any

import numpy

from ogive import distributed
from ogive.distributed.collectives import (
    copy_from_rank,
    gather_over_ranks,
    redistribute,
    reduce_over_ranks,
    scatter_over_ranks,
)
from ogive.distributed.groups import members_of
from ogive.distributed.rank_calls import Call, call_of
from ogive.distributed.ranks import Ranks
from ogive.errors import ArgumentError, DeviceError, StateError
from ogive.tensor.movement.joining import stack
from ogive.tensor.tensor import Tensor

__all__ = [
    "GroupMember", "ProcessGroup", "ReduceOp", "Work", "all_gather", "all_gather_into_tensor",
    "all_gather_object", "all_reduce", "all_to_all", "all_to_all_single", "barrier", "broadcast",
    "broadcast_object_list", "destroy_process_group", "gather", "gather_object", "get_backend",
    "get_default_backend_for_device", "get_global_rank", "get_group_rank",
    "get_process_group_ranks", "get_rank", "get_world_size", "group", "init_process_group",
    "is_available", "is_gloo_available", "is_initialized", "is_mpi_available",
    "is_nccl_available", "is_torchelastic_launched", "monitored_barrier", "new_group", "recv",
    "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter", "scatter_object_list", "send",
]  # fmt: skip


class ReduceOp:
    """The operations that reduce the values of several processes to one."""

    SUM, AVG, PRODUCT, MIN, MAX = "SUM", "AVG", "PRODUCT", "MIN", "MAX"
    BAND, BOR, BXOR = "BAND", "BOR", "BXOR"


REDUCTIONS = {"SUM": "sum", "AVG": "mean", "PRODUCT": "prod", "MIN": "min", "MAX": "max"}


class Work:
    """A completed collective."""

    def wait(self, timeout: Any = None) -> bool:
        """Return True: the collective has completed."""
        return True

    def is_completed(self) -> bool:
        """Return True: the collective has completed."""
        return True


class ProcessGroup:
    """A group of processes: all of them, or some."""

    def __init__(self, members: distributed.Group | None = None) -> None:
        self.members = members

    def rank(self) -> int:
        """The number of this process in the group; -1 if it is not in the group."""
        number = distributed.rank() if self.members is None else self.members.rank
        return -1 if number is None else number

    def size(self) -> int:
        """The number of processes in the group."""
        return distributed.size() if self.members is None else self.members.size


class GroupMember:
    """Names for special groups."""

    WORLD = ProcessGroup()
    NON_GROUP_MEMBER = object()


class group:
    """Names for special groups."""

    WORLD = GroupMember.WORLD


class _World:
    """The state of the world: whether `init_process_group` was called, and with which backend."""

    def __init__(self) -> None:
        self.backend: str | None = None


_world = _World()


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Initialize the world of all ranks that were started together.

    Raises `DeviceError` if `world_size` or `rank` differ from them, and `StateError` if there is a
    world already.
    """
    size = world_size if world_size > 0 else int(os.environ.get("WORLD_SIZE", "1"))
    present = distributed.size()
    if size != present and (world_size > 0 or "WORLD_SIZE" in os.environ):
        raise DeviceError(
            f"torch.distributed: the program asks for a world of {size} processes, but there "
            f"{'is only this one' if present == 1 else f'are {present}'} here; start it with "
            f"ogive launch -n {size}"
        )
    if rank not in (-1, distributed.rank()):
        raise DeviceError(
            f"torch.distributed: this process is rank {distributed.rank()}, not rank {rank}"
        )
    if _world.backend is not None:
        raise StateError("trying to initialize the default process group twice!")
    _world.backend = (backend or "gloo").lower()


def destroy_process_group(group: Any = None) -> None:
    """End the world."""
    _world.backend = None


def is_available() -> bool:
    """Return True: these functions are available."""
    return True


def is_initialized() -> bool:
    """Whether `init_process_group` was called."""
    return _world.backend is not None


def is_gloo_available() -> bool:
    """Whether processes on CPUs can form a world."""
    return True


def is_nccl_available() -> bool:
    """Return False: GPUs cannot form a world."""
    return False


is_mpi_available = is_gloo_available
is_torchelastic_launched = is_nccl_available


def refuse_several(name: str) -> None:
    """Raise `DeviceError` if there are several processes: the function `name` works in one only."""
    if distributed.size() > 1:
        raise DeviceError(
            f"{name} works in one process only, and there are {distributed.size()}; use "
            "DistributedDataParallel for several"
        )


def require(group: Any = None) -> Ranks | None:
    """The ranks of a group; None if this process is the only one.

    Raises `ArgumentError` if there is no world yet, or this process is not in the group.
    """
    if _world.backend is None:
        raise ArgumentError(
            "Default process group has not been initialized, please make sure to call "
            "init_process_group."
        )
    if group is not None and not isinstance(group, ProcessGroup):
        raise ArgumentError(
            f"torch.distributed: this process is not in the group, or {group!r} is not a group"
        )
    return members_of(group.members if group is not None else None, "torch.distributed")


def _place(number: int, group: Any) -> int:
    """The number in a group of process `number` of the world. Raises `ArgumentError`."""
    members = getattr(group, "members", None)
    ranks = range(distributed.size()) if members is None else members.ranks
    if number not in ranks:
        raise ArgumentError(f"torch.distributed: process {number} is not one of {list(ranks)}")
    return ranks.index(number)


def get_process_group_ranks(group: Any) -> list[int]:
    """The numbers in the world of the processes of a group."""
    members = getattr(group, "members", None)
    return list(range(distributed.size()) if members is None else members.ranks)


def get_global_rank(group: Any, group_rank: int) -> int:
    """The number in the world of a group's process."""
    return get_process_group_ranks(group)[group_rank]


def get_group_rank(group: Any, global_rank: int) -> int:
    """The number in a group of a process of the world."""
    return _place(global_rank, group)


def get_backend(group: Any = None) -> str:
    """The backend that the program asked for. The messages are sent by MPI."""
    require(group)
    return _world.backend or ""


def get_default_backend_for_device(device: Any) -> str:
    """The default backend of a device, as PyTorch names it."""
    return "gloo"


def get_rank(group: Any = None) -> int:
    """The number of this process; -1 if it is not in the group."""
    require()
    return -1 if group is GroupMember.NON_GROUP_MEMBER else (group or GroupMember.WORLD).rank()


def get_world_size(group: Any = None) -> int:
    """The number of processes; -1 if this one is not in the group."""
    require()
    return -1 if group is GroupMember.NON_GROUP_MEMBER else (group or GroupMember.WORLD).size()


def new_group(ranks: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Make a group of some processes. All processes must call it; non-members get
    `NON_GROUP_MEMBER`."""
    require()
    if ranks is None or sorted(ranks) == list(range(distributed.size())):
        return GroupMember.WORLD
    members = distributed.new_group(ranks)
    return GroupMember.NON_GROUP_MEMBER if members.rank is None else ProcessGroup(members)


def _done(async_op: bool) -> Work | None:
    return Work() if async_op else None


def _call(name: str, tensor: Tensor, **options: object) -> Call:
    called = f"torch.distributed.{name}"
    return call_of(called, tensor.shape, tensor.dtype, True, **options)


def _reduced(ranks: Ranks | None, name: str, tensor: Tensor, op: Any, **options: object) -> Tensor:
    """The reduction over all processes. All of them get the result."""
    call = _call(name, tensor, op=op, **options)
    if op in REDUCTIONS:
        return reduce_over_ranks(ranks, tensor.detach(), REDUCTIONS[op], call)
    every = gather_over_ranks(ranks, tensor.detach().reshape(1, *tensor.shape), 0, call)
    first, *others = every.unbind()
    for other in others:
        first = first & other if op == "BAND" else first | other if op == "BOR" else first ^ other
    return first


def all_reduce(
    tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce a tensor over all processes, in place."""
    ranks = require(group)
    tensor.copy_(_reduced(ranks, "all_reduce", tensor, op))
    return _done(async_op)


def reduce(
    tensor: Tensor, dst: int = 0, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce a tensor over all processes, in place at the process `dst`."""
    ranks = require(group)
    total = _reduced(ranks, "reduce", tensor, op, dst=dst)
    if distributed.rank() == dst:
        tensor.copy_(total)
    return _done(async_op)


def broadcast(
    tensor: Tensor, src: int = 0, group: Any = None, async_op: bool = False, **kwargs: Any
) -> Work | None:
    """Copy the value of the process `src` to all processes, in place."""
    ranks = require(group)
    call = _call("broadcast", tensor, src=src)
    tensor.copy_(copy_from_rank(ranks, tensor.detach(), _place(src, group), call))
    return _done(async_op)


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Work | None:
    """Wait for all processes."""
    ranks = require(group)
    every = Tensor([0])
    gather_over_ranks(ranks, every, 0, _call("barrier", every)).realize()
    return _done(async_op)


def monitored_barrier(group: Any = None, timeout: Any = None, **kwargs: Any) -> None:
    """Wait for all processes."""
    barrier(group)


def _gathered(
    ranks: Ranks | None, name: str, tensor: Tensor, **options: object
) -> Sequence[Tensor]:
    """The values of all processes."""
    whole = tensor.detach().reshape(1, *tensor.shape)
    return gather_over_ranks(ranks, whole, 0, _call(name, tensor, **options)).unbind()


def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Write the values of all processes to the tensors of a list."""
    ranks = require(group)
    for place, part in zip(tensor_list, _gathered(ranks, "all_gather", tensor), strict=True):
        place.copy_(part)
    return _done(async_op)


def gather(
    tensor: Tensor, gather_list: Any = None, dst: int = 0, group: Any = None, async_op: bool = False
) -> Work | None:
    """Write the values of all processes to the tensors of a list at the process `dst`."""
    ranks = require(group)
    parts = _gathered(ranks, "gather", tensor, dst=dst)
    if distributed.rank() == dst:
        for place, part in zip(gather_list, parts, strict=True):
            place.copy_(part)
    return _done(async_op)


def scatter(
    tensor: Tensor, scatter_list: Any = None, src: int = 0, group: Any = None,
    async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Send each process its tensor of a list at the process `src`."""
    ranks = require(group)
    root, own = _place(src, group), _place(distributed.rank(), group)
    parts = scatter_list if own == root else [tensor.detach()] * get_world_size(group)
    whole = stack([part.detach() for part in parts])
    tensor.copy_(copy_from_rank(ranks, whole, root, _call("scatter", tensor, src=src))[own])
    return _done(async_op)


def _all_objects(ranks: Ranks | None, name: str, given: Any) -> list[Any]:
    """The objects of all processes, sent by `pickle`."""
    message = numpy.frombuffer(pickle.dumps(given), numpy.uint8)
    lengths = Tensor([message.size])
    every = gather_over_ranks(ranks, lengths, 0, _call(name, lengths)).tolist()
    padded = numpy.zeros(max(every), numpy.uint8)
    padded[: message.size] = message
    texts = gather_over_ranks(ranks, Tensor(padded[None]), 0, _call(name, lengths)).numpy()
    return [pickle.loads(row[:size].tobytes()) for row, size in zip(texts, every, strict=True)]


def broadcast_object_list(object_list: Any, src: int = 0, group: Any = None, **kwargs: Any) -> None:
    """Copy the objects of the process `src` to all processes."""
    ranks = require(group)
    every = _all_objects(ranks, "broadcast_object_list", list(object_list))
    object_list[:] = every[_place(src, group)]


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Write the objects of all processes to a list."""
    ranks = require(group)
    object_list[:] = _all_objects(ranks, "all_gather_object", obj)


def gather_object(
    obj: Any, object_gather_list: Any = None, dst: int = 0, group: Any = None
) -> None:
    """Write the objects of all processes to a list at the process `dst`."""
    ranks = require(group)
    every = _all_objects(ranks, "gather_object", obj)
    if distributed.rank() == dst:
        object_gather_list[:] = every


def scatter_object_list(
    output: list[Any], given: Any = None, src: int = 0, group: Any = None, **kwargs: Any
) -> None:
    """Send each process its object of a list at the process `src`."""
    ranks = require(group)
    parts = _all_objects(ranks, "scatter_object_list", given)[_place(src, group)]
    output[0] = parts[_place(distributed.rank(), group)]


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Join the values of all processes along the first axis."""
    ranks = require(group)
    joined = stack(_gathered(ranks, "all_gather_into_tensor", input_tensor))
    output_tensor.copy_(joined.reshape(*output_tensor.shape))
    return _done(async_op)


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Give each process its part of the reduction."""
    ranks = require(group)
    parts = input.detach().reshape(get_world_size(group), -1)
    call = _call("reduce_scatter_tensor", input, op=op)
    reduced = scatter_over_ranks(ranks, parts, REDUCTIONS[op], 0, call)
    output.copy_(reduced.reshape(*output.shape))
    return _done(async_op)


def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM, group: Any = None,
    async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Give each process its part of the reduction of lists of parts."""
    return reduce_scatter_tensor(output, stack(input_list), op, group, async_op)


def all_to_all(
    output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Any = None,
    async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Send a part from each process to each, all of one shape."""
    ranks = require(group)
    whole = stack([part.detach() for part in input_tensor_list])
    parts = redistribute(ranks, whole, 0, 0, _call("all_to_all", whole)).unbind()
    for place, part in zip(output_tensor_list, parts, strict=True):
        place.copy_(part)
    return _done(async_op)


def all_to_all_single(
    output: Tensor, input: Tensor, output_split_sizes: Any = None, input_split_sizes: Any = None,
    group: Any = None, async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Send a part from each process to each, all of one length along the first axis.

    Raises `DeviceError` for other lengths.
    """
    ranks = require(group)
    for sizes in (output_split_sizes, input_split_sizes):
        if sizes and len(set(sizes)) > 1:
            raise DeviceError(
                f"torch.distributed.all_to_all_single: parts must have one length, got {sizes}"
            )
    call = _call("all_to_all_single", input)
    output.copy_(redistribute(ranks, input.detach(), 0, 0, call))
    return _done(async_op)


def send(tensor: Tensor, dst: int, group: Any = None, tag: int = 0) -> None:
    """Send a tensor to another process. Raises `ArgumentError` if there is no such process."""
    require(group)
    distributed.send(tensor.detach(), dst, tag)


def recv(tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0) -> int:
    """Receive a tensor from another process, in place. Returns the number of that process.

    Raises `ArgumentError` without `src`, or if there is no such process.
    """
    require(group)
    if src is None:
        raise ArgumentError("torch.distributed.recv: name the process that sends (src=...)")
    tensor.copy_(distributed.recv(src, tag))
    return src
