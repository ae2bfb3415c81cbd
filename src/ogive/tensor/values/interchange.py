"""Protocols through which other libraries use tensors: DLPack, NumPy's functions, the namespace."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from ogive.compiler.live import history
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentError, ArgumentTypeError, GradientError
from ogive.tensor.core import wrap
from ogive.tensor.memory import views
from ogive.tensor.method_functions import eager_calls

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def dlpack(
    self: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A DLPack capsule over the values, which are computed now and not copied.

    The consumer keeps the memory alive. Ogive does not write to it any more: an assignment
    gives the tensor other memory. The tensor sees what the consumer writes. Borrowed memory
    is lent read-only, or copied for a consumer whose DLPack has no such flag. The output of a
    prepared plan is copied, since the plan writes to it at each execution.

    >>> x = Tensor([1.0, 2.0])
    >>> numpy.from_dlpack(x)
    array([1., 2.], dtype=float32)

    Raises `InterchangeError` for another device than the CPU, a stream, or `copy=False` where
    a copy is needed.
    """
    from ogive.tensor.memory.sharing import to_dlpack

    return to_dlpack(self, stream, max_version, dl_device, copy)


def dlpack_device(self: Tensor) -> tuple[int, int]:
    """The device of the memory that `__dlpack__` gives: that of the tensor; for files, the CPU."""
    from ogive.tensor.memory.sharing import dlpack_device_of

    return dlpack_device_of(self)


def array_namespace(self: Tensor, *, api_version: str | None = None) -> Any:
    """The module with the functions of the array API standard: `ogive` itself.

    >>> Tensor([1.5]).__array_namespace__() is ogive
    True

    Raises `ArgumentError` for a version of the standard that is not supported.
    """
    import ogive

    if api_version is not None and api_version not in _VERSIONS:
        raise ArgumentError(
            f"the array API standard of {api_version!r} is not supported; the versions are "
            f"{', '.join(_VERSIONS)}"
        )
    return ogive


def to_device(self: Tensor, device: str, /, *, stream: Any = None) -> Tensor:
    """This tensor on another device. Shapes: unchanged.

    >>> Tensor([1.5]).to_device("CPU").device
    'CPU'

    Raises `DeviceError` for an unknown device, `ArgumentError` for a stream: there are none.
    """
    if stream is not None:
        raise ArgumentError(f"to_device: devices have no streams, and {stream!r} was given")
    return self.to(device=device)


def shallow_copy(self: Tensor) -> Tensor:
    """A view of the whole tensor; for a leaf, another leaf with memory of its own.

    Raises `GradientError` for a tensor computed from leaves, like a deep copy.
    """
    return copy.deepcopy(self) if self.requires_grad else self.detach()


def deep_copy(self: Tensor, memo: Any) -> Tensor:
    """An independent tensor with the same values, which is a leaf if this one is.

    Raises `GradientError` for a tensor computed from leaves, since the copy would not be.
    """
    if not self.is_leaf:
        raise GradientError(
            f"a tensor of shape {self.shape} was computed from tensors that require gradients, "
            "and cannot be copied with its history; copy its detach()"
        )
    if not self.requires_grad:
        with graph_lock:
            view = _copied_view(self, memo)
        return type(self)(self.detach(), device=self.device) if view is None else view
    copy = type(self)(self.detach(), device=self.device, requires_grad=True)
    if self.grad is not None:
        copy.grad = self.grad.detach().clone()
    return copy


def _copied_view(tensor: Tensor, memo: Any) -> Tensor | None:
    """The same view of a copy of the storage, which tensors that are copied together share.

    None if no other tensor shows the storage.
    """
    storage = views.shared_storage(tensor)
    if storage is None:
        return None
    whole = memo.get(id(storage))
    if whole is None:
        whole = memo[id(storage)] = type(tensor)(wrap(storage.node, storage.device).detach())
        whole.memory_strides = storage.memory_strides
    return views.show(whole, tensor.shows.of_another_storage())


def reduce(self: Tensor) -> Any:
    """The form for `pickle`: the values, and whether it is a leaf."""
    return restored, (type(self), self.numpy(force=True), history.is_flagged(self))


def to_index(self: Tensor) -> int:
    """The value of an integer tensor with one element, where Python needs an index."""
    if not self.dtype.is_integer or self.ndim:
        raise ArgumentTypeError(
            f"a tensor of {self.dtype.name} and shape {self.shape} is no index; an index is an "
            "integer tensor without axes"
        )
    return int(self)


def array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
    """NumPy's elementwise functions of tensors, such as `numpy.exp(x)`."""
    from ogive.compat.numpy_functions import call_ufunc

    return call_ufunc(ufunc, method, inputs, keywords)


def array_function(
    self: Tensor, function: Any, types: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    """NumPy's other functions of tensors, such as `numpy.mean(x)`."""
    from ogive.compat.numpy_functions import call_function

    return call_function(function, arguments, keywords)


_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")
"""The versions of the standard that the namespace satisfies. Each contains the one before."""


def restored(kind: type[Tensor], values: Any, requires_grad: bool) -> Tensor:
    """A tensor restored from a pickle or a file."""
    at_once = eager_calls.get(restored)
    eager: Tensor | None = None if at_once is None else at_once(kind, values, requires_grad)
    return kind(values, requires_grad=requires_grad) if eager is None else eager
