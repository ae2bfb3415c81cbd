"""Memory shared with other libraries: borrowed from them, or lent to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from ogive.compiler.devices.dlpack import CPU, GPU, VERSION, make_capsule, read_capsule
from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.ir.device_names import GPUS, device_name, split_name
from ogive.compiler.ir.dtype import to_dtype
from ogive.compiler.ir.memory import memory_leaf, upper_shape
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import MOVEMENT, Op
from ogive.compiler.ir.symbolic.evaluate import evaluate
from ogive.compiler.live.readers import is_read
from ogive.compiler.live.registry import graph_lock, users_of
from ogive.compiler.live.substitution import substitute_everywhere
from ogive.errors import ArgumentTypeError, InterchangeError
from ogive.tensor.core import DEFAULT_DEVICE, to_device, to_tensor, wrap
from ogive.tensor.creation import user_data
from ogive.tensor.memory.memory_nodes import memory_node
from ogive.tensor.memory.strided_views import span_of, strided

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


DEFAULT_STREAM, NO_STREAM = 1, -1
"""DLPack's numbers for the default stream of a GPU, and for a consumer that synchronizes itself."""


def from_dlpack(x: Any, device: str | None = None, copy: bool | None = None) -> Tensor:
    """A tensor on the memory of another library's array, without a copy, strided or not.

    Shapes: that of `x`. Without a `device` the tensor is where the memory is; on another device it
    is a copy. The memory is borrowed: it is read when the tensor is computed with, it is never
    written (assignment takes other memory), and the producer's array may be dropped. With
    `copy=True` the values are copied now.

    >>> array = numpy.zeros((2, 2), dtype="float32")
    >>> x = ogive.from_dlpack(array.T)
    >>> array[0, 1] = 5
    >>> x.tolist()
    [[0.0, 0.0], [5.0, 0.0]]

    Raises `ArgumentTypeError` for an object without `__dlpack__`, `InterchangeError` for memory
    that the CPU cannot read, or `copy=False` if a copy is needed, and `DtypeError` for a dtype that
    Ogive does not have.
    """
    place = DEFAULT_DEVICE if device is None else to_device(device)
    if not hasattr(x, "__dlpack__"):
        raise ArgumentTypeError(
            f"from_dlpack takes an array that has __dlpack__, not {type(x).__name__}"
        )
    if device is None or split_name(place)[0] == GPUS:
        borrowed = _borrow_from_gpu(x, copy)
        if borrowed is not None:
            same = device is None or borrowed.device == place
            moved = borrowed if same else borrowed.to(place)
            return moved.clone() if copy and same else moved
    array = read_capsule(_ask(x, copy))
    to_dtype(array.dtype)
    if copy:
        return to_tensor(array, place)
    borrowed = _borrow(array, place)
    if borrowed is None and copy is False:
        raise InterchangeError(
            f"memory with the strides {array.strides} of {array.dtype} elements cannot be read in "
            "place; leave copy out"
        )
    return to_tensor(array, place) if borrowed is None else borrowed


def _borrow_from_gpu(x: Any, copy: bool | None) -> Tensor | None:
    """A tensor on memory of a GPU, without a copy; None if the memory is elsewhere."""
    kind, index = x.__dlpack_device__() if hasattr(x, "__dlpack_device__") else CPU
    if kind != GPU:
        return None
    # The producer's pending work comes before ours on the default stream.
    array = read_capsule(_ask(x, None if copy else copy, stream=1), (GPU, index))
    to_dtype(array.dtype)
    return _borrow(array, to_device(device_name(GPUS, index)), is_elsewhere=True)


def dlpack_device_of(tensor: Tensor) -> tuple[int, int]:
    """DLPack's device type and index for a tensor's memory."""
    kind, index = split_name(tensor.device)
    return (GPU, index) if kind == GPUS else CPU


