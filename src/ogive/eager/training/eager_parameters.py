"""Eager parameters, and the replacement of all values of a tensor: `p.copy_(t)`, `p.data = t`.

A plain tensor that takes the values of an eager one becomes eager if possible.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy

from ogive.compiler.live import history
from ogive.compiler.live.registry import next_id
from ogive.eager.casts import cast_array
from ogive.eager.forms import NOT_DONE, Refused, instead, is_captured
from ogive.eager.from_plain import receive
from ogive.eager.gradients.records import Leaf
from ogive.eager.namespaces import may_be_eager
from ogive.eager.operands import is_recording
from ogive.eager.tensors import (
    DTYPES,
    EAGER_CLASS,
    FLOATS,
    PLAIN_CLASS,
    Family,
    eager_class,
    give,
    is_alone,
    lend,
    settle,
)
from ogive.eager.writing import is_repeated, may_write, replace, replace_recorded
from ogive.nn.parameter import Parameter
from ogive.tensor.core import Core
from ogive.tensor.eager_sizes import allowance
from ogive.tensor.memory import assignment, data_attribute, in_place_operations
from ogive.tensor.tensor import Tensor
from ogive.tensor.values import interchange

_NUMBERS = {
    "f": (int, float, bool), "V": (int, float), "i": (int,), "b": (bool,), "u": (),
    "c": (int, float),
}  # fmt: skip
"""The numbers that tensors of a kind are filled with here; an integer fits them all below 2^7."""


def become_parameter(parameter: Any, data: Tensor, requires_grad: bool) -> bool:
    """Let a new parameter share the memory of an eager tensor. Returns False if it cannot."""
    if not allowance.may_hold(data.value.size) or not may_be_eager() or is_captured():
        return False
    if data.value.dtype.kind == "c":
        return False
    if requires_grad and data.value.dtype.kind not in FLOATS:
        return False
    parameter.__class__ = eager_class(Parameter, data.value.dtype)
    _hold(parameter, data.value, requires_grad)
    share_memory(parameter, data)
    return True


def _hold(tensor: Tensor, array: Any, is_leaf: bool) -> None:
    tensor.id = next_id()
    tensor.value = array
    tensor.family = None
    tensor.record = Leaf(tensor) if is_leaf else None
    if is_leaf:
        tensor.is_flagged = True


# Copies


def deep_copy(self: Tensor, memo: Any) -> Tensor:
    """A copy of the tensor, which is a leaf if this tensor is."""
    record = self.record
    if is_captured() or (record is not None and not record.is_leaf) or _shows_part(self):
        settle(self)
        return type(self).__deepcopy__(self, memo)
    if record is None and self.family is not None and not isinstance(self, Parameter):
        # Copies of tensors that share memory share memory, too: later ones are views of the first.
        # Those of parameters do not, as in PyTorch.
        copied = give(self.value.copy())
        first: Tensor = memo.setdefault(id(self.family), (copied, self.family))[0]
        return copied if first is copied else first.detach()
    leaf: Tensor = self.__class__.__new__(self.__class__)
    _hold(leaf, self.value.copy(), record is not None)
    gradient = getattr(self, "gradient", None)
    if gradient is not None and not isinstance(self, Parameter):
        leaf.gradient = gradient.detach().clone()
    return leaf


def _shows_part(tensor: Tensor) -> bool:
    """Whether other living tensors show the tensor's memory in another way than it does itself."""
    if is_alone(tensor):
        return False
    value = tensor.value
    place = value.__array_interface__["data"]
    return any(
        member.value.shape != value.shape
        or member.value.strides != value.strides
        or member.value.__array_interface__["data"] != place
        for member in tensor.family.living()
    )


def shallow_copy(self: Tensor) -> Tensor:
    """A view of the whole tensor; for a leaf, another leaf with memory of its own."""
    if self.record is not None:
        return deep_copy(self, {})
    view = self.detach()
    return Parameter(view, requires_grad=False) if isinstance(self, Parameter) else view


def reduce(self: Tensor) -> Any:
    """The pickled form of the tensor: its values, and whether it is a leaf."""
    record = self.record
    if record is not None and not record.is_leaf:
        settle(self)
        return interchange.reduce(self)
    return interchange.restored, (PLAIN_CLASS[self.__class__], self.value, record is not None)


def restored(kind: Any, values: Any, requires_grad: bool) -> Tensor | None:
    """The tensor from its form by `reduce`; None if it must be a plain one."""
    if kind not in EAGER_CLASS or values.dtype not in DTYPES or not may_be_eager():
        return None
    if not allowance.may_hold(values.size):
        return None
    held = give(numpy.array(values, order="C"))
    if kind is Parameter:
        return Parameter(held, requires_grad)
    return held.requires_grad_() if requires_grad else held


# Other values


def _values_for(own_shape: Any, own_dtype: Any, value: Any) -> Any:
    """The values to assign to a tensor of a shape and dtype, in a new array. Raises `Refused`."""
    kind = value.__class__
    if kind in (int, float, bool):
        if kind not in _NUMBERS[own_dtype.kind] or (own_dtype.kind == "i" and abs(value) >= 128):
            raise Refused
        return numpy.full(own_shape, value, own_dtype)
    array = cast_array(value.value, own_dtype)
    if array.shape == own_shape:
        return array.copy()
    if array.ndim > len(own_shape):
        raise Refused
    return numpy.array(numpy.broadcast_to(array, own_shape))


