"""`Core`, the state of every tensor, and the functions that read arguments and make tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy

from ogive.compiler.ir import device_names
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.device_names import FILES, STORAGE, is_group
from ogive.compiler.ir.dtype import DType, Scalar
from ogive.compiler.ir.layouts import holding_device
from ogive.compiler.ir.memory import file_of
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import SPREAD, Op
from ogive.compiler.ir.shape import Dim, Shape, as_length, element_count, least
from ogive.compiler.ir.symbolic.variable import Variable
from ogive.compiler.live import history, registry
from ogive.compiler.live.history import LeafReference
from ogive.compiler.live.registry import add_tensor
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
        """`property` for type checkers, which see the type of the function's result."""

        def __init__(self, get: Callable[[Tensor], Value]) -> None: ...

        @overload
        def __get__(self, tensor: None, owner: type[Any]) -> property: ...

        @overload
        def __get__(self, tensor: Core, owner: type[Any]) -> Value: ...

        def __get__(self, tensor: Core | None, owner: type[Any]) -> Value | property: ...

    class settable(attribute[Value], Generic[Value, Given]):
        """A `property` that can be set."""

        def __init__(
            self, get: Callable[[Tensor], Value], set: Callable[[Tensor, Given], None]
        ) -> None: ...

        def __set__(self, tensor: Core, value: Given) -> None: ...

else:
    attribute = settable = property


class TensorClass(type):
    """The metaclass of tensors, through which each namespace prints their class in its own way."""


class Core(metaclass=TensorClass):
    """A node of the graph, the device of its value, and the user's line that made it.

    `id` belongs to the tensor, and stays when realization replaces the node. `is_flagged` marks
    leaves, which require gradients; `gradient` is their gradient, `hooks` are called with it, and
    `leaf` is the reference that their versions have. `shared` is the storage that the tensor shows
    together with others, `shows` the view of it. `memory_strides` are the strides of a tensor that
    showed such a view until it was alone, if they are not row-major. `apart` is the id of a node,
    its own or an earlier one, that is known to lead to no leaf.

    Eager tensors (`eager/tensors.py`) have `value`, `record`, `family`, `shown` and `settlings`
    instead of a node. Programs may set attributes of their own, which are in `__dict__`.
    """

    __slots__ = (
        "__dict__", "__weakref__", "apart", "device", "family", "gradient", "hooks", "id",
        "is_flagged", "leaf", "memory_strides", "node", "origin", "record", "settlings", "shared",
        "shown", "shows", "value",
    )  # fmt: skip

    is_eager = False
    apart: int
    device: str
    family: Any
    gradient: Tensor | None
    hooks: Any
    id: int
    is_flagged: bool
    memory_strides: tuple[int, ...] | None
    leaf: LeafReference
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
        """Whether the value may be needed, which it may as long as a tensor lives."""
        return True

    @property
    def shape(self) -> Shape:
        """The lengths of the axes: integers, or expressions of variables.

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
    """Set the class that `wrap` makes. The families of methods know only `Core`, its base."""
    global _concrete
    _concrete = concrete


def wrap(node: UOp, device: str) -> Tensor:
    """A new tensor on a connected node. `graph_lock` has been held since its operands were read."""
    if history.paused and history.needs_cut(node):
        node = registry.make(Op.DETACH, node.dtype, (node,), None, node.shape)
    tensor: Tensor = _concrete.__new__(_concrete)
    return adopt(tensor, node, device)


def hold(node: UOp, device: str) -> Tensor:
    """A new tensor on exactly this node, through which gradients flow even under `no_grad`.

    The node may be from a history. It is connected here.
    """
    registry.connect(node)
    tensor: Tensor = _concrete.__new__(_concrete)
    return adopt(tensor, node, device)


def adopt(tensor: Tensor, node: UOp, device: str) -> Tensor:
    """Initialize an empty tensor."""
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
    """A node with its device. A node on another device than the default one says so itself."""
    if device == FILES:
        # A value computed from a file is in memory.
        return node, device if file_of(node) is not None else DEFAULT_DEVICE
    if device != DEFAULT_DEVICE and _device_below(node) != device:
        node = registry.make(Op.COPY, node.dtype, (node,), device, node.shape)
    return node, device


def _device_below(node: UOp) -> str | None:
    """The device of the first memory under a node; None if there is none.

    Nodes on other devices than the default one say so themselves, so that the search ends at the
    operands of an operation.
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
    """The device that `given` names; None means that of the settings."""
    if given is None:
        given = current_config().device or DEFAULT_DEVICE
    return given if isinstance(given, Device) else Device(given)


def memory_device(tensor: Core) -> str:
    """The device for a new tensor beside `tensor`: its own, but not files, which are read-only."""
    return DEFAULT_DEVICE if tensor.device == FILES else tensor.device


