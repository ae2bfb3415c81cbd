"""Which operands of products are laid out in panels, by the kernels of the plan."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from ogive import Tensor

ROWS, COLUMNS, DEPTH = 40, 150, 50


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


def test_the_gradient_of_an_input_is_a_product_with_a_packed_weight() -> None:
    x, weight = Tensor(LEFT, requires_grad=True), Tensor(RIGHT)
    upstream = values(ROWS, COLUMNS)
    (x @ weight).backward(Tensor(upstream))
    assert x.grad is not None
    assert len(x.grad.prepare().kernels) == 2
    numpy.testing.assert_allclose(x.grad.numpy(), upstream @ RIGHT.T, rtol=1e-4, atol=1e-4)
