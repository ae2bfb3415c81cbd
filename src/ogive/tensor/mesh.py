"""Device meshes: grids of devices with named axes, and the layout of a tensor on one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir.device_names import DEFAULT_DEVICE, device_name, group_members
from ogive.compiler.ir.layouts import COPIES, Layout
from ogive.errors import ArgumentError, ArgumentTypeError, DeviceError, nearest
from ogive.named import NamedTuple
from ogive.tensor.device_name import Device

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


class Mesh:
    """A grid of devices whose axes have names and sizes.

    `devices` are the names of the devices in row-major order; by default, the first CPU devices.

    >>> mesh = ogive.Mesh(("data", 2), ("model", 2))
    >>> mesh
    Mesh(data=2, model=2 over CPU, CPU:1, CPU:2, CPU:3)
    >>> mesh.sizes["model"]
    2

    Raises `ArgumentError` for axes without a unique name or with an invalid size, `DeviceError` for
    a wrong number of devices.
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
        """The axis of a name, along which state can be divided. Raises `ArgumentError`."""
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
        """A value on the mesh, divided along this mesh axis as well.

        The first of the value's axes that is not divided yet and has a suitable length is divided.
        A value without such an axis stays as it is.

        Raises `DeviceError` for a value that is not on the mesh.
        """
        mesh, sharding = self.mesh, value.sharding
        sizes = tuple(mesh.sizes.values())
        if sharding is None or (sharding.devices, sharding.mesh) != (mesh.devices, sizes):
            raise DeviceError(
                f"state is to be divided along {self.name!r} of {mesh}, and a parameter of shape "
                f"{value.shape} is on {value.device}; put the model there by shard() before"
            )
        names = dict(zip(mesh.sizes, sharding.axes, strict=True))
        if names[self.name] is not None:
            return value
        size = mesh.sizes[self.name]
        for axis, length in enumerate(value.shape):
            if axis not in sharding.axes and isinstance(length, int) and length % size == 0:
                divided = {own: name for name, own in {**names, self.name: axis}.items()}
                return value.shard(mesh, [divided.get(each) for each in range(value.ndim)])
        return value


def checked_axes(axes: Sequence[Any]) -> Sequence[tuple[str, int]]:
    """The axes of a mesh, each with a unique name and a size. Raises `ArgumentError`."""
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
    """The layout of a tensor over several devices.

    `axes[m]` is the axis of the tensor that the m-th axis of the mesh divides into equal parts, or
    None if it holds equal copies.
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
    """The `Sharding` of a value of `shape` with this layout."""
    axes = tuple([None if axis == COPIES else axis for axis in layout.split])
    return Sharding(layout.devices, layout.mesh, axes, layout.part_shape(shape))
