"""Make the arrays of new eager tensors: from numbers, from a shape, or like another tensor.

Each function has the arguments of the function of `ogive` that makes a lazy tensor. It raises
`Refused` if that function must be called.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from ogive.compiler.ir.dtype import DType, to_dtype
from ogive.eager.casts import cast_array, check_size
from ogive.eager.forms import NOT_DONE, Refused, form, instead, is_captured
from ogive.eager.namespaces import may_be_eager
from ogive.eager.tensors import DTYPES, give
from ogive.tensor.core import DEFAULT_DEVICE, Core
from ogive.tensor.creation import constructors, new_like
from ogive.tensor.eager_sizes import allowance
from ogive.tensor.tensor import Tensor

_FLOAT = numpy.dtype("float32")
_DOUBLE = numpy.dtype("float64")
_COMPLEX = numpy.dtype("complex64")
_KINDS: dict[Any, Any] = {
    float: _FLOAT, int: numpy.dtype("int64"), bool: numpy.dtype("bool"), complex: _COMPLEX,
}  # fmt: skip
"""The dtypes of Python's numbers."""
_NARROWED = {_DOUBLE: _FLOAT, numpy.dtype("complex128"): _COMPLEX}
_WIDE = {numpy.ndarray, numpy.float64, numpy.complex128}
"""NumPy's types, whose values stay in float64 or complex128. Python's numbers are narrowed."""
_LISTS = {list, tuple}


def is_here(device: Any) -> bool:
    """Whether eager tensors can be on a device: None or the CPU."""
    return device is None or device == "cpu" or device == DEFAULT_DEVICE


def to_kind(dtype: Any, default: Any = _FLOAT) -> Any:
    """The NumPy dtype of a dtype. Raises `Refused` for one that eager tensors do not have."""
    if dtype is None:
        return default
    kind = (dtype if dtype.__class__ is DType else to_dtype(dtype)).numpy
    if kind not in DTYPES:
        raise Refused
    return kind


def to_sizes(given: tuple[Any, ...]) -> tuple[int, ...]:
    """A small shape, from `(2, 3)` or `((2, 3),)`."""
    if len(given) == 1 and given[0].__class__ is not int:
        given = given[0]
    count = 1
    for length in given:
        if length.__class__ is not int or length < 0:
            raise Refused
        count *= length
    if not allowance.may_hold(count):
        raise Refused
    return tuple(given)


# From numbers


def numbers(data: Any, dtype: Any = None) -> Any:
    """An array with copies of a number, nested lists or an array. Python floats become float32."""
    kind = data.__class__
    if kind is list or kind is tuple:
        kinds = _kinds_of(data)
        if any(issubclass(kind, Core) for kind in kinds):
            raise Refused
        array = numpy.array(data)
        if array.dtype in _NARROWED and kinds.isdisjoint(_WIDE):
            if dtype is not None:
                return _fitting(array, to_kind(dtype))
            array = array.astype(_NARROWED[array.dtype])
    elif kind in _KINDS:
        if dtype is not None:
            return _full((), data, to_kind(dtype))
        return numpy.array(data, _KINDS[kind])
    elif isinstance(data, numpy.ndarray | numpy.generic):
        if not allowance.may_hold(data.size):
            raise Refused
        array = numpy.array(data, order="C")
    elif isinstance(data, Core) and data.is_eager:
        array = data.value.copy()
    else:
        raise Refused
    if array.dtype not in DTYPES:
        raise Refused
    return array if dtype is None else _fitting(array, to_kind(dtype))


def _kinds_of(data: Any) -> set[type]:
    """The types of all entries of nested lists."""
    kinds = set(map(type, data))
    if not kinds.isdisjoint(_LISTS):
        for row in data:
            if row.__class__ in _LISTS:
                kinds |= _kinds_of(row)
    return kinds


def _fitting(array: Any, kind: Any) -> Any:
    own = array.dtype.kind
    if own in "fVc" and kind.kind not in ("c" if own == "c" else "fVc"):
        raise Refused
    return array if array.dtype == kind else array.astype(kind)


# From a shape


def _full(shape: tuple[int, ...], value: Any, kind: Any) -> Any:
    given = value.__class__
    if given not in _KINDS or (given is float and kind.kind not in "fVc"):
        raise Refused
    if given is complex and kind.kind != "c":
        raise Refused
    if kind.kind == "b" and given is not bool:
        raise Refused
    return numpy.full(shape, value, kind)


def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Any:
    """An array of one number."""
    return _full(to_sizes((size,)), fill_value, to_kind(dtype, _KINDS.get(fill_value.__class__)))


def scalar_tensor(value: Any, *, dtype: Any = None) -> Any:
    """An array without axes."""
    return _full((), value, to_kind(dtype))


def zeros(*sizes: Any, size: Any = None, dtype: Any = None) -> Any:
    """Zeros. `empty` gives zeros, too."""
    return numpy.zeros(to_sizes(sizes if size is None else (size,)), to_kind(dtype))


def ones(*sizes: Any, size: Any = None, dtype: Any = None) -> Any:
    """Ones."""
    return numpy.ones(to_sizes(sizes if size is None else (size,)), to_kind(dtype))


def eye(n: Any, m: Any = None, *, dtype: Any = None) -> Any:
    """Ones on the diagonal."""
    rows, columns = to_sizes((n, n if m is None else m))
    return numpy.eye(rows, columns, dtype=to_kind(dtype))


