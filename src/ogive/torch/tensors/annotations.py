"""`torch.types`, and `torch.serialization`'s: names for annotations."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import ogive
from ogive.compiler.ir.dtype import DType
from ogive.torch.tensors.classes import device as _device

__all__ = [
    "FILE_LIKE", "MAP_LOCATION", "Device", "FileLike", "Number", "Tensor", "_bool", "_complex",
    "_device", "_dtype", "_float", "_int", "_size",
]  # fmt: skip

Number = int | float | bool
Device = Any
FILE_LIKE = FileLike = Any
MAP_LOCATION = Any
Tensor = ogive.Tensor
_dtype = DType
_size = Sequence[int]
_int = builtins.int
_float = builtins.float
_bool = builtins.bool
_complex = builtins.complex
