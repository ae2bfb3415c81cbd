"""`Core`, the state of every tensor, and how the families of operations make new ones."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy

from ogive.config import current_config
from ogive.errors import (
    ArgumentTypeError,
    AxisError,
    DeviceError,
    Origin,
    ShapeError,
    VariableError,
    user_origin,
)
from ogive.ir import device_names
from ogive.ir import dtype as dtypes
from ogive.ir.device_names import FILES, STORAGE, is_group
from ogive.ir.dtype import DType, Scalar
from ogive.ir.layouts import holding_device
from ogive.ir.memory import file_of
from ogive.ir.node import UOp
from ogive.ir.ops import SPREAD, Op
from ogive.ir.shape import Dim, Shape, as_length, element_count, least
from ogive.ir.symbolic.variable import Variable
from ogive.live import history, registry
from ogive.live.history import LeafReference
from ogive.live.registry import add_tensor
from ogive.tensor import build, lengths
from ogive.tensor.device_name import Device

if TYPE_CHECKING:
    from ogive.tensor.memory.movement_chains import View
    from ogive.tensor.memory.views import Storage
    from ogive.tensor.tensor import Tensor

DEVICES = (Device(device_names.DEFAULT_DEVICE),)
DEFAULT_DEVICE = DEVICES[0]


Value = TypeVar("Value")
Given = TypeVar("Given")

if TYPE_CHECKING:

    class attribute(Generic[Value]):
        """A `property` of the method table, for type checkers: its type is what `get` returns."""

        def __init__(self, get: Callable[[Tensor], Value]) -> None: ...

        @overload
        def __get__(self, tensor: None, owner: type[Any]) -> property: ...

        @overload
        def __get__(self, tensor: Core, owner: type[Any]) -> Value: ...

        def __get__(self, tensor: Core | None, owner: type[Any]) -> Value | property: ...

    class settable(attribute[Value], Generic[Value, Given]):
        """An `attribute` with a setter."""

        def __init__(
            self, get: Callable[[Tensor], Value], set: Callable[[Tensor, Given], None]
        ) -> None: ...

        def __set__(self, tensor: Core, value: Given) -> None: ...

else:
    attribute = settable = property


class TensorClass(type):
    """The metaclass of tensor classes. Each namespace decides how such a class is printed."""


class Core(metaclass=TensorClass):
    """A node of the graph, the device that holds its value, and the user's line that made it.

    `id` identifies the tensor. It stays the same when realization replaces the node.

    For gradients: `is_flagged` is set for leaves that require a gradient. `gradient` is the
    accumulated one, if there is one. `hooks` are called with it. Nodes refer to the leaf by `leaf`.

    For views: `shared` is the storage that the tensor shows together with others, and `shows` is
    the view of it. `memory_strides` are the strides of a tensor that was a view and has become the
    only one of its storage, unless they are row-major. `leafless_id` is the id of a present or
    former node of the tensor from which no leaf can be reached.

    Eager tensors (`eager/tensors.py`) have `value`, `record`, `family`, `shown` and `settlings`
    instead of a node. Attributes that programs set are kept in `__dict__`.
    """

    __slots__ = (
        "__dict__", "__weakref__", "device", "family", "gradient", "hooks", "id", "is_flagged",
        "leaf", "leafless_id", "memory_strides", "node", "origin", "record", "settlings", "shared",
        "shown", "shows", "value",
    )  # fmt: skip

    is_eager = False
    device: str
    family: Any
    gradient: Tensor | None
    hooks: Any
    id: int
    is_flagged: bool
    memory_strides: tuple[int, ...] | None
    leaf: LeafReference
    leafless_id: int
    node: UOp
    origin: Origin | None
    record: Any
    settlings: int
    shared: Storage | None
    shown: Any
    shows: View
    value: Any

    @property
    def is_reader(self) -> bool:
        """Whether the value may still be asked for. It may, as long as a tensor is alive."""
        return True

    @property
    def shape(self) -> Shape:
        """The lengths of the axes. Each is an integer or an expression of variables.

        >>> Tensor([[1, 2, 3], [4, 5, 6]]).shape
        (2, 3)
        >>> Tensor([[1, 2, 3], [4, 5, 6]])[: Variable("n", 0, 2).bind(1)].shape
        (n=1, 3)
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