def assign(self: Tensor, value: Any) -> Tensor:
    """Assign other values, which are broadcast and cast. Returns the tensor."""
    try:
        source = None
        if isinstance(value, Core):
            if not value.is_eager:
                raise Refused
            source = value.record
        if is_captured():
            raise Refused
        if not may_write(self, [source]):
            _take_recorded(self, value, source)
            return self
        replace(self, _values_for(self.value.shape, self.value.dtype, value))
    except NOT_DONE as refusal:
        return instead(refusal, assignment.assign, self, value)
    return self


def _take_recorded(self: Tensor, value: Any, source: Any) -> None:
    """Assign values through which gradients flow, as `relu(x, inplace=True)` does.

    Raises `Refused` for a leaf, whose values cannot be computed: the function itself raises the
    error.
    """
    record = self.record
    if source is None or not is_recording() or (record is not None and record.is_leaf):
        raise Refused
    replace_recorded(self, value.clone())


def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Assign the values of `src`. Returns the tensor."""
    if not isinstance(src, Core):
        return in_place_operations.copy_(self, src)
    return assign(self, src)


def assign_eager(tensor: Tensor, value: Tensor) -> bool:
    """Assign the values of an eager tensor to a plain one, which becomes eager.

    Returns False if it cannot become eager.
    """
    if is_captured() or (value.record is not None and is_recording()):
        return False
    if history.is_flagged(tensor) and is_recording():
        return False
    try:
        node = tensor.node
        return receive(tensor, _values_for(node.shape, node.dtype.numpy, value))
    except NOT_DONE:
        return False


def replace_value(tensor: Tensor, value: Tensor) -> bool:
    """Replace a tensor's values by those of another, without an effect on gradients.

    Returns False if shapes, dtypes or shared memory do not allow it here.
    """
    if not value.is_eager or is_captured():
        return False
    array = value.value
    if not tensor.is_eager:
        node = tensor.node
        fits = node.shape == array.shape and node.dtype.numpy == array.dtype
        return fits and receive(tensor, array.copy())
    if tensor.record is not None and not tensor.record.is_leaf:
        return False
    own = tensor.value
    if own.shape == array.shape and own.dtype == array.dtype:
        replace(tensor, array.copy())
        return True
    return _move(tensor, array)


def set_data(tensor: Tensor, value: Any) -> bool:
    """Implement `tensor.data = value`. Returns False if that cannot be done here."""
    if not isinstance(value, Tensor) or not value.is_eager or is_captured():
        return False
    array = value.value
    if not tensor.is_eager:
        is_moved = tensor.shared is None and replace_value(tensor, value)
    elif tensor.record is not None and not tensor.record.is_leaf:
        return False
    else:
        own = tensor.value
        there, given = own.__array_interface__, array.__array_interface__
        facts = ("data", "shape", "typestr", "strides")
        if all(there[fact] == given[fact] for fact in facts):
            return True
        is_moved = _move(tensor, array)
    if is_moved:
        share_memory(tensor, value)
    return is_moved


def share_memory(tensor: Tensor, value: Tensor) -> None:
    """Let a tensor that does not share its memory share that of `value` from now on.

    `tensor` becomes the member that shows all of the memory, and the others become views of it, so
    that all of them can settle. If the memory has a leaf already, or if `value` is a part of it,
    the memory counts as shared with the program instead (`Family.lent`). Values through which
    gradients flow are copied.
    """
    array, family = value.value, value.family
    is_tracked = value.record is not None and not value.record.is_leaf
    if is_tracked or is_repeated(array):
        tensor.value = array.copy()
        return
    is_first = value.record is None and getattr(value, "shown", None) is None
    if family is None:
        family = value.family = Family(value)
    elif is_first:
        is_first = not family.lent and all(each.record is None for each in family.living())
    if is_first:
        family.members.insert(0, weakref.ref(tensor))
        value.shown = (tensor, Tensor.detach, (), {})
    else:
        lend(value)
        family.admit(tensor)
    tensor.value, tensor.family = value.value, family


def _move(tensor: Tensor, array: Any) -> bool:
    """Let a tensor that is alone hold a copy of an array, of whatever shape and dtype."""
    if not is_alone(tensor) or (tensor.record is not None and array.dtype.kind not in FLOATS):
        return False
    if (array.dtype.kind == "c") is not (tensor.value.dtype.kind == "c"):
        return False
    plain = PLAIN_CLASS[tensor.__class__]
    tensor.__class__ = eager_class(plain, array.dtype)
    tensor.value = array.copy()
    tensor.family = None
    if getattr(tensor, "shown", None) is not None:
        del tensor.shown
    return True


METHODS = {
    "__deepcopy__": deep_copy, "__copy__": shallow_copy, "__reduce__": reduce, "assign": assign,
    "copy_": copy_,
}  # fmt: skip
"""The methods that eager tensors override."""

CALLS = {
    Parameter: become_parameter, assignment.assign: assign_eager,
    data_attribute.replace_value: replace_value, data_attribute.set_data: set_data,
    interchange.restored: restored,
}  # fmt: skip
"""The eager versions of functions, which these call first."""