def to_dlpack(
    tensor: Tensor,
    stream: Any,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> Any:
    """The capsule for `Tensor.__dlpack__`."""
    where = dlpack_device_of(tensor)
    if dl_device is not None and tuple(dl_device) != where:
        raise InterchangeError(
            f"the tensor is on {tensor.device}, {where}, and cannot be lent on device {dl_device}"
        )
    if where == CPU and stream is not None:
        raise InterchangeError(f"the CPU has no streams, and stream={stream!r} was asked for")
    versioned = max_version is not None and max_version[0] >= 1
    array = None if copy else _lend(tensor)
    if array is not None and stream not in (None, DEFAULT_STREAM, NO_STREAM):
        find_device(tensor.device).record().wait()  # another stream would not wait
    if array is not None and (versioned or array.flags.writeable):
        return make_capsule(array, versioned, is_copy=False, device=where)
    if copy is False:
        raise InterchangeError(
            "the values cannot be had without a copy: they are not in memory that can be lent, or "
            "it is read-only and the consumer does not know of that"
        )
    if where != CPU:
        copied = _lend(tensor.detach().contiguous())
        assert copied is not None, "a copy that nobody else has is memory"
        return make_capsule(copied, versioned, is_copy=True, device=where)
    return make_capsule(tensor.numpy(force=True), versioned, is_copy=True)


def _ask(x: Any, copy: bool | None, **given: Any) -> Any:
    """The capsule of a producer, with any version of the protocol."""
    attempts: list[dict[str, Any]] = [{"max_version": VERSION, **given}, given]
    if copy is False:
        attempts.insert(0, {"max_version": VERSION, "copy": False, **given})
    for keywords in attempts:
        try:
            return x.__dlpack__(**keywords)
        except TypeError:
            continue
        except (BufferError, RuntimeError, ValueError) as error:
            raise InterchangeError(f"{type(x).__name__}.__dlpack__ refused: {error}") from error
    raise InterchangeError(f"{type(x).__name__}.__dlpack__ takes none of the arguments it should")


def _borrow(array: NDArray[Any], device: str, is_elsewhere: bool = False) -> Tensor | None:
    """A view of borrowed memory, or None if elements are not aligned.

    If the memory `is_elsewhere`, the array only carries its address.
    """
    size = array.itemsize
    if not array.flags.aligned or any(stride % size for stride in array.strides):
        return None
    if not array.size:
        return _on_memory(numpy.empty(array.shape, array.dtype), device, is_elsewhere)
    backwards = [axis for axis, stride in enumerate(array.strides) if stride < 0]
    turned: Any = [slice(None, None, -1 if stride < 0 else 1) for stride in array.strides]
    forward = array[(*turned, ...)]
    strides = [stride // size for stride in forward.strides]
    span = span_of(forward.shape, strides)
    raw = forward.view(f"V{size}")  # the floats of ml_dtypes cannot be strided as they are
    flat = numpy.lib.stride_tricks.as_strided(raw, (span,), (size,), writeable=False)
    memory = _on_memory(flat.view(array.dtype), device, is_elsewhere)
    view = strided(memory, forward.shape, strides)
    return view.flip(*backwards) if backwards else view


def _on_memory(array: NDArray[Any], device: str, is_elsewhere: bool) -> Tensor:
    make = user_data.borrowed_elsewhere if is_elsewhere else user_data.borrowed_node
    with graph_lock:
        return wrap(make(array, device), device)


def _lend(tensor: Tensor) -> NDArray[Any] | None:
    """The memory of a tensor, for others; None if it is not memory, or will be written."""
    if 0 in tensor.shape:
        return tensor.numpy(force=True)
    if split_name(tensor.device)[0] != GPUS and tensor.device != DEFAULT_DEVICE:
        return None
    tensor.realize()
    with graph_lock:
        node = tensor.node
        memory, leaf = user_data.memory_of(node), memory_leaf(node)
        if memory is None or not memory.allocated or memory.volatile:
            return None
        if _is_about_to_be_written(leaf):
            return None
        if not memory.borrowed:
            # Under a new node, so that a captured function that writes to the old one notices.
            substitute_everywhere(
                {leaf: memory_node(memory, leaf.shape, leaf.dtype)}, walk=True
            )
        array = memory.lend(node.dtype.numpy, upper_shape(node.shape))
    front: Any = [slice(evaluate(size)) for size in node.shape]
    return array[(*front, ...)]


def _is_about_to_be_written(memory: UOp) -> bool:
    """Whether a pending assignment will write to this memory.

    A kept graph may still have an assignment that was carried out.
    """
    stack = [memory]
    while stack:
        node = stack.pop()
        for user in users_of(node):
            if user.src[0] is not node:
                continue
            if user.op is Op.ASSIGN and is_read(user):
                return True
            if user.op in MOVEMENT:
                stack.append(user)
    return False
