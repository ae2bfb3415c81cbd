"""einops finds our tensors, whichever is imported first, and gives what it gives for PyTorch's."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import einops
import numpy as np
import pytest
import torch

import ogive
from ogive import Tensor

X = np.random.default_rng(4).normal(size=(2, 3, 4, 6))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: einops.rearrange(x, "b c h (w p) -> b (h w) (p c)", p=2),
        lambda x: einops.rearrange([x, x], "n b c h w -> b (n c) h w"),
        lambda x: einops.rearrange(x, "b ... -> (b ...)"),
        lambda x: einops.repeat(x, "b c h w -> b (c r) h w k", r=2, k=3),
        lambda x: einops.reduce(x, "b c (h i) (w j) -> b c h w", "mean", i=2, j=3),
        lambda x: einops.reduce(x, "b c h w -> b () w", "max"),
        lambda x: einops.reduce(x, "b c h w -> c", "min"),
        lambda x: einops.reduce(x, "b c h w -> h w", "prod"),
        lambda x: einops.reduce(x > 0, "b c h w -> b", "any"),
        lambda x: einops.einsum(x, x, "b c h w, b c v w -> b h v"),
        lambda x: einops.pack([x, x[..., 0]], "b c *")[0],
        lambda x: einops.unpack(x, [[2], [4]], "b c h *")[1],
    ],
)  # fmt: skip
def test_patterns_give_what_they_give_for_pytorch(call: Any) -> None:
    ours, theirs = call(Tensor(X)), call(torch.tensor(X))
    assert isinstance(ours, Tensor)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12)


def test_gradients_go_back_through_patterns() -> None:
    x = Tensor([[1.0, 2.0, 3.0, 4.0]], requires_grad=True)
    einops.reduce(x, "a (b c) -> a b", "sum", c=2)[0, 1].backward()
    assert x.grad is not None and x.grad.tolist() == [[0, 0, 1, 1]]


def test_patterns_are_captured() -> None:
    turned = ogive.jit(lambda x: einops.rearrange(x, "a b -> b a") + 1)
    assert turned(Tensor([[1.0, 2.0]])).tolist() == [[2], [3]]


@pytest.mark.parametrize("order", ["einops, ogive", "ogive, einops", "ogive, torch, einops"])
def test_einops_finds_our_tensors_in_any_order_of_imports(order: str) -> None:
    code = (
        f"import {order}\n"
        "import gc; gc.collect()\n"
        "assert einops.rearrange(ogive.ones(2, 3), 'a b -> b a').shape == (3, 2)\n"
        "import sys; assert not [each for each in sys.meta_path if 'ogive' in repr(each)]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_import_does_not_bring_in_einops() -> None:
    code = "import sys, ogive; assert 'einops' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
