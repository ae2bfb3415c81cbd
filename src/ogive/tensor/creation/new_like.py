"""New tensors on the device of a given one, with its dtype by default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ogive.compat.methods.keywords import also
from ogive.compiler.ir.dtype import Scalar, to_dtype
from ogive.compiler.ir.shape import Shape
from ogive.compiler.live.registry import graph_lock
from ogive.tensor import build
from ogive.tensor.core import (
    Core,
    memory_device,
    one_element,
    to_device,
    to_operand,
    to_shape,
    to_tensor,
    wrap,
)

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def new_full(
    self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor filled with `fill_value`. Shapes: `size`.

    >>> Tensor([1.5]).new_full((2,), 7).tolist()
    [7.0, 7.0]
    """
    value = to_operand(fill_value, "new_full")
    result = _filled(self, to_shape((size,), "new_full"), value, dtype, device)
    return result.requires_grad_() if requires_grad else result


@also(size="sizes")
def new_zeros(
    self: Tensor, *sizes: Any, dtype: Any = None, device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Zeros. Shapes: `sizes`.

    >>> Tensor([1, 2]).new_zeros(2, 3).dtype
    ogive.int64
    """
    result = _filled(self, to_shape(sizes, "new_zeros"), 0, dtype, device)
    return result.requires_grad_() if requires_grad else result


@also(size="sizes")
def new_ones(
    self: Tensor, *sizes: Any, dtype: Any = None, device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Ones. Shapes: `sizes`.

    >>> Tensor([1.5]).new_ones(2).tolist()
    [1.0, 1.0]
    """
    result = _filled(self, to_shape(sizes, "new_ones"), 1, dtype, device)
    return result.requires_grad_() if requires_grad else result


@also(size="sizes")
def new_empty(
    self: Tensor, *sizes: Any, dtype: Any = None, device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor to be assigned to; until then it holds zeros. Shapes: `sizes`.

    >>> Tensor([1.5]).new_empty(2, 0).shape
    (2, 0)
    """
    result = _filled(self, to_shape(sizes, "new_empty"), 0, dtype, device)
    return result.requires_grad_() if requires_grad else result


def new_tensor(
    self: Tensor, data: Any, *, dtype: Any = None, device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """`data` as a tensor of this tensor's dtype. Shapes: that of `data`.

    >>> Tensor([1.5]).new_tensor([1, 2]).dtype
    ogive.float32
    """
    place = self.device if device is None else device
    result = to_tensor(data, place).cast(self.dtype if dtype is None else dtype)
    return result.requires_grad_() if requires_grad else result


def _filled(
    x: Core, shape: Shape, value: Tensor | Scalar, dtype: Any, device: str | None
) -> Tensor:
    chosen = x.dtype if dtype is None else to_dtype(dtype)
    place = memory_device(x) if device is None else to_device(device)
    if isinstance(value, Core):
        return one_element(value, "new_full").cast(chosen).expand(shape).clone()
    with graph_lock:
        return wrap(build.expand_to(build.fitting(chosen, value), shape), place)
