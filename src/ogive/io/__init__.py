"""Files of tensors: safetensors, NumPy's formats, GGUF, and PyTorch's checkpoints.

Loading is lazy: a file is checked when it is opened, and its elements are read when they are
computed with. The module of a format is imported at its first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ogive.io.formats import load, save
    from ogive.io.gguf import load_gguf
    from ogive.io.npy import load_npy, save_npy
    from ogive.io.npz import load_npz, save_npz
    from ogive.io.pickling import save_torch
    from ogive.io.pytorch_checkpoint import load_torch
    from ogive.io.safetensors import NamedTensors, load_safetensors, save_safetensors

__all__ = [
    "NamedTensors",
    "load",
    "load_gguf",
    "load_npy",
    "load_npz",
    "load_safetensors",
    "load_torch",
    "save",
    "save_npy",
    "save_npz",
    "save_safetensors",
    "save_torch",
]

_MODULES = {
    "NamedTensors": "safetensors",
    "load": "formats",
    "load_gguf": "gguf",
    "load_npy": "npy",
    "load_npz": "npz",
    "load_safetensors": "safetensors",
    "load_torch": "pytorch_checkpoint",
    "save": "formats",
    "save_npy": "npy",
    "save_npz": "npz",
    "save_safetensors": "safetensors",
    "save_torch": "pickling",
}
"""The module of each name."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'ogive.io' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"ogive.io.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
