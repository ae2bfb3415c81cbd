"""Files of tensors: safetensors, NumPy's, GGUF, and PyTorch's checkpoints.

Everything that is loaded is lazy: a file is checked when it is opened, and its elements are read
when they are computed with.
"""

from __future__ import annotations

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
