"""Convolutions of narrow elements become products with one sum, for tensor cores."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from ogive import Tensor
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.cuda.gpu_target import target_of
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.graph.products.merge_product_axes import merge_product_axes
from ogive.nn.functional import conv2d
from tests.compiler.devices.cuda.products.test_compile_product import H200, _compile
from tests.compiler.passes.graph.products.rewritten_graphs import assert_same_value
from tests.compiler.passes.parametric import normalize


def narrow(*shape: int) -> Tensor:
    values = np.random.default_rng(sum(shape)).standard_normal(shape)
    return Tensor(values.astype(ml_dtypes.bfloat16)).realize()


def gradient(of: int, *shapes: tuple[int, ...]) -> Tensor:
    """Of an image or of filters, for a convolution with a border."""
    given = [narrow(*shape).requires_grad_() for shape in shapes]
    made = conv2d(given[0], given[1], padding=1)
    made.backward(narrow(*made.shape))
    found = given[of].grad
    assert found is not None
    return found


CASES: dict[str, tuple[Callable[[], Tensor], list[tuple[int, ...]]]] = {
    "a border": (
        lambda: conv2d(narrow(2, 3, 9, 9), narrow(8, 3, 3, 3), padding=1), [(2, 1, 8, 27, 9, 9)]
    ),
    "steps": (
        lambda: conv2d(narrow(2, 4, 12, 11), narrow(16, 4, 3, 2), stride=2), [(2, 1, 16, 24, 25)]
    ),
    "groups": (
        lambda: conv2d(narrow(2, 8, 9, 9), narrow(16, 4, 3, 3), groups=2), [(2, 2, 8, 36, 49)]
    ),
    "two axes": (
        lambda: (narrow(9, 1, 4, 6).float() * narrow(1, 12, 4, 6).float()).sum((2, 3)),
        [(9, 12, 24)],
    ),
}  # fmt: skip


def merged(tensor: Tensor) -> tuple[UOp, UOp]:
    """The graph of a tensor, and what becomes of it for an H200."""
    sink: UOp = normalize((tensor.node,)).sink
    return sink, merge_product_axes(sink, target_of(H200))


@pytest.mark.parametrize("name", CASES)
def test_a_sum_has_one_axis_and_the_same_value(name: str) -> None:
    build, shapes = CASES[name]
    before, after = merged(build())
    assert [node.operand.shape for node in after.walk() if node.op is Op.REDUCE_AXES] == shapes
    assert_same_value(before, after, rtol=0.01, atol=0.02)


@pytest.mark.parametrize("build", [
    lambda: conv2d(narrow(2, 3, 9, 9), narrow(4, 3, 3, 3)),  # of four rows only
    lambda: conv2d(narrow(2, 8, 9, 9), narrow(8, 1, 3, 3), groups=8),  # of one
    lambda: conv2d(Tensor(np.ones((1, 8, 9, 9), "f4")), Tensor(np.ones((16, 8, 3, 3), "f4"))),
])  # fmt: skip
def test_what_is_no_work_for_tensor_cores_stays(build: Callable[[], Tensor]) -> None:
    before, after = merged(build())
    assert after is before


def test_elsewhere_nothing_changes() -> None:
    sink: UOp = normalize((CASES["a border"][0]().node,)).sink
    assert merge_product_axes(sink, host_target()) is sink


def test_a_convolution_and_its_gradients_are_products_of_matrices() -> None:
    shapes = (32, 64, 28, 28), (64, 64, 3, 3)
    forward = conv2d(narrow(*shapes[0]), narrow(*shapes[1]), padding=1)
    for tensor, others in ((forward, 1), (gradient(0, *shapes), 2), (gradient(1, *shapes), 2)):
        kernels = _compile(tensor)
        products = [kernel for kernel in kernels if kernel is not None]
        assert len(products) == 1 and len(kernels) == 1 + others
