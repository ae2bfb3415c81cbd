"""Global settings of PyTorch programs: the default dtype, threads, determinism."""

from __future__ import annotations

from typing import Any

import ogive
from ogive.compiler.ir.dtype import DType, to_dtype
from ogive.errors import DtypeError
from ogive.tensor.core import to_device
from ogive.tensor.method_functions import chosen_floats

__all__ = [
    "are_deterministic_algorithms_enabled", "get_default_device", "get_default_dtype",
    "get_float32_matmul_precision", "get_num_threads", "set_default_device", "set_default_dtype",
    "set_float32_matmul_precision", "set_flush_denormal", "set_num_interop_threads",
    "set_num_threads", "use_deterministic_algorithms",
]  # fmt: skip

_default: list[DType] = [ogive.float32]


def set_default_dtype(d: Any) -> None:
    """Set the dtype of Python floats, of creation functions and of the parameters of layers.

    Raises `DtypeError` for a dtype that is not a float.
    """
    dtype = to_dtype(d)
    if not dtype.is_float:
        raise DtypeError(f"the default dtype must be a float, not {dtype.name}")
    _default[0] = dtype
    chosen_floats[:] = [] if dtype is ogive.float32 else [dtype]


def get_default_dtype() -> DType:
    """The dtype of Python floats.

    >>> ogive.torch.get_default_dtype()
    torch.float32
    """
    return _default[0]


def is_other() -> bool:
    """Whether the default dtype differs from float32."""
    return _default[0] is not ogive.float32


def get_default_device() -> Any:
    """The device that tensors are made on."""
    from ogive.torch.tensors.classes import device

    return device("cpu")


def set_default_device(device: Any) -> None:
    """Accept the CPU, the only device."""
    to_device("cpu" if device is None else device)


def set_num_threads(count: int) -> None:
    """Set how many threads kernels run on."""
    ogive.configure(threads=count)


def get_num_threads() -> int:
    """The number of threads that kernels run on."""
    from ogive.config import current_config

    return int(current_config().threads)


def set_num_interop_threads(count: int) -> None:
    """Do nothing: there is one pool of threads."""


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Do nothing: results have the same bits each time, with any number of threads."""


def are_deterministic_algorithms_enabled() -> bool:
    """Return True: results always have the same bits."""
    return True


def set_float32_matmul_precision(precision: str) -> None:
    """Do nothing: products of float32 are computed in float32."""


def get_float32_matmul_precision() -> str:
    """Return "highest": products of float32 are computed in float32."""
    return "highest"


def set_flush_denormal(mode: bool) -> bool:
    """Return False: denormal numbers cannot be flushed to zero."""
    return False
