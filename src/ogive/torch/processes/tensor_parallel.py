"""`torch.distributed.tensor`: tensors over a mesh of processes. There is one, which has it all."""

from __future__ import annotations

import math
from typing import Any

from ogive.errors import ArgumentError
from ogive.named import record
from ogive.nn.module import AnyModule
from ogive.tensor.tensor import Tensor
from ogive.torch.processes.process_groups import refuse_several

__all__ = [
    "ColwiseParallel", "DTensor", "DeviceMesh", "Partial", "PrepareModuleInput",
    "PrepareModuleOutput", "Replicate", "RowwiseParallel", "SequenceParallel", "Shard",
    "distribute_module", "distribute_tensor", "init_device_mesh", "parallelize_module",
]  # fmt: skip


@record(frozen=True)
class Shard:
    """A placement: each process has its part along an axis."""

    dim: int


@record(frozen=True)
class Replicate:
    """A placement: each process has the whole tensor."""


@record(frozen=True)
class Partial:
    """A placement: each process has a term of the sum."""

    reduce_op: str = "sum"


class DeviceMesh:
    """A grid of processes, whose axes may have names."""

    def __init__(
        self, device_type: str, mesh: Any = (1,), *, mesh_dim_names: tuple[str, ...] | None = None
    ) -> None:
        self.device_type, self.mesh_dim_names = device_type, mesh_dim_names
        self.shape = tuple(mesh)
        self.ndim = len(self.shape)

    def size(self, mesh_dim: int | None = None) -> int:
        """The number of processes, or of those along an axis."""
        return math.prod(self.shape) if mesh_dim is None else int(self.shape[mesh_dim])

    def get_rank(self) -> int:
        """The number of this process."""
        return 0

    def get_local_rank(self, mesh_dim: Any = None) -> int:
        """The number of this process along an axis."""
        return 0

    def get_coordinate(self) -> list[int]:
        """The position of this process in the grid."""
        return [0] * self.ndim

    def __getitem__(self, name: str | tuple[str, ...]) -> DeviceMesh:
        """The part of the grid along axes of these names. Raises `ArgumentError`."""
        wanted = (name,) if isinstance(name, str) else name
        known = self.mesh_dim_names or ()
        if not set(wanted) <= set(known):
            raise ArgumentError(f"the mesh has the axes {known}, not {wanted}")
        shape = [self.shape[known.index(each)] for each in wanted]
        return DeviceMesh(self.device_type, shape, mesh_dim_names=wanted)


def init_device_mesh(
    device_type: str, mesh_shape: tuple[int, ...], *, mesh_dim_names: tuple[str, ...] | None = None
) -> DeviceMesh:
    """A grid of all processes. Raises `DeviceError` if there are several."""
    refuse_several("init_device_mesh")
    if math.prod(mesh_shape) != 1:
        raise ArgumentError(f"a mesh of the shape {mesh_shape} needs more than one process")
    return DeviceMesh(device_type, mesh_shape, mesh_dim_names=mesh_dim_names)


class DTensor(Tensor):
    """A tensor over several processes. There are none here, because tensors are whole."""

    __slots__ = ()

    @staticmethod
    def from_local(local_tensor: Tensor, *args: Any, **options: Any) -> Tensor:
        """Return the tensor itself: the only part is the whole."""
        refuse_several("DTensor.from_local")
        return local_tensor


def distribute_tensor(
    tensor: Tensor, device_mesh: Any = None, placements: Any = None, **options: Any
) -> Tensor:
    """Return the tensor itself: the only process has all of it."""
    refuse_several("distribute_tensor")
    return tensor


def distribute_module(module: AnyModule, *args: Any, **options: Any) -> AnyModule:
    """Return the module itself: the only process has all of it."""
    refuse_several("distribute_module")
    return module


class _Style:
    """The way in which a module and its inputs are divided. It has no effect here."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.options = options


class ColwiseParallel(_Style):
    """Divides the rows of the weight, which are its outputs."""


class RowwiseParallel(_Style):
    """Divides the columns of the weight, which are its inputs."""


class SequenceParallel(_Style):
    """Divides the positions of the sequence."""


class PrepareModuleInput(_Style):
    """Changes the way in which inputs are divided."""


class PrepareModuleOutput(_Style):
    """Changes the way in which outputs are divided."""


def parallelize_module(
    module: AnyModule, device_mesh: Any = None, parallelize_plan: Any = None, **options: Any
) -> AnyModule:
    """Return the module itself. With several processes, its parts would be divided by the plan."""
    refuse_several("parallelize_module")
    return module
