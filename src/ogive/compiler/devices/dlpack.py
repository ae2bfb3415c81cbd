"""DLPack capsules for every dtype, made from NumPy's.

NumPy makes and reads capsules with destructors and deleters in C, which are safe in any thread and
at the end of the interpreter. But it refuses dtypes that are not its own (bfloat16 and the 8-bit
floats). These are passed as unsigned integers of their size, and the field for the dtype is changed
after NumPy has written it, or before NumPy reads it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ml_dtypes
import numpy
from numpy.typing import NDArray

from ogive.errors import InterchangeError

CPU = (1, 0)
"""DLPack's device type and index for ordinary memory."""

GPU = 2
"""DLPack's device type for NVIDIA GPUs."""

HOST = (1, 3, 11, 13)
"""DLPack's device types whose memory the CPU can read: its own, pinned by CUDA or ROCm, managed."""

VERSION = (1, 0)
_IS_COPIED = 1 << 1
_HAS_VERSION = numpy.lib.NumpyVersion(numpy.__version__) >= "2.1.0"
"""Whether this NumPy makes capsules with a version, which can say that memory is read-only."""

FOREIGN: dict[tuple[int, int], numpy.dtype[Any]] = {
    (4, 16): numpy.dtype(ml_dtypes.bfloat16),
    (10, 8): numpy.dtype(ml_dtypes.float8_e4m3fn),
    (12, 8): numpy.dtype(ml_dtypes.float8_e5m2),
}
"""Dtypes that NumPy does not export, by DLPack's code and number of bits."""

_CODES = {dtype: code for code, dtype in FOREIGN.items()}
_UNSIGNED = 1


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    _fields_ = [
        ("tensor", _Tensor),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_LAYOUTS: dict[bytes, type[_Managed] | type[_Versioned]] = {
    b"dltensor": _Managed,
    b"dltensor_versioned": _Versioned,
}

_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.restype = ctypes.c_int
_is_valid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = ctypes.c_void_p
_get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _open(capsule: Any) -> _Managed | _Versioned:
    """The structure in a capsule that has not been consumed. Raises `InterchangeError`."""
    for name, layout in _LAYOUTS.items():
        if _is_valid(capsule, name):
            return layout.from_address(_get_pointer(capsule, name))
    raise InterchangeError(
        f"__dlpack__ gave {capsule!r}; expected a capsule that has not been consumed yet"
    )


def make_capsule(
    array: NDArray[Any], versioned: bool, is_copy: bool, device: tuple[int, int] = CPU
) -> Any:
    """A capsule over the memory of `array`, which it keeps alive until its consumer drops it.

    On a `device` other than the CPU, the array only carries the address.

    Raises `InterchangeError` for a read-only array in a capsule without version, which cannot say
    that it is read-only.
    """
    versioned = versioned and _HAS_VERSION
    if not versioned and not array.flags.writeable:
        raise InterchangeError(
            "the memory is read-only, and a DLPack capsule before version 1 cannot say so"
        )
    code = _CODES.get(array.dtype)
    carrier = array if code is None else array.view(f"u{array.itemsize}")
    capsule = carrier.__dlpack__(max_version=VERSION) if versioned else carrier.__dlpack__()
    opened = _open(capsule)
    if code is not None:
        opened.tensor.dtype.code = code[0]
    opened.tensor.device_type, opened.tensor.device_id = device
    if is_copy and isinstance(opened, _Versioned):
        opened.flags |= _IS_COPIED
    return capsule


def read_capsule(capsule: Any, device: tuple[int, int] = CPU) -> NDArray[Any]:
    """An array on the memory of a capsule, with the producer's strides. The capsule is consumed.

    On a `device` other than the CPU, the array only carries the address.

    Raises `InterchangeError` for a device, dtype or version that Ogive does not know.
    """
    opened = _open(capsule)
    if isinstance(opened, _Versioned) and opened.major > VERSION[0]:
        raise InterchangeError(
            f"the capsule is of DLPack {opened.major}.{opened.minor}; only version 1 is known"
        )
    tensor = opened.tensor
    where = (tensor.device_type, tensor.device_id)
    if where != device and not (device == CPU and tensor.device_type in HOST):
        raise InterchangeError(
            f"the memory is on device {(tensor.device_type, tensor.device_id)} of DLPack, which "
            "the CPU does not read; copy it to the CPU first"
        )
    foreign = FOREIGN.get((tensor.dtype.code, tensor.dtype.bits))
    with _disguised(tensor, foreign is not None, where != CPU):
        try:
            array = numpy.from_dlpack(_Producer(capsule))
        except (BufferError, RuntimeError, ValueError, TypeError) as error:
            kind = tensor.dtype
            raise InterchangeError(
                f"memory of the dtype {(kind.code, kind.bits, kind.lanes)} of DLPack cannot be "
                f"taken: {error}"
            ) from None
    return array if foreign is None else array.view(foreign)


@contextmanager
def _disguised(tensor: _Tensor, is_foreign: bool, is_elsewhere: bool) -> Iterator[None]:
    """Within this context, a foreign dtype reads as an unsigned one, and any device as the CPU."""
    code, where = tensor.dtype.code, (tensor.device_type, tensor.device_id)
    if is_foreign:
        tensor.dtype.code = _UNSIGNED
    if is_elsewhere:
        tensor.device_type, tensor.device_id = CPU
    try:
        yield
    finally:
        tensor.dtype.code = code
        tensor.device_type, tensor.device_id = where


class _Producer:
    """An object with the methods by which NumPy asks for a capsule."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU
