"""Ranks of one program over MPI: how they agree on a call, make it, and wait for its end."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from ogive.distributed.flights import Flight
from ogive.distributed.peers import Peers
from ogive.distributed.rank_calls import DIGEST_BYTES, TEXT_BYTES, Call, divergence
from ogive.distributed.rank_reductions import mpi_operation
from ogive.errors import DistributedError
from ogive.ir.dtype import DType

Array = NDArray[Any]
Start = Callable[[Any], Any]
"""Begins an exchange over a communicator; gives its request."""

SPINS = 20
"""So often a message is asked for before the core is offered to others: some 5 µs."""

YIELDS = 100
"""So often the core is offered to others before this rank looks how they are: some 100 µs."""

PATIENT_SECONDS = 0.01
"""After so long the others are busy with something, and this rank sleeps between looks."""

SLEEP_SECONDS = 1e-4
CARRIED_BYTES, CARRIED_BY_ALL = 1024, 32768
"""So many bytes of a rank, and of all ranks together, travel with the digests of a call: one
message is faster than two, and is no slower for being so long."""

MOST_KNOWN = 1024
"""Of so many calls the digests are kept."""

LOOK_SECONDS = 0.2
"""How often a rank that waits looks whether the others are still there."""


class Program:
    """Shared by all groups of ranks: how to see who has failed, how long to wait for others.

    `limit` gives that in seconds. What is `unfinished` was given up, and still uses its memory.
    `operations` are those of MPI that are ours.
    """

    def __init__(self, mpi: Any, limit: Callable[[], float]) -> None:
        self.mpi = mpi
        self.limit = limit
        self.peers = Peers(mpi.COMM_WORLD.Dup())
        self.lock = threading.RLock()
        self.unfinished: list[Any] = []
        self.operations: dict[tuple[str, DType], Any] = {}


class Ranks:
    """Processes of the program that do something together: all of them, or a group.

    `members` are their numbers among all, `rank` is the place of this process among them. Before
    each exchange all compare digests of what they are about to do; where those differ, they compare
    the descriptions, and all raise. Exchanges do not block: a rank that waits looks whether the
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
        """Those with the color of this rank, as a group; `colors` has one for each rank.

        All ranks call it. None where the color is None. Raises `DistributedError`.
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
        """Agree on a call, begin it, wait for its end. `memory` is kept as long as it may be used.

        Raises `DistributedError` on every rank if they do not agree, or one does not answer.
        """
        with self._lock:
            self._agree(call, self._limit())
            if start is not None:
                self._wait(start(self._exchanges), call, memory, self._limit(), patient=False)

    def operation(self, dtype: DType, op: str) -> Any:
        """MPI's operation that combines values of ranks: "sum", "max" …"""
        return mpi_operation(self.mpi, self._program.operations, dtype, op)

    def carry(self, call: Call, given: Array, settle: Callable[[Array], None]) -> None:
        """Agree on a call, with at most `carried_bytes` of this rank's along.

        `settle` is given what all ranks have sent, in their order: (ranks, bytes).

        Raises `DistributedError` as `exchange` does.
        """
        end = DIGEST_BYTES + given.nbytes
        with self._lock:
            self._own[DIGEST_BYTES:end] = given.reshape(-1).view(numpy.uint8)
            self._agree(call, self._limit())
            settle(self._every[:, DIGEST_BYTES:end])

    def begin(self, call: Call) -> Flight:
        """Agree on several exchanges at once, which are then in flight together.

        Raises `DistributedError` as `exchange` does.
        """
        with self._lock:
            self._agree(call, self._limit())
        return Flight(self, call, self._limit())

    def start(self, start: Start) -> Any:
        """Begin an exchange of a flight; gives its request."""
        with self._lock:
            return start(self._exchanges)

    def push(self, requests: Sequence[Any]) -> None:
        """Let MPI move the data of exchanges that are under way."""
        with self._lock:
            for request in requests:
                request.Test()

    def start_with_one(self, call: Call, start: Start) -> Any:
        """Begin a message between two ranks; gives its request."""
        with self._lock:
            self._refuse_broken(call)
            return start(self._pairs)

    def wait(self, call: Call, request: Any, memory: Any, patient: bool = False) -> None:
        """Wait for the end of what was started. Raises `DistributedError`."""
        with self._lock:
            self._wait(request, call, memory, self._limit(), patient)

    def end(self, call: Call) -> None:
        """Agree, however long the others take, that the program ends. Raises `DistributedError`."""
        with self._lock:
            self._agree(call, float("inf"))

    def exchange_with_one(self, call: Call, start: Start, memory: Any) -> None:
        """A message between two ranks, on which nobody else has to agree."""
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
        """That of a call. Loops make the same ones, and to find a line takes 20 µs and more."""
        code, instruction = call.origin or (None, 0)
        key = (call.text, id(code), instruction, call.any_line)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            known = self._known[key] = (call.digest, code)  # the code's id is its own meanwhile
        return known[0]

    def _refuse_broken(self, call: Call) -> None:
        if self._program.unfinished:
            raise DistributedError(
                f"{call.text}: an exchange before it was not finished, so that the ranks are not "
                "in step any more; end the program on all of them",
                call.origin,
            )

    def _wait(self, request: Any, call: Call, memory: Any, limit: float, patient: bool) -> None:
        """Wait for a request. One that is given up goes on reading and writing its memory."""
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
                    "stuck, or busy for longer (ogive.configure(rank_timeout=...), or "
                    "OGIVE_RANK_TIMEOUT, sets how long to wait)",
                    call.origin,
                )

    def _refuse_failed(self, call: Call, failed: dict[int, str]) -> None:
        if failed:
            words = "".join([f"\n  rank {rank}: {failed[rank]}" for rank in sorted(failed)])
            raise DistributedError(
                f"{call.text}: this rank waits for others that have failed:{words}", call.origin
            )
