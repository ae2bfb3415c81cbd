"""Tensors sharded over several devices: `shard`, and the attribute `sharding`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ogive.errors import ArgumentError, ArgumentTypeError, ShapeError, nearest
from ogive.ir.device_names import group_members, group_name, is_group
from ogive.ir.layouts import COPIES, Layout
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.live.registry import graph_lock, make
from ogive.tensor import build
from ogive.tensor.core import Core, to_axis, wrap
from ogive.tensor.device_name import Device
from ogive.tensor.mesh import Mesh, Sharding, describe

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def shard(self: Tensor, devices: Sequence[str] | Mesh, axis: Any = 0) -> Tensor:
    """Shard the tensor over several devices: equal parts along `axis`, or copies for None.

    `devices` are names, each once, or a `Mesh`. For a `Mesh`, `axis` is a sequence that gives, for
    each axis of the tensor, the name of the mesh axis that divides it, or None. Missing entries
    count as None. Along an axis of the mesh that is not named, all devices hold copies.

    Shapes: unchanged.

    >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]]).shard(("CPU:0", "CPU:1"), axis=0)
    >>> x.sharding
    Sharding(axis 0 in 2 over CPU, CPU:1; parts of shape (1, 2))
    >>> (x @ x.T).sum().item()
    52.0
    >>> x.shard(ogive.Mesh(("data", 2), ("model", 2)), ("data", "model")).sharding.part_shape
    (1, 1)

    Operations on sharded tensors give sharded tensors: each device computes its own part. Sharding
    over one device gives a plain tensor there.

    Raises `ShapeError` for an axis that cannot be divided into equal parts, `AxisError` for an axis
    that the tensor does not have, `DeviceError` for unknown devices, and `ArgumentError` for a mesh
    axis that does not exist or is used twice.
    """
    shape = self.shape
    layout = _on_mesh(devices, axis, shape) if isinstance(devices, Mesh) else _in_line(
        devices, axis, shape
    )  # fmt: skip
    _check_even(layout, shape)
    return _laid_out(self, layout)


def shard_like(self: Tensor, other: Core) -> Tensor:
    """Shard the tensor in the same way as `other`. Shapes: unchanged.

    >>> weight = ogive.ones(4, 2).shard(("CPU:0", "CPU:1"))
    >>> ogive.zeros(4, 2).shard_like(weight).sharding == weight.sharding
    True

    Raises `ShapeError` for an axis that cannot be divided into equal parts.
    """
    layout = _layout_of(other)
    if layout is None:
        return self.to(other.device)
    _check_even(layout, self.shape)
    return _laid_out(self, layout)


def sharding(self: Tensor) -> Sharding | None:
    """How the tensor is sharded over several devices; None for a tensor on one device."""
    layout = _layout_of(self)
    return None if layout is None else describe(layout, self.shape)


def _layout_of(tensor: Core) -> Layout | None:
    if not is_group(tensor.device):
        return None
    import ogive.engine as engine

    return engine.layout_of(tensor.node)


def lay_out_as(holder: Core, node: UOp) -> UOp:
    """Return `node`, the next value of `holder`, with the layout of the present value."""
    layout = _layout_of(holder)
    if layout is None:
        return node
    from ogive import engine

    if engine.stated_layout(node) == layout:
        return node
    return make(Op.SHARD, node.dtype, (node,), tuple(layout))


def _stated_layout(tensor: Core) -> Layout | None:
    """The layout of a tensor, if its node states it; None if it would have to be inferred."""
    if not is_group(tensor.device):
        return None
    import ogive.engine as engine

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
    """Return the layout of one axis divided over a list of devices."""
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
    """Return the layout of axes divided by named axes of a mesh."""
    named = (axes,) if isinstance(axes, str) else () if axes is None else axes
    if not isinstance(named, tuple | list):
        raise ArgumentTypeError(
            "shard: on a mesh, name for each axis of the tensor the mesh axis that divides it, "
            f'as ("data", None), not {axes!r}'
        )
    if len(named) > len(shape):
        raise ShapeError(
            f"shard: {tuple(named)} has {len(named)} entries, and a tensor of shape "
            f"{build.show(shape)} has {len(shape)} axes"
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
