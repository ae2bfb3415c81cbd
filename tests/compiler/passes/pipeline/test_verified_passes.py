"""Every pass is checked: whatever one of them breaks is found after it, and it is named."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ogive import Beam, Config, Tensor
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.llvm.compile_region import EMIT_PASSES
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.capture.normalize import Normalized
from ogive.compiler.passes.fuse.choice import Choice
from ogive.compiler.passes.graph.divide_by_device import Part
from ogive.compiler.passes.pipeline.capture_passes import CAPTURE_PASSES
from ogive.compiler.passes.pipeline.graph_passes import (
    DIVIDE_PASSES,
    GRAPH_PASSES,
    JOIN_PASSES,
    cut_kernels,
    schedule_graph,
)
from ogive.compiler.passes.pipeline.pass_runner import Compilation, Pass
from ogive.compiler.passes.pipeline.region_passes import REGION_PASSES
from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.passes.regions.cut_regions import HostRegion, Region
from ogive.compiler.passes.regions.number_slots import Schedule
from ogive.compiler.targets.target import Target, describe_cpu
from ogive.errors import VerifyError
from tests.compiler.passes.parametric import normalize
from tests.raising import raises

CHECKED = Config(verify=True, disk_cache=False)
Passes = tuple[Pass, ...]
TARGETS = (
    describe_cpu("x86_64-linux-gnu", "haswell", "+avx,+avx2,+fma"),
    describe_cpu("x86_64-linux-gnu", "skylake-avx512", "+avx,+avx2,+fma,+avx512f"),
)
"""Whose kernels differ: the second one's is a single loop."""


def data(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(1).standard_normal(shape).astype(np.float32))


def wrong_graph(graph: UOp) -> UOp:
    """A graph with a node of a dtype that its op does not have."""
    return UOp(Op.SINK, dtypes.float32, graph.src, graph.arg)


def wrong_regions(regions: list[Region | HostRegion]) -> list[Region | HostRegion]:
    region = regions[-1]
    assert isinstance(region, Region)
    return [*regions[:-1], dataclasses.replace(region, graph=wrong_graph(region.graph))]


def wrong_normalized(normalized: Normalized) -> Normalized:
    return normalized._replace(sink=wrong_graph(normalized.sink))


def wrong_parts(parts: list[Part]) -> list[Part]:
    return [part._replace(kept=(9,)) for part in parts]


def wrong_choice(choice: Choice) -> Choice:
    return Choice([*choice.kept, choice.kept[0]], choice.staged, choice.orders)


def wrong_schedule(schedule: Schedule) -> Schedule:
    return schedule._replace(steps=schedule.steps[:-1])


WRONG: dict[str, Callable[[Any], Any]] = {
    "normalized": wrong_normalized,
    "parts": wrong_parts,
    **dict.fromkeys(("real", "stored", "region", "loops", "placed", "lowered"), wrong_graph),
    "kept": wrong_choice,
    **dict.fromkeys(("cut", "ordered"), wrong_regions),
    "schedule": wrong_schedule,
    "placement": lambda placement: Placement(lanes={0: 3}),
    "instructions": lambda program: program[1:],
    "llvm": lambda text: text.replace("ret void", "ret i64"),
}
"""For each dialect, how what is right becomes what is wrong."""


def broken(passes: Passes, name: str) -> Passes:
    """A table of which one pass, that always runs, gives what its dialect does not allow."""
    made = []
    for each in passes:
        if each.name == name:
            right, spoil = each.function, WRONG[each.gives.name]
            each = each.under(None).doing(
                lambda *given, right=right, spoil=spoil: spoil(right(*given))
            )
        made.append(each)
    return tuple(made)


def swapped() -> UOp:
    """The graph of two tensors that swap their values, whose regions have no order at first."""
    a, b = data(4), data(4)
    kept = a + 0
    a.assign(b)
    b.assign(kept)
    return normalize((a.node, b.node)).sink


