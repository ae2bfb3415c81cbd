"""Classes that PyTorch programs name: devices, tensor types, memory formats and layouts."""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any, cast

import ogive
from ogive.compiler.ir.dtype import DType
from ogive.cuda import is_available
from ogive.eager.tensors import Eager
from ogive.errors import ArgumentTypeError, DeviceError
from ogive.tensor.core import TensorClass
from ogive.tensor.device_name import Device
from ogive.tensor.method_functions import as_function, eager_calls
from ogive.tensor.tensor import Tensor as _Tensor
from ogive.torch.machine import defaults
from ogive.torch.tensors.sparse import SparseTensor
from ogive.torch.texts.sizes import Size

__all__ = [
    "BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor",
    "HalfTensor", "IntTensor", "LongTensor", "OutOfMemoryError", "ShortTensor", "Size", "Tensor",
    "channels_last", "channels_last_3d", "contiguous_format", "device", "float8_e4m3fn",
    "is_tensor", "layout", "legacy_contiguous_format",
    "memory_format", "preserve_format", "sparse_coo",
    "strided",
]  # fmt: skip


class _Kind(TensorClass):
    """The metaclass of `torch.Tensor` and its types: their constructors, and `isinstance`.

    There is one class of tensors. Classes of this metaclass stand for it: they make its instances
    by PyTorch's old constructor, and `isinstance` holds for them.
    """

    element: DType | None

    def __eq__(cls, other: object) -> bool:
        return cls is other or (cls is Tensor and (other is _Tensor or other is Eager))

    def __hash__(cls) -> int:
        return hash(_Tensor) if cls.element is None else type.__hash__(cls)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _Tensor | SparseTensor) and (
            cls.element in (None, instance.dtype)
        )

    def __subclasscheck__(cls, given: type) -> bool:
        return super().__subclasscheck__(given) or (
            cls.element is None and super().__subclasscheck__(_Tensor) and given is _Tensor
        )

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("device", None)
        dtype = cls.element or defaults.get_default_dtype()
        if kwargs:
            raise ArgumentTypeError(f"{cls.__name__} takes no {', '.join(kwargs)}")
        if cls.element is None and len(args) == 1 and isinstance(args[0], _Tensor):
            return args[0].detach()
        return _construct(args, dtype)

    def __getattribute__(cls, name: str) -> Any:
        attribute = super().__getattribute__(name)
        return _method(attribute) if isinstance(attribute, FunctionType) else attribute

    def __setattr__(cls, name: str, value: Any) -> None:
        """Set an attribute of all tensors."""
        if cls is not Tensor:
            super().__setattr__(name, value)
            return
        plain = _plain.get(value, value) if isinstance(value, FunctionType) else value
        setattr(_Tensor, name, plain)
        for each in _EAGER:
            if name in vars(each):
                setattr(each, name, eager_calls.get(plain, value))

    def __delattr__(cls, name: str) -> None:
        if cls is not Tensor:
            super().__delattr__(name)
            return
        delattr(_Tensor, name)
        for each in _EAGER:
            if name in vars(each):
                delattr(each, name)


def _construct(args: tuple[Any, ...], dtype: Any) -> _Tensor:
    """Construct a tensor by PyTorch's old rules: sizes give zeros, other arguments are values."""
    from ogive.torch.tensors import creation

    if len(args) == 1 and not isinstance(args[0], int | Size):
        tensor: _Tensor = creation.tensor(args[0], dtype=dtype)
    else:
        tensor = creation.zeros(*(args or (0,)), dtype=dtype)
    return tensor


def new(self: _Tensor, *args: Any, device: Any = None) -> _Tensor:
    """Construct a tensor of the dtype of `x`: `x.new(2, 3)`, `x.new([1, 2])`.

    >>> ogive.torch.ones(1).new([1, 2])
    tensor([1., 2.])
    """
    return _construct(args, self.dtype)


_EAGER = (Eager, *Eager.__subclasses__())
"""The classes of eager tensors, whose methods come before those of `Tensor`."""


