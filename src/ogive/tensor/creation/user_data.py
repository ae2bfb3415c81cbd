"""Conversion between the user's data and our memory."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.devices.write_clock import clock, is_disturbed
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.device_names import DEFAULT_DEVICE, FILES, is_group
from ogive.compiler.ir.dtype import DType, to_dtype
from ogive.compiler.ir.memory import memory_leaf, upper_shape
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.symbolic.evaluate import evaluate
from ogive.compiler.live import registry
from ogive.compiler.live.registry import make
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from ogive.tensor import build
from ogive.tensor.core import Core, refuse_unbound, to_dim, to_integer, to_shape
from ogive.tensor.creation.nested_lists import holds_tensors, join_nested
from ogive.tensor.memory.memory_nodes import memory_node

if TYPE_CHECKING:
    from numpy.typing import NDArray


def node_of(data: Any, dtype: DType | None, device: str) -> UOp:
    """A node that holds a copy of `data`."""
    if isinstance(data, Core):
        node = data.node
        if data.device != device:
            node = make(Op.COPY, node.dtype, (node,), device)
        return node if dtype is None else build.cast(node, dtype)
    if isinstance(data, bool | int | float | complex) and not isinstance(data, numpy.generic):
        return _scalar(data, dtype)
    if isinstance(data, UOp):
        value = build.index_value(to_dim(data, "a tensor's value"))
        return build.cast(value, dtype or dtypes.int64)
    refuse_unbound(data)
    if isinstance(data, list | tuple) and holds_tensors(data):
        return join_nested(data, dtype)
    array = to_array(data, dtype)
    if is_group(device):
        node = node_of(array, None, DEFAULT_DEVICE)
        return make(Op.COPY, node.dtype, (node,), device)
    buffer = Buffer(array.nbytes, device)
    if array.nbytes:
        buffer.fill(array)
    return memory_node(buffer, array.shape, to_dtype(array.dtype))


def borrowed_node(array: NDArray[Any], device: str) -> UOp:
    """A node on the memory of `array`, or on a copy if it is not plain row-major memory."""
    dtype = to_dtype(array.dtype)
    plain = array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative
    if not plain or device != DEFAULT_DEVICE:
        return node_of(array, None, device)
    return memory_node(Buffer.borrow(array), array.shape, dtype)


def borrowed_elsewhere(array: NDArray[Any], device: str) -> UOp:
    """A node on memory of a device, whose address the C-contiguous `array` carries."""
    return memory_node(Buffer.borrow(array, device), array.shape, to_dtype(array.dtype))


def file_node(path: Any, shape: Any, dtype: Any, offset: Any) -> UOp:
    """A node on the bytes of a file. Raises `FileError` if it does not have them."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise ArgumentTypeError(f"from_file takes a path, not {type(path).__name__}")
    if not isinstance(shape, tuple | list):
        raise ArgumentTypeError(f"from_file takes a shape, such as (2, 3), not {shape!r}")
    sizes = to_shape((shape,), "from_file")
    lengths = tuple([to_integer(size, "from_file: a length") for size in sizes])
    kind = to_dtype(dtype)
    start = to_integer(offset, "from_file: the offset")
    nbytes = math.prod(lengths) * kind.itemsize
    if start < 0 or start + nbytes >= 1 << 63:
        raise ArgumentError(
            f"from_file: no file has {nbytes} bytes from offset {start} on; the offset counts "
            "bytes from the beginning"
        )
    buffer = find_device(FILES).open_file(os.path.abspath(os.fspath(path)), start, nbytes)
    return memory_node(buffer, lengths, kind)


def read_file(node: UOp) -> Buffer | None:
    """New memory with the bytes of a file, if a node is exactly these; else None."""
    file = memory_of(node)
    if file is None or file.device != FILES:
        return None
    buffer = Buffer(file.nbytes)
    find_device(FILES).copy_out(file.address, buffer.memoryview())
    return buffer


def fill_buffer(pieces: Iterable[bytes], dtype: DType, count: int, swapped: bool) -> Buffer:
    """New memory of `count` elements, whose bytes come in pieces, in swapped byte order or not.

    Only one piece at a time is in memory twice, and memory is not touched before its piece comes.
    """
    buffer = Buffer(count * dtype.itemsize)
    raw = buffer.as_numpy("uint8", (buffer.nbytes,)) if count else numpy.empty(0, "uint8")
    position = 0
    for piece in pieces:
        raw[position : position + len(piece)] = numpy.frombuffer(piece, "uint8")
        position += len(piece)
    if swapped:
        raw.view(dtype.numpy).byteswap(inplace=True)
    return buffer


def read_buffer(
    read_into: Callable[[memoryview], None], dtype: DType, count: int, swapped: bool
) -> Buffer:
    """New memory of `count` elements, `swapped` or as they are ours, which `read_into` fills."""
    buffer = Buffer(count * dtype.itemsize)
    if count:
        read_into(buffer.memoryview())
    if swapped:
        buffer.as_numpy(dtype.numpy, (count,)).byteswap(inplace=True)
    return buffer


