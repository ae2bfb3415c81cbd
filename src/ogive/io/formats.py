"""`load` and `save` for all formats. The first bytes of a file show its format."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ogive.errors import ArgumentError
from ogive.io import gguf, npy, npz, pickling, pytorch_checkpoint, safetensors
from ogive.io.checked_files import Path, Source, open_source, to_path
from ogive.io.zips import read_directory

Loader = Callable[[Path], Any]

LOADERS: dict[str, Loader] = {
    ".safetensors": safetensors.load_safetensors,
    ".npy": npy.load_npy,
    ".npz": npz.load_npz,
    ".gguf": gguf.load_gguf,
    ".pt": pytorch_checkpoint.load_torch,
    ".pth": pytorch_checkpoint.load_torch,
    ".ckpt": pytorch_checkpoint.load_torch,
}

SAVERS: dict[str, Callable[[Path, Any], None]] = {
    ".safetensors": safetensors.save_safetensors,
    ".npy": npy.save_npy,
    ".npz": npz.save_npz,
    ".pt": pickling.save_torch,
    ".pth": pickling.save_torch,
    ".ckpt": pickling.save_torch,
}


def load(path: Path) -> Any:
    """Load a file lazily, by the loader of its format.

    The first bytes show the format. If they fit none, the suffix decides which one is expected. The
    formats are safetensors, PyTorch checkpoints, GGUF, `.npy` and `.npz`.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/x.npy"
    >>> ogive.save(ogive.arange(3), path)
    >>> ogive.load(path).tolist()
    [0, 1, 2]

    Raises `FileError` if the file is missing, malformed, or of no known format.
    """
    return find_loader(path)(path)


def save(obj: Any, path: Path) -> None:
    """Write tensors in the format of the suffix of `path`.

    `obj` is one tensor (`.npy`), tensors by name (`.safetensors`, `.npz`), or plain data with
    tensors in it, such as a whole checkpoint (`.pt`, `.pth`, `.ckpt`).

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/x.safetensors"
    >>> ogive.save({"x": ogive.arange(3)}, path)
    >>> ogive.load(path)["x"].tolist()
    [0, 1, 2]

    Raises `ArgumentError` for another suffix, and the errors of the writer of the format.
    """
    suffix = os.path.splitext(to_path(path, "save"))[1].lower()
    if suffix not in SAVERS:
        raise ArgumentError(
            f"save: {suffix or 'a name without suffix'!r} cannot be written; the suffix must be "
            f"one of {', '.join(SAVERS)}"
        )
    SAVERS[suffix](path, obj)


def find_loader(path: Path) -> Loader:
    """Return the loader of a file, by its first bytes or its suffix. Raises `FileError`."""
    with open_source(path, "load", "a file of tensors") as source:
        return _loader_of(source)


def _loader_of(source: Source) -> Loader:
    start = source.read(0, min(source.size, 16), "the magic")
    if start.startswith(npy.MAGIC):
        return npy.load_npy
    if start.startswith(gguf.MAGIC):
        return gguf.load_gguf
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        members = read_directory(source)
        is_npz = all(name.endswith(npz.SUFFIX) for name in members)
        return npz.load_npz if is_npz else pytorch_checkpoint.load_torch
    if start.startswith(pytorch_checkpoint.LEGACY[:8]):
        return pytorch_checkpoint.load_torch
    if start[8:9] == b"{":
        return safetensors.load_safetensors
    suffix = os.path.splitext(source.path)[1].lower()
    if suffix in LOADERS:
        return LOADERS[suffix]
    source.refuse(f"it begins with {start!r}; known are {', '.join(LOADERS)}")
