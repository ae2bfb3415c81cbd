"""Ogive: a lazy tensor library with a real compiler under it.

>>> x = Tensor([[1.0, 2.0], [3.0, 4.0]])
>>> (x @ x.T + 1).sum(-1).tolist()
[18.0, 38.0]
"""

from __future__ import annotations

from ogive import errors
from ogive.config import Beam, Config, configure
from ogive.counters import counters
from ogive.errors import OgiveError
from ogive.ir.dtype import (
    DType,
    bfloat16,
    float8_e4m3,
    float8_e5m2,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ogive.ir.dtype import bool_ as bool
from ogive.ir.variable import Variable
from ogive.jit import jit
from ogive.tensor.creation import (
    arange,
    eye,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from ogive.tensor.custom import custom
from ogive.tensor.joining import cat, stack, where
from ogive.tensor.tensor import Tensor

__version__ = "0.1.0"

__all__ = [
    "Beam",
    "Config",
    "DType",
    "OgiveError",
    "Tensor",
    "Variable",
    "arange",
    "bfloat16",
    "bool",
    "cat",
    "configure",
    "counters",
    "custom",
    "errors",
    "eye",
    "float8_e4m3",
    "float8_e5m2",
    "float16",
    "float32",
    "float64",
    "full",
    "full_like",
    "int8",
    "int16",
    "int32",
    "int64",
    "jit",
    "linspace",
    "ones",
    "ones_like",
    "stack",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "where",
    "zeros",
    "zeros_like",
]
