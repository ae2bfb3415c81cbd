"""A plan as native data: step records that one foreign call replays."""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from ogive.errors import ExecuteError
from ogive.runtime.driver import loaded_driver
from ogive.runtime.layout import COPY_TILE, PLAN_FIELDS, STEP_FIELDS, STEP_WORDS, Status, StepKind
from ogive.runtime.link import LoadedKernel
from ogive.runtime.pool import Pool, default_pool

PAUSE_NANOSECONDS = 50_000_000
"""How long a plan runs before it lets Python look for signals: half of what Ctrl-C may take."""

COPY_GRAIN = 4
_STEP = PLAN_FIELDS.index("step")
_FAULT = PLAN_FIELDS.index("fault")

Words = NDArray[numpy.int64]


class KernelStep(NamedTuple):
    """A kernel over `tiles` whole tiles of its parallel axis.

    `arguments` are its words (buffer addresses, then variables), `grain` the least number of tiles
    worth a call. Any split of `[0, tiles)` into calls must give the same result.
    """

    kernel: LoadedKernel
    arguments: Sequence[int]
    tiles: int = 1
    grain: int = 1
    parallel: bool = True


class HostStep(NamedTuple):
    """A step that Python does, between the native ones: `function(*arguments)`."""

    function: Callable[..., None]
    arguments: Sequence[int] = ()


class StepFailure(Exception):
    """Raised by a host step that failed for the reason `error`; for its plan it is a fault."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


Step = KernelStep | HostStep


class Fault(NamedTuple):
    """What went wrong in a plan: the site number that a kernel reported, and the kernel's step.

    A host step has no sites but an `error`.
    """

    step: int
    site: int
    error: Exception | None = None


def copy_step(destination: int, source: int, nbytes: int) -> KernelStep:
    """A copy of `nbytes` between two addresses that do not overlap."""
    tiles = -(-nbytes // COPY_TILE)
    return KernelStep(loaded_driver().copy, (destination, source, nbytes), tiles, COPY_GRAIN)


class NativePlan:
    """Steps that run in order, from the first to the last, at each `execute()`.

    What may change between runs is open to be written to: `words` holds the arguments of all
    steps, those of step i from `offsets[i]` on, and `tiles` the tile count of each step. The plan
    keeps its kernels alive; the memory behind the addresses is the caller's to keep.
    """

    __slots__ = (
        "__weakref__",
        "_address",
        "_calling",
        "_functions",
        "_header",
        "_kernels",
        "_lock",
        "_pool",
        "_records",
        "_resume",
        "_start",
        "offsets",
        "tiles",
        "words",
    )

    def __init__(
        self,
        steps: Sequence[Step],
        pool: Pool | None = None,
        pause_nanoseconds: int = PAUSE_NANOSECONDS,
    ) -> None:
        driver = loaded_driver()
        self._start = driver.start
        self._resume = driver.resume
        self._pool = pool or default_pool()
        self._kernels = [step.kernel for step in steps if isinstance(step, KernelStep)]
        self._functions = {
            index: (step.function, len(step.arguments))
            for index, step in enumerate(steps)
            if isinstance(step, HostStep)
        }
        words = [step.arguments for step in steps]
        self.offsets: list[int] = [0, *itertools.accumulate(map(len, words))][:-1]
        self.words: Words = numpy.array([0, *itertools.chain(*words)], numpy.int64)[1:]
        first = self.words.ctypes.data
        self._records: Words = numpy.array(
            [_record(step, first + 8 * at) for step, at in zip(steps, self.offsets, strict=True)],
            numpy.int64,
        ).reshape(-1, STEP_WORDS)
        self.tiles: Words = self._records[:, STEP_FIELDS.index("tiles")]
        fields = {
            "steps": self._records.ctypes.data,
            "count": len(steps),
            "pool": self._pool.address,
            "budget": pause_nanoseconds,
        }
        self._header: Words = numpy.array(
            [fields.get(name, 0) for name in PLAN_FIELDS], numpy.int64
        )
        self._address = self._header.ctypes.data
        self._calling = 0
        self._lock = threading.Lock()
        _plans.add(self)

    def execute(self) -> Fault | None:
        """Run all steps, in native code. Returns the fault that stopped it, if one did.

        Threads that execute one plan take turns. An exception, such as a `KeyboardInterrupt`,
        abandons the run at a tile boundary, and the next one starts from the first step.
        """
        if self._calling and self._calling == threading.get_ident():
            raise ExecuteError("a plan cannot be executed by one of its own host steps")
        with self._lock:
            status = self._start(self._address)
            return self._carry_on(status) if status else None

    def execute_once(self) -> Status:
        """Run until the first pause: a run that is not `FINISHED` then is abandoned."""
        with self._lock:
            return Status(self._start(self._address))

    def _carry_on(self, status: int) -> Fault | None:
        while status != Status.FINISHED:
            if status == Status.FAULTED:
                return Fault(int(self._header[_STEP]), int(self._header[_FAULT]))
            if status == Status.HOST:
                step = int(self._header[_STEP]) - 1
                try:
                    self._call(step)
                except StepFailure as failure:
                    return Fault(step, 0, failure.error)
            status = self._resume(self._address)
        return None

    def _call(self, step: int) -> None:
        self._calling = threading.get_ident()
        try:
            function, count = self._functions[step]
            first = self.offsets[step]
            function(*self.words[first : first + count].tolist())
        finally:
            self._calling = 0

    def renew_lock(self) -> None:
        """Forget a lock that a thread of the parent process held when it forked."""
        self._calling = 0
        self._lock = threading.Lock()


def _record(step: Step, arguments: int) -> tuple[int, ...]:
    if isinstance(step, HostStep):
        return 0, 0, 0, 0, StepKind.HOST
    kind = StepKind.PARALLEL if step.parallel else StepKind.SERIAL
    return step.kernel.address, arguments, step.tiles, step.grain, kind


_plans: weakref.WeakSet[NativePlan] = weakref.WeakSet()


def _renew_after_fork() -> None:
    for plan in _plans:
        plan.renew_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_after_fork)