_plain_node: Any = Core.__dict__["node"]


def _held_node(holder: Any) -> UOp:
    node: UOp = _plain_node.__get__(holder) if isinstance(holder, Core) else holder.node
    return node


registry.bind_held_node(_held_node)

_concrete: Any = Core


def bind_class(concrete: type[Any]) -> None:
    """Set the class of the tensors that `wrap` makes. The families only know its base, `Core`."""
    global _concrete
    _concrete = concrete


def wrap(node: UOp, device: str) -> Tensor:
    """Return a new tensor on a connected node.

    The caller has held `graph_lock` since it read the operands.
    """
    if history.paused and history.needs_cut(node):
        node = registry.make(Op.DETACH, node.dtype, (node,), None, node.shape)
    tensor: Tensor = _concrete.__new__(_concrete)
    return adopt(tensor, node, device)


def hold(node: UOp, device: str) -> Tensor:
    """Return a new tensor on exactly this node. Unlike `wrap`, it ignores `no_grad`.

    The node may come from a history that no tensor holds any more, so it is connected here.
    """
    registry.connect(node)
    tensor: Tensor = _concrete.__new__(_concrete)
    return adopt(tensor, node, device)


def adopt(tensor: Tensor, node: UOp, device: str) -> Tensor:
    """Initialize an empty tensor and register it. Returns the tensor."""
    if device is not DEFAULT_DEVICE:
        node, device = placed(node, device)
    tensor.node = node
    tensor.device = device
    tensor.shared = None
    tensor.memory_strides = None
    tensor.origin = origin = user_origin(2)
    if node.origin is None:
        node.origin = origin
    add_tensor(tensor)
    return tensor


def placed(node: UOp, device: str) -> tuple[UOp, str]:
    """Return a node whose graph states its device, and that device.

    A value on the default device needs no such statement.
    """
    if device == FILES:
        # The bytes of a file are on `DISK`. Whatever is computed from them is in memory.
        return node, device if file_of(node) is not None else DEFAULT_DEVICE
    if device != DEFAULT_DEVICE and _device_below(node) != device:
        node = registry.make(Op.COPY, node.dtype, (node,), device, node.shape)
    return node, device


def _device_below(node: UOp) -> str | None:
    """Return the device of the first memory found below a node; None if there is none.

    The walk ends at nodes of tensors on another device than the default: their device is known. So
    an operation looks no further than its operands.
    """
    stack, seen = [node], {node}
    while stack:
        node = stack.pop()
        if node.op is Op.COPY:
            return node.arg  # type: ignore[no-any-return]
        if node.op in SPREAD:
            return holding_device(node)
        if node.op is Op.BUFFER and node.device not in STORAGE:
            return node.device  # type: ignore[no-any-return]
        for tensor in registry.tensors_on(node):
            if tensor.device not in (DEFAULT_DEVICE, FILES):
                return tensor.device  # type: ignore[no-any-return]
        new = [source for source in node.src if source not in seen]
        seen.update(new)
        stack += new
    return None


# Reading arguments


def to_device(given: Any) -> str:
    """Return the device that `given` names. None means the configured device."""
    if given is None:
        given = current_config().device or DEFAULT_DEVICE
    return given if isinstance(given, Device) else Device(given)


def memory_device(tensor: Core) -> str:
    """The device for new memory beside `tensor`: its own, or the default where that is a file."""
    return DEFAULT_DEVICE if tensor.device == FILES else tensor.device


