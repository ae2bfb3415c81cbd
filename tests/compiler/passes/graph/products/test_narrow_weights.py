"""Softmax times narrow values is a product of narrow elements, for tensor cores."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

import ogive
from ogive import Tensor
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.cuda.gpu_target import target_of
from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.graph.products.narrow_weights import narrow_weights
from ogive.nn.functional import scaled_dot_product_attention
from tests.compiler.devices.cuda.products.test_compile_product import H200, _compile
from tests.compiler.passes.graph.products.rewritten_graphs import assert_same_value
from tests.compiler.passes.parametric import normalize


def narrow(*shape: int) -> Tensor:
    return Tensor(np.ones(shape, ml_dtypes.bfloat16)).realize()


def attend(is_causal: bool, length: int = 24, heads: int = 2, size: int = 16) -> Tensor:
    query, key, value = [narrow(2, heads, length, size) for _ in range(3)]
    return scaled_dot_product_attention(query, key, value, is_causal=is_causal)


def written_out() -> Tensor:
    query, key, value = [narrow(24, 16) for _ in range(3)]
    return (query @ key.T).float().softmax(-1).cast(ogive.bfloat16) @ value


def narrowed(tensor: Tensor) -> tuple[UOp, UOp]:
    sink: UOp = normalize((tensor.node,)).sink
    return sink, narrow_weights(sink, target_of(H200))


@pytest.mark.parametrize("is_causal", [False, True])
def test_attention_is_what_it_was_but_for_rounded_weights(is_causal: bool) -> None:
    before, after = narrowed(attend(is_causal))
    assert after is not before
    assert_same_value(before, after, rtol=0.02, atol=0.01)


@pytest.mark.parametrize("is_causal", [False, True])
def test_both_products_of_wide_attention_are_by_tensor_cores(is_causal: bool) -> None:
    kernels = _compile(attend(is_causal, 256, 4, 256))
    assert sum(kernel is not None for kernel in kernels) == 2


def test_all_five_products_of_its_gradient_are() -> None:
    query, key, value = [narrow(2, 4, 256, 256).requires_grad_() for _ in range(3)]
    made = scaled_dot_product_attention(query, key, value, is_causal=True)
    made.backward(narrow(2, 4, 256, 256))
    gradients = [each.grad for each in (query, key, value) if each.grad is not None]
    kernels = _compile(ogive.cat(gradients))
    assert sum(kernel is not None for kernel in kernels) >= 5


@pytest.mark.parametrize("build", [
    written_out,  # rounded already
    lambda: narrow(24, 32).float().exp() @ narrow(32, 16).float(),  # for a result that is not
    lambda: (narrow(24, 32).float() * 2 @ narrow(32, 16).float()).cast(ogive.bfloat16),
])  # fmt: skip
def test_other_products_stay(build: Callable[[], Tensor]) -> None:
    before, after = narrowed(build())
    assert after is before


def test_elsewhere_nothing_changes() -> None:
    sink: UOp = normalize((attend(True).node,)).sink
    assert narrow_weights(sink, host_target()) is sink
