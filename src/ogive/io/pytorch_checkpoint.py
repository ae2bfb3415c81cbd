"""PyTorch checkpoints: a zip archive of a pickle and, beside it, the bytes of the storages.

    model/data.pkl     the saved object; each tensor is a view of a storage
    model/data/0       the bytes of storage 0
    model/byteorder    "little" or "big"

The pickle is read by a machine that can only build data (`unpickle.py`). No code of the file runs.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from sys import getsizeof
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.shape import row_major_strides
from ogive.errors import ShapeError
from ogive.io.checked_files import BYTES_PER_BYTE, TENSOR, Path, Source, open_source, shorten
from ogive.io.unpickle import ENTRY, Function, Machine
from ogive.io.zips import STORED, Member, read_directory, read_member
from ogive.named import NamedTuple
from ogive.tensor.memory.strided_views import span_of, strided
from ogive.tensor.tensor import Tensor

KIND = "a PyTorch checkpoint"
PICKLE = "data.pkl"
LEGACY = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
"""The beginning of files that `torch.save` wrote before version 1.6: a pickle of a number."""

STORAGES = {
    "DoubleStorage": dtypes.float64,
    "FloatStorage": dtypes.float32,
    "HalfStorage": dtypes.float16,
    "BFloat16Storage": dtypes.bfloat16,
    "LongStorage": dtypes.int64,
    "IntStorage": dtypes.int32,
    "ShortStorage": dtypes.int16,
    "CharStorage": dtypes.int8,
    "ByteStorage": dtypes.uint8,
    "BoolStorage": dtypes.bool_,
    "ComplexFloatStorage": dtypes.complex64,
    "ComplexDoubleStorage": dtypes.complex128,
    "UntypedStorage": None,
}
DTYPES = {dtype.name: dtype for dtype in dtypes.ALL if dtype is not dtypes.float8_e4m3} | {
    "float8_e4m3fn": dtypes.float8_e4m3
}

MakeParameter = Callable[[Tensor, bool], Tensor]
"""A function that returns the parameter in the memory of a tensor, given whether it requires a
gradient."""

_STORAGE = 256
"""The bytes that a `Storage` takes."""
_LONGEST_DEVICE = 32


class StorageType(NamedTuple):
    """A class of storages. The dtype is None for one of plain bytes."""

    dtype: DType | None


class Storage(NamedTuple):
    """A storage: `nbytes` of the file from `begin` on, in a `member` of the archive."""

    dtype: DType | None
    begin: int
    nbytes: int
    member: int


def load_torch(path: Path) -> Any:
    """Load the object that `torch.save` wrote, with lazy tensors on `DISK`. No code is executed.

    Returns nested dictionaries, lists, tuples, sets, text, bytes and numbers. Tensors and
    parameters become tensors. A view of a larger storage, strided or not, reads only its part.

    >>> import pickle, tempfile, zipfile
    >>> path = tempfile.mkdtemp() + "/x.pt"
    >>> with zipfile.ZipFile(path, "w") as archive:
    ...     archive.writestr("x/data.pkl", pickle.dumps({"step": 3}))
    >>> ogive.io.load_torch(path)
    {'step': 3}

    Raises `FileError` if the file is missing, malformed or truncated, is older than PyTorch 1.6, or
    holds anything other than tensors and plain data. The message names it.
    """
    with open_source(path, "load_torch", KIND) as source:
        return _open(source).load()


def read_torch(path: Path, make_parameter: MakeParameter) -> tuple[Any, list[Tensor]]:
    """Read a checkpoint into memory. Returns the object that `torch.save` wrote, and its tensors.

    Tensors of one storage share their memory, as when they were saved, and leaves are leaves.
    `make_parameter` makes the parameter in the memory of a tensor. Raises `FileError`.
    """
    with open_source(path, "read_torch", KIND) as source:
        checkpoint = _open(source, make_parameter)
        loaded = checkpoint.load()
        return loaded, checkpoint.read()


def _open(source: Source, make_parameter: MakeParameter | None = None) -> Checkpoint:
    if source.size >= len(LEGACY) and source.read(0, len(LEGACY), "the magic") == LEGACY:
        source.refuse(
            "it is of the format before PyTorch 1.6; load and save it again there: "
            "torch.save(torch.load(path, weights_only=True), path)"
        )
    return Checkpoint(source, read_directory(source), make_parameter)


class Checkpoint:
    """An archive, and the names that its pickle may use.

    Without `make_parameter`, tensors stay in the file. With it, they will be read.
    """

    def __init__(
        self,
        source: Source,
        members: Mapping[str, Member],
        make_parameter: MakeParameter | None = None,
    ) -> None:
        self.source = source
        self.members = members
        self.make_parameter = make_parameter
        self.prefix = self._find_prefix()
        self.big_endian = self._find_byte_order()
        self.whole: dict[tuple[int, DType], Tensor] = {}
        self._begins: set[int] = set()
        self.tensors: dict[int, Tensor] = {}
        self.leaves: list[Tensor] = []

    def _find_prefix(self) -> str:
        pickles = [name for name in self.members if name.partition("/")[2] == PICKLE]
        if len(pickles) != 1:
            self.source.refuse(
                f"it is a zip archive with {len(pickles)} members */{PICKLE}; expected one"
            )
        return pickles[0].removesuffix(PICKLE)

    def _find_byte_order(self) -> bool:
        member = self.members.get(f"{self.prefix}byteorder")
        if member is None:
            return False
        order = read_member(self.source, member) if member.size <= 8 else b"..."
        if order not in (b"little", b"big"):
            self.source.refuse(f"its byte order is {shorten(order)}; expected little or big")
        return order == b"big"

    def load(self) -> Any:
        """Return the object that the pickle builds."""
        pickle = read_member(self.source, self.members[self.prefix + PICKLE])
        machine = Machine(
            pickle, self.names(), self.storage, self.source.charge, self.source.refuse
        )
        return machine.run()

    def read(self) -> list[Tensor]:
        """Read all storages together. Returns the tensors that were made."""
        Tensor.realize_batch([whole for whole in self.whole.values() if not whole.is_eager])
        self.whole.clear()  # a storage with one view is shared with no other tensor
        for tensor in self.leaves:
            tensor.requires_grad_()
        return list(self.tensors.values())

    def names(self) -> dict[str, Any]:
        functions: dict[str, Callable[[Machine, tuple[Any, ...]], Any]] = {
            "torch._utils._rebuild_tensor": lambda _, given: self._tensor(*_first(given, 4, 4)),
            "torch._utils._rebuild_tensor_v2": lambda _, given: self._tensor(*_first(given, 4, 7)),
            "torch._utils._rebuild_tensor_v3": lambda _, given: self._tensor_of_dtype(given),
            "torch._utils._rebuild_parameter": lambda _, given: self._parameter(
                *_first(given, 2, 3)
            ),
            "torch.Size": _size,
            "torch.device": _device,
            "collections.OrderedDict": _ordered,
            "_codecs.encode": _encode,
        }
        for module in ("builtins", "__builtin__"):
            functions[f"{module}.set"] = lambda machine, given: set(_keys(machine, given))
            functions[f"{module}.frozenset"] = lambda machine, given: frozenset(
                _keys(machine, given)
            )
            functions[f"{module}.bytes"] = lambda _, given: b"".join(_first(given, 0, 0))
        names: dict[str, Any] = {name: Function(name, apply) for name, apply in functions.items()}
        for module in ("torch", "torch.storage", "torch.cuda"):
            names |= {f"{module}.{name}": StorageType(dtype) for name, dtype in STORAGES.items()}
        return names | {f"torch.{name}": dtype for name, dtype in DTYPES.items()}

    def storage(self, given: Any) -> Storage:
        """Return the storage of a persistent id. Raises `ValueError`."""
        if type(given) is not tuple or len(given) != 5 or given[0] != "storage":
            raise ValueError(f"a persistent id {shorten(given)}")
        _, kind, key, _, count = given
        if type(kind) is not StorageType or type(key) is not str or type(count) is not int:
            raise ValueError(f"a persistent id {shorten(given)}")
        member = self.members.get(f"{self.prefix}data/{key}")
        if member is None or member.method != STORED:
            raise ValueError(f"the bytes of storage {shorten(key)!r} are missing or compressed")
        nbytes = count * (kind.dtype.itemsize if kind.dtype else 1)
        if not 0 <= nbytes <= member.size:
            raise ValueError(
                f"storage {shorten(key)!r} of {shorten(nbytes)} bytes has {member.size}"
            )
        self.source.charge(_STORAGE)
        return Storage(kind.dtype, member.begin, nbytes, member.size)

    def _tensor_of_dtype(self, given: tuple[Any, ...]) -> Tensor:
        arguments = _first(given, 7, 8)
        dtype = arguments[6]
        if not isinstance(dtype, DType) or not isinstance(arguments[0], Storage):
            raise ValueError("a tensor without a dtype or storage")
        return self._tensor(arguments[0]._replace(dtype=dtype), *arguments[1:5])

    def _parameter(self, data: Any, requires_grad: Any, *_: Any) -> Tensor:
        """Return a parameter; a plain tensor if it stays in the file. Raises `ValueError`."""
        if not isinstance(data, Tensor):
            raise ValueError(f"a parameter made of a {type(data).__name__}")
        if self.make_parameter is None:
            return data
        parameter = self.make_parameter(data, requires_grad is True and data.dtype.is_float)
        self.tensors.pop(id(data), None)
        self.tensors[id(parameter)] = parameter
        return parameter

    def _tensor(
        self, storage: Any, offset: Any, size: Any, stride: Any, is_leaf: Any = False, *_: Any
    ) -> Tensor:
        """Return a view of a storage. Raises `ValueError` unless all of it is inside."""
        if not isinstance(storage, Storage) or storage.dtype is None:
            raise ValueError("a tensor without a typed storage")
        shape = self.source.check_shape(size, "a tensor")
        strides = _lengths(stride)
        (begin,) = _lengths((offset,))
        if len(strides) != len(shape):
            raise ValueError(f"a tensor of shape {shape} with strides {shorten(strides)}")
        span = span_of(shape, strides)
        count = storage.nbytes // storage.dtype.itemsize
        if span and begin + span > count:
            raise ValueError(
                f"a tensor of shape {shape} shows elements {begin} to {begin + span} of a storage "
                f"of {count}"
            )
        if not span:
            begin = 0
        self.source.charge(_cost_of_view(shape, strides))
        flat = self._whole(storage, storage.dtype)
        if (begin, span) != (0, flat.shape[0]):
            flat = flat.shrink([(begin, begin + span)])
        try:
            view = strided(flat, shape, strides)
        except ShapeError:
            raise ValueError(
                f"a tensor of shape {shape} and strides {strides}, whose windows overlap too often"
            ) from None
        if self.make_parameter is not None:
            self.tensors[id(view)] = view
            if is_leaf is True and view.dtype.is_float:
                self.leaves.append(view)
        return view

    def _whole(self, storage: Storage, dtype: DType) -> Tensor:
        """Return the tensor of a whole storage. All its views share it, so that it is read once."""
        key = (storage.begin, dtype)
        if key not in self.whole:
            if storage.begin in self._begins:  # the same bytes are read again, as another dtype
                self.source.charge(BYTES_PER_BYTE * storage.member)
            self._begins.add(storage.begin)
            shape = (storage.member // dtype.itemsize,)
            tensor = self.source.tensor(shape, dtype, storage.begin, self.big_endian)
            stays = self.make_parameter is None or self.source.is_in_memory
            self.whole[key] = tensor if stays else tensor.cpu()
        return self.whole[key]


def _cost_of_view(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """Return the memory of a view: each split of an axis is a movement with all axes before it."""
    rank = 0 if list(strides) == row_major_strides(shape) else len(shape)
    return TENSOR + rank * (2 * TENSOR + 128 * rank)


# Functions that a pickle may apply, and their arguments. All raise `ValueError`.


def _first(given: tuple[Any, ...], least: int, most: int) -> tuple[Any, ...]:
    if not least <= len(given) <= most:
        raise ValueError(f"a function of {least} to {most} arguments is given {len(given)}")
    return given


def _lengths(given: Any) -> tuple[int, ...]:
    if type(given) not in (tuple, list):
        raise ValueError(f"lengths {shorten(given)}")
    for value in given:
        if type(value) is not int or not 0 <= value < 1 << 63:
            raise ValueError(f"lengths {shorten(given)}")
    return tuple(given)


def _size(machine: Machine, given: tuple[Any, ...]) -> tuple[int, ...]:
    (lengths,) = _first(given, 1, 1)
    machine.charge(getsizeof(lengths))
    return _lengths(lengths)


def _device(machine: Machine, given: tuple[Any, ...]) -> str:
    for part in _first(given, 0, 2):
        if type(part) is not int and (type(part) is not str or len(part) > _LONGEST_DEVICE):
            raise ValueError(f"a device {shorten(part)}")
    machine.charge(1024)
    return ":".join(str(part) for part in given)


def _ordered(machine: Machine, given: tuple[Any, ...]) -> OrderedDict[Any, Any]:
    entries = _first(given, 0, 1)[0] if given else []
    if type(entries) is not list:
        raise ValueError("a dictionary that is not made of pairs")
    ordered: OrderedDict[Any, Any] = OrderedDict()
    machine.charge(getsizeof(ordered) + 2 * ENTRY * len(entries))
    for pair in entries:
        if type(pair) not in (list, tuple) or len(pair) != 2:
            raise ValueError("a dictionary that is not made of pairs")
        ordered[machine.key(pair[0])] = pair[1]
    return ordered


def _keys(machine: Machine, given: tuple[Any, ...]) -> list[Any]:
    entries = _first(given, 0, 1)[0] if given else []
    if type(entries) not in (list, tuple):
        raise ValueError("a set that is not made of a list")
    machine.charge(getsizeof(set()))
    return machine.keys(entries)


def _encode(machine: Machine, given: tuple[Any, ...]) -> bytes:
    text, encoding = _first(given, 2, 2)
    if type(text) is not str or encoding not in ("latin1", "latin-1"):
        raise ValueError(f"text encoded as {shorten(encoding)}")
    machine.charge(getsizeof(b"") + len(text))
    return text.encode("latin1")