def to_operand(value: Any, name: str) -> Tensor | Scalar:
    """A tensor or a Python number from what the user wrote beside a tensor."""
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
"""The reflected method of each operation, which a right operand may have."""


def reflected(error: ArgumentTypeError, name: str, left: Any, right: Any) -> Any:
    """The result of the reflected method (`__radd__` and the like) of a foreign right operand.
    Raises `error` if it has none or does not implement it."""
    own = getattr(type(right), _REFLECTED.get(name, ""), None)
    if own is None or not isinstance(left, Core) or hasattr(right, "__dlpack__"):
        raise error
    result = own(right, left)
    if result is NotImplemented:
        raise error
    return result


def kind_of(value: Any) -> str:
    """The type of a value with its library, such as `torch.Tensor`, and how to convert it if that
    is possible."""
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    if library in ("builtins", "__main__", "numpy", "ogive"):
        return kind.__name__
    way = "; ogive.from_dlpack makes one of ours" if hasattr(value, "__dlpack__") else ""
    return f"{library}.{kind.__name__}{way}"


def to_tensor(value: Any, device: str | None = None) -> Tensor:
    """`Tensor(value, device=device)`. But without a `device`, a tensor stays on its own, unless it
    is on a file."""
    if device is None and isinstance(value, Core) and value.device != FILES:
        device = value.device
    tensor: Tensor = _concrete(value, device=device)
    return tensor


def to_integer(value: Any, name: str) -> int:
    """An integer argument. NumPy's integers are accepted, booleans and floats are not."""
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
    """A number argument. NumPy's numbers and tensors of one element are accepted, too."""
    operand = to_operand(value, name)
    if isinstance(operand, Core) and operand.numel() == 1:
        operand = operand.item()
    if not isinstance(operand, int | float):
        raise ArgumentTypeError(f"{name} takes numbers, got {value!r}")
    return int(operand) if isinstance(operand, bool) else operand


def one_element(tensor: Tensor, name: str) -> Tensor:
    """A tensor of one element in place of a number, in shape (). Raises `ShapeError`."""
    if tensor.numel() != 1:
        raise ShapeError(
            f"{name} takes a number or a tensor of one element, not one of shape {tensor.shape}"
        )
    return tensor.detach().reshape(())


def to_entries(value: Any) -> list[Any]:
    """The entries of a list or tuple; any other value as the only entry."""
    return list(value) if isinstance(value, tuple | list) else [value]


def to_dims(arguments: tuple[Any, ...], name: str) -> tuple[Dim, ...]:
    """Lengths or axes given one by one or as one sequence: `f(2, 3)` or `f((2, 3))`."""
    if len(arguments) == 1 and isinstance(arguments[0], tuple | list):
        arguments = tuple(arguments[0])
    return tuple([to_dim(entry, name) for entry in arguments])


def to_dim(value: Any, name: str) -> Dim:
    """A length or position: an integer, or a node that will be one."""
    if not isinstance(value, UOp):
        return to_integer(value, name)
    if value.dtype is not dtypes.index:
        raise ArgumentTypeError(f"{name} must be an integer, got a node of {value.dtype.name}")
    return as_length(value)


def refuse_unbound(value: Any) -> None:
    """Raise `VariableError` for an unbound variable in place of a number."""
    if isinstance(value, Variable):
        raise VariableError(
            f"variable {value.name!r} has no value; bind it: {value.name}.bind(...)"
        )


def to_shape(arguments: tuple[Any, ...], name: str) -> Shape:
    """A shape without negative lengths."""
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
    """An axis as a number from the front. A negative one counts from the back."""
    axis = to_integer(dim, f"{name}: an axis")
    if -rank <= axis < rank:
        return axis % rank
    valid = f"the axes are {-rank} to {rank - 1}" if rank else "it has none"
    raise AxisError(f"{name}: a tensor of {rank} axes has no axis {axis}; {valid}")


def to_axes(dims: Any, rank: int, name: str) -> tuple[int, ...]:
    """Several different axes, in order; one integer means one axis."""
    entries = to_entries(dims)
    axes = [to_axis(dim, rank, name) for dim in entries]
    for axis in axes:
        if axes.count(axis) > 1:
            raise AxisError(f"{name}: axis {axis} is named twice in {tuple(entries)}")
    return tuple(sorted(axes))


Operands = tuple[Any, ...]
"""Tensors and numbers."""


def same_device(tensors: Sequence[Core], name: str) -> str:
    """The common device of tensors. Files go with any device, and are copied to it."""
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
    """The device on which tensors and numbers are combined, and the operands there.

    As in PyTorch, a tensor without axes on the default device goes with any device.
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
    moved: Core = value.to(device)  # type: ignore[attr-defined]  # all there are are tensors
    return moved
