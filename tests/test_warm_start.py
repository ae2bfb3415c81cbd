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
compiler = ("ogive.passes.", "ogive.devices.llvm.", "llvmlite")
print(json.dumps([
    {name: n for name, n in ogive.counters().items() if name in (
        "schedules_created", "kernels_compiled", "schedule_disk_hits", "graphs_generalized")},
    sorted([name for name in sys.modules if name.startswith(compiler)]),
    found,
]))
"""

REPLAY = {
    "ogive.passes.capture", "ogive.passes.capture.contiguous_parts",
    "ogive.passes.capture.inline_calls", "ogive.passes.capture.normalize",
    "ogive.passes.general", "ogive.passes.general.build_general",
    "ogive.passes.general.derive_lengths", "ogive.passes.general.express_sizes",
    "ogive.passes.general.generalize", "ogive.passes.general.prove_general",
    "ogive.passes.general.skeleton", "ogive.passes.pipeline",
    "ogive.passes.pipeline.capture_passes", "ogive.passes.pipeline.graph_dialects",
    "ogive.passes.pipeline.pass_runner", "ogive.passes.regions", "ogive.passes.regions.slots",
    "ogive.passes.shards", "ogive.passes.shards.place_shards",
    "ogive.devices.llvm.library", "ogive.devices.llvm_gate",
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
    "ogive.engine.caches.compile_graph", "ogive.engine.caches.kernel_cache", "ogive.engine.plan",
    "ogive.targets.costs", "ogive.targets.target",
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
    assert COMPILING - cold == {"ogive.engine.plan"}
    assert COMPILING.isdisjoint(warm)
