"""`python -m benchmarks compile`: where the transformer's compile time goes.

One block and twelve, each compiled in a new process with an empty cache. Twelve blocks have the
kernels of one, so they should cost its code generation once and only more scheduling.
"""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any

from benchmarks.process import answer_parent, report_of_child
from benchmarks.runner import Settings

LAYERS = (1, 12)


def compile_transformer(layers: int, threads: int) -> dict[str, Any]:
    """Build and prepare so many blocks, in this process; the report of its kernels."""
    from benchmarks.libraries.ogive_library import OgiveLibrary
    from benchmarks.rows import transformer_row

    row = transformer_row(layers)
    arrays = row.inputs()
    library = OgiveLibrary(threads)
    start = perf_counter()
    result = row.function(library.operations, *map(library.load, arrays))
    captured = perf_counter()
    prepared = library.prepare_plan(result)
    compiled = perf_counter()
    prepared.call()
    executed = perf_counter()
    return {
        **(library.compile_report() or {}),
        "capture": captured - start,
        "prepare": compiled - captured,
        "execute": executed - compiled,
    }


def time_graph_passes(layers: int, threads: int) -> dict[str, Any]:
    """The seconds that each pass over the whole graph takes, in this process."""
    from benchmarks.libraries.ogive_library import OgiveLibrary
    from benchmarks.rows import transformer_row
    from ogive.compiler.engine.record_passes import record_passes
    from ogive.compiler.passes.pipeline.region_passes import REGION_PASSES

    row = transformer_row(layers)
    library = OgiveLibrary(threads)
    result = row.function(library.operations, *map(library.load, row.inputs()))
    results = result if isinstance(result, tuple) else (result,)
    seconds: dict[str, float] = {}
    of_kernels = {*[each.name for each in REGION_PASSES], "emit"}
    for step in record_passes(*results):
        if step.ran.name not in of_kernels:
            seconds[step.ran.name] = seconds.get(step.ran.name, 0.0) + step.seconds
    return {"graph_passes": seconds}


JOBS = {"compile": compile_transformer, "passes": time_graph_passes}


def measure_compile(settings: Settings) -> dict[str, Any]:
    """The reports of one block and of twelve, by the number of blocks."""
    return {str(layers): compile_in_child(layers, settings) for layers in LAYERS}


def compile_in_child(layers: int, settings: Settings) -> dict[str, Any]:
    """One report, of new processes with empty caches."""
    report: dict[str, Any] = {}
    for job in JOBS:
        arguments = [job, str(layers), str(settings.threads)]
        found = report_of_child("benchmarks.compile", arguments, settings.threads, settings.timeout)
        if found["status"] != "ok":
            return found
        report |= found
    return report


def main() -> None:
    """The child: print its report, or why there is none."""
    job, layers, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    answer_parent(threads, lambda: JOBS[job](layers, threads))


if __name__ == "__main__":
    main()
