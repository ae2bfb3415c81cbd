"""The PTX of some kernels: how they are launched, and the instructions that make them fast."""

from __future__ import annotations

import re

import numpy as np
import pytest

from ogive import Config, Tensor
from ogive.compiler.devices.cuda.compile_kernel import EMIT_PASSES, write_ptx
from ogive.compiler.devices.cuda.gpu import GpuFacts
from ogive.compiler.devices.cuda.gpu_target import target_of
from ogive.compiler.devices.cuda.thread_kernels import Launch
from ogive.compiler.devices.llvm.compile_region import compile_region
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from ogive.errors import CompileError, LoadError
from tests.compiler.passes.parametric import normalize
from tests.raising import raises

H200 = target_of(GpuFacts("H200", 9, 0, 141 << 30, 132, 1024, 232448, 60 << 20))


def kernels(tensor: Tensor) -> list[tuple[Launch, str]]:
    """The launches of a tensor on an H200, and their PTX."""
    steps = schedule_graph(normalize((tensor.node,)).sink, H200, Config()).kernels
    made = [
        compile_region(step.region.graph, H200, Config(), None, None, EMIT_PASSES) for step in steps
    ]
    return [(Launch.read(kernel.ir), write_ptx(kernel.ir, H200)) for kernel in made]


def matrix(*shape: int) -> Tensor:
    return Tensor(np.empty(shape, np.float32))


def test_a_chain_loads_and_stores_vectors() -> None:
    ((launch, ptx),) = kernels(matrix(1 << 20) * 2 + 1)
    assert launch == Launch(256, 1, 0, False)
    assert "ld.global.nc.v4.b32" in ptx and "st.global.v4.b32" in ptx


def test_a_sum_of_rows_ends_with_shuffles() -> None:
    ((launch, ptx),) = kernels(matrix(1024, 4096).sum(-1))
    assert launch.threads == 256 and launch.tiles == 1 and launch.shared_bytes > 0
    assert ptx.count("shfl.sync.bfly.b32") == 2 * 5  # where buffers are aligned, and elsewhere
    assert "bar.sync" in ptx or "barrier.sync" in ptx


def test_softmax_reads_memory_by_vectors_and_stages_its_row_in_shared_memory() -> None:
    ((launch, ptx),) = kernels(matrix(1024, 4096).softmax(-1))
    assert launch.shared_bytes >= 4 * 4096
    assert "st.shared.v4.b32" in ptx and "ld.shared.v4.b32" in ptx and "max.NaN.f32" in ptx
    assert "local" not in ptx


def test_a_row_that_threads_hold_is_not_loaded_by_every_pass() -> None:
    ((launch, ptx),) = kernels(matrix(1024, 4096).layer_norm((4096,)))
    assert ptx.count("ld.global.nc.v4.b32") < 3 * (4096 // 4 // launch.threads)  # passes


def test_what_is_written_to_is_not_taken_to_stay() -> None:
    x = matrix(1 << 20).realize()
    x.assign(x * 2)
    ((_, ptx),) = kernels(x)
    assert "ld.global.v4.b32" in ptx and "ld.global.nc" not in ptx


def test_a_product_with_a_vector_is_read_along_its_rows() -> None:
    ((launch, ptx),) = kernels(matrix(8192, 8192) @ matrix(8192))
    assert launch.threads == 512 and launch.tiles == 1 and "shfl.sync.bfly" in ptx


def test_rows_shorter_than_a_warp_have_a_thread_for_each_vector() -> None:
    ((launch, ptx),) = kernels(matrix(1 << 16, 56).relu() + matrix(56))
    assert launch.tiles == launch.threads and "st.global.v4.b32" in ptx


def test_a_transpose_goes_through_shared_memory() -> None:
    ((launch, ptx),) = kernels(matrix(4096, 2048).T.contiguous())
    assert launch.shared_bytes >= 4 * 64 * 65
    assert "st.shared" in ptx and "ld.shared" in ptx and "local" not in ptx


def test_rounding_to_bfloat_is_an_instruction() -> None:
    ((_, ptx),) = kernels(matrix(1 << 20).cast("bfloat16"))
    assert "cvt.rn.bf16x2.f32" in ptx


def test_nothing_is_contracted_that_the_host_does_not_contract() -> None:
    ((_, ptx),) = kernels(matrix(1000) * 3 + matrix(1000))
    assert "mul.rn.f32" in ptx and "fma" not in ptx
    assert not re.search(r"\b(add|mul)\.f32", ptx)


def test_a_function_that_there_is_not_is_refused() -> None:
    text = "declare i32 @llvm.nvvm.no.such.thing()\n"
    text += "define ptx_kernel void @k(ptr %p) {\n  %x = call i32 @llvm.nvvm.no.such.thing()\n"
    with pytest.raises(CompileError):
        write_ptx(text + "  store i32 %x, ptr %p\n  ret void\n}\n", H200)


def test_a_damaged_launch_line_is_refused() -> None:
    with raises(LoadError, match="how it is launched"):
        Launch.read("; launch 256 x 0 0")
