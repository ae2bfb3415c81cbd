"""Loops that end where the last term is that counts: which ones, and that results stay."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import ogive
from ogive import Config, Tensor, Variable
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.loops.tighten_loops import tighten_loops
from ogive.compiler.targets.costs import CPU_COSTS
from ogive.compiler.targets.target import Target
from tests.compiler.passes.loops.loops import CONFIG, kernels_of
from tests.compiler.passes.place.test_placements import Kernel, check
from tests.costs import SHORT_LOOPS, SMALL_SCORES, costs_in_force, host_with

Array = NDArray[Any]
RANDOM = np.random.default_rng(23)


def data(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def ended(root: UOp) -> list[str]:
    """The extents of counters that depend on other ones."""
    counters = [node for node in root.walk() if node.op is Op.RANGE and node.ranges_below]
    return [repr(counter.src[0]) for counter in counters]


def ended_in(tensor: Tensor, target: Target | None = None) -> list[str]:
    return [end for root in kernels_of(tensor, target) for end in ended(root)]


def causal(x: Tensor) -> Tensor:
    return x.scaled_dot_product_attention(x, x, is_causal=True)


# Which loops end


@pytest.mark.parametrize(
    ("build", "ends"),
    [
        (lambda x: x.tril().sum(-1), ["i0 + 1"]),
        (lambda x: x.tril(5).sum(-1), ["min(i0 + 6, 100)"]),
        (lambda x: x.tril(-5).sum(-1), ["i0 - 4"]),
        (lambda x: x.T.tril().sum(-1), ["i0 // 20 + 1"]),
        (lambda x: ogive.where(x.bool().tril(), x, -np.inf).amax(-1), []),
        (lambda x: x.triu().sum(0), ["i0 // 20 + 1"]),
        (lambda x: x.tril().amax(-1), []),
        (lambda x: (x.tril() * x).sum(-1), []),
        (lambda x: x.triu().sum(-1), ["100 - i0"]),
        (lambda x: x.tril(3).triu(-3).sum(-1), ["min(i0 + 4, 100)"]),
        (lambda x: x[:, :20].tril().sum(-1), []),
    ],
    ids=[
        "triangle", "above the diagonal", "below the diagonal", "turned", "by data", "columns",
        "not the identity", "multiplied", "the beginning", "a band", "short",
    ],
)  # fmt: skip
def test_loops_end_where_nothing_more_counts(
    build: Callable[[Tensor], Tensor], ends: list[str]
) -> None:
    assert ended_in(build(Tensor(data(100, 100)))) == ends


def test_the_rows_of_causal_attention_end_at_the_diagonal() -> None:
    ends = ended_in(causal(Tensor(data(2, 60, 8))), host_with(SHORT_LOOPS))
    assert len(ends) == 3 and all(re.fullmatch(r"i\d( // \d+)? \+ 1", end) for end in ends)


def test_what_may_fault_is_computed_to_the_end() -> None:
    table, numbers = Tensor(data(9)), np.zeros((80, 80), np.int64)
    numbers[3, 70] = 9
    with pytest.raises(IndexError):
        table[Tensor(numbers)].tril().sum(-1).realize()


# That results are right

# Each of these reads the same in PyTorch, where it is computed in float64.
SUMS: dict[str, Callable[[Any], Any]] = {
    "triangle": lambda x: x.tril().sum(-1),
    "columns": lambda x: x.triu(-2).sum(0),
    "far below the diagonal": lambda x: x.tril(-20).sum(-1),
    "far above the diagonal": lambda x: x.tril(60).sum(-1),
    "rows that do not matter": lambda x: x[:1].expand(90, x.shape[1]).tril().sum(-1),
    "a band": lambda x: x.tril(3).triu(-3).sum(-1),
    "the other triangle": lambda x: x.triu().sum(-1),
    "columns from the diagonal on": lambda x: x.tril(1).sum(0),
    "far from the beginning": lambda x: x.triu(40).sum(-1),
    "triangle of exponentials": lambda x: (x.exp() + 1).tril().sum(-1),
    "less than the sum": lambda x: x - x.tril().sum(-1, True),
}


@pytest.mark.parametrize("shape", [(100, 100), (70, 131), (131, 70)])
@pytest.mark.parametrize("name", SUMS)
def test_sums_are_right(name: str, shape: tuple[int, int]) -> None:
    values = data(*shape)
    got = SUMS[name](Tensor(values)).realize(config=CONFIG).numpy()
    wanted = SUMS[name](torch.tensor(values.astype(np.float64))).numpy()
    np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=1e-5)


def test_a_long_sum_in_blocks_is_right() -> None:
    values = data(1, 6000)
    got = Tensor(values).expand(3000, 6000).tril(9).sum(-1)
    assert ended_in(got)
    wanted = np.cumsum(values.astype(np.float64))[9:3009]
    np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-4, atol=1e-4)


PLACED: dict[str, Callable[[], Tensor]] = {
    "triangle": lambda: Tensor(data(13, 21)).tril(2).sum(-1),
    "columns": lambda: Tensor(data(19, 11)).triu(-1).sum(0),
    "the other triangle": lambda: Tensor(data(13, 21)).triu(2).sum(-1),
    "columns from the diagonal on": lambda: Tensor(data(19, 11)).tril(-1).sum(0),
    "rows that do not matter": lambda: Tensor(data(1, 17)).expand(23, 17).tril(-3).sum(-1),
    "attention": lambda: causal(Tensor(data(2, 19, 6))),
}


@pytest.mark.parametrize("name", PLACED)
def test_random_placements_keep_the_result(name: str) -> None:
    target = host_with(SHORT_LOOPS)
    kernel = Kernel(PLACED[name](), target)
    kernel.forms = [tighten_loops(form, target) for form in kernel.forms]
    assert any(ended(form) for form in kernel.forms)
    check(kernel, 5, 6)


def test_a_row_of_symbolic_length_ends() -> None:
    config = Config(verify=True, costs=SHORT_LOOPS)
    values = data(40, 64)
    for length in (1, 17, 64):
        n = Variable("n", 1, 64).bind(length)
        got = Tensor(values)[:, :n].tril().sum(-1).realize(config=config).numpy()
        np.testing.assert_allclose(got, np.tril(values[:, :length]).sum(-1), rtol=1e-4, atol=1e-5)


def test_nan_counts_where_it_is_multiplied_and_not_where_it_is_hidden() -> None:
    x = data(80, 80)
    hidden, seen = x.copy(), x.copy()
    hidden[3, 4:] = np.nan
    seen[3, 2] = np.nan
    lower = np.tril(np.ones((80, 80), np.float32))
    assert not np.isnan(Tensor(hidden).tril().sum(-1).numpy()).any()
    assert np.flatnonzero(np.isnan(Tensor(seen).tril().sum(-1).numpy())).tolist() == [3]
    product = (Tensor(lower) * Tensor(hidden)).sum(-1).numpy()
    assert np.flatnonzero(np.isnan(product)).tolist() == [3]


@pytest.mark.parametrize("shape", [(1, 70, 16), (3, 129, 8), (2, 200, 32)])
@pytest.mark.parametrize("staged", [False, True])
def test_causal_attention_and_its_gradient_are_right(
    shape: tuple[int, int, int], staged: bool
) -> None:
    with costs_in_force(SMALL_SCORES if staged else CPU_COSTS):
        _check_causal_attention(shape)


def _check_causal_attention(shape: tuple[int, int, int]) -> None:
    arrays = [data(*shape) for _ in range(4)]
    query, key, value, weights = [Tensor(array) for array in arrays]
    for leaf in (query, key, value):
        leaf.requires_grad_()
    result = query.scaled_dot_product_attention(key, value, is_causal=True)
    (result * weights).sum().backward()
    exact = [torch.tensor(array.astype(np.float64), requires_grad=True) for array in arrays]
    wanted = torch.nn.functional.scaled_dot_product_attention(*exact[:3], is_causal=True)
    (wanted * exact[3]).sum().backward()
    np.testing.assert_allclose(result.numpy(), wanted.detach().numpy(), rtol=2e-5, atol=5e-6)
    for leaf, other in zip((query, key, value), exact, strict=False):
        assert leaf.grad is not None and other.grad is not None
        np.testing.assert_allclose(leaf.grad.numpy(), other.grad.numpy(), rtol=1e-4, atol=2e-5)


def test_the_future_does_not_matter_to_causal_attention() -> None:
    x = data(1, 80, 8)
    changed = x.copy()
    changed[0, 50:] = np.nan
    whole, part = [causal(Tensor(array)).numpy() for array in (x, changed)]
    assert whole[0, :50].tobytes() == part[0, :50].tobytes()
    assert np.isnan(part[0, 50:]).all()


@pytest.mark.parametrize("threads", [2, 7])
def test_results_are_the_same_bits_for_any_number_of_threads(threads: int) -> None:
    x = np.linspace(-2, 2, 3 * 150 * 16, dtype=np.float32).reshape(3, 150, 16)
    alone, together = [
        causal(Tensor(x)).realize(config=Config(threads=count, costs=SHORT_LOOPS)).numpy()
        for count in (1, threads)
    ]
    assert alone.tobytes() == together.tobytes()
