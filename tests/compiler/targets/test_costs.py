"""The cost model of a target: part of its key, documented, and the only place with such numbers."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from pathlib import Path

import numpy as np
import pytest

import ogive
from ogive import Config, Tensor
from ogive.compiler.devices.cpu.host_machine import host_machine
from ogive.compiler.devices.cpu.speeds import usual_speeds
from ogive.compiler.search.worker_messages import TARGET as FIELD
from ogive.compiler.store.encoding import Reader, Writer
from ogive.compiler.targets.costs import CPU_COSTS
from ogive.compiler.targets.target import describe_cpu
from ogive.errors import ConfigError
from tests.raising import raises

TARGET = describe_cpu("x86_64-linux-gnu", "haswell", "+avx,+avx2")
OTHER = CPU_COSTS.with_changes(operations={"function": 99})
PASSES = Path(ogive.__file__).parent / "compiler/passes"

OWN_BOUNDS = {
    "__init__.WINDOW_RANKS",
    "build_general.LARGEST",
    "derive_lengths.MOST_BESIDE",
    "derive_lengths.MOST_PARTS",
    "derive_lengths.MOST_PARTS_OF_TWO",
    "express_sizes.LEAST_ROOM",
    "express_sizes.MANY",
    "express_sizes.ROOMS",
    "choose_kept.MOST_ROUNDS",
    "flatten_regions.LEAST_WIDTH",
    "generalize.MOST_CORRECTIONS",
    "generalize.STEPS",
    "irregular_lanes.MOST_ELEMENTS",
    "keep_times.MOST_NODES",
    "lay_channels_last.CHANNEL",
    "lay_channels_last.DEPTH",
    "loop_order.MOST_NODES",
    "merge_regions.MOST_REGIONS",
    "peel_loops.FUNCTION_INSTRUCTIONS",
    "peel_loops.LOOP_INSTRUCTIONS",
    "place_axes.MOST_UNROLLED",
    "radix_sort.POSITION_BITS",
    "recognized_convolutions.WORD_BITS",
    "recompute_costs.COST_LIMIT",
    "reduce_once.CENTRE_NODES",
    "reduction_directions.MOST_NODES",
    "reroll_regions.LEAST_REGIONS",
    "scratch_layout.MOST_BYTES",
    "scratch_layout.ROW_STEP",
    "share_transposes.COLUMNS_TO_ROWS",  # orders of axes
    "share_transposes.LEAST_REGIONS",
    "share_transposes.LONGEST",
    "share_transposes.ROWS_TO_BATCH",
    "skeleton.SPECIAL",
    "sorting_network.LAYERS",
    "tensor_attention.MOST_BATCH_AXES",  # the forms that the attention of tensor cores takes
    "tensor_attention.MOST_SCORES",
    "tensor_attention.MOST_TERMS",
    "tensor_core_products.LEAST_LENGTH",  # the terms, and the side, of one instruction
    "tensor_core_products.LEAST_SIDE",
    "tile_work.MOST_COST",
    "winograd.TAPS",
}
"""Numbers that bound the compiler's own work, the length of code, or a format; and no time."""


def test_targets_that_cost_other_things_are_different() -> None:
    other = dataclasses.replace(TARGET, costs=OTHER)
    assert other != TARGET and other.key != TARGET.key
    assert dataclasses.replace(other, costs=CPU_COSTS) == TARGET
    assert hash(dataclasses.replace(other, costs=CPU_COSTS)) == hash(TARGET)


def test_costs_travel_with_their_target() -> None:
    other = dataclasses.replace(TARGET, costs=OTHER)
    writer = Writer()
    FIELD.write(writer, other)
    assert FIELD.read(Reader(writer.finish())) == other


def test_settings_may_bring_costs_of_their_own() -> None:
    target = host_machine.target_for(Config(costs=OTHER))
    assert target.costs is OTHER
    assert host_machine.target_for(Config()).costs is CPU_COSTS
    with raises(ConfigError, match="takes a value of type Costs or None, got 3"):
        Config(costs=3)  # type: ignore[arg-type]


def test_results_are_right_whatever_things_cost() -> None:
    x = np.random.default_rng(5).standard_normal((40, 70)).astype(np.float32)
    nothing = CPU_COSTS.with_changes(fusion={"shared_work": 0, "keep_gain": -1e9})
    for costs in (CPU_COSTS, OTHER, nothing):
        given = Tensor(x).exp()
        got = (given + given.flip(0)).softmax(-1).realize(config=Config(costs=costs)).numpy()
        wanted = np.exp(x.astype(np.float64))
        wanted = np.exp(wanted + wanted[::-1])
        np.testing.assert_allclose(got, wanted / wanted.sum(-1, keepdims=True), rtol=1e-4)


def test_usual_speeds_are_those_of_the_model() -> None:
    slow = CPU_COSTS.with_changes(memory={"launch": 7000.0})
    assert usual_speeds(dataclasses.replace(TARGET, costs=slow)).launch == 7000


GROUPS = [type(group) for group in CPU_COSTS]


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)
def test_every_cost_says_what_it_is_and_the_group_where_it_was_measured(group: type) -> None:
    (body,) = ast.parse(inspect.getsource(group)).body
    assert isinstance(body, ast.ClassDef)
    for statement, after in zip(body.body[1:], [*body.body[2:], None], strict=True):
        if isinstance(statement, ast.AnnAssign):
            assert isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
    assert group.__doc__ is not None
    assert "easured" in group.__doc__ or "machine" in group.__doc__


def test_passes_have_no_costs_of_their_own() -> None:
    found = set()
    for path in PASSES.rglob("*.py"):
        for statement in ast.parse(path.read_text()).body:
            if isinstance(statement, ast.Assign) and _is_number(statement.value):
                (name,) = [each.id for each in statement.targets if isinstance(each, ast.Name)]
                found.add(f"{path.stem}.{name}")
    assert found == OWN_BOUNDS


def _is_number(value: ast.expr) -> bool:
    """Whether an expression is made of numbers alone."""
    kinds = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Tuple, ast.Load)
    nodes = list(ast.walk(value))
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return all(isinstance(node, kinds) for node in nodes) and any(
        isinstance(constant, int | float) for constant in constants
    )
