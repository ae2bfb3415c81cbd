"""What kernels tell the caches: nothing of it changes a result, and each has its case."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from ogive import Config, Tensor
from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.cpu.native.link import link
from ogive.compiler.devices.cpu.native.native_plan import NativePlan
from ogive.compiler.devices.llvm.compile_region import compile_region
from ogive.compiler.devices.llvm.library.assembler import assemble
from ogive.compiler.devices.protocol import CompiledKernel, KernelStep
from ogive.compiler.ir.symbolic.evaluate import evaluate
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from ogive.compiler.passes.regions.number_slots import Step
from ogive.compiler.targets.target import Target, describe_cpu
from tests.compiler.passes.parametric import normalize

pytestmark = pytest.mark.skipif(
    host_target().architecture != "x86_64", reason="stores go past the caches of x86 only"
)
CONFIG = Config(verify=True)
STREAM, ASK = "!nontemporal", "@llvm.prefetch"


def small_caches() -> Target:
    """This machine, if its caches held next to nothing."""
    return dataclasses.replace(host_target(), l2_bytes=1 << 13, l3_bytes=1 << 14)


def random(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def compile_last(
    tensor: Tensor, target: Target, config: Config = CONFIG
) -> tuple[CompiledKernel, Step]:
    step = schedule_graph(normalize((tensor.node,)).sink, target, config).kernels[-1]
    return compile_region(step.region.graph, target, config), step


def text(tensor: Tensor, target: Target | None = None) -> str:
    return compile_last(tensor, target or small_caches())[0].ir


def run(kernel: CompiledKernel, step: Step, result: Any, *inputs: Any) -> Any:
    """What a kernel of one output writes, in memory that held NaN before."""
    buffers = [Buffer(array.nbytes) for array in (result, *inputs)]
    for buffer, array in zip(buffers, (np.full_like(result, np.nan), *inputs), strict=True):
        buffer.copy_from(np.ascontiguousarray(array))
    fixed = dict(step.region.fixed)
    arguments = [buffer.address for buffer in buffers]
    arguments += [fixed[name] for name in kernel.signature.variables]
    loaded = link(assemble(kernel.ir, host_target()), kernel.name)
    step_of_plan = KernelStep(loaded, arguments, evaluate(kernel.tiles, fixed), 3)
    assert NativePlan([step_of_plan]).execute() is None
    return buffers[0].as_numpy(result.dtype, result.shape)


@pytest.mark.parametrize("length", [1 << 13, (1 << 13) + 21])
def test_a_long_result_goes_past_the_caches_but_for_its_end(length: int) -> None:
    x = random(length)
    kernel, step = compile_last(Tensor(x) * 2, small_caches())
    assert STREAM in kernel.ir and "sfence" in kernel.ir and "masked.store" in kernel.ir
    np.testing.assert_array_equal(run(kernel, step, x, x), x * 2)


@pytest.mark.parametrize("shape", [(64, 64), (128, 96), (80, 256), (70, 65)])
def test_a_transpose_goes_past_the_caches_where_its_rows_are_lines(shape: tuple[int, int]) -> None:
    x = random(*shape)
    # Vectors as long as a line, which a host may take in two steps.
    target = dataclasses.replace(small_caches(), vector_bytes=64)
    kernel, step = compile_last(Tensor(x).T.contiguous(), target)
    assert (STREAM in kernel.ir) == (shape[0] % 16 == 0)
    np.testing.assert_array_equal(run(kernel, step, x.T, x), x.T)


def test_a_result_that_fits_the_caches_stays_in_them() -> None:
    assert STREAM not in text(Tensor(random(1 << 11)) * 2)
    assert STREAM not in text(Tensor(random(32, 32)).T.contiguous())


def test_where_memory_is_read_as_well_nothing_goes_past_the_caches() -> None:
    x = Tensor(random(1 << 14)).realize()
    x += 1
    assert STREAM not in text(x)


def test_rows_that_begin_within_a_line_are_stored_as_ever() -> None:
    assert STREAM in text(Tensor(random(64, 128)) + Tensor(random(128)))
    assert STREAM not in text(Tensor(random(64, 129)) + Tensor(random(129)))


def test_other_processors_store_as_ever() -> None:
    caches = {1: 1 << 12, 2: 1 << 13, 3: 1 << 14}
    arm = describe_cpu("aarch64-linux-gnu", "neoverse-n1", "+neon", caches)
    assert STREAM not in text(Tensor(random(1 << 14)) * 2, arm)


def test_two_kernels_serve_all_lengths() -> None:
    target = small_caches()

    def kernel(length: int) -> object:
        step = compile_last(Tensor(random(length)) * 2, target)[1]
        return step.region.graph

    assert kernel(100) is kernel(2000)
    assert kernel(5000) is kernel(100_000)
    assert kernel(100) is not kernel(5000)


def test_the_last_loop_over_a_row_asks_for_the_next_row() -> None:
    x = random(40, 512)
    kernel, step = compile_last(Tensor(x).softmax(-1), host_target())
    first, *others = kernel.ir.split("phi i64")[2:]
    assert ASK not in first and ASK in "".join(others)
    exact = np.exp(x.astype(float)) / np.exp(x.astype(float)).sum(1, keepdims=True)
    np.testing.assert_allclose(run(kernel, step, x, x), exact, rtol=1e-5)
    assert ASK not in text(Tensor(x).sum(-1), host_target())


def test_a_long_sum_asks_for_what_it_reads_next() -> None:
    x = random(64, 512)
    kernel, step = compile_last(Tensor(x).sum(-1), small_caches())
    assert ASK in kernel.ir
    np.testing.assert_allclose(run(kernel, step, x[:, 0], x), x.sum(1, dtype=float), atol=1e-3)


def test_rows_that_are_added_up_ask_for_what_each_stream_reads_next() -> None:
    x = random(8, 32, 800)
    kernel, step = compile_last(Tensor(x).sum(1), small_caches())
    assert kernel.ir.count(f"call void {ASK}") >= 4
    np.testing.assert_allclose(run(kernel, step, x[:, 0], x), x.sum(1, dtype=float), atol=1e-3)


def test_a_product_of_few_rows_asks_for_the_columns_of_the_next_tile() -> None:
    left, right = random(3, 70), random(70, 1000, seed=1)
    product, as_it_lies = Tensor(left) @ Tensor(right), Config(verify=True, pack_operands=False)
    kernel, step = compile_last(product, small_caches(), as_it_lies)
    assert ASK in kernel.ir
    operands = [(left, right)[slot] for slot in step.slots[1:]]
    result = run(kernel, step, np.empty((3, 1000), np.float32), *operands)
    np.testing.assert_allclose(result, left @ right, rtol=1e-4, atol=1e-4)
    assert ASK not in compile_last(product, host_target(), as_it_lies)[0].ir  # it fits a cache


@pytest.mark.parametrize("shape", [(32, 128), (19, 256), (32, 136), (24, 129)])
def test_a_scan_of_rows_goes_past_the_caches_where_its_tiles_are_lines(
    shape: tuple[int, int],
) -> None:
    x = random(*shape)
    kernel, step = compile_last(Tensor(x).cumsum(1), small_caches())
    assert (STREAM in kernel.ir) == (shape[1] % 16 == 0)
    expected = x.astype(np.float64).cumsum(1)
    np.testing.assert_allclose(run(kernel, step, x, x), expected, rtol=1e-6, atol=1e-6)
    assert STREAM not in text(Tensor(x).cumsum(1), host_target())


def test_a_product_asks_for_the_next_panel_while_rows_go_through_this_one() -> None:
    left, right = random(54, 300), random(300, 128, seed=1)
    product = Tensor(left) @ Tensor(right)
    near = dataclasses.replace(host_target(), vector_bytes=32, vector_registers=16)
    far = dataclasses.replace(near, l2_bytes=100_000)  # a panel has 19 kilobytes, all have 150
    assert compile_last(product, far)[0].ir.count(f"call void {ASK}") == 1  # two vectors are a line
    assert ASK not in compile_last(product, near)[0].ir
