"""Writing PyTorch checkpoints: a pickle of plain data and tensors, and the storages beside it.

The pickle (protocol 2) names the functions by which PyTorch rebuilds tensors. PyTorch is not needed
to write it. `torch.load` with `weights_only=True` reads it, and so does `load_torch`.
"""

from __future__ import annotations

import struct
import sys
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

import numpy

from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.symbolic.evaluate import evaluate
from ogive.errors import ArgumentError, ArgumentTypeError
from ogive.io.checked_files import Path, replacing
from ogive.io.pytorch_checkpoint import DTYPES, PICKLE, STORAGES
from ogive.tensor.tensor import Tensor

FOLDER = "archive/"
VERSION = b"3\n"
_TYPED = {dtype: name for name, dtype in STORAGES.items() if dtype is not None}
_NAMES = {dtype: name for name, dtype in DTYPES.items()}
_DEEPEST = 200
"""How deep containers can be nested: readers of pickles recurse."""
_NO_HOOKS = b"ccollections\nOrderedDict\n)R"


def save_torch(path: Path, obj: Any) -> None:
    """Write a file that `torch.load(path, weights_only=True)` reads.

    `obj` is a tensor or plain data with tensors in it: dictionaries, lists, tuples, text, bytes,
    numbers, None. A tensor that occurs twice is written once, and is shared when it is loaded. A
    file at `path` is replaced atomically.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/x.pt"
    >>> ogive.io.save_torch(path, {"step": 3, "weight": ogive.arange(3)})
    >>> ogive.io.load_torch(path)["weight"].tolist()
    [0, 1, 2]

    Raises `ArgumentTypeError` for any other object, with the path to it, and `FileError` if the
    file cannot be written.
    """
    with replacing(path, "save_torch") as file:
        write_torch(file, obj)


def write_torch(file: BinaryIO, obj: Any) -> None:
    """Write a checkpoint to an open file, as `save_torch`. Raises `ArgumentTypeError`."""
    pickle = _Pickle()
    pickle.add(obj, "")
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{FOLDER}{PICKLE}", b"\x80\x02" + b"".join(pickle.parts) + b".")
        archive.writestr(f"{FOLDER}byteorder", sys.byteorder)
        for number, tensor in enumerate(pickle.storages.values()):
            with archive.open(f"{FOLDER}data/{number}", "w", force_zip64=True) as member:
                array = numpy.ascontiguousarray(tensor.numpy(force=True)).reshape(-1)
                member.write(array.view(numpy.uint8).data)
        archive.writestr(f"{FOLDER}version", VERSION)


class _Pickle:
    """The instructions of a pickle so far, and the tensors in it, by id.

    Tensors with equal values are not shared, since one of them may be changed in place after
    loading.
    """

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.storages: dict[int, Tensor] = {}
        self._numbers: dict[int, int] = {}
        self._open: set[int] = set()

    def add(self, value: Any, path: str) -> None:
        """Append the instructions that build `value`, which is at `path` in the saved object."""
        if isinstance(value, Tensor):
            self._add_tensor(value)
        elif type(value) in _PLAIN:
            self.parts.append(_PLAIN[type(value)](value))
        elif isinstance(value, numpy.generic):
            self.add(value.item(), path)
        elif isinstance(value, dict | list | tuple):
            self._add_container(value, path)
        else:
            raise ArgumentTypeError(
                f"save_torch: {path or 'the object'} is of type {type(value).__name__}; "
                "tensors, dictionaries, lists, tuples, text, bytes and numbers can be written"
            )

    def _add_container(self, value: Any, path: str) -> None:
        if id(value) in self._open:
            raise ArgumentError(f"save_torch: {path} contains itself")
        if len(self._open) == _DEEPEST:
            raise ArgumentError(f"save_torch: {path[:40]}... is nested more than {_DEEPEST} deep")
        self._open.add(id(value))
        if isinstance(value, dict):
            self.parts.append(_NO_HOOKS if isinstance(value, OrderedDict) else b"}")
            entries: Iterable[Any] = [entry for pair in value.items() for entry in pair]
            names = [name for key in value for name in (f"a key {key!r}", f"[{key!r}]")]
            end = b"u"
        else:
            self.parts.append(b"]" if isinstance(value, list) else b"")
            entries, names = value, [f"[{number}]" for number in range(len(value))]
            end = b"e" if isinstance(value, list) else b"t"
        self.parts.append(b"(")
        for entry, name in zip(entries, names, strict=True):
            self.add(entry, path + name)
        self.parts.append(end)
        versions = getattr(value, "_metadata", None)  # versions of modules, in state dictionaries
        if versions is not None:
            self.add({"_metadata": versions}, path)
            self.parts.append(b"b")
        self._open.remove(id(value))

    def _add_tensor(self, tensor: Tensor) -> None:
        shape = tuple([evaluate(size) for size in tensor.shape])
        if tensor.id not in self.storages:
            self.storages[tensor.id] = tensor
            self._numbers[tensor.id] = len(self._numbers)
        count = int(numpy.prod(shape, dtype=object)) if shape else 1
        typed = _TYPED.get(tensor.dtype)
        storage = f"ctorch\n{typed}\n" if typed else "ctorch.storage\nUntypedStorage\n"
        length = count if typed else count * tensor.dtype.itemsize
        rebuild = "_rebuild_tensor_v2" if typed else "_rebuild_tensor_v3"
        key = _text(str(self._numbers[tensor.id]))
        self.parts += [
            f"ctorch._utils\n{rebuild}\n(".encode(), b"(", _text("storage"), storage.encode(),
            key, _text("cpu"), _integer(length), b"tQ", _integer(0), _lengths(shape),
            _lengths(_strides(shape)), _bool(tensor.requires_grad), _NO_HOOKS,
            b"" if typed else _dtype(tensor.dtype), b"tR",
        ]  # fmt: skip


def _strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def _lengths(values: tuple[int, ...]) -> bytes:
    return b"(" + b"".join([_integer(value) for value in values]) + b"t"


def _dtype(dtype: DType) -> bytes:
    return f"ctorch\n{_NAMES[dtype]}\n".encode()


def _bool(value: bool) -> bytes:
    return b"\x88" if value else b"\x89"


def _integer(value: int) -> bytes:
    if -(1 << 31) <= value < 1 << 31:
        return b"J" + struct.pack("<i", value)
    raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    if len(raw) > 255:
        raise ArgumentError("save_torch: an integer of more than 255 bytes cannot be written")
    return b"\x8a" + struct.pack("<B", len(raw)) + raw


def _text(value: str) -> bytes:
    raw = value.encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(raw)) + raw


def _bytes(value: bytes) -> bytes:
    return b"c_codecs\nencode\n(" + _text(value.decode("latin1")) + _text("latin1") + b"tR"


_PLAIN: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda value: b"N",
    bool: _bool,
    int: _integer,
    float: lambda value: b"G" + struct.pack(">d", value),
    str: _text,
    bytes: _bytes,
}
