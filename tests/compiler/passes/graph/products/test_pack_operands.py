"""Which operands of products are laid out in panels, by the kernels of the plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy
import pytest

from ogive import Tensor
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.cpu.host_machine import host_machine
from tests.movement_chains.targets import running_on

ROWS, COLUMNS, DEPTH = 120, 150, 50


def values(*shape: int) -> Any:
    return numpy.random.default_rng(len(shape)).standard_normal(shape).astype(numpy.float32)


LEFT, RIGHT = values(ROWS, DEPTH), values(DEPTH, COLUMNS)


def product(order: str) -> Tensor:
    """LEFT @ RIGHT as a sum over d of a product with the axes r, c and d in this order."""
    operands = []
    for array, names in ((LEFT, "rd"), (RIGHT, "dc")):
        kept = [name for name in order if name in names]
        shape = [array.shape[names.index(name)] if name in names else 1 for name in order]
        operands.append(Tensor(array).permute([names.index(name) for name in kept]).reshape(shape))
    return (operands[0] * operands[1]).sum(order.index("d"))


@pytest.mark.parametrize(
    ("order", "packs"), [("rcd", True), ("rdc", True), ("drc", False)]
)
def test_columns_are_packed_unless_the_depth_comes_first(order: str, packs: bool) -> None:
    result = product(order)
    plan = result.prepare()
    assert len(plan.kernels) == 1 + packs
    numpy.testing.assert_allclose(result.numpy(), LEFT @ RIGHT, rtol=1e-4, atol=1e-4)


def test_the_gradient_of_an_input_reads_the_weight_as_it_lies() -> None:
    x, weight = Tensor(LEFT, requires_grad=True), Tensor(RIGHT)
    upstream = values(ROWS, COLUMNS)
    (x @ weight).backward(Tensor(upstream))
    assert x.grad is not None
    # Of other vectors than AVX2's, a panel may be worth it.
    with host_machine.taken_for(replace(host_target(), vector_bytes=32, vector_registers=16)):
        assert len(x.grad.prepare().kernels) == 1
    numpy.testing.assert_allclose(x.grad.numpy(), upstream @ RIGHT.T, rtol=1e-4, atol=1e-4)


def convolved(features: int, side: int, **options: Any) -> Tensor:
    x, filters = values(2, 24, side, side), values(features, 24, 3, 3) / 16
    return Tensor(x).conv2d(Tensor(filters), **options)


@pytest.mark.parametrize(
    ("features", "side", "packs"),
    [(64, 14, True), (64, 32, False), (3, 14, False), (20, 7, True), (20, 22, False)],
)
def test_filters_are_packed_where_they_fill_vectors_better_than_places_do(
    features: int, side: int, packs: bool
) -> None:
    with running_on("wide"):  # whose vectors have sixteen lanes, whatever the host's have
        kernels = convolved(features, side, padding=1).prepare().kernels
    assert len(kernels) == 2 + packs  # padding, packing, the product


def test_filters_that_few_places_read_are_not_packed() -> None:
    assert len(convolved(64, 5).prepare().kernels) == 1 + 1
    assert len(convolved(64, 3).prepare().kernels) == 1


def test_each_of_two_large_products_has_a_kernel_of_its_own() -> None:
    x = values(2, 24, 32, 32)
    left, right = [Tensor(values(32, 24, size, size)) for size in (3, 5)]
    total = Tensor(x).conv2d(left, padding=1) + Tensor(x).conv2d(right, padding=2)
    each = Tensor(x).conv2d(left, padding=1), Tensor(x).conv2d(right, padding=2)
    plain = [tensor.prepare() for tensor in each]
    assert len(total.prepare().kernels) == sum(len(plan.kernels) for plan in plain)


def test_the_weights_of_an_attention_are_not_laid_out_anew() -> None:
    query, key, value = (values(8, 400, 24) for _ in range(3))
    with running_on("wide"):
        plan = Tensor(query).scaled_dot_product_attention(Tensor(key), Tensor(value)).prepare()
    assert len(plan.kernels) == 2  # the keys' panels, and all the rest
    assert plan.memory.peak < 4 * 8 * 400 * 400


def test_few_queries_go_by_the_panels_of_many_keys() -> None:
    query, key = values(8, 64, 64), values(8, 1024, 64)
    attention = Tensor(query).scaled_dot_product_attention(Tensor(key), Tensor(key + 1))
    plan = attention.prepare()
    assert len(plan.kernels) == 2  # the keys' panels, and all the rest
    assert plan.memory.peak == 4 * 8 * 1024 * 64
