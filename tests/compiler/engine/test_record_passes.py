"""What every pass does to a computation can be recorded, and shown."""

from __future__ import annotations

import numpy as np

from ogive import Config, Tensor
from ogive.compiler.devices.llvm.compile_region import EMIT_PASSES
from ogive.compiler.engine.record_passes import record_passes
from ogive.compiler.passes.pipeline.capture_passes import CAPTURE_PASSES
from ogive.compiler.passes.pipeline.graph_passes import DIVIDE_PASSES, GRAPH_PASSES, JOIN_PASSES
from ogive.compiler.passes.pipeline.region_passes import REGION_PASSES


def data(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(1).standard_normal(shape).astype(np.float32))


def test_every_pass_that_always_runs_is_recorded_in_the_order_of_the_table() -> None:
    steps = record_passes(data(40, 50).softmax(-1))
    parts = (CAPTURE_PASSES, DIVIDE_PASSES, GRAPH_PASSES, JOIN_PASSES, REGION_PASSES, EMIT_PASSES)
    ran = {step.ran.name for step in steps}
    wanted = [each.name for part in parts for each in part if each.name in ran]
    assert list(dict.fromkeys([step.ran.name for step in steps])) == list(dict.fromkeys(wanted))
    assert {each.name for part in parts for each in part if each.when is None} <= ran


def test_recording_runs_nothing() -> None:
    tensor = data(40, 50).softmax(-1)
    record_passes(tensor)
    assert not tensor.is_realized


def test_every_step_can_be_shown() -> None:
    steps = record_passes((data(40, 50) @ data(50, 64)).softmax(-1))
    for step in steps:
        before, after = step.show()
        assert before and after, step.ran.name
    rangeify = next(step for step in steps if step.ran.name == "rangeify")
    assert "RESHAPE" in rangeify.show()[0] and "RESHAPE" not in rangeify.show()[1]


def test_kernels_that_are_equal_are_recorded_once() -> None:
    x = data(40, 50)
    for _ in range(3):
        x = x.softmax(-1).contiguous()
    assert [step.ran.name for step in record_passes(x)].count("emit") == 1


def test_a_configuration_is_followed() -> None:
    product = data(40, 50) @ data(50, 64)
    steps = record_passes(product, config=Config(pack_operands=False))
    assert "pack_operands" not in {step.ran.name for step in steps}
