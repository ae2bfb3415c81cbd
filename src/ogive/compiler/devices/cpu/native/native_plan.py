"""A plan as native data: step records that one foreign call replays."""

from __future__ import annotations

import itertools
import operator
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import starmap
from typing import TYPE_CHECKING

import numpy

from ogive.after_fork import RenewedAfterFork
from ogive.compiler.devices.cpu.native.driver import process_driver
from ogive.compiler.devices.cpu.native.layout import (
    COPY_TILE,
    MAX_THREADS,
    NO_FAULT,
    PLAN_FIELDS,
    Status,
    StepKind,
)
from ogive.compiler.devices.cpu.native.pool import Pool, default_pool
from ogive.compiler.devices.protocol import (
    Batch,
    DeviceStep,
    Fault,
    HostStep,
    KernelFault,
    KernelStep,
    StepFailure,
)
from ogive.compiler.devices.step_records import STEP_FIELDS, STEP_WORDS
from ogive.errors import ExecuteError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[numpy.int64]

PAUSE_NANOSECONDS = 50_000_000
"""How long a plan runs before Python may check for signals: half of what Ctrl-C may take."""

COPY_GRAIN = 4
"""The least tiles of a copy that are worth a call: 256 KiB."""

_STEP = PLAN_FIELDS.index("step")
_COUNT = PLAN_FIELDS.index("count")
_LEFT = PLAN_FIELDS.index("left")
_FAULT = PLAN_FIELDS.index("fault")
_THREADS = STEP_FIELDS.index("threads")
_KIND = STEP_FIELDS.index("kind")


