"""Sums of products of narrow elements: by words where the target can, without where it cannot."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ogive import Config, Tensor
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.cpu.host_machine import host_machine
from ogive.compiler.devices.llvm.compile_region import compile_region
from ogive.compiler.devices.llvm.library.assembler import assembly
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from ogive.compiler.targets.target import Target, describe_cpu
from tests.compiler.passes.parametric import normalize

CHECKED = Config(verify=True)
BFLOAT16 = ml_dtypes.bfloat16
SHAPES = [(64, 64, 64), (17, 33, 70), (33, 47, 40), (50, 257, 100), (40, 2, 500)]


def plain_host() -> Target:
    """This machine without its dot products."""
    host = host_target()
    features = [n for n in host.features.split(",") if "vnni" not in n and "bf16" not in n]
    return dataclasses.replace(
        host, features=",".join([n for n in features if n not in ("+dotprod", "+i8mm")])
    )


@pytest.fixture(params=["host", "plain"])
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    chosen = host_target() if request.param == "host" else plain_host()
    with host_machine.taken_for(chosen):
        yield chosen


def dots_in(tensor: Tensor, target: Target) -> int:
    """How many kernels multiply words."""
    steps = schedule_graph(normalize((tensor.node,)).sink, target, CHECKED).kernels
    return sum([any(n.op is Op.DOT for n in step.region.graph.walk()) for step in steps])


def integers(kind: Any, *shape: int) -> Any:
    bounds = np.iinfo(kind)
    values = np.random.default_rng(sum(shape)).integers(bounds.min, bounds.max + 1, shape)
    values.ravel()[::3] = bounds.min
    return values.astype(kind)


@pytest.mark.parametrize("left", [np.int8, np.uint8, np.int16])
@pytest.mark.parametrize("right", [np.int8, np.uint8, np.int16])
@pytest.mark.parametrize("shape", SHAPES)
def test_products_of_bytes_are_exact(
    left: Any, right: Any, shape: tuple[int, int, int], target: Target
) -> None:
    rows, depth, columns = shape
    a, b = integers(left, rows, depth), integers(right, depth, columns)
    product = Tensor(a).cast("int32") @ Tensor(b).cast("int32")
    assert (dots_in(product, target) > 0) == any(dot.total == "int32" for dot in target.dots)
    exact = a.astype(np.int32) @ b.astype(np.int32)
    np.testing.assert_array_equal(product.realize(config=CHECKED).numpy(), exact)


@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_bytes_added_up_as_bytes_wrap_around(kind: Any, target: Target) -> None:
    a, b = integers(kind, 40, 90), integers(kind, 90, 64)
    product = Tensor(a) @ Tensor(b)
    exact = (a.astype(np.int64) @ b.astype(np.int64)).astype(kind)
    np.testing.assert_array_equal(product.realize(config=CHECKED).numpy(), exact)


def test_operands_that_are_transposed_batched_or_computed_are_exact(target: Target) -> None:
    a, b = integers(np.int8, 3, 60, 20), integers(np.int8, 3, 33, 60)
    left, right = Tensor(a).transpose(1, 2) + 1, Tensor(b).transpose(1, 2).flip(2)
    product = left.cast("int32") @ right.cast("int32")
    exact = (a.swapaxes(1, 2) + np.int8(1)).astype(np.int32) @ b.swapaxes(1, 2)[:, :, ::-1].astype(
        np.int32
    )
    np.testing.assert_array_equal(product.realize(config=CHECKED).numpy(), exact)


def test_the_least_bytes_do_not_saturate(target: Target) -> None:
    least = np.full((32, 260), -128, np.int8)
    product = Tensor(least).cast("int32") @ Tensor(least).T.cast("int32")
    assert (product.numpy() == 260 << 14).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_products_of_bfloat16_are_added_up_in_float32(
    shape: tuple[int, int, int], target: Target
) -> None:
    rows, depth, columns = shape
    generator = np.random.default_rng(depth)
    a = generator.standard_normal((rows, depth)).astype(BFLOAT16)
    b = generator.standard_normal((depth, columns)).astype(BFLOAT16)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    wide = Tensor(a).float() @ Tensor(b).float()
    assert (dots_in(wide, target) > 0) == any(dot.left == "bfloat16" for dot in target.dots)
    np.testing.assert_allclose(wide.numpy(), exact, rtol=0, atol=1e-6 * depth)
    narrow = (Tensor(a) @ Tensor(b)).realize(config=CHECKED)
    np.testing.assert_allclose(
        narrow.numpy().astype(np.float64), exact, rtol=2**-8, atol=1e-6 * depth
    )


def test_infinity_and_nan_come_through(target: Target) -> None:
    a = np.ones((24, 66), BFLOAT16)
    b = np.ones((66, 40), BFLOAT16)
    a[3, 5], a[4, 6], b[65, 7] = np.inf, np.nan, -np.inf
    got = (Tensor(a) @ Tensor(b)).numpy().astype(np.float64)
    with np.errstate(invalid="ignore"):
        want = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_array_equal(got, want)


def test_what_is_not_narrow_is_no_business_of_words() -> None:
    target = host_target()
    narrow, wide = Tensor(integers(np.int8, 64, 64)), Tensor(np.ones((64, 64), np.int32))
    assert dots_in(narrow.cast("int32") @ wide, target) == 0
    assert dots_in(narrow.cast("int64") @ narrow.cast("int64"), target) == 0
    assert dots_in(narrow.float() @ narrow.float(), target) == 0


@pytest.mark.parametrize(
    ("kind", "triple", "features", "instruction"),
    [
        (BFLOAT16, "x86_64-linux-gnu", "+avx512f,+avx512bf16", "vdpbf16ps"),
        (np.int8, "x86_64-linux-gnu", "+avx512f,+avx512vnni", "vpdpbusd"),
        (np.int8, "x86_64-linux-gnu", "+avx,+avx2,+avxvnni", "vpdpbusd"),
        (np.int8, "x86_64-linux-gnu", "+avx,+avx2", "vpmaddwd"),
        (np.int16, "x86_64-linux-gnu", "+avx512f,+avx512bw,+avx512vnni", "vpdpwssd"),
        (BFLOAT16, "aarch64-linux-gnu", "+bf16", "bfdot"),
        (np.int8, "aarch64-linux-gnu", "+dotprod", "sdot"),
        (np.uint8, "aarch64-linux-gnu", "+dotprod", "udot"),
    ],
)
def test_each_target_has_its_instruction(
    kind: Any, triple: str, features: str, instruction: str
) -> None:
    target = describe_cpu(triple, "", features)
    operand = Tensor(np.ones((64, 64), kind))
    *_, last = schedule_graph(normalize(((operand @ operand).node,)).sink, target, CHECKED).kernels
    kernel = compile_region(last.region.graph, target, CHECKED)
    assert instruction in assembly(kernel.ir, target)
