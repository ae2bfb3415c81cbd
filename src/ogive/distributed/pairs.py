"""Point-to-point messages: from one rank to another."""

from __future__ import annotations

import json
from typing import Any

import numpy

from ogive.compiler.ir.device_names import DEFAULT_DEVICE
from ogive.compiler.ir.dtype import to_dtype
from ogive.distributed.exchanges import (
    Array,
    as_bytes,
    fill_new,
    known_shape,
    read_only,
    refuse_capture,
    refuse_others,
)
from ogive.distributed.groups import to_rank
from ogive.distributed.rank_calls import TEXT_BYTES, Call, call_of
from ogive.distributed.ranks import Ranks, Start
from ogive.distributed.world import world
from ogive.errors import ArgumentError, user_origin
from ogive.tensor.tensor import Tensor


def send(x: Tensor, to: int, tag: int = 0) -> None:
    """Send a tensor to another rank, which calls `recv` with the same `tag`.

    For large tensors this returns only when the other rank receives. So of two ranks that send to
    each other, one must receive first. No gradient flows through a message.

    Raises `ArgumentError` for an unknown rank or this one, and `DistributedError` if the rank does
    not answer.
    """
    refuse_capture("send()")
    refuse_others(x, "send")
    sending = Sending()
    sending.start(x, to, tag)
    sending.finish()


class Sending:
    """Tensors that are being sent to other ranks while this one goes on."""

    def __init__(self) -> None:
        self._under_way: list[tuple[Ranks, Call, Any, Array]] = []

    def start(self, x: Tensor, to: int, tag: int) -> None:
        """Begin to send a tensor. Raises the errors of `send`."""
        ranks = _other(to, "send: to")
        given = read_only(x)
        call = call_of("send", known_shape(x), x.dtype, to=to, tag=tag)
        head: Array = numpy.zeros(TEXT_BYTES, numpy.uint8)
        text = json.dumps([list(given.shape), x.dtype.name]).encode()
        head[: len(text)] = numpy.frombuffer(text, numpy.uint8)
        for array in (head, as_bytes(given)):
            request = ranks.start_with_one(call, _send_to(array, to, tag))
            self._under_way.append((ranks, call, request, array))

    def finish(self) -> None:
        """Wait until all tensors have been sent. Raises `DistributedError`."""
        while self._under_way:
            ranks, call, request, array = self._under_way[0]
            ranks.wait(call, request, array, patient=True)
            del self._under_way[0]


def _send_to(array: Array, to: int, tag: int) -> Start:
    return lambda over: over.Isend(array, to, tag)


def recv(source: int, tag: int = 0) -> Tensor:
    """Receive the next tensor that the rank `source` sends to this one with the same `tag`.

    Shapes and dtypes: those of the sent tensor.

    Raises `ArgumentError` for an unknown rank or this one, and `DistributedError` if it sends
    nothing.
    """
    refuse_capture("recv()")
    ranks = _other(source, "recv: source")
    call = Call(f"recv(source={source}, tag={tag})", user_origin())
    head: Array = numpy.empty(TEXT_BYTES, numpy.uint8)
    _receive_array(ranks, call, head, source, tag)
    shape, name = json.loads(head.tobytes().rstrip(b"\0"))
    return fill_new(
        tuple(shape), to_dtype(name), DEFAULT_DEVICE,
        lambda written: _receive_array(ranks, call, as_bytes(written), source, tag),
    )  # fmt: skip


def _receive_array(ranks: Ranks, call: Call, array: Array, source: int, tag: int) -> None:
    ranks.exchange_with_one(call, lambda over: over.Irecv(array, source, tag), array)


def _other(given: int, name: str) -> Ranks:
    """Return all ranks. Raises `ArgumentError` unless `given` is the number of another rank."""
    ranks = world.ranks()
    number = to_rank(given, name, 1 if ranks is None else ranks.size)
    if ranks is None or number == ranks.rank:
        raise ArgumentError(f"{name} is {number}, which is this rank; messages go to other ranks")
    return ranks
