"""Sums of several messages over ranks. Each is in flight while the next ones are computed.

    m1  →  start 1  →  m2  →  start 2  →  …  →  wait for all  →  totals

Inside of `ogive.jit`, starting and waiting are steps of the function's graph. The steps that wait
read a token of each step that starts, so that all are started before the first is waited for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy

from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.ir import dtype as dtypes
from ogive.distributed.exchanges import Array, fill_new, known_shape, on_one_device, read_only
from ogive.distributed.flights import Flight
from ogive.distributed.rank_calls import Call
from ogive.distributed.ranks import Ranks
from ogive.jit.tracing.watch import is_tracing
from ogive.tensor.tensor import Tensor
from ogive.tensor.values.custom_function import custom

TOKEN = ((1,), dtypes.uint8)


def add_over_ranks(ranks: Ranks, messages: Sequence[Tensor], call: Call) -> list[Tensor]:
    """Return the sum of each message over all ranks. Floats under 32 bits are added in float32."""
    wide = [on_one_device(_widened(message)) for message in messages]
    add = _captured if is_tracing() else _at_once
    pairs = zip(messages, add(ranks, wide, call), strict=True)
    return [total.cast(message.dtype) for message, total in pairs]


def _widened(message: Tensor) -> Tensor:
    is_narrow = message.dtype.is_float and message.dtype.bits < 32
    return message.cast(dtypes.float32) if is_narrow else message


def _at_once(ranks: Ranks, messages: Sequence[Tensor], call: Call) -> list[Tensor]:
    flight = ranks.begin(call)

    def started(message: Tensor) -> Tensor:
        read = read_only(message)

        def fill(written: Array) -> None:
            _start(ranks, flight, read, written)
            if not find_device(message.device).addressable:
                flight.finish()  # the result is copied to the device right after this

        return fill_new(read.shape, message.dtype, message.device, fill)

    totals = [started(message) for message in messages]
    flight.finish()
    return totals


def _start(ranks: Ranks, flight: Flight, read: Array, written: Array) -> None:
    kind = ranks.mpi.SUM
    flight.start(lambda over: over.Iallreduce(read, written, kind), (read, written), read.nbytes)


def _captured(ranks: Ranks, messages: Sequence[Tensor], call: Call) -> list[Tensor]:
    sums: list[Array] = [
        numpy.empty(math.prod(message.shape), message.dtype.numpy) for message in messages
    ]
    flights: list[Flight] = []

    def starting(number: int) -> Callable[[Array, Array], None]:
        def start(read: Array, token: Array) -> None:
            if number == 0:
                flights[:] = [ranks.begin(call)]
            # `read` is a copy of the step's own, which stays valid while it is sent.
            _start(ranks, flights[0], read.reshape(-1), sums[number])
            token[:] = 0

        return start

    def waiting(number: int) -> Callable[..., None]:
        def wait(*arrays: Array) -> None:
            flights[0].finish()
            arrays[-1].reshape(-1)[:] = sums[number]

        return wait

    tokens: list[Tensor] = []
    for number, message in enumerate(messages):
        # In a chain, so that all ranks start them in the same order.
        given = [message, *tokens[-1:]]
        tokens.append(custom(_first_and_last(starting(number)), given, TOKEN, name=call.text))
    return [
        custom(waiting(number), tokens, (known_shape(message), message.dtype), name=call.text)
        for number, message in enumerate(messages)
    ]


def _first_and_last(function: Callable[[Array, Array], None]) -> Callable[..., None]:
    """Return `function` of the first and the last array. Those in between only order the steps."""
    return lambda *arrays: function(arrays[0], arrays[-1])