def to_operand(value: Any, name: str) -> Tensor | Scalar:
    """Convert an argument of an operation to a tensor or a Python number.

    Raises `ArgumentTypeError` for other kinds, and `VariableError` for an unbound variable.
    """
    if isinstance(value, Core):
        return value  # type: ignore[return-value]  # `Tensor` is the one class of its kind
    kind = type(value)
    if kind in (bool, int, float, complex):
        return value  # type: ignore[no-any-return]
    if isinstance(value, numpy.generic):
        number = value.item()
        if isinstance(number, bool | int | float | complex):
            return number  # type: ignore[return-value]
        return float(value)  # the small floats of ml_dtypes
    if isinstance(value, float):
        return float(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, numpy.ndarray | UOp):
        return _concrete(value)  # type: ignore[no-any-return]
    refuse_unbound(value)
    raise ArgumentTypeError(f"{name} takes tensors, numbers and NumPy arrays, not {kind_of(value)}")


_REFLECTED = {
    "add": "__radd__", "sub": "__rsub__", "mul": "__rmul__", "div": "__rtruediv__",
    "floor_divide": "__rfloordiv__", "remainder": "__rmod__", "pow": "__rpow__",
    "matmul": "__rmatmul__", "bitwise_and": "__rand__", "bitwise_or": "__ror__",
    "bitwise_xor": "__rxor__", "lt": "__gt__", "le": "__ge__",
}  # fmt: skip
"""The reflected method of the right operand, by the operation."""


def reflected(error: ArgumentTypeError, name: str, left: Any, right: Any) -> Any:
    """Call the reflected method (`__radd__` …) of a right operand that is not a tensor.

    Raises `error` if the operand has none, or if that returns `NotImplemented`.
    """
    own = getattr(type(right), _REFLECTED.get(name, ""), None)
    if own is None or not isinstance(left, Core) or hasattr(right, "__dlpack__"):
        raise error
    result = own(right, left)
    if result is NotImplemented:
        raise error
    return result


def kind_of(value: Any) -> str:
    """Return the type of a value, for error messages.

    The type of another library is named with that library, as `torch.Tensor`. If it supports
    DLPack, the text says how to convert it.
    """
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    if library in ("builtins", "__main__", "numpy", "ogive"):
        return kind.__name__
    way = "; ogive.from_dlpack makes one of ours" if hasattr(value, "__dlpack__") else ""
    return f"{library}.{kind.__name__}{way}"


def to_tensor(value: Any, device: str | None = None) -> Tensor:
    """Return `Tensor(value, device=device)`.

    Without a device, a tensor keeps its own, unless that is a file.
    """
    if device is None and isinstance(value, Core) and value.device != FILES:
        device = value.device
    tensor: Tensor = _concrete(value, device=device)
    return tensor


def to_integer(value: Any, name: str) -> int:
    """Return an argument as an integer. NumPy's integers are accepted; booleans and floats raise
    `ArgumentTypeError`."""
    if type(value) is int:
        return value
    refuse_unbound(value)
    if isinstance(value, UOp):
        raise ArgumentTypeError(f"{name} must be an integer; {value} depends on a variable")
    if not isinstance(value, bool):
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise ArgumentTypeError(f"{name} must be an integer, got {value!r}")


def to_number(value: Any, name: str) -> int | float:
    """Return an argument as a Python number: a number, NumPy's too, or a tensor of one element.

    The value of a tensor is computed. Raises `ArgumentTypeError` for anything else.
    """
    operand = to_operand(value, name)
    if isinstance(operand, Core) and operand.numel() == 1:
        operand = operand.item()
    if not isinstance(operand, int | float):
        raise ArgumentTypeError(f"{name} takes numbers, got {value!r}")
    return int(operand) if isinstance(operand, bool) else operand


def one_element(tensor: Tensor, name: str) -> Tensor:
    """Return a tensor of one element detached and in the shape (). Raises `ShapeError`."""
    if tensor.numel() != 1:
        raise ShapeError(
            f"{name} takes a number or a tensor of one element, not one of shape {tensor.shape}"
        )
    return tensor.detach().reshape(())


def to_entries(value: Any) -> list[Any]:
    """Return the entries of a list or tuple, or a list of the single value."""
    return list(value) if isinstance(value, tuple | list) else [value]


