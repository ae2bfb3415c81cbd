"""Methods of eager tensors that are not operations: facts, values, copies, gradients."""

from __future__ import annotations

from typing import Any

import numpy

from ogive.compiler.ir.dtype import DType
from ogive.compiler.live import history
from ogive.eager.forms import (
    dispatching,
    form,
    forms,
    gradient,
    is_captured,
)
from ogive.eager.gradients.records import Leaf, Record
from ogive.eager.tensors import DTYPES, FLOATS, give, lend, show
from ogive.eager.writing import may_write, replace
from ogive.errors import GradientError
from ogive.tensor.core import to_axis
from ogive.tensor.gradients import differentiation
from ogive.tensor.memory import in_place_operations
from ogive.tensor.tensor import Tensor
from ogive.tensor.values import conversion, python_values

# Facts


def shape(self: Tensor) -> tuple[int, ...]:
    """The lengths of the axes."""
    lengths: tuple[int, ...] = self.value.shape
    return lengths


def dtype(self: Tensor) -> DType:
    """The element type."""
    return DTYPES[self.value.dtype]


def ndim(self: Tensor) -> int:
    """The number of axes."""
    count: int = self.value.ndim
    return count


def numel(self: Tensor) -> int:
    """The number of elements."""
    count: int = self.value.size
    return count


