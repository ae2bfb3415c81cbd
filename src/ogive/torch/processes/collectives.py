"""`torch.distributed`: the collectives of `ogive.distributed`, with PyTorch's names, in place.

A program that was not started as ranks is a world of size 1, in which each collective gives its
input. Collectives are carried out when they are called, even with `async_op`. Ranks may call one
from different lines, such as a branch for rank 0; its name, shape and dtype are compared.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy

from ogive import distributed
from ogive.distributed.collectives import (
    copy_from_rank,
    gather_over_ranks,
    redistribute,
    reduce_over_ranks,
    scatter_over_ranks,
)
from ogive.distributed.rank_calls import Call, call_of
from ogive.distributed.ranks import Ranks
from ogive.errors import ArgumentError, DeviceError
from ogive.tensor.movement.joining import stack
from ogive.tensor.tensor import Tensor
from ogive.torch.processes.process_groups import get_world_size, place_in, require

__all__ = [
    "ReduceOp", "Work", "all_gather", "all_gather_into_tensor", "all_gather_object",
    "all_reduce", "all_to_all", "all_to_all_single", "barrier", "broadcast",
    "broadcast_object_list", "gather", "gather_object", "monitored_barrier", "recv", "reduce",
    "reduce_scatter", "reduce_scatter_tensor", "scatter", "scatter_object_list", "send",
]  # fmt: skip


class ReduceOp:
    """The operations that reduce the values of several processes to one."""

    SUM, AVG, PRODUCT, MIN, MAX = "SUM", "AVG", "PRODUCT", "MIN", "MAX"
    BAND, BOR, BXOR = "BAND", "BOR", "BXOR"


REDUCTIONS = {"SUM": "sum", "AVG": "mean", "PRODUCT": "prod", "MIN": "min", "MAX": "max"}


class Work:
    """A completed collective."""

    def wait(self, timeout: Any = None) -> bool:
        """Return True: the collective has completed."""
        return True

    def is_completed(self) -> bool:
        """Return True: the collective has completed."""
        return True


def _done(async_op: bool) -> Work | None:
    return Work() if async_op else None


def _call(name: str, tensor: Tensor, **options: object) -> Call:
    called = f"torch.distributed.{name}"
    return call_of(called, tensor.shape, tensor.dtype, True, **options)


def _reduced(ranks: Ranks | None, name: str, tensor: Tensor, op: Any, **options: object) -> Tensor:
    """The reduction over all processes. All of them get the result."""
    call = _call(name, tensor, op=op, **options)
    if op in REDUCTIONS:
        return reduce_over_ranks(ranks, tensor.detach(), REDUCTIONS[op], call)
    every = gather_over_ranks(ranks, tensor.detach().reshape(1, *tensor.shape), 0, call)
    first, *others = every.unbind()
    for other in others:
        first = first & other if op == "BAND" else first | other if op == "BOR" else first ^ other
    return first


def all_reduce(
    tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce a tensor over all processes, in place."""
    ranks = require(group)
    tensor.copy_(_reduced(ranks, "all_reduce", tensor, op))
    return _done(async_op)


