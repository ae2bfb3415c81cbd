"""`save` and `load` to paths of any suffix and to file objects."""

from __future__ import annotations

import os
import tempfile
from typing import Any

from ogive.io import load as _load
from ogive.io import load_torch, save_torch
from ogive.ir.device_names import FILES
from ogive.tensor.tensor import Tensor

__all__ = [
    "load", "save",
]  # fmt: skip


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write plain data with tensors in it, as PyTorch's checkpoints are, to a path or a file.

    >>> import io
    >>> file = io.BytesIO()
    >>> ogive.torch.save({"x": ogive.torch.arange(3)}, file)
    >>> _ = file.seek(0)
    >>> ogive.torch.load(file)["x"].tolist()
    [0, 1, 2]
    """
    if isinstance(f, str | os.PathLike):
        save_torch(f, obj)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "saved.pt")
        save_torch(path, obj)
        with open(path, "rb") as written:
            f.write(written.read())


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **options: Any,
) -> Any:
    """What `save` or PyTorch wrote, from a path or a file, in memory.

    Nothing in a file is run, whatever `weights_only` says; `map_location` can only be the CPU.
    """
    if isinstance(f, str | os.PathLike):
        return _in_memory(_load(f))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "loaded.pt")
        with open(path, "wb") as copied:
            copied.write(f.read())
        return _in_memory(load_torch(path))


def _in_memory(found: Any) -> Any:
    """The same data with its tensors read, so that the file may change or go."""
    if isinstance(found, Tensor):
        return found.cpu().realize() if found.device == FILES else found
    if isinstance(found, dict):
        for key, value in found.items():
            found[key] = _in_memory(value)
        return found
    if isinstance(found, list):
        found[:] = [_in_memory(each) for each in found]
        return found
    if type(found) is tuple:
        return tuple([_in_memory(each) for each in found])
    return found
