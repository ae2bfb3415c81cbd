"""A process that finds everything on disk loads what replays it, and no compiler."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import json, sys
import ogive
from ogive import Tensor, nn, optim

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
adam = optim.Adam(model.parameters(), lr=0.01)
for size in (5, 7, 6, 7, 9):
    batch = Tensor([[1.0, size, 2.0, 3.0]] * size)
    loss = model(batch).log_softmax(-1)[:, 1].mean()
    adam.zero_grad()
    loss.backward()
    adam.step()
    loss.item()
rows = Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
found = [(rows * number)[number:, :1].sum().item() for number in range(3)]
compiler = ("ogive.compiler.passes.", "ogive.compiler.devices.llvm.", "llvmlite")
print(json.dumps([
    {name: n for name, n in ogive.counters().items() if name in (
        "schedules_created", "kernels_compiled", "schedule_disk_hits", "graphs_generalized")},
    sorted([name for name in sys.modules if name.startswith(compiler)]),
    found,
]))
"""

REPLAY = {
    "ogive.compiler.passes.capture", "ogive.compiler.passes.capture.contiguous_parts",
    "ogive.compiler.passes.capture.inline_calls", "ogive.compiler.passes.capture.normalize",
    "ogive.compiler.passes.general", "ogive.compiler.passes.general.build_general",
    "ogive.compiler.passes.general.derive_lengths", "ogive.compiler.passes.general.express_sizes",
    "ogive.compiler.passes.general.generalize", "ogive.compiler.passes.general.prove_general",
    "ogive.compiler.passes.general.skeleton", "ogive.compiler.passes.pipeline",
    "ogive.compiler.passes.pipeline.capture_passes",
    "ogive.compiler.passes.pipeline.graph_dialects", "ogive.compiler.passes.pipeline.pass_runner",
    "ogive.compiler.passes.regions", "ogive.compiler.passes.regions.slots",
    "ogive.compiler.passes.shards", "ogive.compiler.passes.shards.place_shards",
    "ogive.compiler.devices.llvm.library", "ogive.compiler.devices.llvm_gate",
}  # fmt: skip
"""From tensors to the graph that is looked for, and what compiled graphs are made of."""


def test_a_warm_process_compiles_nothing_and_loads_no_compiler(tmp_path: Path) -> None:
    environment = dict(os.environ, OGIVE_CACHE_DIR=str(tmp_path))
    runs = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            capture_output=True, text=True, check=True, env=environment,
        )  # fmt: skip
        runs.append(json.loads(done.stdout))
    (cold, _, first), (warm, loaded, second) = runs
    assert cold["schedules_created"] > 0 and cold["graphs_generalized"] > 0
    assert warm["schedules_created"] == warm["kernels_compiled"] == 0
    assert warm["schedule_disk_hits"] == cold["schedules_created"] + cold["schedule_disk_hits"]
    assert set(loaded) <= REPLAY
    assert first == second


ONE_VALUE = """
import json, sys
import numpy
import ogive

(ogive.Tensor(numpy.ones(2, numpy.float32)) + 1).numpy()
print(json.dumps([name for name in sys.modules if name.startswith("ogive.")]))
"""

COMPILING = {
    "ogive.compiler.engine.caches.compile_graph", "ogive.compiler.engine.caches.kernel_cache",
    "ogive.compiler.engine.plan",
    "ogive.compiler.targets.costs", "ogive.compiler.targets.target",
}  # fmt: skip


def test_a_value_from_disk_is_replayed_without_the_cost_model(tmp_path: Path) -> None:
    environment = dict(os.environ, OGIVE_CACHE_DIR=str(tmp_path))
    cold, warm = [
        set(json.loads(subprocess.run(
            [sys.executable, "-c", ONE_VALUE],
            capture_output=True, text=True, check=True, env=environment,
        ).stdout))
        for _ in range(2)
    ]  # fmt: skip
    assert COMPILING - cold == {"ogive.compiler.engine.plan"}
    assert COMPILING.isdisjoint(warm)
