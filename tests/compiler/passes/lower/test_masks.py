"""Masks are written such that LLVM 22 keeps them."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ogive
from ogive import Config, Tensor
from ogive.compiler.devices.llvm.compile_region import compile_region
from ogive.compiler.devices.llvm.kernel_writer import Offset, Writer
from ogive.compiler.devices.llvm.memory_accesses import Memory
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from ogive.compiler.targets.target import Target, describe_cpu
from tests.compiler.passes.parametric import normalize

WIDE = describe_cpu("x86_64-linux-gnu", "znver4", "+avx,+avx2,+avx512f,+avx512vl,+avx512bw")
NARROW = describe_cpu("x86_64-linux-gnu", "haswell", "+avx,+avx2")
SHUFFLED_BITS = re.compile(r"shufflevector <\d+ x i1>.*<i32 \d")


def code_of(tensor: Tensor, target: Target) -> str:
    """The code of all kernels of a tensor."""
    steps = schedule_graph(normalize((tensor.node,)).sink, target, Config()).kernels
    return "\n".join(compile_region(step.region.graph, target, Config()).ir for step in steps)


@pytest.mark.parametrize("target", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_mask_of_picked_elements_is_no_shuffle_of_bits(target: Target) -> None:
    # Of two such masks, those of a padded image's even and odd columns, one was the other's.
    image = Tensor(np.ones((2, 3, 4, 4), np.float32)).roll(1, -1)
    weight = Tensor(np.ones((8, 3, 3, 3), np.float32))
    code = code_of(ogive.nn.functional.conv2d(image, weight, stride=2, padding=1), target)
    assert "masked.load" in code and re.search(r"shufflevector <\d+ x i32>.*<i32 \d", code)
    assert not SHUFFLED_BITS.search(code)


def test_the_mask_of_interleaved_elements_is_no_shuffle_of_bits() -> None:
    parts = [Tensor(np.ones((5, 49), np.float32)) for _ in range(2)]
    joined = ogive.stack(parts, -1).flatten(1)[:, :63].contiguous()
    code = code_of(joined, WIDE)
    assert "masked.store" in code and not SHUFFLED_BITS.search(code)


@pytest.mark.parametrize(("lanes", "is_hidden"), [(4, False), (8, True)])
def test_the_mask_of_a_load_that_takes_two_registers_is_hidden(lanes: int, is_hidden: bool) -> None:
    writer = Writer()
    memory = Memory(writer, {}, NARROW)
    memory.bases[0] = "%base"
    parameter = UOp(Op.PARAM, dtypes.float64, (), (0, 64))
    memory.load_masked(parameter, dtypes.float64, Offset("0"), "%gate", lanes)
    assert any("asm" in line for line in writer.lines) == is_hidden
