"""Compile and time the placements of one kernel, in the worker process.

A candidate may crash, hang or run out of memory. That ends the worker and nothing else.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Any

import numpy

from ogive.config import Config
from ogive.devices.buffer import Buffer
from ogive.devices.known_devices import host
from ogive.devices.llvm.compile_region import PlacedKernel, linearize_placed, write_placed
from ogive.devices.protocol import Executable, KernelFault, KernelStep
from ogive.ir.dtype import DType
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.symbolic.evaluate import evaluate
from ogive.named import record
from ogive.passes.lower.kernel_signature import Signature, kernel_signature
from ogive.passes.lower.tile_work import grain_of, work_per_tile
from ogive.passes.place.placement import Placement
from ogive.search.instruction_count import count_instructions
from ogive.search.placement_encoding import PlacementKey, placement_key
from ogive.search.worker_messages import Inspection
from ogive.targets.target import Target

LEAST_RUNS, CUT_RUNS, MOST_RUNS, MOST_PAIRS = 3, 6, 60, 200
TIMED_SECONDS, COMPARED_SECONDS = 0.025, 0.3
"""The seconds for which a placement is run again and again, for a timing and a comparison."""

LEAST_TILES = 4
"""If only a part of a grid is run, it has at least this many tiles per thread."""

NEVER = 1 << 62
"""A time in nanoseconds that no run takes: a limit that cuts nothing, and the time of a cut run."""

WARM_UP_PATIENCE = 3
"""The first run has cold caches, and may take this many times as long as any other."""


class Unfit(Exception):
    """A placement is of no use; the text says why."""


@record(eq=False)
class _Specimen:
    """The kernel of a placement as LLVM IR, and as loaded code once it is needed.

    `work` is the operations of a tile, `tiles` the number of tiles in the grid.
    """

    kernel: PlacedKernel
    text: str
    work: int
    tiles: int
    signature: Signature
    loaded: Executable | None = None


class Bench:
    """One kernel with its scratch memory, and all of its placements inspected so far."""

    def __init__(
        self,
        loops: UOp,
        target: Target,
        threads: int,
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        self.loops = loops
        self.target = target
        self.clock = clock
        self._timer = host().timer(target, threads)
        nodes = loops.walk()
        self._variables = {
            node.name: (node.low + node.high) // 2
            for node in nodes
            if node.op is Op.VARIABLE
        }
        self._buffers: dict[int, Buffer] = {}
        for node in nodes:
            if node.op is Op.PARAM:
                self._buffers[node.slot] = scratch(node.dtype, node.size)
        self._specimens: dict[PlacementKey, _Specimen] = {}
        self._timer.sweep_between(sum(buffer.nbytes for buffer in self._buffers.values()))

    def inspect(self, placement: Placement, most: int) -> Inspection:
        """Lower a placement and describe its kernel.

        The LLVM IR is written only for kernels of at most `most` instructions. Raises the errors of
        the passes.
        """
        kernel = linearize_placed(self.loops, placement, _CONFIG)
        counts = count_instructions(kernel.program)
        total = sum(counts.values())
        work = work_per_tile(kernel.root, self.target)
        tiles = evaluate(kernel.tiles, self._variables)
        digest = ""
        if total <= most:
            text = self.text_of(kernel, placement)
            specimen = _Specimen(kernel, text, work, tiles, kernel_signature(kernel.root))
            self._specimens[placement_key(placement)] = specimen
            digest = hashlib.blake2b(specimen.text.encode(), digest_size=16).hexdigest()
        return Inspection(total, work * tiles, tiles, digest, tuple(counts.most_common(3)))

    def text_of(self, kernel: PlacedKernel, placement: Placement) -> str:
        """The LLVM IR of a placed kernel."""
        return write_placed(kernel, self.target, _CONFIG)

    def compile(self, placement: Placement, most: int) -> None:
        """Compile and load a placement, unless that has been done."""
        self._loaded(placement, most)

    def _loaded(self, placement: Placement, most: int) -> tuple[_Specimen, Executable]:
        key = placement_key(placement)
        if key not in self._specimens:
            self.inspect(placement, most)
        specimen = self._specimens.get(key)
        if specimen is None:
            raise Unfit("too many instructions")
        if specimen.loaded is None:
            code = host().assemble(specimen.text, self.target)
            specimen.loaded = host().load(specimen.kernel.name, code)
        return specimen, specimen.loaded

    def time(self, placement: Placement, most: int, work: int, cut: float | None) -> float:
        """The seconds of a run: the least of several runs.

        Of a grid of more than `work` operations only a part is run, and the time is scaled up. A
        run is cut when its scaled time exceeds `cut` seconds. Raises `Unfit` if all runs were cut.
        """
        step, scale = self._step(placement, most, work)
        limit = NEVER if cut is None else max(int(cut / scale * 1e9), 1)
        self._warm_up(step, limit)
        plan = self._timer.program(step, limit)
        times: list[int] = []
        while not self._enough(times):
            times.append(self._run(plan))
        if min(times) > limit:
            raise Unfit("slower than the best")
        return min(times) * 1e-9 * scale

    def compare(
        self, first: Placement, second: Placement, most: int, work: int
    ) -> tuple[tuple[float, float], ...]:
        """The seconds of pairs of runs, one of each placement.

        The two run in turns, so that other load on the machine is the same for both.
        """
        steps = [self._step(placement, most, work) for placement in (first, second)]
        plans = []
        for step, scale in steps:
            self._warm_up(step, NEVER)
            plans.append((self._timer.program(step, NEVER), scale))
        times: list[int] = []
        pairs = []
        while not self._enough(times, MOST_PAIRS, COMPARED_SECONDS):
            pair = [self._run(plan) for plan, _ in plans]
            times.append(sum(pair))
            scaled = [time * 1e-9 * scale for time, (_, scale) in zip(pair, plans, strict=True)]
            pairs.append((scaled[0], scaled[1]))
        return tuple(pairs)

    def _enough(
        self, times: list[int], most: int = MOST_RUNS, seconds: float = TIMED_SECONDS
    ) -> bool:
        """Whether runs of these times, in nanoseconds, are enough to know the least."""
        spent = sum(times) > seconds * 1e9
        # A cut run counts as endless. But other load may have slowed it, so more runs follow.
        least = CUT_RUNS if NEVER in times else LEAST_RUNS
        return len(times) >= most or (len(times) >= least and spent)

    def _step(self, placement: Placement, most: int, work: int) -> tuple[KernelStep, float]:
        """A run of a placement, and how many times as long the whole grid takes."""
        specimen, loaded = self._loaded(placement, most)
        if specimen.tiles < 1:
            raise Unfit("it has nothing to do")
        tiles = min(specimen.tiles, max(work // specimen.work, LEAST_TILES * self._timer.threads))
        signature = specimen.signature
        arguments = [self._buffers[slot].address for slot in signature.slots]
        arguments += [self._variables[name] for name in signature.variables]
        grain = grain_of(specimen.work, self.target)
        step = self._timer.step(loaded, arguments, tiles, grain)
        return step, specimen.tiles / tiles

    def _warm_up(self, step: KernelStep, limit: int) -> None:
        """Run once, so that threads wake up, and pages and code come into memory."""
        limit = min(NEVER, WARM_UP_PATIENCE * limit)
        if self._run(self._timer.program(step, limit)) > limit:
            raise Unfit("slower than the best")

    def _run(self, program: Any) -> int:
        """The nanoseconds of a run; `NEVER` if it was cut."""
        try:
            taken = self._timer.run(program, self.clock)
        except KernelFault:
            raise Unfit("it faults on the scratch data") from None
        return NEVER if taken is None else taken


_CONFIG = Config()


def scratch(dtype: DType, count: int) -> Buffer:
    """A buffer of `count` random values that are harmless to any kernel: no zero divisors, no large
    numbers."""
    buffer = Buffer(count * dtype.itemsize)
    random = numpy.random.default_rng(0)
    if dtype.is_bool:
        values = random.integers(0, 2, 4096).astype(dtype.numpy)
    elif dtype.is_float:
        values = (random.random(4096) + 0.5).astype(dtype.numpy)
    else:
        values = random.integers(1, 4, 4096).astype(dtype.numpy)
    array = buffer.as_numpy(dtype.numpy, (count,))
    for start in range(0, count, len(values)):
        part = array[start : start + len(values)]
        part[:] = values[: len(part)]
    return buffer


def scratch_bytes(loops: UOp) -> int:
    """The bytes that the buffers of a kernel take."""
    sizes = {n.slot: n.size * n.dtype.itemsize for n in loops.walk() if n.op is Op.PARAM}
    return sum(sizes.values())
