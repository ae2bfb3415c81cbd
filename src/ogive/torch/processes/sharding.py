"""`torch.distributed.fsdp` and related modules, in one process, whose shard is the whole."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from typing import Any

from ogive.nn.module import AnyModule
from ogive.torch.processes.process_groups import refuse_several
from ogive.torch.processes.replicas import DistributedDataParallel

__all__ = [
    "BackwardPrefetch", "CPUOffload", "CPUOffloadPolicy", "FSDPModule", "FullStateDictConfig",
    "FullyShardedDataParallel", "LocalStateDictConfig", "MixedPrecision", "MixedPrecisionPolicy",
    "OffloadPolicy", "ShardingStrategy", "StateDictType", "always_wrap_policy", "enable_wrap",
    "fully_shard", "size_based_auto_wrap_policy", "transformer_auto_wrap_policy", "wrap",
]  # fmt: skip


class ShardingStrategy(enum.Enum):
    """The kinds of data that are divided among processes."""

    FULL_SHARD = enum.auto()
    SHARD_GRAD_OP = enum.auto()
    NO_SHARD = enum.auto()
    HYBRID_SHARD = enum.auto()
    _HYBRID_SHARD_ZERO2 = enum.auto()


class BackwardPrefetch(enum.Enum):
    """The time at which the next layer's parameters are fetched."""

    BACKWARD_PRE = enum.auto()
    BACKWARD_POST = enum.auto()


class StateDictType(enum.Enum):
    """The ways to divide a state."""

    FULL_STATE_DICT = enum.auto()
    LOCAL_STATE_DICT = enum.auto()
    SHARDED_STATE_DICT = enum.auto()


class _Options:
    """Options, stored under their names."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.__dict__.update(options)


class MixedPrecision(_Options):
    """The dtypes in which a sharded module computes. Here it has no effect; use `autocast`."""


class MixedPrecisionPolicy(MixedPrecision):
    """The same for `fully_shard`."""


class CPUOffload(_Options):
    """Whether parameters are moved to the host. They are always there."""


class OffloadPolicy(_Options):
    """The same for `fully_shard`: no offloading."""


class CPUOffloadPolicy(OffloadPolicy):
    """The same for `fully_shard`: offloading to the host."""


class FullStateDictConfig(_Options):
    """Options for gathering a whole state."""


class LocalStateDictConfig(_Options):
    """Options for gathering the state of one process."""


class FullyShardedDataParallel(DistributedDataParallel):
    """A module divided among processes. The only process has all of it."""

    def __init__(self, module: AnyModule, *args: Any, **kwargs: Any) -> None:
        refuse_several("FullyShardedDataParallel")
        super().__init__(module)

    @staticmethod
    @contextlib.contextmanager
    def state_dict_type(module: AnyModule, *args: Any, **kwargs: Any) -> Iterator[None]:
        """A context for the type of `state_dict`. It has no effect: states are whole."""
        yield

    @staticmethod
    @contextlib.contextmanager
    def summon_full_params(module: AnyModule, *args: Any, **kwargs: Any) -> Iterator[None]:
        """A context with whole parameters. It has no effect: they are always whole."""
        yield

    def clip_grad_norm_(self, max_norm: float, norm_type: float = 2.0) -> Any:
        """Scale all gradients to a norm of at most `max_norm`. Returns their norm before."""
        from ogive.nn.utils import clip_grad_norm_

        return clip_grad_norm_(self.parameters(), max_norm, norm_type)


FSDPModule = AnyModule


def fully_shard(module: AnyModule, **options: Any) -> AnyModule:
    """Return the module itself: the only process has all of it."""
    refuse_several("fully_shard")
    return module


def wrap(module: AnyModule, **overrides: Any) -> AnyModule:
    """Return the module itself."""
    return module


@contextlib.contextmanager
def enable_wrap(**options: Any) -> Iterator[None]:
    """A context for `wrap`, which returns modules unchanged."""
    yield


def always_wrap_policy(*args: Any, **kwargs: Any) -> bool:
    """Whether a module is a unit of sharding of its own."""
    return True


def size_based_auto_wrap_policy(
    module: AnyModule, recurse: bool, *args: Any, **kwargs: Any
) -> bool:
    """Return `recurse`: the modules below are visited, and none becomes a unit of its own."""
    return recurse


def transformer_auto_wrap_policy(
    module: AnyModule, recurse: bool, *args: Any, **kwargs: Any
) -> bool:
    """Return `recurse`: the modules below are visited, and none becomes a unit of its own."""
    return recurse
