"""`torch.distributed` of one process: a world of size 1, where every collective gives its input.

Several processes come with issue 18; asking for them is a `DeviceError` that says so.
"""

from __future__ import annotations

import os
from typing import Any

from ogive.errors import ArgumentError, DeviceError, StateError
from ogive.tensor.tensor import Tensor

__all__ = [
    "GroupMember", "ProcessGroup", "ReduceOp", "Work", "all_gather", "all_gather_into_tensor",
    "all_gather_object", "all_reduce", "all_to_all", "all_to_all_single", "barrier", "broadcast",
    "broadcast_object_list", "destroy_process_group", "gather", "gather_object", "get_backend",
    "get_default_backend_for_device", "get_rank", "get_world_size", "group", "init_process_group",
    "is_available", "is_gloo_available", "is_initialized", "is_mpi_available",
    "is_nccl_available", "is_torchelastic_launched", "monitored_barrier", "new_group", "recv",
    "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter", "scatter_object_list", "send",
]  # fmt: skip


class ReduceOp:
    """How values of several processes become one."""

    SUM, AVG, PRODUCT, MIN, MAX = "SUM", "AVG", "PRODUCT", "MIN", "MAX"
    BAND, BOR, BXOR = "BAND", "BOR", "BXOR"


class Work:
    """A collective that is done."""

    def wait(self, timeout: Any = None) -> bool:
        """Wait for its end."""
        return True

    def is_completed(self) -> bool:
        """Whether it has ended."""
        return True


class ProcessGroup:
    """The processes that take part: this one."""

    def rank(self) -> int:
        """This process's number."""
        return 0

    def size(self) -> int:
        """How many there are."""
        return 1


class GroupMember:
    """Names for groups."""

    WORLD = ProcessGroup()
    NON_GROUP_MEMBER = object()


class group:
    """Names for groups."""

    WORLD = GroupMember.WORLD


class _World:
    """Whether `init_process_group` was called, and for what."""

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
    """Begin a world of one process, which is this one.

    Raises `DeviceError` for a world of more, `StateError` where there is one already.
    """
    size = world_size if world_size > 0 else int(os.environ.get("WORLD_SIZE", "1"))
    if size != 1:
        raise DeviceError(
            f"torch.distributed: a world of {size} processes is asked for, and there is only this "
            "one here; start the program as one process (WORLD_SIZE=1)"
        )
    if _world.backend is not None:
        raise StateError("trying to initialize the default process group twice!")
    _world.backend = (backend or "gloo").lower()


def destroy_process_group(group: Any = None) -> None:
    """End the world."""
    _world.backend = None


def is_available() -> bool:
    """Whether these functions are there."""
    return True


def is_initialized() -> bool:
    """Whether there is a world."""
    return _world.backend is not None


def is_gloo_available() -> bool:
    """Whether processes of one CPU each can be a world."""
    return True


def is_nccl_available() -> bool:
    """Whether GPUs can be a world: no."""
    return False


is_mpi_available = is_torchelastic_launched = is_nccl_available


def _require() -> None:
    if _world.backend is None:
        raise ArgumentError(
            "Default process group has not been initialized, please make sure to call "
            "init_process_group."
        )


def get_backend(group: Any = None) -> str:
    """What carries messages, as it was asked for."""
    _require()
    return _world.backend or ""


def get_default_backend_for_device(device: Any) -> str:
    """What would carry messages."""
    return "gloo"


def get_rank(group: Any = None) -> int:
    """This process's number: 0."""
    _require()
    return 0


def get_world_size(group: Any = None) -> int:
    """How many processes there are: 1."""
    _require()
    return 1


def new_group(ranks: Any = None, *args: Any, **kwargs: Any) -> ProcessGroup:
    """A group of processes: this one."""
    _require()
    return GroupMember.WORLD


def _done(async_op: bool) -> Work | None:
    _require()
    return Work() if async_op else None


def all_reduce(
    tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """The sum over all processes, in place: what it is."""
    return _done(async_op)


def reduce(
    tensor: Tensor, dst: int = 0, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """The sum over all processes, at one of them: what it is."""
    return _done(async_op)


def broadcast(
    tensor: Tensor, src: int = 0, group: Any = None, async_op: bool = False, **kwargs: Any
) -> Work | None:
    """The value of one process, at all: what it is."""
    return _done(async_op)


def broadcast_object_list(object_list: Any, src: int = 0, *args: Any, **kwargs: Any) -> None:
    """The objects of one process, at all: what they are."""
    _require()


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Work | None:
    """Wait for all processes."""
    return _done(async_op)


def monitored_barrier(group: Any = None, timeout: Any = None, **kwargs: Any) -> None:
    """Wait for all processes."""
    _require()


def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """The values of all processes, in a list: this one's."""
    tensor_list[0].copy_(tensor)
    return _done(async_op)


def gather(
    tensor: Tensor, gather_list: Any = None, dst: int = 0, group: Any = None, async_op: bool = False
) -> Work | None:
    """The values of all processes, at one: this one's."""
    if gather_list:
        gather_list[0].copy_(tensor)
    return _done(async_op)


def scatter(
    tensor: Tensor, scatter_list: Any = None, src: int = 0, group: Any = None,
    async_op: bool = False,
) -> Work | None:  # fmt: skip
    """To each process its part."""
    if scatter_list:
        tensor.copy_(scatter_list[0])
    return _done(async_op)


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """The objects of all processes: this one's."""
    _require()
    object_list[0] = obj


def gather_object(
    obj: Any, object_gather_list: Any = None, dst: int = 0, group: Any = None
) -> None:
    """The objects of all processes, at one: this one's."""
    _require()
    if object_gather_list:
        object_gather_list[0] = obj


def scatter_object_list(output: list[Any], given: Any = None, *args: Any, **kwargs: Any) -> None:
    """To each process its object."""
    _require()
    output[0] = given[0]


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """The values of all processes, along the first axis: this one's."""
    output_tensor.copy_(input_tensor.reshape(*output_tensor.shape))
    return _done(async_op)


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Each process its part of the sum: all of it."""
    output.copy_(input.reshape(*output.shape))
    return _done(async_op)


def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM, group: Any = None,
    async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Each process its part of the sum: the one part."""
    output.copy_(input_list[0])
    return _done(async_op)


def all_to_all(
    output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Any = None,
    async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Parts from each process to each: this one's to itself."""
    output_tensor_list[0].copy_(input_tensor_list[0])
    return _done(async_op)


def all_to_all_single(
    output: Tensor, input: Tensor, output_split_sizes: Any = None, input_split_sizes: Any = None,
    group: Any = None, async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Parts from each process to each: this one's to itself."""
    output.copy_(input)
    return _done(async_op)


def send(tensor: Tensor, dst: Any = None, *args: Any, **kwargs: Any) -> None:
    """Raises `DeviceError`: there is no other process."""
    raise DeviceError("torch.distributed.send: there is no other process to send to")


def recv(tensor: Tensor, src: Any = None, *args: Any, **kwargs: Any) -> None:
    """Raises `DeviceError`: there is no other process."""
    raise DeviceError("torch.distributed.recv: there is no other process to receive from")
