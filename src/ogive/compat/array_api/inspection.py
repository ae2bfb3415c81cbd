"""Inspection: the capabilities, devices and dtypes of the namespace."""

from __future__ import annotations

from typing import Any

from ogive.compat.array_api.data_type_functions import isdtype
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.tensor.core import DEFAULT_DEVICE, DEVICES, to_device

STANDARD = (
    dtypes.bool_, *dtypes.SIGNED, *dtypes.UNSIGNED, dtypes.float32, dtypes.float64, *dtypes.COMPLEX,
)  # fmt: skip
"""The dtypes of the standard, which has no narrow floats."""


class __array_namespace_info__:
    """The description of the namespace, for libraries that ask for it.

    >>> ogive.__array_namespace_info__().default_device()
    'CPU'
    """

    def capabilities(self) -> dict[str, Any]:
        """The capabilities: boolean indices, shapes that depend on values, any number of axes."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": None,
        }

    def default_device(self) -> str:
        """The device of new tensors."""
        return DEFAULT_DEVICE

    def devices(self) -> list[str]:
        """All devices."""
        return list(DEVICES)

    def default_dtypes(self, *, device: str | None = None) -> dict[str, DType]:
        """The dtypes of tensors made from Python numbers, and of positions."""
        to_device(device)
        return {
            "real floating": dtypes.default_float,
            "complex floating": dtypes.complex64,
            "integral": dtypes.default_int,
            "indexing": dtypes.default_int,
        }

    def dtypes(
        self, *, device: str | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, DType]:
        """The dtypes of the standard by name, all or those of a kind."""
        to_device(device)
        return {
            dtype.name: dtype for dtype in STANDARD if kind is None or isdtype(dtype, kind)
        }
