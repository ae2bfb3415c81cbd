"""Kernels are called by what they do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import ogive
from ogive import Config, Tensor


def data(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(1).standard_normal(shape).astype(np.float32))


KINDS: dict[str, tuple[str, Callable[[], Tensor]]] = {
    "a function": ("elementwise", lambda: data(40, 30).exp() * 2),
    "a sum": ("reduce", lambda: data(40, 30).sum(0)),
    "a softmax": ("reduce", lambda: data(40, 30).softmax(-1)),
    "a layer norm": ("reduce", lambda: data(64, 4096).layer_norm(4096, data(4096))),
    "a sum of squares": ("reduce", lambda: (data(37, 53) * data(37, 53)).sum(-1)),
    "a weighted sum": ("reduce", lambda: (data(37, 53) * data(53)).sum(-1)),
    "a product": ("product", lambda: data(40, 30) @ data(30, 50)),
    "a product of odd lengths": ("product", lambda: data(37, 53) @ data(53, 29)),
    "a product of halves": ("product", lambda: data(8, 9).half() @ data(9, 7).half()),
    "a batch of products": ("product", lambda: data(3, 8, 9) @ data(3, 9, 7)),
    "a product with a bias": ("product", lambda: (data(40, 30) @ data(30, 50) + data(50)).relu()),
}


@pytest.mark.parametrize("vectorize", [True, False])
@pytest.mark.parametrize("name", KINDS)
def test_a_kernel_is_called_by_what_it_does(name: str, vectorize: bool) -> None:
    kind, build = KINDS[name]
    config = Config(pack_operands=False, vectorize=vectorize)
    (kernel,) = ogive.Tensor.prepare_batch([build()], config).kernels
    assert kernel.name.partition("_")[0] == kind
