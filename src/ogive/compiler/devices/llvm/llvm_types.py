"""LLVM's spelling of types and constants.

An element type has a code ("f32", "i64"), which is part of the names of intrinsics, and a spelling
("float", "i64"), which instructions use.
"""

from __future__ import annotations

import struct
from functools import cache

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType, Scalar

_CODES = {
    dtypes.bool_: "i1", dtypes.index: "i64", dtypes.float16: "f16", dtypes.float32: "f32",
    dtypes.float64: "f64",
}  # fmt: skip
_SPELLED = {"f16": "half", "f32": "float", "f64": "double"}


@cache
def code_of(dtype: DType) -> str:
    """The code of an element in a register. bf16 and fp8 are carried as their bits."""
    return _CODES.get(dtype) or f"i{dtype.bits}"


def spelled(code: str) -> str:
    """The LLVM type of one element.

    >>> spelled("f32"), spelled("i64")
    ('float', 'i64')
    """
    return _SPELLED.get(code, code)


def mangled(code: str, lanes: int) -> str:
    """The suffix of the names of intrinsics for a vector type.

    >>> mangled("f32", 1), mangled("f32", 8)
    ('f32', 'v8f32')
    """
    return code if lanes == 1 else f"v{lanes}{code}"


def vector_type(element: str, lanes: int) -> str:
    """The LLVM type of `lanes` elements; one is a scalar.

    >>> vector_type("float", 1), vector_type("float", 8)
    ('float', '<8 x float>')
    """
    return element if lanes == 1 else f"<{lanes} x {element}>"


def element_type(dtype: DType) -> str:
    """The LLVM type of one element in a register."""
    return spelled(code_of(dtype))


@cache
def register_type(dtype: DType, lanes: int) -> str:
    """The LLVM type of `lanes` elements in a register."""
    return vector_type(element_type(dtype), lanes)


@cache
def memory_type(dtype: DType, lanes: int) -> str:
    """The LLVM type of `lanes` elements in memory, where a bool is a byte."""
    return vector_type("i8" if dtype.is_bool else element_type(dtype), lanes)


def element_constant(code: str, value: float) -> str:
    """The exact spelling of a number; an f32 is written as the double it widens to.

    >>> element_constant("f32", 0.1), element_constant("f16", 1.0), element_constant("i8", -3)
    ('0x3FB99999A0000000', '0xH3C00', '-3')
    """
    if code == "f16":
        return f"0xH{struct.unpack('<H', struct.pack('<e', value))[0]:04X}"
    if code == "f32":
        (value,) = struct.unpack("<f", struct.pack("<f", value))
    elif code != "f64":
        return str(int(value))
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def splat(text: str, element: str, lanes: int) -> str:
    """A constant of one element in every lane."""
    return text if lanes == 1 else f"splat ({element} {text})"


def constant(dtype: DType, value: Scalar, lanes: int) -> str:
    """The text of a constant, the same in all lanes."""
    code = code_of(dtype)
    if dtype.is_bool:
        text = "true" if value else "false"
    elif dtype.is_float and code[0] == "i":
        import numpy

        raw = numpy.asarray(value).astype(dtype.numpy).tobytes()
        text = str(int.from_bytes(raw, "little"))
    else:
        text = element_constant(code, value)
    return splat(text, spelled(code), lanes)
