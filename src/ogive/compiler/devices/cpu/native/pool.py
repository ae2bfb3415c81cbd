"""The thread pool's handle in Python. The threads themselves are native code (`pool_ir.py`)."""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING

import numpy

from ogive.after_fork import RenewedAfterFork
from ogive.compiler.devices.cpu.host import host_cores
from ogive.compiler.devices.cpu.native.driver import Driver, process_driver
from ogive.compiler.devices.cpu.native.layout import MAX_WORKERS, NUMBER_BITS, POOL_BYTES, WORDS
from ogive.compiler.devices.llvm_gate import llvm_gate
from ogive.compiler.ir.memory import ALIGNMENT
from ogive.errors import ArgumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Pool:
    """Threads that share the tiles of parallel steps with the thread that executes a plan.

    They start with the first parallel step and stop when the pool is freed or the interpreter
    exits. Any number of Python threads may execute plans on one pool; one that finds it busy works
    alone.
    """

    __slots__ = ("__weakref__", "_driver", "_words", "address")

    def __init__(self, threads: int | None = None) -> None:
        words = numpy.zeros((POOL_BYTES + ALIGNMENT) // 8, numpy.int64)
        skip = -words.ctypes.data % ALIGNMENT // 8
        self._words: NDArray[numpy.int64] = words[skip:]
        self.address: int = self._words.ctypes.data
        self._driver = process_driver.get()
        self._words[WORDS["pool_wanted"] // 8] = _workers(
            host_cores() if threads is None else threads
        )
        _pools.add(self)
        weakref.finalize(self, _stop, self._driver, self._words)

    @property
    def threads(self) -> int:
        """The number of threads that run a parallel step, the caller included."""
        return int(self._words[WORDS["pool_wanted"] // 8]) + 1

    @property
    def jobs(self) -> int:
        """The number of parallel steps offered to the workers so far."""
        return int(self._words[WORDS["pool_state"] // 8]) >> NUMBER_BITS

    def set_threads(self, threads: int) -> None:
        """Run parallel steps on this many threads, the caller included; 1 means no workers.

        Waits until the present workers have finished their tiles. Results never depend on it.
        """
        self._driver.resize_pool(self.address, _workers(threads))

    def forget_workers(self) -> None:
        """Reset the pool in a forked child, which has a copy of it but none of its threads."""
        wanted = self._words[WORDS["pool_wanted"] // 8]
        self._words[:] = 0
        self._words[WORDS["pool_wanted"] // 8] = wanted


def _workers(threads: int) -> int:
    if threads < 1:
        raise ArgumentError(f"a pool of {threads} threads cannot run anything; give 1 or more")
    return min(threads - 1, MAX_WORKERS)  # a machine may have more cores


def _stop(driver: Driver, words: NDArray[numpy.int64]) -> None:
    driver.resize_pool(words.ctypes.data, 0)


def default_pool() -> Pool:
    """The pool that plans use by default: one thread per core."""
    with llvm_gate.lock:
        return _first_pool()


@functools.lru_cache(maxsize=1)
def _first_pool() -> Pool:
    return Pool()


_pools = RenewedAfterFork(Pool.forget_workers)