def arange(start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Any:
    """`start`, `start + step`, ... below `end`."""
    if end is None:
        start, end = 0, start
    is_whole = start.__class__ is end.__class__ is step.__class__ is int
    if not is_whole and {start.__class__, end.__class__, step.__class__} - {int, float}:
        raise Refused
    if is_whole:
        count = -((start - end) // step)
        check_size((max(count, 0),))
        numbers = numpy.arange(start, end, step, dtype=numpy.int64)
        return numbers.astype(to_kind(dtype, numbers.dtype), copy=False)
    count = max(math.ceil((end - start) / step), 0)
    check_size((count,))
    return cast_array(numpy.arange(count) * float(step) + float(start), to_kind(dtype))


def linspace(start: Any, end: Any, steps: Any, *, dtype: Any = None) -> Any:
    """Numbers at equal distances. As in PyTorch, the step is rounded to the dtype first."""
    kind = to_kind(dtype)
    count = _count_between(start, end, steps, kind)
    first, last = numpy.array([start, end], kind)
    step = float((last - first) / kind.type(count - 1))
    position = numpy.arange(count, dtype=_DOUBLE)
    falling = float(last) - (count - 1 - position) * step
    points = numpy.where(position < count // 2, position * step + float(first), falling)
    return points.astype(kind)


def logspace(start: Any, end: Any, steps: Any, base: Any = 10.0, *, dtype: Any = None) -> Any:
    """`base` to powers at equal distances."""
    kind = to_kind(dtype)
    count = _count_between(start, end, steps, kind)
    step = (float(end) - float(start)) / (count - 1)
    position = numpy.arange(count, dtype=_DOUBLE)
    falling = float(end) - (count - 1 - position) * step
    powers = numpy.where(position < count / 2, position * step + float(start), falling)
    return numpy.power(float(base), powers).astype(kind)


def _count_between(start: Any, end: Any, steps: Any, kind: Any) -> int:
    if {start.__class__, end.__class__} - {int, float} or steps.__class__ is not int:
        raise Refused
    if kind.kind != "f" or steps < 2 or not allowance.may_hold(steps):
        raise Refused
    return int(steps)


# Like another tensor


def _filled(shape: tuple[int, ...], value: Any, dtype: Any, device: Any, beside: Any) -> Any:
    if not is_here(device):
        raise Refused
    return _full(shape, value, to_kind(dtype, beside.dtype))


@form(constructors.full_like, apart=True)
def full_like(tensor: Any, fill_value: Any, dtype: Any = None, device: Any = None) -> Any:
    """One number in the shape of another tensor."""
    return _filled(tensor.shape, fill_value, dtype, device, tensor)


@form(constructors.zeros_like, constructors.empty_like, apart=True)
def zeros_like(tensor: Any, dtype: Any = None, device: Any = None) -> Any:
    """Zeros in the shape of another tensor."""
    return _filled(tensor.shape, False, dtype, device, tensor)


@form(constructors.ones_like, apart=True)
def ones_like(tensor: Any, dtype: Any = None, device: Any = None) -> Any:
    """Ones in the shape of another tensor."""
    return _filled(tensor.shape, True, dtype, device, tensor)


@form(new_like.new_full, apart=True)
def new_full(x: Any, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """One number in the dtype of another tensor."""
    return _filled(to_sizes((size,)), fill_value, dtype, device, x)


@form(new_like.new_zeros, new_like.new_empty, apart=True)
def new_zeros(x: Any, *sizes: Any, dtype: Any = None, device: Any = None) -> Any:
    """Zeros in the dtype of another tensor."""
    return _filled(to_sizes(sizes), False, dtype, device, x)


@form(new_like.new_ones, apart=True)
def new_ones(x: Any, *sizes: Any, dtype: Any = None, device: Any = None) -> Any:
    """Ones in the dtype of another tensor."""
    return _filled(to_sizes(sizes), True, dtype, device, x)


def new_tensor(self: Tensor, data: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """`data` as a tensor of the dtype of another tensor."""
    try:
        if is_captured() or options:
            raise Refused
        array = numbers(data, None)
        return give(cast_array(array, to_kind(dtype, self.value.dtype)))
    except NOT_DONE as refusal:
        return instead(refusal, new_like.new_tensor, self, data, dtype=dtype, **options)


def triu_indices(row: Any, col: Any, offset: Any = 0, dtype: Any = None) -> Any:
    """The positions of the upper triangle of a matrix."""
    return _triangle(numpy.triu_indices, row, col, offset, dtype)


def tril_indices(row: Any, col: Any, offset: Any = 0, dtype: Any = None) -> Any:
    """The positions of the lower triangle of a matrix."""
    return _triangle(numpy.tril_indices, row, col, offset, dtype)


def _triangle(find: Callable[..., Any], row: Any, col: Any, offset: Any, dtype: Any) -> Any:
    if any(each.__class__ is not int or each < 0 for each in (row, col)):
        raise Refused
    check_size((2, row, col))
    return numpy.stack(find(row, offset, col)).astype(to_kind("int64" if dtype is None else dtype))


METHODS = {"new_tensor": new_tensor}
"""The methods that eager tensors override."""


def making(compute: Callable[..., Any]) -> Callable[..., Tensor | None]:
    """Let a function give an eager tensor of its array; None if new tensors must not be eager."""

    def create(*args: Any, device: Any = None, **kwargs: Any) -> Tensor | None:
        if not is_here(device) or not may_be_eager():
            return None
        try:
            return give(compute(*args, **kwargs))
        except NOT_DONE:
            return None

    return create


CALLS = {
    constructors.zeros: making(zeros), constructors.ones: making(ones),
    constructors.full: making(full), Tensor: making(numbers), constructors.arange: making(arange),
}  # fmt: skip
"""The functions with which layers make their initial values, and loaders their batches
(`created`)."""
