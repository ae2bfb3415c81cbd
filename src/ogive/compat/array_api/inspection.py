"""Inspection: what the namespace can do, and with which devices and dtypes."""

from __future__ import annotations

from typing import Any

from ogive.compat.array_api.data_type_functions import isdtype
from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType
from ogive.tensor.core import DEFAULT_DEVICE, DEVICES, to_device

STANDARD = (
    dtypes.bool_, *dtypes.SIGNED, *dtypes.UNSIGNED, dtypes.float32, dtypes.float64, *dtypes.COMPLEX,
)  # fmt: skip
"""The dtypes that the standard knows; the narrow floats are beyond it."""


class __array_namespace_info__:
    """Answers to what a library may ask of the namespace.

    >>> ogive.__array_namespace_info__().default_device()
    'CPU'
    """

    def capabilities(self) -> dict[str, Any]:
        """Boolean indices and shapes that depend on values work; there is no limit on axes."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": None,
        }

    def default_device(self) -> str:
        """Where new tensors are."""
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
