"""`save` and `load` for file objects, and for paths with any suffix."""

from __future__ import annotations

import io
import os
from typing import Any

from ogive.compiler.ir.device_names import FILES
from ogive.eager import may_be_eager
from ogive.eager.from_plain import take_up
from ogive.errors import ArgumentError, ArgumentTypeError, FileError, words_of
from ogive.io.checked_files import Contents, replacing
from ogive.io.formats import find_loader
from ogive.io.pickling import write_torch
from ogive.io.pytorch_checkpoint import load_torch, read_torch
from ogive.nn.parameter import Parameter
from ogive.tensor.tensor import Tensor
from ogive.torch.tools.safe_names import safe_names

__all__ = [
    "load", "save",
]  # fmt: skip

LARGEST_READ = 1 << 24
"""The bytes (16 MiB) up to which a file is read at once. The disk device reads larger files, in
parallel."""


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write data that contains tensors to a path or a file, in the format of PyTorch's checkpoints.

    Whole modules and other objects are pickled.

    >>> import io
    >>> file = io.BytesIO()
    >>> ogive.torch.save({"x": ogive.torch.arange(3)}, file)
    >>> _ = file.seek(0)
    >>> ogive.torch.load(file)["x"].tolist()
    [0, 1, 2]
    """
    if isinstance(f, str | os.PathLike):
        with replacing(f, "save", is_synced=False) as file:
            _write(file, obj)
        return
    written = io.BytesIO()
    _write(written, obj)
    f.write(written.getvalue())


def _write(file: Any, obj: Any) -> None:
    try:
        write_torch(file, obj)
    except (ArgumentError, ArgumentTypeError):  # more than plain data
        from ogive.io.whole_objects import write_whole

        write_whole(file, obj)


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **options: Any,
) -> Any:
    """Read a path or a file that `save` or PyTorch wrote.

    `weights_only=False` also runs code from the file, which whole modules and other objects need.
    Use it only for files that you trust. `map_location` can only be the CPU.

    Otherwise raises `FileError` for a file that holds more than tensors and plain data.
    """
    content = _read_if_small(f) if isinstance(f, str | os.PathLike) else Contents(f.read())
    loader = find_loader(content)
    if loader is load_torch:
        contents, tensors = _read_checkpoint(content, weights_only)
    else:
        tensors = []
        contents = _with_copies(loader(content), tensors)
        Tensor.realize_batch([tensor for tensor in tensors if not tensor.is_eager])
    if may_be_eager():
        for tensor in tensors:
            if not tensor.is_eager:
                take_up(tensor)
    return contents


def _read_if_small(path: Any) -> Any:
    """The bytes of a small file, whose tensors need not be read one by one; None otherwise."""
    try:
        if os.path.isfile(path) and os.path.getsize(path) <= LARGEST_READ:
            with open(path, "rb") as file:
                return Contents(file.read(), os.path.abspath(path))
    except (OSError, ValueError):
        pass  # the reader of the file raises the error
    return path


def _read_checkpoint(path: Any, weights_only: bool | None) -> tuple[Any, list[Tensor]]:
    try:
        return read_torch(path, Parameter)
    except FileError as error:
        from ogive.io.whole_objects import load_whole

        if weights_only is not False and safe_names():
            return load_whole(path, _module_name, Parameter, safe_names())
        if weights_only is not False:
            words = words_of(error)
            if "nothing in a file is run" in words:
                raise FileError(f"{words}; or use weights_only=False if you trust it") from None
            raise
        return load_whole(path, _module_name, Parameter)


def _module_name(name: str) -> str:
    """The name of our module for a module of PyTorch's; other names are unchanged."""
    return f"ogive.{name}" if name == "torch" or name.startswith("torch.") else name


def _with_copies(contents: Any, read: list[Tensor]) -> Any:
    """The contents of a file, with copies of its tensors. Adds those to `read`, to be read at once.
    """
    if isinstance(contents, Tensor):
        read.append(contents.cpu() if contents.device == FILES else contents)
        return read[-1]
    if isinstance(contents, dict):
        for key, value in contents.items():
            contents[key] = _with_copies(value, read)
        return contents
    if type(contents) is tuple:
        return tuple([_with_copies(each, read) for each in contents])
    return contents
