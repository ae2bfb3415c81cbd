"""Devices as a grid with named axes, and how a tensor lies on one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ogive.errors import ArgumentError, ArgumentTypeError, DeviceError, nearest
from ogive.ir.device_names import DEFAULT_DEVICE, device_name, group_members
from ogive.ir.layouts import COPIES, Layout
from ogive.named import NamedTuple
from ogive.tensor.device_name import Device

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


class Mesh:
    """A grid of devices, whose axes have names and sizes.

    `devices` names a device for each place of the grid, in row-major order. By default they are
    `CPU`, `CPU:1` and so on.

    >>> mesh = ogive.Mesh(("data", 2), ("model", 2))
    >>> mesh
    Mesh(data=2, model=2 over CPU, CPU:1, CPU:2, CPU:3)
    >>> mesh.sizes["model"]
    2

    Raises `ArgumentTypeError` for an axis that is not a pair of name and size, `ArgumentError` for
    a name that comes twice or a size below 1, and `DeviceError` for another number of devices than
    places.
    """

    def __init__(self, *axes: tuple[str, int], devices: Sequence[str] | None = None) -> None:
        self.sizes = dict(checked_axes(axes))
        count = math.prod(self.sizes.values())
        if devices is None:
            devices = [device_name(DEFAULT_DEVICE, number) for number in range(count)]
        self.devices = group_members(Device.over(devices))
        if len(self.devices) != count:
            raise DeviceError(
                f"a mesh of {self._axes()} takes {count} devices, and {len(self.devices)} were "
                f"given: {', '.join(self.devices)}"
            )

    def __getitem__(self, axis: str) -> MeshAxis:
        """Return an axis by its name, along which optimizer state can be sharded.

        Raises `ArgumentError` if the mesh has no such axis.
        """
        if axis not in self.sizes:
            known = list(self.sizes)
            raise ArgumentError(f"{self} has no axis {axis!r}{nearest(str(axis), known)}")
        return MeshAxis(self, axis)

    def _axes(self) -> str:
        return ", ".join([f"{name}={size}" for name, size in self.sizes.items()])

    def __repr__(self) -> str:
        return f"Mesh({self._axes()} over {', '.join(self.devices)})"


class MeshAxis(NamedTuple):
    """One axis of a mesh: `mesh["data"]`."""

    mesh: Mesh
    name: str

    def divide(self, value: Tensor) -> Tensor:
        """Shard a value on the mesh along this axis of the mesh as well.

        The axis of the value that is divided is the first that is not divided yet and whose length
        is a multiple of the size. A value without such an axis stays as it is.

        Raises `DeviceError` for a value that is not on the mesh.
        """
        mesh, sharding = self.mesh, value.sharding
        sizes = tuple(mesh.sizes.values())
        if sharding is None or (sharding.devices, sharding.mesh) != (mesh.devices, sizes):
            raise DeviceError(
                f"state cannot be divided along {self.name!r} of {mesh}: a parameter of shape "
                f"{value.shape} is on {value.device}; put the model on the mesh by shard() first"
            )
        names = dict(zip(mesh.sizes, sharding.axes, strict=True))
        if names[self.name] is not None:
            return value
        size = mesh.sizes[self.name]
        for axis, length in enumerate(value.shape):
            if axis not in sharding.axes and isinstance(length, int) and length % size == 0:
                dividing = {axis: name for name, axis in {**names, self.name: axis}.items()}
                return value.shard(mesh, [dividing.get(each) for each in range(value.ndim)])
        return value


def checked_axes(axes: Sequence[Any]) -> Sequence[tuple[str, int]]:
    """Check the axes of a mesh: pairs of a name, each once, and a size. Returns the axes.

    Raises `ArgumentTypeError` and `ArgumentError`.
    """
    for axis in axes:
        is_pair = isinstance(axis, tuple) and len(axis) == 2 and isinstance(axis[0], str)
        if not is_pair or isinstance(axis[1], bool) or not isinstance(axis[1], int):
            raise ArgumentTypeError(
                f'Mesh takes axes with a name and a size, as ("data", 2), not {axis!r}'
            )
        if axis[1] < 1:
            raise ArgumentError(f"Mesh: axis {axis[0]!r} has {axis[1]} places; give at least 1")
    names = [name for name, _ in axes]
    if not axes or len(set(names)) != len(names):
        raise ArgumentError(f"Mesh takes one axis or more with different names, not {names}")
    return axes


class Sharding(NamedTuple):
    """How a tensor is distributed over a mesh of devices.

    `axes[m]` is the axis of the tensor that the m-th axis of the mesh divides into equal parts. It
    is None where the devices along that axis of the mesh hold copies.
    """

    devices: tuple[str, ...]
    mesh: tuple[int, ...]
    axes: tuple[int | None, ...]
    part_shape: tuple[Any, ...]

    def __repr__(self) -> str:
        divided = [
            f"axis {axis} in {size}" if axis is not None else f"copies on {size}"
            for size, axis in zip(self.mesh, self.axes, strict=True)
        ]
        return (
            f"Sharding({', '.join(divided)} over {', '.join(self.devices)}; "
            f"parts of shape {self.part_shape})"
        )


def describe(layout: Layout, shape: tuple[Any, ...]) -> Sharding:
    """Return the sharding of a value of `shape` with the given layout."""
    axes = tuple([None if axis == COPIES else axis for axis in layout.split])
    return Sharding(layout.devices, layout.mesh, axes, layout.part_shape(shape))
