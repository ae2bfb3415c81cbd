"""Protocols by which other libraries use tensors: DLPack, NumPy's functions, the namespace."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from ogive.errors import ArgumentError, ArgumentTypeError, GradientError
from ogive.live import history
from ogive.live.registry import graph_lock
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
    """Compute the values and return a DLPack capsule over their memory, without a copy.

    The consumer keeps the memory alive, and the tensor sees what the consumer writes. Ogive does
    not write to lent memory: assignment gives the tensor other memory.

    Two kinds of memory are not lent so. Memory that is itself borrowed is lent read-only, or copied
    for a consumer whose version of DLPack has no such flag. The output of a prepared plan is
    copied, because the plan writes to it at each execution.

    >>> x = Tensor([1.0, 2.0])
    >>> numpy.from_dlpack(x)
    array([1., 2.], dtype=float32)

    Raises `InterchangeError` for a `dl_device` that the tensor is not on, for a `stream` on the
    CPU, and for `copy=False` where a copy is needed.
    """
    from ogive.tensor.memory.sharing import to_dlpack

    return to_dlpack(self, stream, max_version, dl_device, copy)


def dlpack_device(self: Tensor) -> tuple[int, int]:
    """The device whose memory `__dlpack__` lends: that of the tensor; for a file, the CPU."""
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
    """Copy to another device, unless the tensor is there. Shapes: unchanged.

    >>> Tensor([1.5]).to_device("CPU").device
    'CPU'

    Raises `DeviceError` for an unknown device, and `ArgumentError` for a `stream`.
    """
    if stream is not None:
        raise ArgumentError(f"to_device takes no stream, got {stream!r}")
    return self.to(device=device)


def shallow_copy(self: Tensor) -> Tensor:
    """Return a view of the whole tensor; for a leaf, a copy that is a leaf too.

    Raises `GradientError` for a tensor that was computed from leaves, as a deep copy does.
    """
    return copy.deepcopy(self) if self.requires_grad else self.detach()


def deep_copy(self: Tensor, memo: Any) -> Tensor:
    """Return a copy of the tensor; for a leaf, a copy that is a leaf too.

    Raises `GradientError` for a tensor that was computed from leaves: a copy has no history.
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
    """Return the same view of a copy of the storage. All views copied together share that copy.

    None if the tensor shares its storage with no other.
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
    """What `pickle` writes: the class, the values, and whether the tensor is a leaf."""
    return restored, (type(self), self.numpy(force=True), history.is_flagged(self))


def to_index(self: Tensor) -> int:
    """Return the value of an integer tensor without axes, where Python needs an index."""
    if not self.dtype.is_integer or self.ndim:
        raise ArgumentTypeError(
            f"a tensor of {self.dtype.name} and shape {self.shape} cannot be an index; an index is "
            "an integer tensor without axes"
        )
    return int(self)


def array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
    """Call a ufunc of NumPy, such as `numpy.exp`, on tensors."""
    from ogive.compat.numpy_functions import call_ufunc

    return call_ufunc(ufunc, method, inputs, keywords)


def array_function(
    self: Tensor, function: Any, types: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    """Call another function of NumPy, such as `numpy.mean`, on tensors."""
    from ogive.compat.numpy_functions import call_function

    return call_function(function, arguments, keywords)


_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")
"""The versions of the standard that the namespace satisfies. Each is a subset of the next."""


def restored(kind: type[Tensor], values: Any, requires_grad: bool) -> Tensor:
    """Return the tensor that was saved, or pickled, with these values."""
    at_once = eager_calls.get(restored)
    eager: Tensor | None = None if at_once is None else at_once(kind, values, requires_grad)
    return kind(values, requires_grad=requires_grad) if eager is None else eager