def memory_of(node: UOp) -> Buffer | None:
    """The memory of `node`, if it is a whole buffer; else None."""
    leaf = memory_leaf(node)
    if leaf.op is not Op.BUFFER:
        return None
    buffer: Buffer | None = registry.buffer_of(leaf)
    return buffer


def read_memory(tensor: Core) -> NDArray[Any] | None:
    """A copy of the values in a tensor's memory; None if another thread wrote to it meanwhile.

    Symbolic lengths have room for their greatest value, and only the front is read.
    """
    node = tensor.node
    memory = memory_of(node)
    if memory is None:
        return None  # assigned to since it was realized
    moment = clock.moment_of(memory)
    array = memory.contents(node.dtype.numpy, upper_shape(node.shape))
    front = array[tuple([slice(evaluate(size)) for size in node.shape])]
    values: NDArray[Any] = numpy.array(front, order="C")  # for one element, `front` is a scalar
    return None if tensor.node is not node or is_disturbed(moment, (memory,)) else values


def empty_array(node: UOp) -> NDArray[Any]:
    """An array in the shape of a node without elements. Raises `ShapeError`."""
    shape = [evaluate(size) for size in node.shape]
    try:
        return numpy.empty(shape, dtype=node.dtype.numpy)
    except ValueError:
        raise ShapeError(
            f"NumPy cannot make an array of {node.dtype.name} and shape {tuple(shape)}: the "
            "product of the other lengths is too large"
        ) from None


def to_array(data: Any, dtype: DType | None) -> NDArray[Any]:
    """`data` as an array of a dtype that tensors can have."""
    if isinstance(data, list | tuple):
        array = _from_list(data, dtype)
    elif isinstance(data, numpy.ndarray | numpy.generic) or hasattr(data, "__array__"):
        array = numpy.asarray(data)
    else:
        raise ArgumentTypeError(
            f"a tensor is made from numbers, lists and arrays, not from {type(data).__name__}"
        )
    own = to_dtype(array.dtype)
    return array.astype((dtype or own).numpy, copy=False)


def _scalar(value: Any, dtype: DType | None) -> UOp:
    chosen = dtype or dtypes.to_dtype(type(value) if type(value) in _PYTHON else float)
    if isinstance(value, complex) and not chosen.is_complex:
        raise DtypeError(f"{value} is complex and does not fit {chosen.name}; give its real part")
    if chosen.is_integer and isinstance(value, float) and not value.is_integer():
        value = int(value) if numpy.isfinite(value) else _refuse_value(value, chosen)
    least, greatest = chosen.limits
    if chosen.is_integer and not least <= value <= greatest:
        _refuse_value(value, chosen)
    return build.constant(chosen, value)


_PYTHON = (bool, int, float, complex)


def _refuse_value(value: Any, dtype: DType) -> Any:
    raise ArgumentError(f"{value} does not fit {dtype.name}, which holds {dtype.limits}")


_NARROWER: dict[Any, Any] = {
    numpy.dtype("float64"): numpy.float32, numpy.dtype("complex128"): numpy.complex64,
}  # fmt: skip
"""The dtypes for Python's numbers in place of those that NumPy chooses."""


_MOST_AXES = 64
"""The greatest number of axes of a NumPy array."""


def _refuse_depth() -> None:
    raise ArgumentError(f"lists are nested more than {_MOST_AXES} deep, or contain themselves")


def _from_list(data: Any, dtype: DType | None) -> NDArray[Any]:
    """Nested lists. Python's floats become float32, integers int64, complex numbers complex64."""
    leaf, depth = data, 0
    while isinstance(leaf, list | tuple) and leaf and depth <= _MOST_AXES:
        leaf, depth = leaf[0], depth + 1
    if depth > _MOST_AXES:
        _refuse_depth()
    if isinstance(leaf, str | bytes):
        raise DtypeError(f"{leaf!r} is text; tensors hold numbers")
    array = None
    with contextlib.suppress(ValueError, OverflowError):
        array = numpy.array(data)
    if array is None:
        _shape_of(data, ())
        raise ArgumentError("the list holds something that is not a number")
    if array.dtype.kind in "US":
        raise DtypeError("the list holds text; tensors hold numbers")
    if array.dtype == object:
        raise ArgumentError("the list holds integers that fit no integer dtype, or other objects")
    if dtype is None and not isinstance(leaf, numpy.generic | numpy.ndarray):
        if array.dtype in _NARROWER:
            with numpy.errstate(over="ignore"):
                return array.astype(_NARROWER[array.dtype])
        if array.dtype == numpy.uint64:
            raise ArgumentError("the list holds integers beyond int64; give dtype='uint64'")
    return array


def _shape_of(data: Any, path: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of nested lists. Raises `ShapeError` if an entry's differs from the first's."""
    if not isinstance(data, list | tuple):
        return numpy.shape(data)
    if len(path) > _MOST_AXES:
        _refuse_depth()
    shapes = [_shape_of(entry, (*path, position)) for position, entry in enumerate(data)]
    for position, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ShapeError(
                f"ragged list: entry {[*path, position]} has the shape {shape}, and entry "
                f"{[*path, 0]} the shape {shapes[0]}"
            )
    return (len(shapes), *(shapes[0] if shapes else ()))