_plain: dict[Any, Any] = {}
"""Maps the functions that `torch.Tensor.add` and the like return to their methods."""


@functools.cache
def _method(method: Any) -> Any:
    """A method as a function that does not settle eager tensors."""
    if method not in eager_calls:
        return method
    plain = as_function(method, "self")
    _plain[plain] = method
    return plain


class Tensor(_Tensor, metaclass=_Kind):
    """The class of tensors: `Tensor(2, 3)` has that shape, `Tensor([2, 3])` has these values.

    >>> ogive.torch.Tensor(2, 3).shape, ogive.torch.Tensor([2, 3]).dtype
    (torch.Size([2, 3]), torch.float32)
    """

    __slots__ = ()
    element: DType | None = None


def is_tensor(obj: Any) -> bool:
    """Whether something is a tensor, dense or sparse.

    >>> ogive.torch.is_tensor(ogive.torch.ones(2)), ogive.torch.is_tensor([1.0])
    (True, False)
    """
    return isinstance(obj, Tensor)


def _kind(name: str, dtype: DType) -> type[Tensor]:
    kind = _Kind(name, (Tensor,), {"__slots__": (), "element": dtype, "__doc__": f"{dtype.name}s."})
    return cast(type[Tensor], kind)


FloatTensor = _kind("FloatTensor", ogive.float32)
DoubleTensor = _kind("DoubleTensor", ogive.float64)
HalfTensor = _kind("HalfTensor", ogive.float16)
BFloat16Tensor = _kind("BFloat16Tensor", ogive.bfloat16)
LongTensor = _kind("LongTensor", ogive.int64)
IntTensor = _kind("IntTensor", ogive.int32)
ShortTensor = _kind("ShortTensor", ogive.int16)
CharTensor = _kind("CharTensor", ogive.int8)
ByteTensor = _kind("ByteTensor", ogive.uint8)
BoolTensor = _kind("BoolTensor", ogive.bool)


class _CountsDevices(type):
    """The metaclass of `torch.device`: `isinstance` holds for the devices of tensors."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Device) or super().__instancecheck__(instance)

    def __call__(cls, type: Any = "cpu", index: int | None = None) -> Any:
        if isinstance(type, int):
            type, index = "cuda", type
        kind = str(type).partition(":")[0].lower()
        if kind == "cpu" or (kind == "cuda" and is_available()):
            return Device(type, index)
        if kind not in NAMED_ONLY:
            raise DeviceError(f"unknown device {type!r}; known are cpu, {', '.join(NAMED_ONLY)}")
        return super().__call__(type if index is None else f"{type}:{index}")


class device(str, metaclass=_CountsDevices):
    """A device by name. It may name a device that does not exist; then using it raises.

    >>> ogive.torch.device("cuda", 1).type, ogive.torch.device("cuda", 1).index
    ('cuda', 1)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    @property
    def type(self) -> str:
        """The kind of device."""
        return self.partition(":")[0].lower()

    @property
    def index(self) -> int | None:  # type: ignore[override]
        """The number of the device, if it was given."""
        number = self.partition(":")[2]
        return int(number) if number else None

    def __enter__(self) -> device:
        """Raises `DeviceError`: nothing is made where there is no device. On "meta", where PyTorch
        makes tensors without values, they are made as ever."""
        if self.type != "meta":
            Device(self)
        return self

    def __exit__(self, *error: object) -> None:
        """Do nothing."""


NAMED_ONLY = ("cuda", "mps", "xpu", "hip", "meta", "xla", "hpu", "npu")
"""Devices that do not exist here. Programs name them to ask for them, or to compare with theirs."""


class memory_format:
    """The order of a tensor's elements in memory. It has no effect: the compiler decides."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"


class layout(memory_format):
    """The layout of a tensor: `torch.strided` for all elements, or a sparse one."""


contiguous_format = legacy_contiguous_format = memory_format("contiguous_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
preserve_format = memory_format("preserve_format")
strided = layout("strided")
sparse_coo = layout("sparse_coo")
float8_e4m3fn = ogive.float8_e4m3
OutOfMemoryError = ogive.errors.AllocateError
