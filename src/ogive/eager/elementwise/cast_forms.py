"""Casts of eager tensors. A tensor that has the dtype already is returned itself."""

from __future__ import annotations

from typing import Any

from ogive.compiler.ir.dtype import DType, to_dtype
from ogive.eager.casts import cast_array
from ogive.eager.forms import Refused, dispatching, form, forms, gradient, is_captured
from ogive.eager.tensors import DTYPES
from ogive.tensor.core import DEFAULT_DEVICE, Core
from ogive.tensor.device_name import is_device_name
from ogive.tensor.tensor import Tensor
from ogive.tensor.values import conversion


@form(conversion.cast)
def converted(array: Any, dtype: Any) -> Any:
    """The values of an array in another dtype."""
    wanted = dtype.numpy
    if wanted not in DTYPES or wanted == array.dtype:
        raise Refused
    return cast_array(array, wanted)


@gradient(converted)
def _converted(given: Any, out: Any, array: Any, dtype: Any) -> Any:
    return (given.astype(array.dtype),)


_convert = dispatching(forms[conversion.cast])


def cast(self: Tensor, dtype: Any) -> Tensor:
    """The values converted to `dtype`."""
    wanted = dtype if dtype.__class__ is DType else to_dtype(dtype)
    if DTYPES[self.value.dtype] is wanted and not is_captured():
        return self
    return _convert(self, wanted)  # type: ignore[no-any-return]


def to(
    self: Tensor,
    *targets: Any,
    dtype: Any = None,
    device: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """The tensor in another dtype; with `copy`, always a new tensor. Another device settles it."""
    wanted, place = dtype, device
    for target in targets:
        if target.__class__ is DType:
            wanted = target
        elif isinstance(target, Core):
            wanted, place = target.dtype, target.device
        elif isinstance(target, str) and is_device_name(target):
            place = target
        elif target.__class__ is not bool:
            return conversion.to(self, *targets, dtype=dtype, device=device, copy=copy)
    if not (place is None or str(place).upper() == DEFAULT_DEVICE):
        return conversion.to(self, *targets, dtype=dtype, device=device, copy=copy)
    converted = self if wanted is None else cast(self, wanted)
    return self.clone() if copy and converted is self else converted


def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """The values in row-major order. The tensor itself, if they are."""
    if is_captured():
        return conversion.contiguous(self)
    return self if self.value.flags.c_contiguous else self.clone(memory_format="contiguous_format")


METHODS = {"cast": cast, "to": to, "contiguous": contiguous}
