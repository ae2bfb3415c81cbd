"""Gradients of attention over long sequences, for which nothing of its square is kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import ogive
from ogive import Tensor
from ogive.compiler.targets.costs import CPU_COSTS
from tests.costs import costs_in_force
from tests.tensor.neural.test_dot_product_attention import CASES, KEY, NAME, QUERY, VALUE
from tests.tensor.oracle import agree_on_gradients, normal

Array = NDArray[Any]

LONG = {name: case for name, case in CASES.items() if name not in ("empty batch", "no queries")} | {
    "broadcast": ((QUERY, KEY[:1], VALUE[:, :1]), {}),
    "grouped heads, causal": (
        (QUERY, normal(2, 2, 7, 8), normal(2, 2, 7, 3)), {"enable_gqa": True, "is_causal": True}
    ),
    "fewer keys, causal": ((KEY, QUERY, normal(2, 4, 5, 3)), {"is_causal": True}),
    "tiles": ((normal(2, 70, 8), normal(2, 90, 8), normal(2, 90, 16)), {"is_causal": True}),
}  # fmt: skip


@pytest.fixture
def long() -> Iterator[None]:
    """Lets scores of any size be too large to be kept, or blocks of them."""
    scores = {"shared_score_bytes": 0, "score_bytes": 0, "score_rows": 0, "score_growth": 0}
    gradients = {"score_bytes": 1, "causal_score_bytes": 1, "largest_block_bytes": 0}
    with costs_in_force(CPU_COSTS.with_changes(staging=scores, score_gradients=gradients)):
        yield


@pytest.mark.parametrize("case", LONG)
def test_gradients_agree_with_torch(case: str, long: None) -> None:
    arguments, options = LONG[case]
    wanted = tuple([i for i, each in enumerate(arguments) if each.dtype != bool])
    if case == "mask of infinities":
        wanted = (0, 1, 2)  # PyTorch's gradient of such a mask is NaN
    agree_on_gradients(NAME, *arguments, wanted=wanted, **options)


@pytest.mark.parametrize("case", ["masked", "grouped heads", "no batch", "broadcast"])
@pytest.mark.parametrize("nbytes", [120, 600])
def test_gradients_by_blocks_agree_with_torch(case: str, nbytes: int) -> None:
    """The scores of one of the heads, of doubles, take 280 bytes."""
    arguments, options = LONG[case]
    gradients = {"score_bytes": 1, "block_bytes": nbytes}
    with costs_in_force(CPU_COSTS.with_changes(score_gradients=gradients)):
        agree_on_gradients(NAME, *arguments, wanted=(0, 1, 2), **options)


@pytest.mark.parametrize("is_causal", [False, True])
def test_gradients_of_gradients_agree_with_torch(is_causal: bool, long: None) -> None:
    arrays = [normal(2, 9, 4) for _ in range(3)]

    def penalty(library: Any, query: Any, key: Any, value: Any) -> Any:
        function = library.nn.functional.scaled_dot_product_attention
        return (function(query, key, value, is_causal=is_causal) ** 2).sum()

    exact = [torch.tensor(array, requires_grad=True) for array in arrays]
    first = torch.autograd.grad(penalty(torch, *exact), exact, create_graph=True)
    wanted = torch.autograd.grad(sum([(each**3).sum() for each in first]), exact)

    def slope(*inputs: Tensor) -> Tensor:
        parts = ogive.grad(lambda *x: penalty(ogive, *x), argnums=(0, 1, 2))(*inputs)
        return sum([(each**3).sum() for each in parts], start=Tensor(0.0))

    got = ogive.grad(slope, argnums=(0, 1, 2))(*[Tensor(array) for array in arrays])
    for mine, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=1e-7, atol=1e-7)


def test_gradients_map_over_examples(long: None) -> None:
    x = normal(3, 6, 4)

    def loss(each: Tensor) -> Tensor:
        return (each.scaled_dot_product_attention(each, each, is_causal=True) ** 2).sum()

    mapped = ogive.vmap(ogive.grad(loss))(Tensor(x)).numpy()
    alone = np.stack([ogive.grad(loss)(Tensor(each)).numpy() for each in x])
    np.testing.assert_allclose(mapped, alone, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("is_causal", "most"), [(False, 48 << 20), (True, 16 << 20)])
def test_memory_does_not_grow_with_the_square_of_the_length(is_causal: bool, most: int) -> None:
    """The scores of four heads of 4096 tokens take 256 MB, of which two blocks are kept."""
    inputs = [ogive.zeros(1, 4, 4096, 16).contiguous().realize() for _ in range(3)]

    def loss(*x: Tensor) -> Tensor:
        return x[0].scaled_dot_product_attention(x[1], x[2], is_causal=is_causal).square().sum()

    gradients = ogive.grad(loss, argnums=(0, 1, 2))(*inputs)
    assert Tensor.prepare_batch(list(gradients)).memory.peak < most