def to_dims(arguments: tuple[Any, ...], name: str) -> tuple[Dim, ...]:
    """Lengths or axes given one by one or as one sequence: `f(2, 3)` or `f((2, 3))`."""
    if len(arguments) == 1 and isinstance(arguments[0], tuple | list):
        arguments = tuple(arguments[0])
    return tuple([to_dim(entry, name) for entry in arguments])


def to_dim(value: Any, name: str) -> Dim:
    """Return a length or position: an integer, or a node of dtype `index`."""
    if not isinstance(value, UOp):
        return to_integer(value, name)
    if value.dtype is not dtypes.index:
        raise ArgumentTypeError(f"{name} must be an integer, got a node of {value.dtype.name}")
    return as_length(value)


def refuse_unbound(value: Any) -> None:
    """Raise `VariableError` if `value` is a variable that is not bound to a number."""
    if isinstance(value, Variable):
        raise VariableError(
            f"variable {value.name!r} has no value; bind it: {value.name}.bind(...)"
        )


def to_shape(arguments: tuple[Any, ...], name: str) -> Shape:
    """Return lengths, given one by one or as one sequence, as a shape.

    Raises `ShapeError` for a length that is, or may be, negative.
    """
    shape = to_dims(arguments, f"{name}: a length")
    for axis, size in enumerate(shape):
        if least(size) < 0:
            has = "may have" if lengths.is_symbolic(size) else "has"
            raise ShapeError(
                f"{name}: axis {axis} of {build.show(shape)} {has} a negative length"
                f"{lengths.span(size)}"
            )
    return shape


def to_axis(dim: Any, rank: int, name: str) -> int:
    """Return `dim` as an axis counted from the front. A negative `dim` counts from the back.

    Raises `AxisError` if a tensor of `rank` axes has no such axis.
    """
    axis = to_integer(dim, f"{name}: an axis")
    if -rank <= axis < rank:
        return axis % rank
    valid = f"the axes are {-rank} to {rank - 1}" if rank else "it has none"
    raise AxisError(f"{name}: a tensor of {rank} axes has no axis {axis}; {valid}")


def to_axes(dims: Any, rank: int, name: str) -> tuple[int, ...]:
    """Return one axis or several, counted from the front and in ascending order.

    Raises `AxisError` if an axis is named twice.
    """
    given = to_entries(dims)
    axes = [to_axis(dim, rank, name) for dim in given]
    for axis in axes:
        if axes.count(axis) > 1:
            raise AxisError(f"{name}: axis {axis} is named twice in {tuple(given)}")
    return tuple(sorted(axes))


Operands = tuple[Any, ...]
"""Tensors and numbers."""


def same_device(tensors: Sequence[Core], name: str) -> str:
    """Return the device that all tensors are on. A tensor on `DISK` may be combined with any: it
    is copied to the device of the others. Raises `DeviceError`."""
    device = tensors[0].device
    for tensor in tensors:
        if tensor.device != device and device == FILES:
            device = tensor.device
        if tensor.device not in (device, FILES):
            how = "shard_like() or to()" if is_group(device) or is_group(tensor.device) else "to()"
            raise DeviceError(
                f"{name}: tensors are on {device} and {tensor.device}; move one with {how}"
            )
    return device


def bring_together(operands: Operands, name: str) -> tuple[str, Operands]:
    """Return the device on which operands are combined, and the operands moved to it.

    As in PyTorch, a scalar tensor on the default device may be combined with any device.
    """
    tensors = [value for value in operands if isinstance(value, Core)]
    device = tensors[0].device
    for tensor in tensors:
        if tensor.device != device:
            break
    else:
        return device, operands
    deciding = [value for value in tensors if value.node.shape or value.device != DEFAULT_DEVICE]
    device = same_device(deciding or tensors, name)
    return device, tuple([_moved(value, device) for value in operands])


def _moved(value: Core | Scalar, device: str) -> Core | Scalar:
    if not isinstance(value, Core) or value.device in (device, FILES):
        return value
    moved: Core = value.to(device)  # type: ignore[attr-defined]  # every operand is a `Tensor`
    return moved
