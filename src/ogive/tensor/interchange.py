"""What other libraries ask of a tensor: its memory (DLPack), and NumPy's functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ogive.tensor.core import Core

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


class Interchange(Core):
    """`__dlpack__`, `__array_ufunc__` and `__array_function__`; what they do is loaded by need."""

    __slots__ = ()

    def __dlpack__(  # type: ignore[misc]  # Tensor is the one heir
        self: Tensor,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule over the values, which are computed now; without a copy.

        The consumer keeps the memory alive. Nothing of ours writes to it any more: assignment
        gives the tensor other memory. What the consumer writes, the tensor has as well. Memory
        that is itself borrowed is lent read-only, or copied for a consumer too old to know.

        >>> x = Tensor([1.0, 2.0])
        >>> numpy.from_dlpack(x)
        array([1., 2.], dtype=float32)

        Raises `InterchangeError` for another device than the CPU, a stream, or `copy=False` where
        a copy is needed.
        """
        from ogive.tensor.sharing import to_dlpack

        return to_dlpack(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The device that `__dlpack__` gives memory of: the CPU, for files as well."""
        from ogive.device.dlpack import CPU

        return CPU

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        from ogive.tensor.numpy_functions import call_ufunc

        return call_ufunc(ufunc, method, inputs, keywords)

    def __array_function__(
        self, function: Any, types: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        from ogive.tensor.numpy_functions import call_function

        return call_function(function, arguments, keywords)
