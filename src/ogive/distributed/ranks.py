"""The ranks of a program: how they agree on a call, begin it, and wait for its end."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from ogive.compiler.ir.dtype import DType
from ogive.distributed.flights import Flight
from ogive.distributed.peers import Peers
from ogive.distributed.rank_calls import DIGEST_BYTES, TEXT_BYTES, Call, divergence
from ogive.distributed.rank_reductions import mpi_operation
from ogive.errors import DistributedError

Array = NDArray[Any]
Start = Callable[[Any], Any]
"""A function that begins an exchange over a communicator, and returns its request."""

SPINS = 20
"""How often a waiting rank polls before it begins to yield its core: about 5 µs."""

YIELDS = 100
"""How often a waiting rank yields before it looks for failed ranks: about 100 µs."""

PATIENT_SECONDS = 0.01
"""How long a rank waits before it sleeps between polls."""

SLEEP_SECONDS = 1e-4
CARRIED_BYTES, CARRIED_BY_ALL = 1024, 32768
"""Up to how many bytes of a rank, and of all ranks together, are sent with the digest of a call.
One message is faster than two, and is not slower for being so long."""

MOST_KNOWN = 1024
"""How many digests of calls are cached."""

LOOK_SECONDS = 0.2
"""How often a waiting rank looks whether the others are still there."""


class Program:
    """The state that all groups of ranks share.

    `limit` returns how many seconds to wait for other ranks. `unfinished` are the requests that
    were given up, with their memory, which MPI may still use. `operations` are the operations that
    were defined for MPI.
    """

    def __init__(self, mpi: Any, limit: Callable[[], float]) -> None:
        self.mpi = mpi
        self.limit = limit
        self.peers = Peers(mpi.COMM_WORLD.Dup())
        self.lock = threading.RLock()
        self.unfinished: list[Any] = []
        self.operations: dict[tuple[str, DType], Any] = {}


class Ranks:
    """The ranks that take part in an exchange: all ranks, or a group.

    `members` are their numbers among all ranks, and `rank` is the number of this process among
    them. Before each exchange, the ranks compare the digests of their calls. If those differ, they
    exchange descriptions, and all raise. Requests do not block: a waiting rank looks whether the
    others have failed, are gone, or take longer than the limit.
    """

    def __init__(self, program: Program, communicator: Any, members: Sequence[int]) -> None:
        self.mpi = program.mpi
        self.members = tuple(members)
        self.rank: int = communicator.Get_rank()
        self.size: int = communicator.Get_size()
        self.peers = program.peers
        self._program = program
        self._limit = program.limit
        self._agreements = communicator.Dup()
        self._exchanges = communicator.Dup()
        self._pairs = communicator.Dup()
        self._lock = program.lock
        self._known: dict[Any, tuple[bytes, Any]] = {}
        self.carried_bytes = min(CARRIED_BYTES, CARRIED_BY_ALL // self.size)
        length = DIGEST_BYTES + self.carried_bytes
        self._own: Array = numpy.zeros(length, numpy.uint8)
        self._every: Array = numpy.zeros((self.size, length), numpy.uint8)

    def divide(self, call: Call, colors: Sequence[int | None]) -> Ranks | None:
        """Return the group of the ranks with the color of this rank; None if that is None.

        `colors` has a color for each rank. All ranks call it. Raises `DistributedError`.
        """
        self.exchange(call)
        own = colors[self.rank]
        color = self.mpi.UNDEFINED if own is None else own
        communicator = self._exchanges.Split(color, self.rank)
        if own is None:
            return None
        chosen = [each for each, color in zip(self.members, colors, strict=True) if color == own]
        return Ranks(self._program, communicator, chosen)

    def exchange(self, call: Call, start: Start | None = None, memory: Any = None) -> None:
        """Agree on a call, begin it, and wait for its end.

        `memory` is kept alive as long as MPI may use it. Raises `DistributedError` on every rank if
        the calls differ, or if one does not answer.
        """
        with self._lock:
            self._agree(call, self._limit())
            if start is not None:
                self._wait(start(self._exchanges), call, memory, self._limit(), patient=False)

    def operation(self, dtype: DType, op: str) -> Any:
        """Return the MPI operation for a reduction: "sum", "max" …"""
        return mpi_operation(self.mpi, self._program.operations, dtype, op)

    def carry(self, call: Call, given: Array, settle: Callable[[Array], None]) -> None:
        """Agree on a call, and exchange at most `carried_bytes` of each rank with it.

        `settle` is called with the bytes of all ranks, in their order: (ranks, bytes).

        Raises `DistributedError` as `exchange` does.
        """
        end = DIGEST_BYTES + given.nbytes
        with self._lock:
            self._own[DIGEST_BYTES:end] = given.reshape(-1).view(numpy.uint8)
            self._agree(call, self._limit())
            settle(self._every[:, DIGEST_BYTES:end])

    def begin(self, call: Call) -> Flight:
        """Agree on several exchanges at once, and return the flight that they will be in.

        Raises `DistributedError` as `exchange` does.
        """
        with self._lock:
            self._agree(call, self._limit())
        return Flight(self, call, self._limit())

    def start(self, start: Start) -> Any:
        """Begin an exchange of a flight. Returns the request."""
        with self._lock:
            return start(self._exchanges)

    def push(self, requests: Sequence[Any]) -> None:
        """Let MPI move the data of pending requests."""
        with self._lock:
            for request in requests:
                request.Test()

    def start_with_one(self, call: Call, start: Start) -> Any:
        """Begin a message between two ranks. Returns the request."""
        with self._lock:
            self._refuse_broken(call)
            return start(self._pairs)

    def wait(self, call: Call, request: Any, memory: Any, patient: bool = False) -> None:
        """Wait for the end of a request. Raises `DistributedError`."""
        with self._lock:
            self._wait(request, call, memory, self._limit(), patient)

    def end(self, call: Call) -> None:
        """Agree that the program ends, without a limit of time. Raises `DistributedError`."""
        with self._lock:
            self._agree(call, float("inf"))

    def exchange_with_one(self, call: Call, start: Start, memory: Any) -> None:
        """Exchange a message between two ranks, without agreement with the others."""
        with self._lock:
            self._refuse_broken(call)
            self._wait(start(self._pairs), call, memory, self._limit(), patient=True)

    def _agree(self, call: Call, limit: float) -> None:
        self._refuse_broken(call)
        digest, own, every = self._digest(call), self._own, self._every
        own[:DIGEST_BYTES] = numpy.frombuffer(digest, numpy.uint8)
        request = self._agreements.Iallgather(own, every)
        self._wait(request, call, (own, every), limit, patient=True)
        if every[:, :DIGEST_BYTES].tobytes() == digest * self.size:
            return
        text: Array = numpy.zeros(TEXT_BYTES, numpy.uint8)
        encoded = call.description.encode()
        text[: len(encoded)] = numpy.frombuffer(encoded, numpy.uint8)
        texts: Array = numpy.empty((self.size, TEXT_BYTES), numpy.uint8)
        request = self._agreements.Iallgather(text, texts)
        self._wait(request, call, (text, texts), limit, patient=True)
        descriptions = [row.tobytes().rstrip(b"\0").decode(errors="replace") for row in texts]
        raise divergence(dict(zip(self.members, descriptions, strict=True)), call.origin)

    def _digest(self, call: Call) -> bytes:
        """Return the digest of a call, cached for loops: finding a line takes 20 µs and more."""
        code, instruction = call.origin or (None, 0)
        key = (call.text, id(code), instruction, call.any_line)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            known = self._known[key] = (call.digest, code)  # keeps the code, so its id stays valid
        return known[0]

    def _refuse_broken(self, call: Call) -> None:
        if self._program.unfinished:
            raise DistributedError(
                f"{call.text}: an earlier exchange was not finished, so the ranks are not in step "
                "any more; end the program on all ranks",
                call.origin,
            )

    def _wait(self, request: Any, call: Call, memory: Any, limit: float, patient: bool) -> None:
        """Wait for a request. If it is given up, its memory is kept, as MPI may still use it."""
        try:
            test = request.Test
            for _ in range(SPINS):
                if test():
                    return
            for _ in range(YIELDS):
                os.sched_yield()
                if test():
                    return
            self._wait_long(request, call, limit, patient)
        except BaseException as error:
            self._program.unfinished.append((request, memory))
            if isinstance(error, self.mpi.Exception):
                raise DistributedError(f"{call.text}: MPI failed: {error}", call.origin) from error
            raise

    def _wait_long(self, request: Any, call: Call, limit: float, patient: bool) -> None:
        began = looked = time.monotonic()
        while not request.Test():
            now = time.monotonic()
            if patient and now - began > PATIENT_SECONDS:
                time.sleep(SLEEP_SECONDS)
            else:
                os.sched_yield()
            self._refuse_failed(call, self.peers.look())
            if now - looked > LOOK_SECONDS:
                looked = now
                self._refuse_failed(call, self.peers.find_gone())
            if now - began > limit:
                raise DistributedError(
                    f"{call.text}: other ranks have not answered within {limit:g} s; they are "
                    "stuck or busy (ogive.configure(rank_timeout=...), or OGIVE_RANK_TIMEOUT, sets "
                    "how long to wait)",
                    call.origin,
                )

    def _refuse_failed(self, call: Call, failed: dict[int, str]) -> None:
        if failed:
            words = "".join([f"\n  rank {rank}: {failed[rank]}" for rank in sorted(failed)])
            raise DistributedError(
                f"{call.text}: this rank waits for ranks that have failed:{words}", call.origin
            )
