"""Memory that nobody has written shows in what is computed from it."""

from __future__ import annotations

import numpy as np

from ogive import Config, Tensor
from ogive.compiler.devices.buffer import poisoned_buffer
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.cpu.native.link import link
from ogive.compiler.devices.cpu.native.native_plan import NativePlan
from ogive.compiler.devices.llvm.compile_region import compile_placed
from ogive.compiler.devices.llvm.library.assembler import assemble
from ogive.compiler.devices.protocol import KernelStep
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op, staged_row
from ogive.compiler.passes.loops.rangeify import make_range
from ogive.compiler.passes.place.placement import Placement

POISON = Config(poison=True)


def half_staged() -> UOp:
    """A kernel that stages every second element of a row of 16, and stores all."""
    output = UOp(Op.PARAM, dtypes.float32, (), (0, 16))
    to, along = make_range(16, 0), make_range(8, 1)
    one = UOp.const(dtypes.float32, 1.0)
    stage = UOp(Op.STAGE, dtypes.float32, (one, along * 2, along), staged_row(16))
    read = UOp(Op.LOAD, dtypes.float32, (UOp(Op.INDEX, dtypes.float32, (stage, to)),))
    place = UOp(Op.INDEX, dtypes.float32, (output, to))
    return UOp(Op.SINK, dtypes.void, (UOp(Op.STORE, dtypes.void, (place, read, to), (None, None)),))


def test_what_was_not_staged_is_nan() -> None:
    for placement in (Placement(), Placement(lanes={1: 8}), Placement(upcast={1: 8})):
        kernel = compile_placed(half_staged(), placement, host_target(), POISON)
        output = np.zeros(16, np.float32)
        loaded = link(assemble(kernel.ir, host_target()), kernel.name)
        NativePlan([KernelStep(loaded, [output.ctypes.data], 1, 1)]).execute()
        np.testing.assert_array_equal(output, np.where(np.arange(16) % 2, np.nan, 1))


def test_new_memory_is_nan_in_every_float_dtype() -> None:
    for dtype in (np.float16, np.float32, np.float64):
        assert np.isnan(poisoned_buffer(16).as_numpy(dtype)).all()


def test_results_are_the_same_in_poisoned_memory() -> None:
    x = np.random.default_rng(1).standard_normal((9, 33)).astype(np.float32)
    for planner in ("arena", "disabled"):
        config = Config(poison=True, planner=planner)
        clean, poisoned = [
            (Tensor(x).softmax(-1) @ Tensor(x).T).sort()[0].realize(each).numpy()
            for each in (Config(), config)
        ]
        np.testing.assert_array_equal(clean, poisoned)