def stride(self: Tensor, dim: int | None = None) -> Any:
    """The distance in elements between neighbours along each axis, or along one axis."""
    steps = tuple([step // self.value.itemsize for step in self.value.strides])
    return steps if dim is None else steps[to_axis(dim, len(steps), "stride")]


def is_contiguous(self: Tensor, memory_format: Any = None) -> bool:
    """Whether the elements are in memory in row-major order."""
    return bool(self.value.flags.c_contiguous)


def size(self: Tensor, dim: int | None = None) -> Any:
    """The shape, or the length of one axis."""
    lengths = self.value.shape
    if dim is None:
        return self.shape
    if dim.__class__ is int and -len(lengths) <= dim < len(lengths):
        return lengths[dim]
    return lengths[to_axis(dim, len(lengths), "size")]


def is_floating_point(self: Tensor) -> bool:
    """Whether the elements are floats."""
    return bool(self.value.dtype.kind in FLOATS)


# Values


def item(self: Tensor) -> Any:
    """The value of a tensor with one element."""
    value = self.value
    return value.item() if value.size == 1 else python_values.item(self)


def tolist(self: Tensor) -> Any:
    """The values as nested lists of Python numbers; a number for a scalar."""
    return self.value.tolist()


def to_bool(self: Tensor) -> bool:
    """`bool(x)` of one element."""
    value = self.value
    return bool(value.item()) if value.size == 1 else python_values.to_bool(self)


def to_float(self: Tensor) -> float:
    """`float(x)` of one element."""
    return Tensor.__float__(self) if self.value.dtype.kind == "c" else float(item(self))


def to_int(self: Tensor) -> int:
    """`int(x)` of one element."""
    return Tensor.__int__(self) if self.value.dtype.kind == "c" else int(item(self))


def to_index(self: Tensor) -> int:
    """`range(x)`, `numbers[x]`: an integer of one element."""
    value = self.value
    if value.size == 1 and value.dtype.kind in "iub":
        return int(value.item())
    return Tensor.__index__(self)


def refuse_gradients(tensor: Tensor) -> None:
    """Raise `GradientError` for a tensor that requires gradients, since an array has none.

    Of plain tensors only leaves are refused. Others may come from a leaf or from the argument of a
    transform, and that is not known.
    """
    if tensor.record is not None if tensor.is_eager else history.is_flagged(tensor):
        raise GradientError(
            f"an array has no gradients, but this tensor of shape {tuple(tensor.shape)} requires "
            "them; use detach().numpy() or numpy(force=True)"
        )


def to_array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    """`numpy.asarray(x)`: a copy."""
    if copy is False:
        return python_values.to_array(self, dtype, copy)
    refuse_gradients(self)
    return numpy.array(self.value, dtype)


def to_numpy(self: Tensor, *, force: bool = False) -> Any:
    """`x.numpy()`: an array that shares the tensor's memory."""
    if not force:
        refuse_gradients(self)
    return python_values.to_numpy(self) if is_captured() else lend(self)


def realize(self: Tensor, config: Any = None) -> Tensor:
    """Return the tensor: its values are computed already."""
    return self


def is_realized(self: Tensor) -> bool:
    """Whether the values are in memory."""
    return True


# Copies and gradients


def detach(self: Tensor) -> Tensor:
    """A tensor of the same values in the same memory, without gradients."""
    if is_captured():
        return conversion.detach(self)
    return show(self, self.value[...], None, (conversion.detach, (), {}))


def clone(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy of the tensor."""
    copied: Tensor = _clone(self, memory_format=memory_format) if memory_format else _clone(self)
    return copied


@form(conversion.clone)
def copy_of(array: Any, memory_format: Any = None) -> Any:
    """A copy of an array in its own memory order; in row-major order for other memory formats."""
    if memory_format is None or str(memory_format).endswith("preserve_format"):
        return array.copy("K")
    return array.copy()


@gradient(copy_of)
def _copy_gradient(given: Any, out: Any, array: Any, memory_format: Any = None) -> Any:
    return (given,)


_clone = dispatching(forms[conversion.clone])


def fill_(self: Tensor, value: Any) -> Tensor:
    """Fill the tensor with a number or a scalar tensor."""
    own = self.value
    fits = value.__class__ in (int, float) and own.dtype.kind in FLOATS
    fits |= value.__class__ is int and own.dtype.kind == "i" and abs(value) < 1 << 7
    if not fits or is_captured() or not may_write(self, []):
        return in_place_operations.fill_(self, value)
    replace(self, numpy.full(own.shape, value, own.dtype))
    return self


def zero_(self: Tensor) -> Tensor:
    """Fill the tensor with zeros."""
    if is_captured() or not may_write(self, []):
        return in_place_operations.zero_(self)
    replace(self, numpy.zeros(self.value.shape, self.value.dtype))
    return self


def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Fill the diagonal with one value; by a mask, if gradients flow through the tensor."""
    own = self.value
    if self.record is None or wrap or own.ndim != 2 or is_captured():
        return in_place_operations.fill_diagonal_(self, fill_value, wrap)
    filled: Tensor = self.masked_fill_(give(numpy.eye(*own.shape, dtype=bool)), fill_value)
    return filled


def requires_grad(self: Tensor) -> bool:
    """Whether `backward()` of this tensor reaches a leaf that requires gradients."""
    return self.record is not None


def is_leaf(self: Tensor) -> bool:
    """Whether this tensor was not computed from one that requires gradients."""
    return self.record is None or self.record.is_leaf


class RecordedFunction(differentiation.GradientFunction):
    """The gradient function of an eager tensor: the operation that computed it."""

    __slots__ = ("record",)

    def __init__(self, record: Record) -> None:
        self.record = record


def grad_fn(self: Tensor) -> RecordedFunction | None:
    """The gradient function of a tensor; None for leaves and without gradients."""
    return None if is_leaf(self) else RecordedFunction(self.record)


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Set whether the tensor requires gradients. Returns the tensor itself."""
    record = self.record
    if is_captured():
        return differentiation.requires_grad_(self, requires_grad)
    if requires_grad and self.value.dtype.kind not in FLOATS:
        return differentiation.requires_grad_(self, requires_grad)
    if requires_grad and record is None:
        self.record = Leaf(self)
        self.is_flagged = True
    elif not requires_grad and record is not None:
        if not record.is_leaf:
            return differentiation.requires_grad_(self, requires_grad)
        self.record = None
        self.is_flagged = False
    return self


def set_grad(self: Tensor, value: Tensor | None) -> None:
    """Implement `x.grad = value`. Raises for a gradient of another shape or dtype."""
    differentiation.set_grad(self, value)


METHODS = {
    "stride": stride, "is_contiguous": is_contiguous, "fill_diagonal_": fill_diagonal_,
    "numel": numel, "nelement": numel, "size": size, "dim": ndim, "ndimension": ndim,
    "is_floating_point": is_floating_point, "item": item, "tolist": tolist, "__bool__": to_bool,
    "__float__": to_float, "__int__": to_int, "__index__": to_index, "__array__": to_array,
    "numpy": to_numpy, "realize": realize, "detach": detach, "clone": clone,
    "fill_": fill_, "zero_": zero_, "requires_grad_": requires_grad_,
}  # fmt: skip
"""The methods that eager tensors override."""

ATTRIBUTES = {
    "shape": (shape, None), "dtype": (dtype, None), "ndim": (ndim, None),
    "is_realized": (is_realized, None), "is_leaf": (is_leaf, None),
    "grad_fn": (grad_fn, None),
    "requires_grad": (requires_grad, differentiation.set_requires_grad),
    "data": (detach, differentiation.set_data),
}  # fmt: skip
"""The attributes that eager tensors override: a getter, and a setter or None."""
