"""`ogive stages`: one computation from expression to picture, every number measured."""

from __future__ import annotations

import inspect
import textwrap
import time
from collections.abc import Callable, Sequence

import numpy
from numpy.typing import NDArray

from ogive import __version__
from ogive.cli.picture import draw
from ogive.cli.screen import Screen, find_screen
from ogive.compiler.engine.caches.kernels import Kernel
from ogive.compiler.engine.record_passes import record_passes
from ogive.compiler.engine.steps.compiled_graph import pool_for
from ogive.compiler.ir.printer import format_tree
from ogive.compiler.passes.pipeline.capture_passes import CAPTURE_PASSES
from ogive.compiler.passes.pipeline.graph_passes import GRAPH_PASSES
from ogive.compiler.passes.pipeline.pass_runner import Step
from ogive.compiler.passes.pipeline.region_passes import REGION_PASSES
from ogive.config import current_config
from ogive.errors import ArgumentError, nearest
from ogive.tensor.tensor import Tensor

Array = NDArray[numpy.float32]

WIDTH, HEIGHT = 768, 384
DROPS = ((-1.35, -0.35), (0.9, 0.55), (0.25, -0.75), (-0.5, 0.7))
MEASURING_SECONDS = 0.4
"""How long the two libraries are timed in alternation, a few calls at a time."""

CALLS_A_TURN = 5


def ripples(x: Tensor, y: Tensor, drop_x: Tensor, drop_y: Tensor) -> Tensor:
    distance = ((x - drop_x).square() + (y - drop_y).square()).sqrt()
    wave = (distance * 16).cos() * (-distance).exp()
    return wave.sum(0)


def ripples_in_numpy(x: Array, y: Array, drop_x: Array, drop_y: Array) -> Array:
    distance = numpy.sqrt(numpy.square(x - drop_x) + numpy.square(y - drop_y))
    wave = numpy.cos(distance * 16) * numpy.exp(-distance)
    result: Array = wave.sum(0)
    return result


def run(only: str | None = None, seconds: float = MEASURING_SECONDS) -> int:
    """Show every stage on standard output, or what one pass does.

    NumPy is timed beside it for `seconds`.
    """
    if only is not None:
        return _tell_pass(find_screen(), only)
    screen = find_screen()
    inputs = _inputs()
    height = ripples(*[Tensor(array) for array in inputs])
    screen.say(
        f"Ogive {__version__}: {len(DROPS)} drops fall into a pond, and we ask how high the water "
        f"is at {WIDTH} × {HEIGHT} points."
    )
    _tell_capture(screen, height)
    steps = record_passes(height)
    # Before its stages are looked at one by one, which would leave less for it to do.
    start = time.perf_counter()
    # Not from the disk, since what it shows is how a kernel is made.
    plan = height.prepare(config=current_config().with_changes({"disk_cache": False}))
    prepared = time.perf_counter() - start
    _tell_schedule(screen, steps)
    _tell_kernels(screen, plan.kernels)
    _tell_compile_time(screen, plan.kernels, prepared)
    expected = ripples_in_numpy(*inputs)
    ours, theirs = _race(plan.execute, lambda: ripples_in_numpy(*inputs), seconds)
    values = height.numpy()
    error = float(numpy.abs(values - expected).max())
    _tell_speed(screen, ours, theirs, prepared, error)
    screen.title("The water")
    print(draw(values, screen))
    return 0


def _inputs() -> tuple[Array, Array, Array, Array]:
    x = numpy.linspace(-2, 2, WIDTH, dtype=numpy.float32)
    y = numpy.linspace(-1, 1, HEIGHT, dtype=numpy.float32).reshape(HEIGHT, 1)
    drops = numpy.array(DROPS, numpy.float32).reshape(len(DROPS), 2, 1, 1)
    return x, y, drops[:, 0].copy(), drops[:, 1].copy()


def _tell_pass(screen: Screen, name: str) -> int:
    steps = record_passes(ripples(*[Tensor(array) for array in _inputs()]))
    table = {each.name: each for each in (*CAPTURE_PASSES, *GRAPH_PASSES)}
    table |= {step.ran.name: step.ran for step in steps}
    if name not in table:
        raise ArgumentError(
            f"there is no pass {name!r}{nearest(name, table)}; the passes are {', '.join(table)}"
        )
    asked = table[name]
    screen.title(f"{name}: {asked.takes.name} → {asked.gives.name}")
    screen.say(asked.shows)
    for step in steps:
        if step.ran.name == name:
            before, after = step.show()
            screen.title(f"before, {asked.takes.meaning}")
            screen.show(before)
            screen.title(f"after {step.seconds * 1e3:.2f} ms, {asked.gives.meaning}")
            screen.show("unchanged" if after == before else after)
    return 0


