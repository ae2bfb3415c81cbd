"""Methods of eager tensors that are no operations: facts, values, elements, gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from ogive.eager import tape
from ogive.eager.casts import cast_array as _cast
from ogive.eager.forms import (
    NOT_DONE,
    Form,
    Refused,
    dispatching,
    form,
    forms,
    gradient,
    is_captured,
    is_recording,
    save,
)
from ogive.eager.tape import Leaf, Record
from ogive.eager.tensors import DTYPES, MOST_ELEMENTS, give, is_alone, show, take_up
from ogive.eager.writing import CATEGORY, may_write, replace, write
from ogive.ir.dtype import DType
from ogive.tensor.core import Core, to_axis
from ogive.tensor.gradients import differentiation
from ogive.tensor.indexing import advanced_indexing
from ogive.tensor.memory import in_place_operations
from ogive.tensor.tensor import Tensor
from ogive.tensor.values import conversion, python_values
from ogive.torch.texts.sizes import Size

# Facts


def shape(self: Tensor) -> Size:
    """The lengths of the axes."""
    return Size(self.value.shape)


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


def size(self: Tensor, dim: int | None = None) -> Any:
    """The shape, or the length of one axis."""
    lengths = self.value.shape
    if dim is None:
        return Size(lengths)
    if dim.__class__ is int and -len(lengths) <= dim < len(lengths):
        return lengths[dim]
    return lengths[to_axis(dim, len(lengths), "size")]


def is_floating_point(self: Tensor) -> bool:
    """Whether the elements are floats."""
    return bool(self.value.dtype.kind == "f")


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
    return float(item(self))


def to_int(self: Tensor) -> int:
    """`int(x)` of one element."""
    return int(item(self))


def to_index(self: Tensor) -> int:
    """`range(x)`, `numbers[x]`: an integer of one element."""
    value = self.value
    if value.size == 1 and value.dtype.kind in "iub":
        return int(value.item())
    return Tensor.__index__(self)


def to_array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    """`numpy.asarray(x)`: a copy."""
    if copy is False:
        return python_values.to_array(self, dtype, copy)
    return numpy.array(self.value, dtype)


def realize(self: Tensor, config: Any = None) -> Tensor:
    """The values are there."""
    return self


def is_realized(self: Tensor) -> bool:
    """Whether the values are in memory."""
    return True


def length(self: Tensor) -> int:
    """`len(x)`: the length of the first axis."""
    value = self.value
    return len(value) if value.ndim else advanced_indexing.length(self)


def iterate(self: Tensor) -> Iterator[Tensor]:
    """The entries along the first axis, each a view."""
    if not self.value.ndim:
        return advanced_indexing.iterate(self)
    return iter([self[position] for position in range(len(self.value))])


# Elements


class Index:
    """An index as NumPy takes it, which a record holds: arrays in it are no operands. One that
    `is_basic` shows a part of memory."""

    __slots__ = ("entries", "is_basic")

    def __init__(self, index: Any) -> None:
        self.entries: tuple[Any, ...] = ()
        self.is_basic = True
        has_rest = False
        found = []
        for entry in index if index.__class__ is tuple else (index,):
            kind = entry.__class__
            if kind is slice:
                step = entry.step
                if step is not None and not (step.__class__ is int and step > 0):
                    raise Refused
            elif entry is Ellipsis:
                has_rest = True
            elif kind is not int and entry is not None:
                entry = self._taken(entry)
            found.append(entry)
        if self.is_basic and not has_rest:
            found.append(Ellipsis)  # so that a single element is an array, in the same memory
        self.entries = tuple(found)

    def _taken(self, entry: Any) -> Any:
        """Positions or a mask; a single position is an integer."""
        if isinstance(entry, Core):
            if not entry.is_eager and not take_up(entry):
                raise Refused
            entry = entry.value
        elif entry.__class__ is list:
            entry = numpy.array(entry)
        elif not isinstance(entry, numpy.ndarray | numpy.integer):
            raise Refused
        if entry.dtype.kind not in "iub" or entry.dtype == numpy.uint8 or not entry.size:
            raise Refused
        if not entry.ndim and entry.dtype.kind != "b":
            return int(entry)
        self.is_basic = False
        return entry


def _take(array: Any, index: Index) -> Any:
    return array[index.entries]


def _take_gradient(given: Any, out: Any, array: Any, index: Index) -> Any:
    spread = numpy.zeros_like(array)
    if index.is_basic:
        spread[index.entries] = given
    else:
        numpy.add.at(spread, index.entries, given)
    return (spread,)


def _take_plain(tensor: Tensor, index: Index) -> Tensor:
    return advanced_indexing.get_item(tensor, index.entries)


_TAKE = Form(_take_plain, _take, False, True)
_TAKE.gradient = _take_gradient


def get_item(self: Tensor, index: Any) -> Tensor:
    """`x[i]`, `x[1:, [0, 2]]`, `x[mask]`."""
    array = self.value
    try:
        if array.size > MOST_ELEMENTS or is_captured():
            raise Refused
        given = Index(index)
        out = array[given.entries]
    except NOT_DONE:
        return advanced_indexing.get_item(self, index)
    record = self.record
    if record is not None:
        record = None
        if is_recording() and array.dtype.kind == "f":
            save((self,))
            record = Record(_TAKE, (array, given), {}, out, (self.record,))
    if given.is_basic:
        return show(self, out, record, (advanced_indexing.get_item, (given.entries,), {}))
    return give(out, record)


def set_item(self: Tensor, index: Any, value: Any) -> None:
    """`x[i] = v`."""
    try:
        _set_item(self, index, value)
    except NOT_DONE:
        advanced_indexing.set_item(self, index, value)


def _set_item(self: Tensor, index: Any, value: Any) -> None:
    if is_captured():
        raise Refused
    sources: list[Any] = []
    own = self.value
    if isinstance(value, Core):
        if not value.is_eager and not take_up(value):
            raise Refused
        sources.append(value.record)
        array = value.value
        if CATEGORY[array.dtype.kind] > CATEGORY[own.dtype.kind]:
            array = _cast(array, own.dtype)
    elif value.__class__ in (int, float, bool):
        array = value
        if own.dtype.kind in "iu" and value.__class__ is float:
            raise Refused
    else:
        raise Refused
    if own.size > MOST_ELEMENTS or not may_write(self, sources):
        raise Refused
    given = Index(index)
    if sources and numpy.may_share_memory(array, own):
        array = array.copy()
    place = own[given.entries]  # an error is one before anything is written
    if sources and array.shape != place.shape and array.ndim > place.ndim:
        raise Refused
    write(self, given.entries, array)


# Copies and gradients


def detach(self: Tensor) -> Tensor:
    """The same values, in the same memory, through which no gradient flows."""
    if is_captured():
        return conversion.detach(self)
    return show(self, self.value[...], None, (conversion.detach, (), {}))


def clone(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """The same values, in memory of their own."""
    made: Tensor = _clone(self)
    return made


@form(conversion.clone)
def copy_of(array: Any, memory_format: Any = None) -> Any:
    """The values in memory of their own."""
    return array.copy()


@gradient(copy_of)
def _copy_gradient(given: Any, out: Any, array: Any, memory_format: Any = None) -> Any:
    return (given,)


_clone = dispatching(forms[conversion.clone])


def fill_(self: Tensor, value: Any) -> Tensor:
    """One value everywhere: a number or a scalar tensor."""
    own = self.value
    fits = value.__class__ in (int, float) and own.dtype.kind == "f"
    fits |= value.__class__ is int and own.dtype.kind == "i" and abs(value) < 1 << 7
    if not fits or is_captured() or not may_write(self, []):
        return in_place_operations.fill_(self, value)
    replace(self, numpy.full(own.shape, value, own.dtype))
    return self


def zero_(self: Tensor) -> Tensor:
    """0 everywhere."""
    if is_captured() or not may_write(self, []):
        return in_place_operations.zero_(self)
    replace(self, numpy.zeros(self.value.shape, self.value.dtype))
    return self


def requires_grad(self: Tensor) -> bool:
    """Whether `backward()` of this tensor reaches a tensor that gradients are wanted for."""
    return self.record is not None


def is_leaf(self: Tensor) -> bool:
    """Whether this tensor was not computed from one that requires gradients."""
    return self.record is None or self.record.is_leaf


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Say whether gradients are wanted for this tensor. Returns the tensor itself."""
    record = self.record
    if is_captured() or (record is None and requires_grad and not is_alone(self)):
        return differentiation.requires_grad_(self, requires_grad)
    if requires_grad and self.value.dtype.kind != "f":
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


def backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
) -> None:
    """Add the gradient of this tensor to `grad` of every leaf that it was computed from."""
    upstream = tape.upstream(self, gradient)
    if create_graph or upstream is None or is_captured() or tape.is_watched(self.record):
        differentiation.backward(self, gradient, retain_graph, create_graph)
    else:
        tape.gradients(self.record, upstream, _deliver)


def _deliver(leaf: Leaf, total: Any) -> None:
    """Add to the gradient of a leaf, where it is alive."""
    tensor = leaf.tensor()
    if tensor is None or not getattr(tensor, "is_flagged", False):
        return
    known = getattr(tensor, "gradient", None)
    if known is None:
        tensor.gradient = give(numpy.array(total))
    elif known.is_eager and known.record is None:
        if is_alone(known):
            known.value = known.value + total
        else:
            write(known, ..., known.value + total)
    else:
        tensor.gradient = known + give(numpy.array(total))


def set_grad(self: Tensor, value: Tensor | None) -> None:
    """`x.grad = value`. Raises for a gradient of another shape or dtype."""
    differentiation.set_grad(self, value)


METHODS = {
    "numel": numel, "nelement": numel, "size": size, "dim": ndim, "ndimension": ndim,
    "is_floating_point": is_floating_point, "item": item, "tolist": tolist, "__bool__": to_bool,
    "__float__": to_float, "__int__": to_int, "__index__": to_index, "__array__": to_array,
    "realize": realize, "__len__": length, "__iter__": iterate, "__getitem__": get_item,
    "__setitem__": set_item, "detach": detach, "clone": clone, "fill_": fill_, "zero_": zero_,
    "requires_grad_": requires_grad_, "backward": backward,
}  # fmt: skip
"""What eager tensors do by themselves."""

ATTRIBUTES = {
    "shape": (shape, None), "dtype": (dtype, None), "ndim": (ndim, None),
    "is_realized": (is_realized, None), "is_leaf": (is_leaf, None),
    "requires_grad": (requires_grad, differentiation.set_requires_grad),
    "data": (detach, differentiation.set_data),
}  # fmt: skip
"""Likewise, as attributes: how they are read, and how they are set."""
