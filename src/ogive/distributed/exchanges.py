"""Exchanges between the memory of tensors, without copies.

MPI reads the memory of the tensor that a rank sends, and writes to the memory of a new tensor.

Inside a function that `ogive.jit` captures there is no memory yet. There, an exchange is a step of
the function's graph, done at each call. Its arrays are copies, as those of all custom functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
from numpy.typing import NDArray

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.ir.device_names import DEFAULT_DEVICE, FILES, is_group
from ogive.compiler.ir.dtype import DType
from ogive.compiler.live.registry import graph_lock
from ogive.distributed.rank_calls import Call
from ogive.distributed.ranks import Ranks
from ogive.errors import ArgumentTypeError, DistributedError, ShapeError
from ogive.jit.tracing.watch import is_tracing
from ogive.tensor.core import wrap
from ogive.tensor.creation.user_data import memory_of
from ogive.tensor.memory.memory_nodes import memory_node
from ogive.tensor.tensor import Tensor
from ogive.tensor.values.custom_function import custom

Array = NDArray[Any]
Shape = tuple[int, ...]
Start = Callable[[Any, Array, Array], Any]
"""A function that begins an exchange over a communicator, from one array into another, and returns
its request."""

Settle = Callable[[Array, Array], None]
"""A function that writes this rank's result, given the arrays of all ranks along a first axis."""


def exchange(
    ranks: Ranks, call: Call, given: Tensor, shape: Shape, start: Start, settle: Settle
) -> Tensor:
    """Return this rank's result of an exchange, of `shape` and the dtype of `given`.

    A few bytes are sent together with the agreement of the ranks on the call, and `settle` computes
    the result from them. More are exchanged by `start`.
    """
    given, dtype = on_one_device(given), given.dtype

    def run(read: Array, written: Array) -> None:
        if read.nbytes > ranks.carried_bytes:
            ranks.exchange(call, lambda over: start(over, read, written), (read, written))
        else:

            def sort_out(rows: Array) -> None:
                every = rows.view(read.dtype).reshape(ranks.size, *read.shape)
                settle(every, written)

            ranks.carry(call, read, sort_out)

    if is_tracing():
        result: Tensor = custom(_on_plain_arrays(run), [given], (shape, dtype), name=call.text)
        return result
    return fill_new(shape, dtype, given.device, lambda written: run(read_only(given), written))


def _on_plain_arrays(run: Callable[[Array, Array], None]) -> Callable[[Array, Array], None]:
    """Return `run` with an input that MPI accepts: mpi4py refuses read-only arrays."""

    def call(read: Array, written: Array) -> None:
        run(numpy.asarray(read, order="C"), written)

    return call


def read_only(tensor: Tensor) -> Array:
    """Compute a tensor and return its memory as an array; a copy if it is not on the CPU."""
    tensor, shape = on_one_device(tensor), known_shape(tensor)
    if 0 in shape:
        return numpy.empty(shape, tensor.dtype.numpy)
    memory = memory_of(tensor.node)
    if memory is None or not memory.allocated:
        tensor.realize()
        memory = memory_of(tensor.node)
    if memory is None or memory.writes & 1:  # another thread is writing to it
        return tensor.numpy(force=True)
    return memory.contents(tensor.dtype.numpy, shape)


def on_one_device(tensor: Tensor) -> Tensor:
    """Move a tensor that is sharded over devices of this process, or in a file, to the CPU."""
    is_elsewhere = is_group(tensor.device) or tensor.device == FILES
    return tensor.to(DEFAULT_DEVICE) if is_elsewhere else tensor


def fill_new(shape: Shape, dtype: DType, device: str, fill: Callable[[Array], None]) -> Tensor:
    """Return a tensor whose memory `fill` has written; on another device, through host memory."""
    count = math.prod(shape)
    buffer = Buffer(count * dtype.itemsize, device)
    if find_device(device).addressable:
        fill(buffer.as_numpy(dtype.numpy, shape))
    else:
        array = numpy.empty(shape, dtype.numpy)
        fill(array)
        if count:
            buffer.fill(array)
    with graph_lock:
        return wrap(memory_node(buffer, shape, dtype), device)


def refuse_others(given: Any, name: str) -> None:
    """Raise `ArgumentTypeError` if an argument is not a tensor."""
    if not isinstance(given, Tensor):
        raise ArgumentTypeError(
            f"{name} takes a tensor, not {given!r}; ogive.Tensor(...) makes one"
        )


def known_shape(tensor: Tensor) -> Shape:
    """Return the shape of a tensor. Raises `ShapeError` for symbolic lengths."""
    if not all(isinstance(length, int) for length in tensor.shape):
        raise ShapeError(
            f"ranks exchange tensors of known lengths, and the shape is {tensor.shape}"
        )
    return tuple(tensor.shape)


def as_bytes(array: Array) -> Array:
    """Return the memory of an array as bytes, which MPI can send whatever the dtype."""
    return array.reshape(-1).view(numpy.uint8)


def settle_gather(every: Array, written: Array) -> None:
    """Write the result of `start_gather`, given the arrays of all ranks."""
    written[...] = every.reshape(written.shape)


def start_gather(over: Any, read: Array, written: Array) -> Any:
    """Begin to gather the arrays of all ranks, in the order of ranks. Returns the request."""
    return over.Iallgather(as_bytes(read), as_bytes(written))


def refuse_capture(name: str) -> None:
    """Raise `DistributedError` inside a function that is being captured."""
    if is_tracing():
        raise DistributedError(
            f"{name} is done at once, and a function that ogive.jit captures is run later; call it "
            "outside of the function"
        )