def graph_values(name: str) -> dict[str, Any]:
    tensor = data(40, 50) @ data(50, 64)
    sink = swapped() if name == "stage_assignments" else normalize((tensor.softmax(-1).node,)).sink
    return {
        "parametric": sink,
        "target": host_target(),
        "cut_kernels": functools.partial(cut_kernels, target=host_target(), config=CHECKED),
        "findings": [],
    }


@pytest.mark.parametrize("name", [each.name for each in (*CAPTURE_PASSES, *DIVIDE_PASSES)])
def test_a_broken_pass_of_every_graph_is_named(name: str) -> None:
    x = data(40)
    node = (x.shard(("CPU", "CPU:1"), 0).to("CPU") if name == "place_shards" else x).exp().node
    sink = normalize((node,)).sink
    given: dict[str, Any] = {"tensor": (node,), "whole": False, "order": None, "parametric": sink}
    given["calls"] = False
    passes = DIVIDE_PASSES if name == "divide_by_device" else CAPTURE_PASSES
    with raises(VerifyError, match=f"after {name}: "):
        Compilation(CHECKED, **given).run(broken(passes, name))


@pytest.mark.parametrize("name", dict.fromkeys([each.name for each in GRAPH_PASSES]))
def test_a_broken_pass_of_a_new_graph_is_named(name: str) -> None:
    config = dataclasses.replace(CHECKED, search=Beam(1)) if name == "fix_lengths" else CHECKED
    with raises(VerifyError, match=f"after {name}: "):
        Compilation(config, **graph_values(name)).run(broken(GRAPH_PASSES, name))


def test_a_broken_pass_that_joins_schedules_is_named() -> None:
    values = graph_values("join_schedules")
    parts = Compilation(CHECKED, **values).run(DIVIDE_PASSES)
    schedule = schedule_graph(parts[0].sink, host_target(), CHECKED)
    compilation = Compilation(CHECKED, **values, parts=parts, schedules=[schedule])
    with raises(VerifyError, match="after join_schedules: "):
        compilation.run(broken(JOIN_PASSES, "join_schedules"))


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.cpu)
@pytest.mark.parametrize("name", [each.name for each in REGION_PASSES])
def test_a_broken_pass_of_a_new_kernel_is_named(name: str, target: Target) -> None:
    with raises(VerifyError, match=f"after {name}: "):
        Compilation(CHECKED, **region_values(target)).run(broken(REGION_PASSES, name))


def test_a_broken_text_is_named() -> None:
    compilation = Compilation(CHECKED, **region_values(host_target()), name="kernel")
    compilation.run(REGION_PASSES)
    with raises(VerifyError, match="after emit: in the llvm dialect"):
        compilation.run(broken(EMIT_PASSES, "emit"))


def region_values(target: Target) -> dict[str, Any]:
    sink = normalize((data(40, 50).softmax(-1).node,)).sink
    (step,) = schedule_graph(sink, target, CHECKED).kernels
    return {"region": step.region.graph, "target": target, "placement": None}


def test_assignments_that_need_each_others_old_values_are_tried_a_second_time() -> None:
    ran: list[str] = []
    schedule_graph(swapped(), host_target(), CHECKED, lambda step: ran.append(step.ran.name))
    tries = ["choose_kept", "cut_regions", "order_assignments"]
    start = ran.index("choose_kept")
    assert ran[start : start + 7] == [*tries, "stage_assignments", *tries]


def test_a_graph_whose_regions_have_an_order_is_tried_once() -> None:
    ran: list[str] = []
    sink = normalize(((data(3) + 1).node,)).sink
    schedule_graph(sink, host_target(), CHECKED, lambda step: ran.append(step.ran.name))
    assert ran.count("choose_kept") == 1 and "stage_assignments" not in ran


def test_what_is_searched_for_keeps_its_shapes() -> None:
    ran: list[str] = []
    sink = normalize(((data(3, 4) + 1).node,)).sink
    config = Config(search=Beam(1), pack_operands=False)
    schedule_graph(sink, host_target(), config, lambda step: ran.append(step.ran.name))
    assert not {"reroll_regions", "pack_operands"} & set(ran) and "fix_lengths" in ran
