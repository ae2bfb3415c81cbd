"""`torch.distributed`: the world of processes, its groups, and their ranks.

A program that was not started as ranks is a world of size 1.
"""

from __future__ import annotations

import os
from typing import Any

from ogive import distributed
from ogive.distributed.groups import members_of
from ogive.distributed.ranks import Ranks
from ogive.errors import ArgumentError, DeviceError, StateError

__all__ = [
    "GroupMember", "ProcessGroup", "destroy_process_group", "get_backend",
    "get_default_backend_for_device", "get_global_rank", "get_group_rank",
    "get_process_group_ranks", "get_rank", "get_world_size", "group", "init_process_group",
    "is_available", "is_gloo_available", "is_initialized", "is_mpi_available",
    "is_nccl_available", "is_torchelastic_launched", "new_group",
]  # fmt: skip


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


def place_in(number: int, group: Any) -> int:
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
    return place_in(global_rank, group)


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
