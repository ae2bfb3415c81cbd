"""Tensors from numbers and sizes, with PyTorch's arguments and dtypes."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy

import ogive
from ogive.compiler.ir.dtype import DType, result_type, to_dtype
from ogive.compiler.ir.ops import Op
from ogive.eager import make as eager_make
from ogive.eager import may_be_eager
from ogive.eager.forms import NOT_DONE
from ogive.eager.tensors import DTYPES
from ogive.eager.training import draws_at_once as draws
from ogive.eager.training import new_tensors as arrays
from ogive.eager.training.new_tensors import is_here
from ogive.errors import ArgumentError, OgiveError
from ogive.tensor.creation.user_data import memory_of
from ogive.tensor.eager_sizes import allowance
from ogive.tensor.tensor import Tensor
from ogive.torch.machine import defaults
from ogive.torch.tensors.functions import taking_out
from ogive.torch.tensors.numpy_arrays import from_numpy
from ogive.torch.tensors.parameter_names import by_names

__all__ = [
    "arange", "as_tensor", "asarray", "empty", "empty_like", "empty_permuted", "empty_strided",
    "eye", "from_file", "frombuffer", "full", "full_like", "linspace", "logspace", "normal", "ones",
    "ones_like", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm",
    "range", "scalar_tensor", "tensor", "tril_indices", "triu_indices", "zeros", "zeros_like",
]  # fmt: skip

IGNORED = ("layout", "pin_memory", "memory_format", "names")
"""Keywords of PyTorch about the layout of memory. They are ignored: the compiler decides."""


def _made(
    function: Callable[..., Any],
    at_once: Callable[..., Any] | None = None,
    is_float: bool | None = None,
) -> Callable[..., Any]:
    """Let a function of ours take all of PyTorch's keywords, and give floats of the default dtype.

    The result is a float tensor if `is_float` is set; if that is None, if one of its numbers is a
    float. `at_once` makes the array of a small, eager tensor.
    """

    def make_lazy(*args: Any, **kwargs: Any) -> Any:
        for name in IGNORED:
            kwargs.pop(name, None)
        return function(*args, **kwargs)

    lazily = taking_out(make_lazy)

    @functools.wraps(function)
    def make(
        *args: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False,
        **kwargs: Any,
    ) -> Any:  # fmt: skip
        if dtype is None and defaults.is_other():
            given = (*args, *kwargs.values())
            if is_float or (is_float is None and any(each.__class__ is float for each in given)):
                dtype = defaults.get_default_dtype()
        tensor = None
        if at_once is not None and is_here(device) and may_be_eager():
            try:
                tensor = eager_make(at_once(*args, dtype=dtype, **kwargs))
            except (*NOT_DONE, OgiveError):
                tensor = None
        if tensor is None:
            if dtype is not None:
                kwargs["dtype"] = dtype
            if device is not None:
                kwargs["device"] = device
            tensor = lazily(*args, **kwargs)
        return tensor.requires_grad_() if requires_grad else tensor

    return make


def _linspace(start: Any, end: Any, steps: int, dtype: Any = None, **options: Any) -> Tensor:
    """`linspace` with PyTorch's rounding: the step is first rounded to the dtype."""
    kind = ogive.float32 if dtype is None else to_dtype(dtype)
    if not (kind.is_float and steps > 1 and isinstance(start, int | float | numpy.number)
            and isinstance(end, int | float | numpy.number)):  # fmt: skip
        return ogive.linspace(start, end, steps, dtype, **options)
    first, last = numpy.array([start, end], kind.numpy)
    step = float((last - first) / kind.numpy.type(steps - 1))
    position = ogive.arange(steps, dtype=ogive.float64, device=options.pop("device", None))
    rising = position * step + float(first)
    falling = float(last) - (steps - 1 - position) * step
    points = ogive.where(position < steps // 2, rising, falling).cast(kind)
    return points.requires_grad_() if options.get("requires_grad") else points


zeros = _made(ogive.zeros, arrays.zeros, is_float=True)
ones = _made(ogive.ones, arrays.ones, is_float=True)
empty = _made(ogive.empty, arrays.zeros, is_float=True)
eye = _made(ogive.eye, arrays.eye, is_float=True)
linspace = _made(_linspace, arrays.linspace, is_float=True)
_logspace = _made(ogive.logspace, arrays.logspace, is_float=True)
rand = _made(ogive.rand, draws.rand, is_float=True)
randn = _made(ogive.randn, draws.randn, is_float=True)
normal = _made(ogive.normal, draws.normal)
full = _made(ogive.full, arrays.full)
_arange = _made(ogive.arange, arrays.arange)
tril_indices = _made(ogive.tril_indices, arrays.tril_indices, is_float=False)
triu_indices = _made(ogive.triu_indices, arrays.triu_indices, is_float=False)
randint = _made(ogive.randint, draws.randint, is_float=False)
randperm = _made(ogive.randperm, draws.randperm, is_float=False)
scalar_tensor = by_names(
    _made(ogive.scalar_tensor, arrays.scalar_tensor, is_float=True), ("s",)
)
zeros_like = _made(ogive.zeros_like, is_float=False)
ones_like = _made(ogive.ones_like, is_float=False)
empty_like = _made(ogive.empty_like, is_float=False)
full_like = _made(ogive.full_like, is_float=False)
rand_like = _made(ogive.rand_like, draws.rand_like, is_float=False)
randn_like = _made(ogive.randn_like, draws.randn_like, is_float=False)
_randint_like = _made(ogive.randint_like, draws.randint_like, is_float=False)


def randint_like(
    input: Tensor, *bounds: int, low: int = 0, high: int | None = None, **options: Any
) -> Tensor:
    """Random integers of [low, high), or [0, high), in the shape and dtype of a tensor.

    >>> ogive.torch.randint_like(ogive.torch.ones(2), high=1).tolist()
    [0.0, 0.0]
    """
    if high is not None:
        bounds = (*(bounds or (low,)), high)
    integers: Tensor = _randint_like(input, *bounds, **options)
    return integers


def arange(*args: Any, **kwargs: Any) -> Tensor:
    """The numbers from `start` (default 0) to below `end`, `step` apart.

    >>> ogive.torch.arange(end=3).tolist()
    [0, 1, 2]
    """
    if not args and "start" not in kwargs and "end" in kwargs:
        args = (0, kwargs.pop("end"))
    args = _whole(args, kwargs.get("dtype"))
    numbers: Tensor = _arange(*args, **kwargs)
    if numbers.numel() == 0:
        _check_way(*args, **kwargs)
    return numbers


def logspace(start: Any, end: Any, steps: int, base: float = 10.0, **options: Any) -> Tensor:
    """`base` to the powers of `linspace(start, end, steps)`."""
    start, end = _whole((start, end), options.get("dtype"))
    made: Tensor = _logspace(start, end, steps, base, **options)
    return made


def _whole(bounds: Any, dtype: Any) -> Any:
    """The bounds of a range of integers without their fractions, as PyTorch takes them."""
    if dtype is None or not to_dtype(dtype).is_integer:
        return bounds
    return tuple([int(each) if isinstance(each, float) else each for each in bounds])


def _check_way(start: Any, end: Any = None, step: Any = 1, **_options: Any) -> None:
    """Raise `ArgumentError`, as PyTorch does, if `step` leads away from `end`."""
    if end is None:
        start, end = 0, start
    if (end - start) * step < 0:
        raise ArgumentError(
            f"arange: steps of {step} do not lead from {start} to {end}; "
            "the step must have the sign of end - start"
        )


def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor with copies of numbers, nested sequences or an array. Floats get the default dtype.

    >>> ogive.torch.tensor([1, 2]).dtype, ogive.torch.tensor([1.0, 2]).dtype
    (torch.int64, torch.float32)
    """
    if dtype is None and defaults.is_other() and _has_python_floats(data):
        dtype = defaults.get_default_dtype()
    eager = _make_at_once(data, dtype, device)
    if eager is None:
        numbers = _plain(data)
        if dtype is None:
            dtype = _dtype_of_entries(data)
        if numbers is not data:
            eager = _make_at_once(numbers, dtype, device)
    if eager is not None:
        return eager.requires_grad_() if requires_grad else eager
    copied = Tensor(numbers, dtype, device)
    node = copied.node
    if isinstance(data, Tensor) or (memory_of(node) is None and node.op is not Op.CONST):
        copied = copied.detach()  # made of tensors, whose gradients must not flow through it
    return copied.requires_grad_() if requires_grad else copied


def _make_at_once(data: Any, dtype: Any, device: Any) -> Tensor | None:
    if not is_here(device):
        return None
    try:
        return eager_make(arrays.numbers(data, dtype))
    except (*NOT_DONE, OgiveError):
        return None


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of that dtype and device itself, or a tensor made from `data`.

    The tensor of a small array shares the array's memory. A large array is copied, because a lazy
    tensor would see later changes of it.
    """
    if isinstance(data, Tensor):
        return data if dtype is None and device is None else data.to(device=device, dtype=dtype)
    if _is_shared(data, dtype, device):
        return from_numpy(data)
    return tensor(data, dtype=dtype, device=device)


def _is_shared(data: Any, dtype: Any, device: Any) -> bool:
    """Whether a tensor made from `data` shares its memory: if `data` is a small array."""
    if data.__class__ is not numpy.ndarray or not is_here(device) or not may_be_eager():
        return False
    if dtype is not None and to_dtype(dtype).numpy != data.dtype:
        return False
    fits = data.size and allowance.may_hold(data.size) and data.dtype in DTYPES
    return bool(fits and data.flags.c_contiguous and data.flags.writeable)


def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor from a tensor, from an object with shared memory, or from numbers."""
    if not copy and not requires_grad and _is_shared(obj, dtype, device):
        return from_numpy(obj)
    if obj.__class__ in (list, tuple, bool, int, float):
        return tensor(obj, dtype=dtype, device=device, requires_grad=requires_grad)
    shown: Tensor = ogive.asarray(obj, dtype=dtype, device=device, copy=copy)
    return shown.requires_grad_() if requires_grad else shown


def empty_strided(size: Any, stride: Any, **options: Any) -> Tensor:
    """A tensor of shape `size`. `stride` has no effect: the compiler decides the layout."""
    unset: Tensor = empty(tuple(size), **options)
    return unset


def empty_permuted(size: Any, physical_layout: Any, **options: Any) -> Tensor:
    """A tensor of shape `size`. `physical_layout` has no effect."""
    return empty_strided(size, physical_layout, **options)


def from_file(
    filename: Any, shared: bool | None = None, size: int = 0, *, dtype: Any = None, **options: Any
) -> Tensor:
    """A tensor of the first `size` numbers in a file. If it is `shared`, what is written to one is
    in the other, and a file that is too short is made longer.

    Raises `ArgumentError` if the file is too short and not shared.
    """
    kind = to_dtype(dtype or defaults.get_default_dtype()).numpy
    if shared:
        with open(filename, "ab") as file:
            file.truncate(max(file.tell(), size * kind.itemsize))
    elif os.path.getsize(filename) < size * kind.itemsize:
        raise ArgumentError(
            f"from_file: {filename} has {os.path.getsize(filename)} bytes, and {size} numbers of "
            f"{kind.name} take {size * kind.itemsize}"
        )
    mode: Any = "r+" if shared else "c"
    made = from_numpy(numpy.asarray(numpy.memmap(filename, kind, mode, shape=(size,))))
    return made.requires_grad_() if options.get("requires_grad") else made


def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A tensor from the bytes of an object.

    >>> ogive.torch.frombuffer(bytes([1, 2]), dtype=ogive.torch.uint8).tolist()
    [1, 2]
    """
    array = numpy.frombuffer(buffer, dtype=dtype.numpy, count=count, offset=offset)
    return Tensor(array.copy(), requires_grad=requires_grad)


def range(start: Any, end: Any = None, step: Any = 1, **options: Any) -> Tensor:
    """The numbers from `start` to `end`, inclusive: PyTorch's old function."""
    first, last = (0, start) if end is None else (start, end)
    count = int((last - first) / step) + 1
    return arange(count, **options) * step + float(first)  # type: ignore[no-any-return]


def _plain(data: Any) -> Any:
    """`data` with tensors and other sequences converted to lists of numbers."""
    if isinstance(data, list | tuple):
        if _NUMBERS.issuperset(map(type, data)):
            return data
        entries = [_plain(_numbers_of(each)) for each in data]
        is_same = all(entry is each for entry, each in zip(entries, data, strict=True))
        return data if is_same else entries
    if isinstance(data, Tensor | numpy.ndarray | numpy.generic | str | bytes):
        return data
    if hasattr(data, "__len__") and hasattr(data, "__getitem__") and not hasattr(data, "__array__"):
        return [_plain(each) for each in data]
    return data


_NUMBERS = {int, float, bool, complex}


def _numbers_of(entry: Any) -> Any:
    """An entry of a list, with a tensor as its numbers. A tensor of one element gives a number."""
    if not isinstance(entry, Tensor):
        return entry
    return entry.item() if entry.numel() == 1 else entry.tolist()


def _dtype_of_entries(data: Any) -> DType | None:
    """The promoted dtype of a list's entries, or None if the list holds no tensors. Numbers count
    with the dtype that they have as tensors."""
    if not isinstance(data, list | tuple):
        return None
    kinds = list(_dtypes_of_leaves(data))
    if not any(isinstance(kind, DType) for kind in kinds):
        return None
    default = defaults.get_default_dtype()
    own = {float: default, complex: result_type([(default, 1)], [1j])}
    chosen = [own.get(kind) or to_dtype(kind) for kind in kinds]
    return result_type([(kind, 1) for kind in chosen])


def _dtypes_of_leaves(data: Any) -> Iterator[Any]:
    """The dtypes of the tensors in nested sequences, and the types of the numbers."""
    if isinstance(data, Tensor):
        yield data.dtype
    elif data.__class__ in _NUMBERS:
        yield data.__class__
    elif isinstance(data, numpy.ndarray | numpy.generic):
        yield to_dtype(data.dtype)
    elif isinstance(data, Iterable) and not isinstance(data, str | bytes):
        for each in data:
            yield from _dtypes_of_leaves(each)


def _has_python_floats(data: Any) -> bool:
    """Whether `data` contains Python floats, which have no dtype of their own."""
    if isinstance(data, list | tuple):
        return not data or any(_has_python_floats(each) for each in data)
    return data.__class__ is float
