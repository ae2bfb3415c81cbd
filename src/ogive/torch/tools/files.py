"""`save` and `load` to paths of any suffix and to file objects."""

from __future__ import annotations

import os
import tempfile
from typing import Any

from ogive.eager import may_be_eager
from ogive.eager.tensors import take_up
from ogive.errors import ArgumentError, ArgumentTypeError, FileError
from ogive.io.formats import find_loader
from ogive.io.pickling import save_torch
from ogive.io.pytorch_checkpoint import load_torch, read_torch
from ogive.ir.device_names import FILES
from ogive.nn.parameter import Parameter
from ogive.tensor.tensor import Tensor
from ogive.torch.tools.safe_names import safe_names

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
    """Write data with tensors in it, as PyTorch's checkpoints are, to a path or a file.

    Whole modules and other objects are written as Python pickles them.

    >>> import io
    >>> file = io.BytesIO()
    >>> ogive.torch.save({"x": ogive.torch.arange(3)}, file)
    >>> _ = file.seek(0)
    >>> ogive.torch.load(file)["x"].tolist()
    [0, 1, 2]
    """
    if isinstance(f, str | os.PathLike):
        _save(f, obj)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "saved.pt")
        _save(path, obj)
        with open(path, "rb") as written:
            f.write(written.read())


def _save(path: Any, obj: Any) -> None:
    try:
        save_torch(path, obj)
    except (ArgumentError, ArgumentTypeError):  # more than plain data
        from ogive.io.whole_objects import save_whole

        save_whole(path, obj)


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

    Only with `weights_only=False` is anything in a file run, which whole modules and other objects
    need: do that with files that you trust. `map_location` can only be the CPU.

    Raises `FileError` for a file that holds other things than tensors and plain data.
    """
    if isinstance(f, str | os.PathLike):
        return _load(f, weights_only)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "loaded.pt")
        with open(path, "wb") as copied:
            copied.write(f.read())
        return _load(path, weights_only)


def _load(path: Any, weights_only: bool | None) -> Any:
    """The data of a file with all its tensors in memory, so that the file may change or go."""
    loader = find_loader(path)
    if loader is load_torch:
        found, tensors = _read_checkpoint(path, weights_only)
    else:
        tensors = []
        found = _with_copies(loader(path), tensors)
        Tensor.realize_batch(tensors)
    if may_be_eager():
        for tensor in tensors:
            take_up(tensor)
    return found


def _read_checkpoint(path: Any, weights_only: bool | None) -> tuple[Any, list[Tensor]]:
    try:
        return read_torch(path, Parameter)
    except FileError as error:
        from ogive.io.whole_objects import load_whole

        if weights_only is not False and safe_names():
            return load_whole(path, _module_name, Parameter, safe_names())
        if weights_only is not False:
            if "nothing in a file is run" in str(error):
                raise FileError(f"{error}; or, if you trust it, weights_only=False") from None
            raise
        return load_whole(path, _module_name, Parameter)


def _module_name(name: str) -> str:
    """Modules of PyTorch's are ours; all others are themselves."""
    return f"ogive.{name}" if name == "torch" or name.startswith("torch.") else name


def _with_copies(found: Any, read: list[Tensor]) -> Any:
    """What a format of names and tensors holds, with those that are still to be `read`."""
    if isinstance(found, Tensor):
        read.append(found.cpu() if found.device == FILES else found)
        return read[-1]
    if isinstance(found, dict):
        for key, value in found.items():
            found[key] = _with_copies(value, read)
        return found
    if type(found) is tuple:
        return tuple([_with_copies(each, read) for each in found])
    return found
