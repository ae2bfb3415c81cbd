"""What becomes of values over several devices, node by node."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dialects.verify import verify
from ogive.compiler.ir.layouts import COPIES, Layout
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import move, reshape
from ogive.compiler.ir.ops import SPREAD, Op
from ogive.compiler.passes.capture.normalize import Normalized
from ogive.compiler.passes.pipeline.capture_passes import SHARDED
from ogive.compiler.passes.shards.place_shards import place_shards
from ogive.compiler.passes.shards.placing import infer_layouts
from ogive.compiler.passes.shards.shard_rules import GATHERED, RULES
from ogive.config import Config
from ogive.errors import VerifyError, words_of

DEVICES = ("CPU", "CPU:1")
ROWS = Layout(DEVICES, (2,), (0,))
QUARTERS = Layout(("CPU", "CPU:1", "CPU:2", "CPU:3"), (2, 2), (0, 1))


def memory(slot: int, device: str, *shape: int) -> UOp:
    size = 1
    for length in shape:
        size *= length
    return reshape(UOp(Op.PARAM, dtypes.float32, (), (slot, size, device)), shape)


def divided(layout: Layout = ROWS, shape: tuple[int, ...] = (2, 6)) -> UOp:
    parts = [memory(slot, device, *shape) for slot, device in enumerate(layout.devices)]
    return UOp(Op.MULTI, dtypes.float32, tuple(parts), tuple(layout))


def placed(root: UOp, layout: Layout) -> list[UOp]:
    """The parts that a value becomes."""
    devices = layout.devices
    asked = [
        UOp(Op.MSELECT, root.dtype, (root,), (*layout, number)) for number in range(len(devices))
    ]
    sink = UOp(Op.SINK, dtypes.void, tuple(asked), devices)
    verify(sink, "parametric")
    made = place_shards(Normalized(sink, (), {}, {}), Config()).sink
    verify(made, "real")
    assert made.arg == devices
    return list(made.src)


def infer_layout(root: UOp) -> Layout | None:
    return infer_layouts((root,))[0]


def copies_in(*roots: UOp) -> int:
    nodes = {node for root in roots for node in root.walk()}
    return sum(node.op is Op.COPY for node in nodes)


def test_the_pass_runs_where_there_are_such_values_alone() -> None:
    plain = UOp(Op.SINK, dtypes.void, (memory(0, "CPU", 4),), ("CPU",))
    for sink, runs in ((plain, False), (UOp(Op.SINK, dtypes.void, (divided(),)), True)):
        values = SimpleNamespace(calls=False, normalized=Normalized(sink, (), {}, {}))
        assert SHARDED.holds(values) is runs


def test_elementwise_operations_copy_nothing() -> None:
    parts = placed(UOp(Op.EXP, dtypes.float32, (divided(),)), ROWS)
    assert [part.op for part in parts] == [Op.EXP, Op.EXP]
    assert copies_in(*parts) == 0


def test_a_total_is_worked_out_on_the_first_device_and_copied_to_the_others() -> None:
    total = UOp(Op.REDUCE_AXES, dtypes.float32, (divided(),), (Op.ADD, (0,)))
    layout = infer_layout(total)
    assert layout is not None and layout.is_copies
    first, second = placed(total, layout)
    assert first.op is Op.ADD and (second.op, second.operand) == (Op.COPY, first)
    assert copies_in(first, second) == 2


@pytest.mark.parametrize(
    ("before", "after", "axis"),
    [
        ((4, 6), (2, 2, 6), 0),
        ((4, 6), (24,), 0),
        ((4, 6), (1, 4, 6), 1),
        ((4, 6), (4, 2, 3), 0),
        ((4, 3), (3, 4), COPIES),
    ],
)
def test_the_divided_axis_survives_a_reshape_or_is_gathered(
    before: tuple[int, int], after: tuple[int, ...], axis: int
) -> None:
    value = reshape(divided(ROWS, (before[0] // 2, before[1])), after)
    layout = infer_layout(value)
    assert layout is not None and layout.split == (axis,)
    assert (copies_in(*placed(value, layout)) == 0) == (axis != COPIES)


def test_other_layouts_are_reached_by_copies_of_what_is_missing() -> None:
    columns = ROWS.with_split([1])
    parts = placed(divided(), columns)
    assert [part.shape for part in parts] == [(4, 3), (4, 3)]
    assert copies_in(*parts) == 2
    copies = placed(memory(0, "CPU", 4, 6), ROWS.with_split([COPIES]))
    assert copies_in(*copies) == 1


def test_a_mesh_sums_along_one_of_its_axes() -> None:
    total = UOp(Op.REDUCE_AXES, dtypes.float32, (divided(QUARTERS, (2, 3)),), (Op.ADD, (1,)))
    layout = infer_layout(total)
    assert layout is not None and layout.split == (0, COPIES)
    assert copies_in(*placed(total, layout)) == 4


def test_a_part_of_the_divided_axis_is_taken_of_what_is_gathered() -> None:
    shrunk = move(Op.SHRINK, divided(), ((1, 3), (0, 6)))
    layout = infer_layout(shrunk)
    assert layout is not None and layout.is_copies
    kept = infer_layout(move(Op.SHRINK, divided(), ((0, 4), (1, 3))))
    assert kept == ROWS


def test_every_op_on_values_has_a_rule_or_is_gathered() -> None:
    handled = {Op.COPY, Op.DETACH, Op.GRADIENT, *SPREAD}
    never = {Op.BUFFER, Op.BIND, Op.CALL, Op.ASSIGN, Op.AFTER, Op.SINK, Op.DOT, Op.IOTA}
    on_values = {op for op in Op if op.sources and set(op.stages) & {"tensor", "parametric"}}
    assert on_values == (RULES.keys() | GATHERED | handled | never) & on_values


def test_the_verifier_knows_layouts() -> None:
    value, arg = memory(0, "CPU", 4, 6), tuple(ROWS)

    def shard(devices: tuple[str, ...], mesh: tuple[int, ...], split: tuple[int, ...]) -> UOp:
        return UOp(Op.SHARD, dtypes.float32, (divided(),), (devices, mesh, split))

    def check(node: UOp) -> str:
        with pytest.raises(VerifyError) as caught:
            verify(node, "parametric")
        return words_of(caught.value)

    assert "a mesh with one place for each device" in check(shard(DEVICES, (3,), (0,)))
    assert "and no device twice" in check(shard(("CPU", "CPU"), (2,), (0,)))
    assert "an axis for each axis of the mesh" in check(shard(DEVICES, (2,), (0, 1)))
    assert "different axes of the value" in check(shard(DEVICES, (2,), (2,)))
    assert "divided into 2 equal parts" in check(
        UOp(Op.SHARD, dtypes.float32, (memory(0, "CPU", 3, 6),), arg)
    )
    assert "a part for each of 2 devices, not 1" in check(
        UOp(Op.MULTI, dtypes.float32, (value,), arg)
    )
    assert "parts of one shape" in check(
        UOp(Op.MULTI, dtypes.float32, (value, memory(1, "CPU:1", 2, 6)), arg)
    )
    assert "the number of a device of the layout" in check(
        UOp(Op.MSELECT, dtypes.float32, (value,), (*arg, 2))
    )
