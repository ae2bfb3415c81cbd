"""`torch.distributed.fsdp` and its relatives: of one process, one shard is the whole."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from typing import Any

from ogive.nn.module import AnyModule
from ogive.torch.processes.collectives import refuse_several
from ogive.torch.processes.replicas import DistributedDataParallel

__all__ = [
    "BackwardPrefetch", "CPUOffload", "CPUOffloadPolicy", "FSDPModule", "FullStateDictConfig",
    "FullyShardedDataParallel", "LocalStateDictConfig", "MixedPrecision", "MixedPrecisionPolicy",
    "OffloadPolicy", "ShardingStrategy", "StateDictType", "always_wrap_policy", "enable_wrap",
    "fully_shard", "size_based_auto_wrap_policy", "transformer_auto_wrap_policy", "wrap",
]  # fmt: skip


class ShardingStrategy(enum.Enum):
    """What is divided among processes."""

    FULL_SHARD = enum.auto()
    SHARD_GRAD_OP = enum.auto()
    NO_SHARD = enum.auto()
    HYBRID_SHARD = enum.auto()
    _HYBRID_SHARD_ZERO2 = enum.auto()


class BackwardPrefetch(enum.Enum):
    """When the parameters of the next layer are fetched."""

    BACKWARD_PRE = enum.auto()
    BACKWARD_POST = enum.auto()


class StateDictType(enum.Enum):
    """How a state is divided."""

    FULL_STATE_DICT = enum.auto()
    LOCAL_STATE_DICT = enum.auto()
    SHARDED_STATE_DICT = enum.auto()


class _Options:
    """Options by name, kept as they are given."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.__dict__.update(options)


class MixedPrecision(_Options):
    """In which dtypes a sharded module would compute; casts are by `autocast` here."""


class MixedPrecisionPolicy(MixedPrecision):
    """Likewise."""


class CPUOffload(_Options):
    """Whether parameters stay on the host: they do."""


class OffloadPolicy(_Options):
    """Likewise."""


class CPUOffloadPolicy(OffloadPolicy):
    """Likewise."""


class FullStateDictConfig(_Options):
    """How a whole state is gathered."""


class LocalStateDictConfig(_Options):
    """How the state of one process is gathered."""


class FullyShardedDataParallel(DistributedDataParallel):
    """A module divided among processes: one has all of it."""

    def __init__(self, module: AnyModule, *args: Any, **kwargs: Any) -> None:
        refuse_several("FullyShardedDataParallel")
        super().__init__(module)

    @staticmethod
    @contextlib.contextmanager
    def state_dict_type(module: AnyModule, *args: Any, **kwargs: Any) -> Iterator[None]:
        """How `state_dict` is divided inside: it is whole."""
        yield

    @staticmethod
    @contextlib.contextmanager
    def summon_full_params(module: AnyModule, *args: Any, **kwargs: Any) -> Iterator[None]:
        """With whole parameters inside, as they always are."""
        yield

    def clip_grad_norm_(self, max_norm: float, norm_type: float = 2.0) -> Any:
        """The norm of all gradients, which are scaled down to `max_norm`."""
        from ogive.nn.utils import clip_grad_norm_

        return clip_grad_norm_(self.parameters(), max_norm, norm_type)


FSDPModule = AnyModule


def fully_shard(module: AnyModule, **options: Any) -> AnyModule:
    """The module itself: one process has all of it."""
    refuse_several("fully_shard")
    return module


def wrap(module: AnyModule, **overrides: Any) -> AnyModule:
    """The module itself."""
    return module


@contextlib.contextmanager
def enable_wrap(**options: Any) -> Iterator[None]:
    """`wrap` inside gives modules as they are."""
    yield


def always_wrap_policy(*args: Any, **kwargs: Any) -> bool:
    """Whether a module would be a unit of its own."""
    return True


def size_based_auto_wrap_policy(
    module: AnyModule, recurse: bool, *args: Any, **kwargs: Any
) -> bool:
    """Likewise: one process has one unit."""
    return recurse


def transformer_auto_wrap_policy(
    module: AnyModule, recurse: bool, *args: Any, **kwargs: Any
) -> bool:
    """Likewise."""
    return recurse
