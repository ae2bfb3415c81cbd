"""Data-parallel training: each rank trains on a part of each batch. Parameters stay equal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ogive.autograd.mode import no_grad
from ogive.compiler.ir.dtype import DType
from ogive.distributed.collectives import copy_from_rank, narrow_dtype, reduce_over_ranks
from ogive.distributed.groups import Group, members_of, to_rank
from ogive.distributed.rank_calls import Call, call_of
from ogive.distributed.ranks import Ranks
from ogive.distributed.training.buckets import add_over_ranks
from ogive.errors import ArgumentError, user_origin
from ogive.nn.module import AnyModule
from ogive.tensor.core import to_integer
from ogive.tensor.movement.joining import cat
from ogive.tensor.tensor import Tensor

BUCKET_BYTES = 4 << 20
"""The size of a bucket. For messages of this size, bandwidth and not latency counts."""


def average_gradients(
    model: AnyModule | Iterable[Tensor],
    bucket_bytes: int = BUCKET_BYTES,
    group: Group | None = None,
    compress: Any = None,
) -> None:
    """Replace the gradients of a model, or of parameters, by their means over all ranks.

    Call it between `backward()` and the step of the optimizer. Gradients are sent in buckets, the
    last parameters first: a bucket is one flat message, in flight while the gradients of earlier
    layers are computed. `group` and `compress` are those of `all_reduce`. Parameters without a
    gradient are left out; they must be the same on all ranks.

    >>> model = nn.Linear(2, 1)
    >>> model(ogive.ones(3, 2)).sum().backward()
    >>> ogive.distributed.average_gradients(model)
    >>> model.bias.grad.tolist()
    [3.0]

    Raises `DistributedError` if ranks have gradients of different parameters, or do not answer.
    """
    if to_integer(bucket_bytes, "bucket_bytes") < 1:
        raise ArgumentError(
            f"average_gradients: bucket_bytes must be at least 1, got {bucket_bytes}"
        )
    ranks = members_of(group, "average_gradients")
    chosen = [tensor for tensor in _parameters(model) if tensor.grad is not None]
    if ranks is None or not chosen:
        return
    call = Call(f"average_gradients of {_listed(chosen)}", user_origin())
    with no_grad():
        buckets = list(_buckets(chosen[::-1], bucket_bytes))
        messages = [_flatten(bucket) for bucket in buckets]
        totals = _total(ranks, messages, compress, call)
        for bucket, total in zip(buckets, totals, strict=True):
            _hand_out(bucket, total / ranks.size)


def _total(
    ranks: Ranks, messages: Sequence[Tensor], compress: Any, call: Call
) -> Sequence[Tensor]:
    """Return the sums of messages over ranks."""
    if compress is None:
        return add_over_ranks(ranks, messages, call)
    return [
        reduce_over_ranks(ranks, each, "sum", call, narrow_dtype(compress, each.dtype))
        for each in messages
    ]


def broadcast_parameters(
    model: AnyModule | Iterable[Tensor], root: int = 0, group: Group | None = None
) -> None:
    """Copy the parameters and buffers of a model, or a list of tensors, from `root` to all ranks.

    Call it before training, so that all ranks begin with the same parameters.

    >>> ogive.distributed.broadcast_parameters(nn.Linear(2, 1))

    Raises `ArgumentError` for an unknown rank, and `DistributedError` as `all_reduce` does.
    """
    chosen = _parameters(model)
    if isinstance(model, AnyModule):
        chosen += list(model.buffers())
    ranks = members_of(group, "broadcast_parameters")
    root = to_rank(root, "broadcast_parameters: root", 1 if ranks is None else ranks.size)
    if ranks is None:
        return
    with no_grad():
        for tensor in chosen:
            call = call_of("broadcast_parameters", tensor.shape, tensor.dtype, root=root)
            tensor.copy_(copy_from_rank(ranks, tensor.detach(), root, call))
        Tensor.realize_batch(chosen)


def _parameters(model: AnyModule | Iterable[Tensor]) -> list[Tensor]:
    return list(model.parameters() if isinstance(model, AnyModule) else model)


def _listed(tensors: list[Tensor]) -> str:
    """Describe tensors by their dtypes and shapes, in order, for comparison between ranks."""
    shown = ", ".join([f"{tensor.dtype.name} {tuple(tensor.shape)}" for tensor in tensors])
    return f"{len(tensors)} tensors: {shown}"


def _buckets(tensors: list[Tensor], most: int) -> Iterator[list[Tensor]]:
    """Group tensors, in order, by the dtype of their gradients, into buckets of `most` bytes."""
    of_dtype: dict[DType, list[Tensor]] = {}
    for tensor in tensors:
        of_dtype.setdefault(_gradient(tensor).dtype, []).append(tensor)
    for dtype, same in of_dtype.items():
        bucket: list[Tensor] = []
        room = most
        for tensor in same:
            size = _count(tensor) * dtype.itemsize
            if bucket and size > room:
                yield bucket
                bucket, room = [], most
            bucket.append(tensor)
            room -= size
        yield bucket


def _flatten(bucket: list[Tensor]) -> Tensor:
    """Join all gradients of a bucket to one flat message."""
    return cat([_gradient(tensor).detach().reshape(-1) for tensor in bucket])


def _hand_out(bucket: list[Tensor], message: Tensor) -> None:
    start = 0
    for tensor in bucket:
        count = _count(tensor)
        tensor.grad = message[start : start + count].reshape(tensor.shape)
        start += count


def _gradient(tensor: Tensor) -> Tensor:
    assert tensor.grad is not None
    return tensor.grad


def _count(tensor: Tensor) -> int:
    count = 1
    for length in tensor.shape:
        count *= length
    return count
