"""Tensors over several devices: `shard`, and their layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir.device_names import group_members, group_name, is_group
from ogive.compiler.ir.layouts import COPIES, Layout
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import ArgumentError, ArgumentTypeError, ShapeError, nearest
from ogive.tensor import build
from ogive.tensor.core import Core, to_axis, wrap
from ogive.tensor.device_name import Device
from ogive.tensor.mesh import Mesh, Sharding, describe

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def shard(self: Tensor, devices: Sequence[str] | Mesh, axis: Any = 0) -> Tensor:
    """The same values over several devices: equal parts along `axis`, or a copy each for None.

    `devices` are names, each once. For a `Mesh`, `axis` gives for each axis of the tensor the
    name of the mesh axis that divides it, or None (also for axes left out). Along a mesh axis that
    is not named, every device holds the same values. Shapes: unchanged.

    >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]]).shard(("CPU:0", "CPU:1"), axis=0)
    >>> x.sharding
    Sharding(axis 0 in 2 over CPU, CPU:1; parts of shape (1, 2))
    >>> (x @ x.T).sum().item()
    52.0
    >>> x.shard(ogive.Mesh(("data", 2), ("model", 2)), ("data", "model")).sharding.part_shape
    (1, 1)

    Results computed from it are divided as it is, and each device computes its own parts. On one
    device it is an ordinary tensor.

    Raises `ShapeError` for an axis that cannot be divided into equal parts, `AxisError` for a
    missing axis, `DeviceError` for unknown devices, `ArgumentError` for an axis that the mesh does
    not have, or that divides two.
    """
    shape = self.shape
    layout = _on_mesh(devices, axis, shape) if isinstance(devices, Mesh) else _in_line(
        devices, axis, shape
    )  # fmt: skip
    _check_even(layout, shape)
    return _laid_out(self, layout)


def shard_like(self: Tensor, other: Core) -> Tensor:
    """The same values on the devices of `other`, divided along the same axes. Shapes: unchanged.

    >>> weight = ogive.ones(4, 2).shard(("CPU:0", "CPU:1"))
    >>> ogive.zeros(4, 2).shard_like(weight).sharding == weight.sharding
    True

    Raises `ShapeError` if an axis cannot be divided so.
    """
    layout = _layout_of(other)
    if layout is None:
        return self.to(other.device)
    _check_even(layout, self.shape)
    return _laid_out(self, layout)


def sharding(self: Tensor) -> Sharding | None:
    """The layout of the tensor over several devices; None if it is on one device."""
    layout = _layout_of(self)
    return None if layout is None else describe(layout, self.shape)


def _layout_of(tensor: Core) -> Layout | None:
    if not is_group(tensor.device):
        return None
    import ogive.compiler.engine as engine

    return engine.layout_of(tensor.node)


def lay_out_as(holder: Core, node: UOp) -> UOp:
    """The next value of a tensor or storage, in the layout of the value before."""
    layout = _layout_of(holder)
    if layout is None:
        return node
    from ogive.compiler import engine

    if engine.stated_layout(node) == layout:
        return node
    return make(Op.SHARD, node.dtype, (node,), tuple(layout))


def _stated_layout(tensor: Core) -> Layout | None:
    """The layout of a tensor, if it is known without searching its graph."""
    if not is_group(tensor.device):
        return None
    import ogive.compiler.engine as engine

    return engine.stated_layout(tensor.node)


def _laid_out(tensor: Tensor, layout: Layout) -> Tensor:
    if len(layout.devices) == 1:
        return tensor.to(layout.devices[0])
    if _stated_layout(tensor) == layout:
        return tensor
    device = Device.over(layout.devices)
    with graph_lock:
        node = tensor.node
        return wrap(make(Op.SHARD, node.dtype, (node,), tuple(layout)), device)


def _in_line(devices: Any, axis: Any, shape: Sequence[Any]) -> Layout:
    """The layout that divides one axis over devices, or copies for None."""
    if isinstance(devices, str) or not isinstance(devices, tuple | list) or not devices:
        raise ArgumentTypeError(
            'shard takes a tuple of names of devices, as ("CPU:0", "CPU:1"), or an ogive.Mesh, not '
            f"{devices!r}"
        )
    if isinstance(axis, tuple | list):
        raise ArgumentTypeError(f"shard: the axes {axis!r} need an ogive.Mesh that names them")
    names = group_members(Device.over(devices))
    split = COPIES if axis is None else to_axis(axis, len(shape), "shard")
    return Layout(names, (len(names),), (split,))


def _on_mesh(mesh: Mesh, axes: Any, shape: Sequence[Any]) -> Layout:
    """The layout of a tensor on a mesh, from the names of mesh axes for its axes."""
    named = (axes,) if isinstance(axes, str) else () if axes is None else axes
    if not isinstance(named, tuple | list):
        raise ArgumentTypeError(
            "shard: on a mesh, say for each axis of the tensor which axis of the mesh divides it, "
            f'as ("data", None), not {axes!r}'
        )
    if len(named) > len(shape):
        raise ShapeError(
            f"shard: {tuple(named)} are {len(named)} entries, and a tensor of shape "
            f"{build.show(shape)} has {len(shape)}"
        )
    split = dict.fromkeys(mesh.sizes, COPIES)
    for axis, name in enumerate(named):
        if name is None:
            continue
        if name not in split:
            raise ArgumentError(
                f"shard: {mesh} has no axis {name!r}{nearest(str(name), list(split))}"
            )
        if split[name] != COPIES:
            raise ArgumentError(
                f"shard: {name!r} of {mesh} cannot divide both axis {split[name]} and axis {axis} "
                f"of shape {build.show(shape)}"
            )
        split[name] = axis
    return Layout(mesh.devices, tuple(mesh.sizes.values()), tuple(split.values()))


def _check_even(layout: Layout, shape: Sequence[Any]) -> None:
    for size, axis in zip(layout.mesh, layout.split, strict=True):
        length = 0 if axis == COPIES else shape[axis] if axis < len(shape) else None
        if not isinstance(length, int) or length % size:
            raise ShapeError(
                f"shard: axis {axis} of shape {build.show(shape)} has the length {length}, which "
                f"{size} of the devices {group_name(layout.devices)} cannot share in equal parts; "
                "pad it to a multiple, divide another axis, or hold copies (None)"
            )
