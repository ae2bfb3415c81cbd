"""What other libraries ask of a tensor: its memory (DLPack), NumPy's functions, its namespace."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from ogive.errors import ArgumentError, ArgumentTypeError, GradientError
from ogive.live import history
from ogive.tensor.core import Core, itself

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


class Interchange(Core):
    """What is called by name only from outside; what it does is loaded by need."""

    __slots__ = ()

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule over the values, which are computed now; without a copy.

        The consumer keeps the memory alive. Nothing of ours writes to it any more: assignment
        gives the tensor other memory. What the consumer writes, the tensor has as well. Memory
        that is itself borrowed is lent read-only, or copied for a consumer too old to know; that of
        a prepared plan's output is copied, since the plan writes to it at each execution.

        >>> x = Tensor([1.0, 2.0])
        >>> numpy.from_dlpack(x)
        array([1., 2.], dtype=float32)

        Raises `InterchangeError` for another device than the CPU, a stream, or `copy=False` where
        a copy is needed.
        """
        from ogive.tensor.sharing import to_dlpack

        return to_dlpack(itself(self), stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The device that `__dlpack__` gives memory of: the CPU, for files as well."""
        from ogive.devices.dlpack import CPU

        return CPU

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
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

    def to_device(self, device: str, /, *, stream: Any = None) -> Tensor:
        """This tensor on another device. Shapes: unchanged.

        >>> Tensor([1.5]).to_device("CPU").device
        'CPU'

        Raises `DeviceError` for an unknown device, `ArgumentError` for a stream: there are none.
        """
        if stream is not None:
            raise ArgumentError(f"to_device: devices have no streams, and {stream!r} was given")
        return itself(self).to(device=device)

    def __copy__(self) -> Tensor:
        """A view of the whole tensor; of a leaf, another with memory of its own.

        Raises `GradientError` for what was computed from leaves, as a deep copy does.
        """
        tensor = itself(self)
        return copy.deepcopy(tensor) if tensor.requires_grad else tensor.detach()

    def __deepcopy__(self, memo: Any) -> Tensor:
        """A tensor of its own with the same values, and a leaf where this one is.

        Raises `GradientError` for what was computed from leaves: the copy would not be.
        """
        tensor = itself(self)
        if not tensor.is_leaf:
            raise GradientError(
                f"a tensor of shape {self.shape} was computed from ones that require gradients, "
                "and cannot be copied with its history; copy what detach() gives"
            )
        made = type(tensor)(tensor.detach(), requires_grad=tensor.requires_grad)
        if tensor.grad is not None:
            made.grad = tensor.grad.detach()
        return made

    def __reduce__(self) -> Any:
        """Its values, for `pickle`, and whether it is a leaf."""
        return _restored, (type(self), itself(self).numpy(), history.is_flagged(self))

    def __index__(self) -> int:
        """The value of an integer tensor with one element, where Python needs an index."""
        if not self.dtype.is_integer or self.ndim:
            raise ArgumentTypeError(
                f"a tensor of {self.dtype.name} and shape {self.shape} is no index; an index is an "
                "integer tensor without axes"
            )
        return int(itself(self))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        from ogive.tensor.numpy_functions import call_ufunc

        return call_ufunc(ufunc, method, inputs, keywords)

    def __array_function__(
        self, function: Any, types: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        from ogive.tensor.numpy_functions import call_function

        return call_function(function, arguments, keywords)


_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")
"""The versions of the standard that the namespace satisfies, each being part of the next."""


def _restored(kind: type[Tensor], values: Any, requires_grad: bool) -> Tensor:
    return kind(values, requires_grad=requires_grad)
