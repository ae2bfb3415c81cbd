"""Any placement of a kernel with symbolic axes keeps its results, whatever its variable is."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ogive
from ogive import Config, Tensor, Variable
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.cpu.native.link import link
from ogive.compiler.devices.cpu.native.native_plan import NativePlan
from ogive.compiler.devices.llvm.library.assembler import assemble
from ogive.compiler.devices.protocol import CompiledKernel, KernelStep
from ogive.compiler.ir.memory import upper_shape
from ogive.compiler.ir.symbolic.evaluate import evaluate
from ogive.compiler.live import registry
from ogive.compiler.passes.loops.merge_axes import merge_axes
from ogive.compiler.passes.loops.rangeify import rangeify
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from ogive.compiler.targets.costs import CPU_COSTS
from tests.compiler.passes.parametric import normalize
from tests.compiler.passes.place.test_placements import possible_placements

Array = NDArray[Any]
CONFIG = Config(verify=True, pack_operands=False)
HIGH = 37
VALUES = (0, 1, 2, 5, 16, 31, 36, HIGH)
LEAST = (0, 16)
"""The least lengths: of the greater ones, tiles are known to be whole."""

UNDIVIDED = dataclasses.replace(host_target(), costs=CPU_COSTS.with_changes(tiles={"whole": 0}))
"""Has one kernel for all lengths."""


def data(*shape: int) -> Tensor:
    generator = np.random.default_rng(sum(shape))
    return Tensor(generator.integers(-6, 7, shape).astype(np.float32))


KERNELS: dict[str, Callable[[Any], Tensor]] = {
    "line": lambda n: data(HIGH)[:n] * 2 + 1,
    "rows": lambda n: data(HIGH, 19)[:n] * 2 + data(19),
    "columns": lambda n: data(9, HIGH)[:, :n] + 1,
    "rest": lambda n: data(9, HIGH)[:, n:] + 1,
    "transpose": lambda n: data(18, HIGH)[:, :n].T + 1,
    "other transpose": lambda n: data(HIGH, 18)[:n].T + 1,
    "both": lambda n: data(HIGH)[:n].reshape(-1, 1) * data(HIGH)[:n],
    "joined": lambda n: (data(HIGH, 3)[:n] + 1).flatten(),
    "split": lambda n: (data(3, HIGH)[:, :n].T.flatten() + 1).unflatten(0, (-1, 3)),
    "flip": lambda n: data(4, HIGH)[:, :n].flip(1) + 1,
    "pad": lambda n: data(4, 6).pad(((0, 0), (n, 2)), value=7) + 1,
    "cat": lambda n: ogive.cat([data(5, HIGH)[:, :n], data(5, 3)], 1) * 2,
    "positions": lambda n: ogive.arange(n) * 2 + 1,
    "sum of rows": lambda n: data(9, HIGH)[:, :n].sum(-1),
    "sum of columns": lambda n: data(HIGH, 20)[:n].sum(0),
    "sums of some rows": lambda n: data(HIGH, 20)[:n].sum(-1),
    "maximum": lambda n: data(HIGH + 1, 20)[: n + 1].amax(0),
    "softmax": lambda n: data(6, HIGH + 1)[:, : n + 1].softmax(-1),
    "product over it": lambda n: data(9, HIGH)[:, :n] @ data(HIGH, 14)[:n],
    "product of its rows": lambda n: data(HIGH, 9)[:n] @ data(9, 14),
    "product of its columns": lambda n: data(5, 9) @ data(9, HIGH)[:, :n],
}


class Kernel:
    """A one-kernel computation for each value, and what it gives by default."""

    def __init__(self, build: Callable[[Any], Tensor], least: int) -> None:
        size = Variable("n", least, HIGH)
        tensors = {value: build(size.bind(value)) for value in VALUES if value >= least}
        normalized = {value: normalize((tensor.node,)) for value, tensor in tensors.items()}
        assert len({each.sink for each in normalized.values()}) == 1
        (self.step,) = schedule_graph(normalized[HIGH].sink, UNDIVIDED, CONFIG).kernels
        loops = rangeify(self.step.region.graph)
        self.forms = [loops, merge_axes(loops)]
        self.inputs = {
            value: [registry.buffer_of(buffer) for buffer in each.buffers]
            for value, each in normalized.items()
        }
        self.shapes = {value: tensor.shape for value, tensor in tensors.items()}
        self.wanted = {value: tensor.numpy() for value, tensor in tensors.items()}

    def run(self, kernel: CompiledKernel, grain: int, value: int) -> Array:
        """What a compiled form of the kernel computes for one value of the variable."""
        shape = self.shapes[value]
        output = np.full(upper_shape(shape), 77).astype(self.wanted[value].dtype)
        inputs = self.inputs[value]
        words = [
            inputs[self.step.slots[slot]].address
            if self.step.slots[slot] < len(inputs)
            else output.ctypes.data
            for slot in kernel.signature.slots
        ]
        words += [value] * len(kernel.signature.variables)
        tiles = evaluate(kernel.tiles, {"n": value})
        loaded = link(assemble(kernel.ir, host_target()), kernel.name)
        step = KernelStep(loaded, words, tiles, grain)
        assert NativePlan([step]).execute() is None
        inside = tuple([slice(evaluate(size)) for size in shape])
        result = output[inside].copy()
        output[inside] = 77
        assert (output == 77).all(), "the kernel wrote past its extents"
        return result


def check(kernel: Kernel, seed: int, count: int) -> None:
    random = np.random.default_rng(seed)
    for placement, compiled in possible_placements(kernel.forms, random, count, CONFIG):
        for value in kernel.wanted:
            got = kernel.run(compiled, int(random.integers(1, 4)), value)
            message = f"{placement} at n={value}"
            np.testing.assert_allclose(got, kernel.wanted[value], 3e-5, 3e-5, err_msg=message)


@pytest.mark.parametrize("least", LEAST)
@pytest.mark.parametrize("name", KERNELS)
def test_random_placements_of_symbolic_axes_keep_the_result(name: str, least: int) -> None:
    check(Kernel(KERNELS[name], least), 1, 4)


@pytest.mark.soak
@pytest.mark.parametrize("least", LEAST)
@pytest.mark.parametrize("name", KERNELS)
def test_many_random_placements_of_symbolic_axes_keep_the_result(name: str, least: int) -> None:
    check(Kernel(KERNELS[name], least), 2, 100)
