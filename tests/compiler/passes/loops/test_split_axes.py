"""Axes that memory is laid out by in blocks: linear offsets, whatever the lengths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import ogive
from ogive import Config, Tensor
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.symbolic.index_arithmetic import linear_form
from tests.compiler.passes.loops.loops import CONFIG, kernels_of
from tests.costs import SMALL_SCORES, host_with

Array = NDArray[Any]
RANDOM = np.random.default_rng(7)


def data(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def divided(root: UOp) -> list[UOp]:
    """The offsets that are not sums of multiples of counters."""
    return [
        node
        for node in root.walk()
        if node.op is Op.INDEX
        and any(term.op is not Op.RANGE for term in linear_form(node.src[1])[0])
    ]


# Each of these reads the same in PyTorch, where it is computed in float64.
REDUCED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "greatest product": lambda x, y, _: (x @ y.mT).amax(-1),
    "least product": lambda x, y, _: (x @ y.mT).amin(-1),
    "sum of exponentials": lambda x, y, _: (x @ y.mT).exp().sum(-1),
    "repeated": lambda x, y, z: (z * x[:, :13].repeat_interleave(7, -1)[:, : z.shape[1]]).sum(-1),
}


@pytest.mark.parametrize("columns", [65, 77, 96])
@pytest.mark.parametrize("name", REDUCED)
def test_sums_over_blocks_that_are_not_full_are_right(name: str, columns: int) -> None:
    operands = data(50, 24), data(columns, 24), data(50, columns - 6)
    got = REDUCED[name](*map(Tensor, operands))
    assert not any(map(divided, kernels_of(got)))
    wanted = REDUCED[name](*[torch.tensor(operand.astype(np.float64)) for operand in operands])
    np.testing.assert_allclose(got.realize(config=CONFIG).numpy(), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mask", ["none", "causal", "of bools", "added"])
def test_scores_of_odd_lengths_are_right(mask: str) -> None:
    query, key, value = data(2, 71, 24), data(2, 77, 24), data(2, 77, 40)
    masks: dict[str, Array] = {"of bools": data(71, 77) > 0, "added": data(71, 77)}
    given = masks.get(mask)
    causal = mask == "causal"
    got = Tensor(query).scaled_dot_product_attention(
        Tensor(key), Tensor(value), None if given is None else Tensor(given), is_causal=causal
    )
    kernels = kernels_of(got, host_with(SMALL_SCORES))
    assert any(node.op is Op.STAGE for node in kernels[-1].walk())
    assert not any(map(divided, kernels))
    exact = [torch.tensor(operand.astype(np.float64)) for operand in (query, key, value)]
    if given is not None:
        given = given if mask == "of bools" else given.astype(np.float64)
    wanted = torch.nn.functional.scaled_dot_product_attention(
        *exact, None if given is None else torch.tensor(given), is_causal=causal
    )
    config = Config(verify=True, threads=1, costs=SMALL_SCORES)
    alone = got.realize(config=config).numpy()
    np.testing.assert_allclose(alone, wanted, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(("taps", "is_split"), [(3, False), (8, True), (9, True)])
def test_results_by_taps_of_strided_windows_are_split_if_little_is_left_over(
    taps: int, is_split: bool
) -> None:
    image, upstream = data(2, 8, 31), data(2, 40, (31 - taps) // 2 + 1)
    filters = Tensor(data(40, 8, taps))
    x, given = Tensor(image), Tensor(upstream)
    got = ogive.grad(lambda w: (x.conv1d(w, stride=2) * given).sum())(filters)
    assert any(map(divided, kernels_of(got))) is not is_split
    places = (31 - taps) // 2 + 1
    windows = np.stack([image[:, :, 2 * p : 2 * p + taps] for p in range(places)], 2)
    wanted = np.einsum("bcpt,bfp->fct", windows.astype(np.float64), upstream)
    np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-4, atol=1e-4)
