"""Regions for a GPU with tensor cores become products: texts, a line before them, and PTX."""

from __future__ import annotations

import numpy
import pytest

import ogive
from ogive import Tensor
from ogive.compiler.devices.cuda.gpu import GpuFacts
from ogive.compiler.devices.cuda.gpu_target import target_of
from ogive.compiler.devices.cuda.products.compile_product import (
    MARK,
    assemble_product,
    compile_product,
    read_code,
)
from ogive.compiler.devices.cuda.products.launches import TensorMap
from ogive.compiler.devices.protocol import CompiledKernel
from ogive.compiler.engine.parametric import to_parametric
from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.pipeline.graph_passes import schedule_devices, schedule_graph
from ogive.compiler.passes.regions.number_slots import Schedule
from ogive.config import current_config
from ogive.errors import LoadError
from tests.compiler.devices.cuda.emulated_gpu import FACTS
from tests.raising import raises

H200 = GpuFacts(
    "H200", major=9, minor=0, memory_bytes=141 << 30, multiprocessors=132, most_threads=1024,
    shared_bytes=227 << 10, l2_bytes=60 << 20, tensor_cores=True,
)  # fmt: skip


def _compile(tensor: Tensor, facts: GpuFacts = H200) -> list[CompiledKernel | None]:
    """What the kernels of a tensor are on a GPU."""
    config, target, regions = current_config(), target_of(facts), []

    def schedule(part: UOp, device: str) -> Schedule:
        made = schedule_graph(part, target, config)
        regions.extend([step.region.graph for step in made.kernels])
        return made

    schedule_devices(to_parametric((tensor.node,), config).sink, config, schedule)
    return [compile_product(region, target, config) for region in regions]


def _narrow(*shape: int) -> Tensor:
    values = numpy.zeros(shape, numpy.float32)
    return Tensor(values).cast(ogive.bfloat16).realize()


def test_a_product_is_one_launch_of_a_kernel_for_warpgroups() -> None:
    (kernel,) = _compile(_narrow(512, 256) @ _narrow(256, 1024))
    assert kernel is not None
    assert kernel.ir.startswith(MARK)
    (launch,) = read_code(kernel.ir).launches
    assert launch.name.startswith("warpgroup_product_bfloat16")
    assert launch.blocks <= H200.multiprocessors


def test_code_is_ptx_behind_the_same_line() -> None:
    (kernel,) = _compile(_narrow(64, 64) @ _narrow(64, 64))
    assert kernel is not None
    code = assemble_product(kernel.ir, target_of(H200)).decode()
    text, ptx = read_code(kernel.ir), read_code(code)
    assert [launch.arguments for launch in ptx.launches] == [
        launch.arguments for launch in text.launches
    ]
    assert ptx.slots == text.slots == kernel.signature.slots
    assert all(".target sm_90a" in launch.module for launch in ptx.launches)


@pytest.mark.parametrize("n", [128, 129])
def test_what_follows_a_product_assembles_with_it(n: int) -> None:
    product = _narrow(64, 64) @ _narrow(64, n)
    (kernel,) = _compile((product * 0.5 + _narrow(n)).gelu() + _narrow(64, n))
    assert kernel is not None
    code = read_code(assemble_product(kernel.ir, target_of(H200)).decode())
    assert "ogive.erf" in kernel.ir
    assert "call" not in code.launches[-1].module, "functions are inlined"


def test_lines_of_odd_length_are_padded_first() -> None:
    (kernel,) = _compile(_narrow(501, 301) @ _narrow(301, 501))
    assert kernel is not None
    code = read_code(kernel.ir)
    names = [launch.name.partition("_")[0] for launch in code.launches]
    assert names == ["padding", "warpgroup"]
    assert code.workspace_bytes >= 2 * (501 * 301 + 301 * 501)


def test_a_view_begins_where_its_first_element_is() -> None:
    (kernel,) = _compile(_narrow(100, 128)[4:68, 64:] @ _narrow(64, 64))
    assert kernel is not None
    arguments = read_code(kernel.ir).launches[-1].arguments
    offsets = [each.memory.offset for each in arguments if isinstance(each, TensorMap)]
    assert 2 * (4 * 128 + 64) in offsets


@pytest.mark.parametrize("sizes", [(4, 64, 64), (64, 64, 4), (64, 8, 64)])
def test_small_products_are_left_to_threads(sizes: tuple[int, int, int]) -> None:
    m, k, n = sizes
    assert _compile(_narrow(m, k) @ _narrow(k, n)) == [None]


def test_a_gpu_without_tensor_cores_has_no_products() -> None:
    assert _compile(_narrow(64, 64) @ _narrow(64, 64), FACTS) == [None]


def test_a_damaged_line_is_refused() -> None:
    with raises(LoadError, match="does not say how it is launched"):
        read_code(MARK + '{"slots": [0]}\n')
