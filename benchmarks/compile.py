"""`python -m benchmarks compile`: where the transformer's compile time goes.

One block and twelve, each compiled in a new process with an empty cache. Twelve blocks have the
kernels of one, so they should cost its code generation once and only more scheduling.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from benchmarks.process import ROOT, child_environment
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


def measure_compile(settings: Settings) -> dict[str, Any]:
    """The reports of one block and of twelve, by the number of blocks."""
    return {str(layers): compile_in_child(layers, settings) for layers in LAYERS}


def compile_in_child(layers: int, settings: Settings) -> dict[str, Any]:
    """One report from a new process with an empty cache."""
    with TemporaryDirectory(prefix="ogive-compile-") as folder:
        command = [sys.executable, "-m", "benchmarks.compile", str(layers), str(settings.threads)]
        try:
            done = subprocess.run(
                command,
                env=child_environment(settings.threads, Path(folder)),
                cwd=ROOT,
                capture_output=True,
                timeout=settings.timeout,
            )
        except subprocess.TimeoutExpired:
            return {"status": "failed", "reason": f"no answer in {settings.timeout:.0f} s"}
    if not done.stdout:
        lines = done.stderr.decode(errors="replace").strip().split("\n")
        return {"status": "failed", "reason": f"exit status {done.returncode} ({lines[-1][:160]})"}
    reply = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(reply, dict)
    return reply


def main() -> None:
    """The child: print its report, or why there is none."""
    from benchmarks.worker import describe, pin

    layers, threads = int(sys.argv[1]), int(sys.argv[2])
    pin(threads)
    try:
        reply: dict[str, Any] = {"status": "ok", **compile_transformer(layers, threads)}
    except Exception as error:
        reply = describe(error)
    print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