def copy_step(destination: int, source: int, nbytes: int) -> KernelStep:
    """A copy of `nbytes` between two addresses that do not overlap."""
    tiles = -(-nbytes // COPY_TILE)
    return KernelStep(process_driver.get().copy, (destination, source, nbytes), tiles, COPY_GRAIN)


class NativePlan:
    """Steps that each `execute()` runs in order.

    What may change between runs can be written: `words` holds the arguments of all steps, those of
    step i from `offsets[i]` on, `tiles` the tile count of each step, and `threads` the number of
    threads it is worth. The plan keeps its kernels alive; the caller keeps the memory at the
    addresses alive.
    """

    __slots__ = (
        "__weakref__",
        "_address",
        "_calling",
        "_done",
        "_functions",
        "_header",
        "_kernels",
        "_lock",
        "_parts",
        "_pool",
        "_records",
        "_resume",
        "_spans",
        "_start",
        "_users",
        "_whole",
        "offsets",
        "threads",
        "tiles",
        "words",
    )

    def __init__(
        self,
        steps: Sequence[DeviceStep],
        pool: Pool | None = None,
        pause_nanoseconds: int = PAUSE_NANOSECONDS,
    ) -> None:
        driver = process_driver.get()
        self._start = driver.start
        self._resume = driver.resume
        self._pool = pool or default_pool()
        self._kernels = [step.kernel for step in steps if isinstance(step, KernelStep)]
        self._functions = {
            index: (step.function, len(step.arguments), step.tiles is not None)
            for index, step in enumerate(steps)
            if isinstance(step, HostStep)
        }
        hosted = self._functions
        self._users = {index for index in hosted if steps[index].is_users}  # type: ignore[union-attr]
        self._whole = {
            index for index, step in enumerate(steps) if isinstance(step, KernelStep) and step.whole
        }
        words = [step.arguments for step in steps]
        self.offsets: list[int] = [0, *itertools.accumulate(map(len, words))][:-1]
        self.words: Words = numpy.array([0, *itertools.chain(*words)], numpy.int64)[1:]
        first = self.words.ctypes.data
        rows = [_record(step, first + 8 * at) for step, at in zip(steps, self.offsets, strict=True)]
        self._write_records(steps, rows)
        self.tiles: Words = self._records[: len(steps), STEP_FIELDS.index("tiles")]
        self.threads: Words = self._records[: len(steps), _THREADS]
        self._write_header(len(steps), pause_nanoseconds)
        self._calling = 0
        self._done = -1  # the host step that was done last
        self._lock = threading.Lock()
        _plans.add(self)

    def _write_records(self, steps: Sequence[DeviceStep], rows: Sequence[tuple[int, ...]]) -> None:
        """Write the records of all steps, and after them those of groups and batches."""
        groups, batches = _groups(steps), _batches(steps)
        count = len(steps) + len(groups) + len(batches)
        self._records: Words = numpy.zeros((count, STEP_WORDS), numpy.int64)
        self._parts: list[Words | Batch] = []
        if rows:
            self._records[: len(rows)] = rows
        for place, group in enumerate(groups, len(steps)):
            self._lead(group, place, [(at, *part) for at in group for part in _parts(steps[at])])
        for place, several in enumerate(batches, len(steps) + len(groups)):
            self._batch(several, place, [steps[at] for at in several])

    def _write_header(self, count: int, pause_nanoseconds: int) -> None:
        """Write the header: the fields of the plan as a whole."""
        self._spans: Words = numpy.zeros((self._pool.threads, 2), numpy.int64)
        fields = {
            "steps": self._records.ctypes.data,
            "count": count,
            "pool": self._pool.address,
            "budget": pause_nanoseconds,
            "spans": self._spans.ctypes.data,
            "room": len(self._spans),
        }
        self._header: Words = numpy.array(
            [fields.get(name, 0) for name in PLAN_FIELDS], numpy.int64
        )
        self._address = self._header.ctypes.data

    def _lead(self, group: range, place: int, parts: Sequence[tuple[int, int, int]]) -> None:
        """Make a group of steps one job for the pool, with its record at `place`."""
        record, stride = self._records.ctypes.data, 8 * STEP_WORDS
        rows = [(record + stride * step, step, begin, end) for step, begin, end in parts]
        table: Words = numpy.array(rows, numpy.int64)
        run_parts = process_driver.get().run_parts.address
        threads = self._records[group.start, _THREADS]
        job = (run_parts, table.ctypes.data, len(rows), 1, threads, StepKind.PARALLEL, len(group))
        self._records[place] = job
        self._records[group.start, _KIND:] = StepKind.LEADER, record + stride * place
        self._parts.append(table)

    def _batch(self, several: range, place: int, steps: Sequence[DeviceStep]) -> None:
        """Make several steps in a row one call, with its record at `place`."""
        record, stride = self._records.ctypes.data, 8 * STEP_WORDS
        kernels = [step for step in steps if isinstance(step, KernelStep)]
        batcher = kernels[0].batcher
        assert batcher is not None
        words = self.words.ctypes.data + 8 * self.offsets[several.start]
        batch = batcher.batch(kernels, record + stride * several.start, words)
        self._records[place] = batch.address, batch.table, 1, 1, 1, StepKind.SERIAL, len(several)
        self._records[several.start, _KIND:] = StepKind.BATCH, record + stride * place
        self._parts.append(batch)

    @property
    def pool_threads(self) -> int:
        """The number of threads for a step."""
        return self._pool.threads

    def execute(self) -> Fault | None:
        """Run all steps in native code. Returns the fault that stopped the run, or None.

        Threads that execute one plan take turns. An exception, such as a `KeyboardInterrupt`,
        abandons the run at a tile boundary, and the next run starts from the first step. `outcome`
        tells how far an abandoned run came.
        """
        if self._calling:
            self._refuse_own_steps()
        with self._lock:
            status = self._start(self._address)
            return self._carry_on(status) if status else None

    def execute_between(
        self, prepare: Callable[[], None], finish: Callable[[Fault | None], None]
    ) -> Fault | None:
        """`execute` between `prepare` and `finish`, all without a run of another thread between.

        `finish` is not called for a run that an exception abandons.
        """
        if self._calling:
            self._refuse_own_steps()
        with self._lock:
            prepare()
            status = self._start(self._address)
            fault = self._carry_on(status) if status else None
            finish(fault)
            return fault

    def _refuse_own_steps(self) -> None:
        if self._calling == threading.get_ident():
            raise ExecuteError("a plan cannot be executed by one of its own host steps")

    def execute_once(self) -> Status:
        """Run until the first pause. A run that is not `FINISHED` by then is abandoned."""
        with self._lock:
            return Status(self._start(self._address))

    def _carry_on(self, status: int) -> Fault | None:
        while status != Status.FINISHED:
            if status == Status.FAULTED:
                return Fault(int(self._header[_STEP]), int(self._header[_FAULT]))
            if status == Status.HOST:
                fault = self._call(int(self._header[_STEP]) - 1)
                if fault is not None:
                    return fault
            status = self.resume()
        return None

    def resume(self) -> int:
        """Go on with a run that has paused, until it pauses again; how it stands then."""
        return self._resume(self._address)

    def rewind(self) -> None:
        """Forget the progress of the last run. From now on, `outcome` is about the next one."""
        if self._calling:
            self._refuse_own_steps()
        header = self._header
        header[_STEP] = header[_LEFT] = 0
        header[_FAULT] = NO_FAULT
        self._done = -1

    def outcome(self, may_end: Callable[[int], bool]) -> Fault | None:
        """How the last run ended, or where an exception stopped it. No other has begun since.

        A step that is `whole` is finished first, and so are further steps until one before which
        the run `may_end`, unless a function of the user comes first. The driver records its
        progress before it returns, and a host step together with its last calls. So the answer does
        not depend on the moment of the exception, and this method may itself be interrupted and
        called again.
        """
        header, count = self._header, len(self.tiles)
        while (step := self._next_step()) < count and header[_FAULT] == NO_FAULT:
            begun = header[_LEFT] and step in self._whole
            if not begun and (step in self._users or may_end(step)):
                break
            header[_COUNT] = step + 1
            self.resume()
            fault = self._call(step) if step in self._functions else None
            if fault is not None:
                header[_COUNT] = count
                return fault
        header[_COUNT] = count
        if header[_FAULT] != NO_FAULT:
            return Fault(int(header[_STEP]), int(header[_FAULT]))
        return None if step >= count else Fault(step, 0, stopped=True)

    @property
    def is_half_done(self) -> bool:
        """Whether the run has paused within a step that must not be left so."""
        return bool(self._header[_LEFT]) and int(self._header[_STEP]) in self._whole

    def _next_step(self) -> int:
        """The first step that is not known to be done."""
        step = int(self._header[_STEP])
        # For a host step, the driver's record only says that it has asked for it.
        is_asked = step - 1 in self._functions and not self._header[_LEFT]
        return step - 1 if is_asked and step - 1 != self._done else step

    def _call(self, step: int) -> Fault | None:
        """Run a host step. Returns the fault with which it ended, or None."""
        self._calling = threading.get_ident()
        try:
            function, count, has_tiles = self._functions[step]
            first = self.offsets[step]
            words = self.words[first : first + count].tolist()
            last = function(*([int(self.tiles[step]), *words] if has_tiles else words))
            calls = [*(last or ()), (setattr, self, "_done", step)]
            deque(starmap(operator.call, calls), maxlen=0)
        except StepFailure as failure:
            return Fault(step, 0, failure.error)
        except KernelFault as found:
            return Fault(step, found.site)
        finally:
            self._calling = 0
        return None

    def renew_lock(self) -> None:
        """Replace the lock, which another thread may have held when the process forked."""
        self._calling = 0
        self._lock = threading.Lock()


def _record(step: DeviceStep, arguments: int) -> tuple[int, ...]:
    if isinstance(step, HostStep):
        return 0, 0, step.tiles or 0, 0, 0, StepKind.HOST, 0
    kind = StepKind.PARALLEL if step.parallel else StepKind.SERIAL
    threads = min(step.threads, MAX_THREADS)
    return step.kernel.address, arguments, step.tiles, step.grain, threads, kind, 0


def _groups(steps: Sequence[DeviceStep]) -> list[range]:
    """Groups of two or more steps that may run concurrently."""
    groups: list[range] = []
    for position, step in enumerate(steps):
        if isinstance(step, KernelStep) and step.joins:
            first = position - 1
            if groups and groups[-1].stop == position:
                first = groups.pop().start
            groups.append(range(first, position + 1))
    return groups


def _batches(steps: Sequence[DeviceStep]) -> list[range]:
    """Batches of two or more steps that their device runs in one call."""
    batchers = [step.batcher if isinstance(step, KernelStep) else None for step in steps]
    batches = []
    end = 0
    for batcher, run in itertools.groupby(batchers):
        begin, end = end, end + len(list(run))
        if batcher is not None and end - begin > 1:
            batches.append(range(begin, end))
    return batches


def _parts(step: DeviceStep) -> Iterator[tuple[int, int]]:
    """The tiles of a step in calls of its grain, each (first, end)."""
    assert isinstance(step, KernelStep), "only kernels run side by side"
    grain = max(step.grain, 1)
    for begin in range(0, step.tiles, grain):
        yield begin, min(begin + grain, step.tiles)


_plans = RenewedAfterFork(NativePlan.renew_lock)
