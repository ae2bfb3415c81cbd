"""What every tensor has, and how the families of operations make new ones."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ogive.errors import (
    ArgumentTypeError,
    AxisError,
    DeviceError,
    Origin,
    ShapeError,
    nearest,
    user_origin,
)
from ogive.ir import registry
from ogive.ir.dtype import DType, Scalar
from ogive.ir.node import UOp
from ogive.ir.registry import add_tensor
from ogive.ir.shape import Dim, Shape, element_count
from ogive.tensor import build

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

DEVICES = ("CPU",)
DEFAULT_DEVICE = DEVICES[0]


class Core:
    """A node of the graph, the device its value lives on, and the user's line that made it.

    `id` is the tensor's own: it stays when realization replaces the node.
    """

    __slots__ = ("__weakref__", "device", "id", "node", "origin")

    device: str
    id: int
    node: UOp
    origin: Origin | None

    @property
    def shape(self) -> Shape:
        """The lengths of the axes.

        >>> Tensor([[1, 2, 3], [4, 5, 6]]).shape
        (2, 3)
        """
        return self.node.shape

    @property
    def dtype(self) -> DType:
        """The element type.

        >>> Tensor([1.5, 2.5]).dtype
        ogive.float32
        """
        return self.node.dtype

    @property
    def ndim(self) -> int:
        """The number of axes.

        >>> Tensor([[1, 2], [3, 4]]).ndim
        2
        """
        return len(self.node.shape)

    def numel(self) -> Dim:
        """The number of elements.

        >>> Tensor([[1, 2, 3], [4, 5, 6]]).numel()
        6
        """
        return element_count(self.node.shape)


_concrete: Any = Core


def bind_class(concrete: type[Any]) -> None:
    """Say which class `wrap` makes. The families know only `Core`, which it derives from."""
    global _concrete
    _concrete = concrete


def wrap(node: UOp, device: str) -> Tensor:
    """A new tensor on a connected node. `graph_lock` is held since its operands were read."""
    made: Tensor = _concrete.__new__(_concrete)
    return adopt(made, node, device)


def adopt(made: Tensor, node: UOp, device: str) -> Tensor:
    """Fill in a tensor that has nothing yet."""
    made.node = node
    made.device = device
    made.origin = origin = user_origin(2)
    if node.origin is None:
        node.origin = origin
    add_tensor(made)
    return made


def relocate(tensor: Core, node: UOp) -> None:
    """Let an existing tensor stand for `node`, as assignment does."""
    if node.origin is None:
        node.origin = user_origin(2)
    registry.move_tensor(tensor, node)


# Reading arguments


def to_device(given: Any) -> str:
    """The device that `given` names; None means the default one."""
    if given is None:
        return DEFAULT_DEVICE
    if isinstance(given, str) and given.upper() in DEVICES:
        return given.upper()
    raise DeviceError(
        f"unknown device {given!r}{nearest(str(given).upper(), DEVICES)}; "
        f"the devices are {', '.join(DEVICES)}"
    )


def to_operand(value: Any, name: str) -> Core | Scalar:
    """A tensor or a Python number from what the user wrote beside a tensor."""
    if isinstance(value, Core):
        return value
    kind = type(value)
    if kind in (bool, int, float):
        return value  # type: ignore[no-any-return]
    if isinstance(value, numpy.generic):
        number = value.item()
        if isinstance(number, bool | int | float):
            return number
        return float(value)  # the small floats of ml_dtypes
    if isinstance(value, float):
        return float(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, numpy.ndarray):
        return _concrete(value)  # type: ignore[no-any-return]
    raise ArgumentTypeError(f"{name} takes tensors, numbers and NumPy arrays, not {kind.__name__}")


def to_integer(value: Any, name: str) -> int:
    """An integer argument; NumPy's integers will do, booleans and floats will not."""
    if type(value) is int:
        return value
    if not isinstance(value, bool):
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise ArgumentTypeError(f"{name} must be an integer, got {value!r}")


def to_dims(arguments: tuple[Any, ...], name: str) -> tuple[Dim, ...]:
    """Lengths or axes given one by one or as one sequence: `f(2, 3)` or `f((2, 3))`."""
    if len(arguments) == 1 and isinstance(arguments[0], tuple | list):
        arguments = tuple(arguments[0])
    return tuple([to_dim(entry, name) for entry in arguments])


def to_dim(value: Any, name: str) -> Dim:
    """A length: an integer, or a node that will be one."""
    return value if isinstance(value, UOp) else to_integer(value, name)


def to_shape(arguments: tuple[Any, ...], name: str) -> Shape:
    """A shape without negative lengths."""
    shape = to_dims(arguments, f"{name}: a length")
    for axis, size in enumerate(shape):
        if isinstance(size, int) and size < 0:
            raise ShapeError(f"{name}: axis {axis} of {build.show(shape)} has a negative length")
    return shape


def to_axis(dim: Any, rank: int, name: str) -> int:
    """An axis counted from the front; a negative one counts from the back."""
    axis = to_integer(dim, f"{name}: an axis")
    if -rank <= axis < rank:
        return axis % rank
    valid = f"the axes are {-rank} to {rank - 1}" if rank else "it has none"
    raise AxisError(f"{name}: a tensor of {rank} axes has no axis {axis}; {valid}")


def to_axes(dims: Any, rank: int, name: str) -> tuple[int, ...]:
    """Several axes, in order, each once; one integer means one axis."""
    given: Sequence[Any] = dims if isinstance(dims, tuple | list) else (dims,)
    axes = [to_axis(dim, rank, name) for dim in given]
    for axis in axes:
        if axes.count(axis) > 1:
            raise AxisError(f"{name}: axis {axis} is named twice in {tuple(given)}")
    return tuple(sorted(axes))


def same_device(tensors: Sequence[Core], name: str) -> str:
    """The device that all tensors are on."""
    device = tensors[0].device
    for tensor in tensors:
        if tensor.device != device:
            raise DeviceError(
                f"{name}: tensors are on {device} and {tensor.device}; move one with to()"
            )
    return device