def reduce(
    tensor: Tensor, dst: int = 0, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce a tensor over all processes, in place at the process `dst`."""
    ranks = require(group)
    total = _reduced(ranks, "reduce", tensor, op, dst=dst)
    if distributed.rank() == dst:
        tensor.copy_(total)
    return _done(async_op)


def broadcast(
    tensor: Tensor, src: int = 0, group: Any = None, async_op: bool = False, **kwargs: Any
) -> Work | None:
    """Copy the value of the process `src` to all processes, in place."""
    ranks = require(group)
    call = _call("broadcast", tensor, src=src)
    tensor.copy_(copy_from_rank(ranks, tensor.detach(), place_in(src, group), call))
    return _done(async_op)


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Work | None:
    """Wait for all processes."""
    ranks = require(group)
    every = Tensor([0])
    gather_over_ranks(ranks, every, 0, _call("barrier", every)).realize()
    return _done(async_op)


def monitored_barrier(group: Any = None, timeout: Any = None, **kwargs: Any) -> None:
    """Wait for all processes."""
    barrier(group)


def _gathered(
    ranks: Ranks | None, name: str, tensor: Tensor, **options: object
) -> Sequence[Tensor]:
    """The values of all processes."""
    whole = tensor.detach().reshape(1, *tensor.shape)
    return gather_over_ranks(ranks, whole, 0, _call(name, tensor, **options)).unbind()


def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Write the values of all processes to the tensors of a list."""
    ranks = require(group)
    for place, part in zip(tensor_list, _gathered(ranks, "all_gather", tensor), strict=True):
        place.copy_(part)
    return _done(async_op)


def gather(
    tensor: Tensor, gather_list: Any = None, dst: int = 0, group: Any = None, async_op: bool = False
) -> Work | None:
    """Write the values of all processes to the tensors of a list at the process `dst`."""
    ranks = require(group)
    parts = _gathered(ranks, "gather", tensor, dst=dst)
    if distributed.rank() == dst:
        for place, part in zip(gather_list, parts, strict=True):
            place.copy_(part)
    return _done(async_op)


def scatter(
    tensor: Tensor, scatter_list: Any = None, src: int = 0, group: Any = None,
    async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Send each process its tensor of a list at the process `src`."""
    ranks = require(group)
    root, own = place_in(src, group), place_in(distributed.rank(), group)
    parts = scatter_list if own == root else [tensor.detach()] * get_world_size(group)
    whole = stack([part.detach() for part in parts])
    tensor.copy_(copy_from_rank(ranks, whole, root, _call("scatter", tensor, src=src))[own])
    return _done(async_op)


def _all_objects(ranks: Ranks | None, name: str, given: Any) -> list[Any]:
    """The objects of all processes, sent by `pickle`."""
    message = numpy.frombuffer(pickle.dumps(given), numpy.uint8)
    lengths = Tensor([message.size])
    every = gather_over_ranks(ranks, lengths, 0, _call(name, lengths)).tolist()
    padded = numpy.zeros(max(every), numpy.uint8)
    padded[: message.size] = message
    texts = gather_over_ranks(ranks, Tensor(padded[None]), 0, _call(name, lengths)).numpy()
    return [pickle.loads(row[:size].tobytes()) for row, size in zip(texts, every, strict=True)]


def broadcast_object_list(object_list: Any, src: int = 0, group: Any = None, **kwargs: Any) -> None:
    """Copy the objects of the process `src` to all processes."""
    ranks = require(group)
    every = _all_objects(ranks, "broadcast_object_list", list(object_list))
    object_list[:] = every[place_in(src, group)]


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Write the objects of all processes to a list."""
    ranks = require(group)
    object_list[:] = _all_objects(ranks, "all_gather_object", obj)


def gather_object(
    obj: Any, object_gather_list: Any = None, dst: int = 0, group: Any = None
) -> None:
    """Write the objects of all processes to a list at the process `dst`."""
    ranks = require(group)
    every = _all_objects(ranks, "gather_object", obj)
    if distributed.rank() == dst:
        object_gather_list[:] = every


def scatter_object_list(
    output: list[Any], given: Any = None, src: int = 0, group: Any = None, **kwargs: Any
) -> None:
    """Send each process its object of a list at the process `src`."""
    ranks = require(group)
    parts = _all_objects(ranks, "scatter_object_list", given)[place_in(src, group)]
    output[0] = parts[place_in(distributed.rank(), group)]


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Join the values of all processes along the first axis."""
    ranks = require(group)
    joined = stack(_gathered(ranks, "all_gather_into_tensor", input_tensor))
    output_tensor.copy_(joined.reshape(*output_tensor.shape))
    return _done(async_op)


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Give each process its part of the reduction."""
    ranks = require(group)
    parts = input.detach().reshape(get_world_size(group), -1)
    call = _call("reduce_scatter_tensor", input, op=op)
    reduced = scatter_over_ranks(ranks, parts, REDUCTIONS[op], 0, call)
    output.copy_(reduced.reshape(*output.shape))
    return _done(async_op)


def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM, group: Any = None,
    async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Give each process its part of the reduction of lists of parts."""
    return reduce_scatter_tensor(output, stack(input_list), op, group, async_op)


def all_to_all(
    output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Any = None,
    async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Send a part from each process to each, all of one shape."""
    ranks = require(group)
    whole = stack([part.detach() for part in input_tensor_list])
    parts = redistribute(ranks, whole, 0, 0, _call("all_to_all", whole)).unbind()
    for place, part in zip(output_tensor_list, parts, strict=True):
        place.copy_(part)
    return _done(async_op)


def all_to_all_single(
    output: Tensor, input: Tensor, output_split_sizes: Any = None, input_split_sizes: Any = None,
    group: Any = None, async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Send a part from each process to each, all of one length along the first axis.

    Raises `DeviceError` for other lengths.
    """
    ranks = require(group)
    for sizes in (output_split_sizes, input_split_sizes):
        if sizes and len(set(sizes)) > 1:
            raise DeviceError(
                f"torch.distributed.all_to_all_single: parts must have one length, got {sizes}"
            )
    call = _call("all_to_all_single", input)
    output.copy_(redistribute(ranks, input.detach(), 0, 0, call))
    return _done(async_op)


def send(tensor: Tensor, dst: int, group: Any = None, tag: int = 0) -> None:
    """Send a tensor to another process. Raises `ArgumentError` if there is no such process."""
    require(group)
    distributed.send(tensor.detach(), dst, tag)


def recv(tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0) -> int:
    """Receive a tensor from another process, in place. Returns the number of that process.

    Raises `ArgumentError` without `src`, or if there is no such process.
    """
    require(group)
    if src is None:
        raise ArgumentError("torch.distributed.recv: name the process that sends (src=...)")
    tensor.copy_(distributed.recv(src, tag))
    return src
