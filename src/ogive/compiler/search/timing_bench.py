"""The worker's side of the search: compiles and times the placements of one kernel.

Code here may crash, hang or run out of memory without harm to the parent process.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Any

import numpy

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.known_devices import host
from ogive.compiler.devices.llvm.compile_region import PlacedKernel, linearize_placed, write_placed
from ogive.compiler.devices.protocol import Executable, KernelFault, KernelStep
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.symbolic.evaluate import evaluate
from ogive.compiler.passes.lower.kernel_signature import Signature, kernel_signature
from ogive.compiler.passes.lower.tile_work import grain_of, work_per_tile
from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.search.instruction_count import count_instructions
from ogive.compiler.search.placement_encoding import PlacementKey, placement_key
from ogive.compiler.search.worker_messages import Inspection
from ogive.compiler.targets.target import Target
from ogive.config import Config
from ogive.named import record

LEAST_RUNS, CUT_RUNS, MOST_RUNS, MOST_PAIRS = 3, 6, 60, 200
TIMED_SECONDS, COMPARED_SECONDS = 0.025, 0.3
"""A placement is run until its runs have taken this long in total."""

LEAST_TILES = 4
"""The least tiles for each thread in a part of a grid."""

NEVER = 1 << 62
WARM_UP_PATIENCE = 3
"""How many times as long as others the first run may take, since its caches are cold."""


class Unfit(Exception):
    """Raised for a placement that is of no use, with the reason."""


@record(eq=False)
class _Specimen:
    """A placement as a kernel: its text, and its code once it is needed."""

    kernel: PlacedKernel
    text: str
    work: int
    tiles: int
    signature: Signature
    loaded: Executable | None = None


class Bench:
    """One kernel, scratch memory for it, and all placements of it seen so far."""

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
        """Examine a placement; its text is written if it has at most `most` instructions.

        Raises `Unfit`, or the error of a stage.
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
        """Compile and load a placement, unless that was done before."""
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
        """The seconds of a run, the least of several.

        If the grid has more than `work` operations, only a part is run, and the time is scaled up.
        A run that takes longer than `cut` seconds, scaled down alike, is cut short. A placement
        with no complete run is `Unfit`.
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
        """The seconds of alternating runs of two placements, so that other load of the machine is
        the same for both."""
        steps = [self._step(placement, most, work) for placement in (first, second)]
        plans = []
        for step, scale in steps:
            self._warm_up(step, NEVER)
            plans.append((self._timer.program(step, NEVER), scale))
        times: list[int] = []
        pairs = []
        while not self._enough(times, MOST_PAIRS, COMPARED_SECONDS):
            taken = [self._run(plan) for plan, _ in plans]
            times.append(sum(taken))
            scaled = [time * 1e-9 * scale for time, (_, scale) in zip(taken, plans, strict=True)]
            pairs.append((scaled[0], scaled[1]))
        return tuple(pairs)

    def _enough(
        self, times: list[int], most: int = MOST_RUNS, seconds: float = TIMED_SECONDS
    ) -> bool:
        spent = sum(times) > seconds * 1e9
        # A run that was cut counts as the longest. Another one may be undisturbed.
        least = CUT_RUNS if NEVER in times else LEAST_RUNS
        return len(times) >= most or (len(times) >= least and spent)

    def _step(self, placement: Placement, most: int, work: int) -> tuple[KernelStep, float]:
        """A run of a placement, and the factor by which a run of the whole grid is longer."""
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
        """A first run, which wakes threads and brings pages and code into memory."""
        limit = min(NEVER, WARM_UP_PATIENCE * limit)
        if self._run(self._timer.program(step, limit)) > limit:
            raise Unfit("slower than the best")

    def _run(self, program: Any) -> int:
        """The nanoseconds of a run; `NEVER` if it was cut short."""
        try:
            taken = self._timer.run(program, self.clock)
        except KernelFault:
            raise Unfit("it faults on the scratch data") from None
        return NEVER if taken is None else taken


_CONFIG = Config()


def scratch(dtype: DType, count: int) -> Buffer:
    """Memory with harmless values for any kernel: no zeros as divisors, no large numbers."""
    buffer = Buffer(count * dtype.itemsize)
    random = numpy.random.default_rng(0)
    if dtype.is_bool:
        some = random.integers(0, 2, 4096).astype(dtype.numpy)
    elif dtype.is_float:
        some = (random.random(4096) + 0.5).astype(dtype.numpy)
    else:
        some = random.integers(1, 4, 4096).astype(dtype.numpy)
    array = buffer.as_numpy(dtype.numpy, (count,))
    for start in range(0, count, len(some)):
        part = array[start : start + len(some)]
        part[:] = some[: len(part)]
    return buffer


def scratch_bytes(loops: UOp) -> int:
    """The bytes of the buffers of a kernel."""
    sizes = {n.slot: n.size * n.dtype.itemsize for n in loops.walk() if n.op is Op.PARAM}
    return sum(sizes.values())