def _last(steps: Sequence[Step], name: str) -> Step:
    """The last step of a pass."""
    return [step for step in steps if step.ran.name == name][-1]


def _race(
    ours: Callable[[], object], theirs: Callable[[], object], seconds: float
) -> tuple[float, float]:
    """The best time of each, timed in alternation."""
    best = [float("inf"), float("inf")]
    contenders = (ours, theirs)
    for contender in contenders:
        contender()
    finish = time.perf_counter() + seconds
    while time.perf_counter() < finish:
        for lane, contender in enumerate(contenders):
            for _ in range(CALLS_A_TURN):
                start = time.perf_counter()
                contender()
                best[lane] = min(best[lane], time.perf_counter() - start)
    return best[0], best[1]


def _tell_capture(screen: Screen, height: Tensor) -> None:
    screen.title("1. You write an expression, and nothing is computed")
    body = inspect.getsource(ripples).partition("\n")[2]
    screen.show(textwrap.dedent(body).replace("return wave", "height = wave"))
    screen.say(
        f"height is {height!r}. Its graph has {len(height.node.walk())} nodes, one per line; %7 is "
        "the value of line 7, and the brackets hold its shape:"
    )
    screen.show(format_tree(height.node))


def _tell_schedule(screen: Screen, steps: Sequence[Step]) -> None:
    sink = _last(steps, "normalize").after.sink
    screen.title("2. You ask for the values: the graph is separated from its data")
    screen.say(
        "Buffers become numbered parameters, so that the same expression over other data reuses "
        "the compiled code:"
    )
    parameters = [line for line in format_tree(sink).splitlines() if "PARAM" in line]
    screen.show("\n".join(parameters))
    count = len(_last(steps, "number_slots").after.kernels)
    region, loops = _last(steps, "rangeify").show()
    plural = "s" if count > 1 else ""
    screen.title(f"3. The graph is cut into {count} region{plural}, one kernel each")
    screen.say(
        "A value is computed where it is used, unless that would repeat too much work; then it is "
        "stored, and the graph is cut there. The last region:"
    )
    screen.show(region)
    screen.title("4. Shapes and movement become loops and indices")
    screen.say(
        "A RANGE is a loop counter (i0, i1, …). Reading through another shape is index arithmetic:"
    )
    screen.show(loops)


def _tell_kernels(screen: Screen, kernels: Sequence[Kernel]) -> None:
    kernel = kernels[-1]
    screen.title("5. Every axis is placed, which names the kernel")
    for each in kernels:
        screen.show(each.name)
    parts = ", ".join(f"{placement} {length}" for placement, length in kernel.axes)
    screen.say(
        f"The last one, outermost first: {parts}. Threads share the parallel axis, a lane is "
        "an element of a vector register, and upcast axes are unrolled over registers."
    )
    screen.title("6. The kernel becomes LLVM IR, and is assembled for this processor")
    screen.say("The first lines of the last kernel, without its accumulators:")
    screen.show("\n".join(_without_accumulators(kernel.ir)), most=14)


def _without_accumulators(ir: str) -> list[str]:
    return [line for line in ir.splitlines() if "alloca" not in line]


def _tell_compile_time(screen: Screen, kernels: Sequence[Kernel], prepared: float) -> None:
    screen.title("7. Compile time")
    stages: dict[str, float] = {each.name: 0.0 for each in REGION_PASSES}
    for kernel in kernels:
        for stage, seconds in kernel.timings.items():
            stages[stage] = stages.get(stage, 0.0) + seconds
    stages = {stage: seconds for stage, seconds in stages.items() if seconds}
    stages["the rest"] = prepared - sum(stages.values())
    for stage, seconds in stages.items():
        screen.show(f"{stage:18} {seconds * 1e3:8.2f} ms")
    screen.say(
        f"In total {prepared * 1e3:.0f} ms for {len(kernels)} kernels. The rest is scheduling and "
        "linking and, once per process, starting LLVM and the thread pool."
    )


def _tell_speed(
    screen: Screen, ours: float, theirs: float, prepared: float, error: float
) -> None:
    screen.title("8. The same work in Ogive and in NumPy, in alternation, best times")
    threads = pool_for(current_config()).threads
    screen.show(
        f"plan.execute()  {ours * 1e3:8.3f} ms, {threads} thread{'s' if threads > 1 else ''}\n"
        f"NumPy           {theirs * 1e3:8.3f} ms, 1 thread"
    )
    if ours < theirs:
        calls = int(prepared / (theirs - ours)) + 1
        verdict = (
            f"Ogive is {theirs / ours:.1f} times as fast here; compiling has paid for itself "
            f"after {calls} calls."
        )
    else:
        verdict = f"NumPy is {ours / theirs:.1f} times as fast here, this time."
    screen.say(f"{verdict} The results differ by at most {error:.1e}.")
