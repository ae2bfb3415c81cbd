"""Attentions for a GPU with tensor cores are one kernel each, forward and backward."""

from __future__ import annotations

import numpy
import pytest

import ogive
from ogive import Tensor
from ogive.compiler.devices.cuda.attention.compile_attention import compile_attention
from ogive.compiler.devices.cuda.gpu_target import target_of
from ogive.compiler.devices.cuda.products.compile_product import assemble_product, read_code
from ogive.compiler.devices.cuda.products.launches import Memory, TensorMap
from ogive.compiler.devices.protocol import CompiledKernel
from ogive.compiler.engine.parametric import to_parametric
from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.pipeline.graph_passes import schedule_devices, schedule_graph
from ogive.compiler.passes.regions.number_slots import Schedule
from ogive.compiler.targets.costs import gpu_costs
from ogive.config import current_config
from ogive.nn.functional import scaled_dot_product_attention
from tests.compiler.devices.cuda.products.test_compile_product import H200
from tests.costs import costs_in_force

TARGET = target_of(H200)


def _compile(*tensors: Tensor) -> list[CompiledKernel | None]:
    """What the kernels of tensors are on a GPU."""
    config, regions = current_config(), []

    def schedule(part: UOp, device: str) -> Schedule:
        made = schedule_graph(part, TARGET, config)
        regions.extend([step.region.graph for step in made.kernels])
        return made

    sink = to_parametric(tuple([tensor.node for tensor in tensors]), config).sink
    schedule_devices(sink, config, schedule)
    return [compile_attention(region, TARGET, config) for region in regions]


def _narrow(*shape: int, dtype: str = "bfloat16") -> Tensor:
    return Tensor(numpy.zeros(shape, numpy.float32)).cast(dtype).realize()


def _three(*shape: int, dtype: str = "bfloat16") -> tuple[Tensor, Tensor, Tensor]:
    query, key, value = [_narrow(*shape, dtype=dtype) for _ in range(3)]
    return query, key, value


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("size", [64, 128, 40])
def test_attention_is_one_kernel_that_assembles(is_causal: bool, dtype: str, size: int) -> None:
    inputs = _three(2, 3, 300, size, dtype=dtype)
    (kernel,) = _compile(scaled_dot_product_attention(*inputs, is_causal=is_causal))
    assert kernel is not None
    (launch,) = read_code(assemble_product(kernel.ir, TARGET).decode()).launches
    assert launch.name.startswith(f"attention_{dtype}")
    assert launch.shared_bytes <= H200.shared_bytes
    assert ".local" not in launch.module and "call" not in launch.module
    element = "bf16" if dtype == "bfloat16" else "f16"
    assert f"wgmma.mma_async.sync.aligned.m64n128k16.f32.{element}" in launch.module


@pytest.mark.parametrize("mask", ["bool", "bfloat16"])
def test_masks_are_read_by_the_kernel(mask: str) -> None:
    inputs = _three(2, 3, 256, 64)
    given = _narrow(256, 256).cast(mask).realize()
    (kernel,) = _compile(scaled_dot_product_attention(*inputs, attn_mask=given))
    assert kernel is not None


def test_heads_are_read_where_they_are_and_written_once() -> None:
    joined = _narrow(2, 256, 3 * 4 * 64).reshape(2, 256, 3, 4, 64)
    query, key, value = (joined[:, :, each].transpose(1, 2) for each in range(3))
    kernels = _compile(scaled_dot_product_attention(query, key, value, is_causal=True))
    (kernel,) = kernels
    assert kernel is not None
    (launch,) = read_code(kernel.ir).launches
    maps = [each for each in launch.arguments if isinstance(each, TensorMap)]
    assert {each.memory.offset for each in maps} == {0, 2 * 4 * 64, 2 * 2 * 4 * 64}


def test_keys_shared_by_heads_are_not_repeated() -> None:
    query, key, value = _narrow(2, 8, 256, 64), _narrow(2, 2, 256, 64), _narrow(2, 2, 256, 64)
    (kernel,) = _compile(scaled_dot_product_attention(query, key, value, enable_gqa=True))
    assert kernel is not None
    (launch,) = read_code(kernel.ir).launches
    maps = [each for each in launch.arguments if isinstance(each, TensorMap)]
    assert sorted([4 if 4 in each.extents[2:] else 1 for each in maps]) == [1, 1, 4, 4]


def test_lines_that_the_engine_does_not_take_are_copied_first() -> None:
    inputs = _three(2, 3, 256, 36)
    (kernel,) = _compile(scaled_dot_product_attention(*inputs))
    assert kernel is not None
    code = read_code(kernel.ir)
    assert [launch.name for launch in code.launches[:-1]] == ["padding_copy_2"] * 3
    assert code.workspace_bytes >= 3 * 2 * 3 * 256 * 64 * 2


@pytest.mark.parametrize("is_causal", [False, True])
def test_results_levels_of_rows_and_gradients_are_attentions(is_causal: bool) -> None:
    inputs = _three(2, 3, 1024, 64)
    for each in inputs:
        each.requires_grad_()
    with costs_in_force(gpu_costs()):
        result = scaled_dot_product_attention(*inputs, is_causal=is_causal)
        result.backward(_narrow(2, 3, 1024, 64))
    kernels = _compile(result, *[each.grad for each in inputs if each.grad is not None])
    attentions = [kernel for kernel in kernels if kernel is not None]
    assert len(attentions) == 5  # results, levels of rows, three gradients
    for kernel in attentions:
        assemble_product(kernel.ir, TARGET)
        for launch in read_code(kernel.ir).launches:
            memory = [each for each in launch.arguments if isinstance(each, (Memory, TensorMap))]
            assert memory


def test_weights_that_somebody_else_reads_are_kept() -> None:
    query, key, value = (_narrow(2, 3, 256, 64).float() for _ in range(3))
    scores = query @ key.transpose(-1, -2)
    weights = (scores - scores.amax(-1, keepdim=True)).exp()
    mixed = (weights @ value / weights.sum(-1, keepdim=True)).cast(ogive.bfloat16)
    assert _compile(mixed) != [None] * 3
    assert all(kernel is None for kernel in _compile(mixed, weights))


def test_rows_that_are_longer_than_registers_hold_are_no_attention() -> None:
    inputs = _three(2, 3, 256, 256)
    assert all(kernel is None for kernel in _compile(scaled_dot_product_attention(*inputs)))
