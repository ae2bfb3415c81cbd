"""Products that share an operand become one where launches are dear."""

from __future__ import annotations

import numpy
import pytest

from ogive import Config, Tensor
from ogive.compiler.targets.costs import Costs
from ogive.config import Graph

DEAR_LAUNCHES = Costs().with_changes(memory={"launch": 1e6}, packing={"kept_bytes": 1})
ROUNDING = Config(costs=DEAR_LAUNCHES, exactness="rounding", search=Graph(milliseconds=10_000))
RULE = "x · a, x · b → x · [a b], weights side by side"


def data(*shape: int) -> Tensor:
    drawn = numpy.random.default_rng(shape[0] * 7 + shape[-1]).normal(size=shape)
    return Tensor(drawn.astype(numpy.float32))


def total(values: list[Tensor]) -> Tensor:
    """One result that needs all products in memory."""
    return sum([value.tanh().sum(-1) for value in values[1:]], values[0].tanh().sum(-1))


def heads(rows: tuple[int, ...], depth: int, columns: list[int]) -> list[Tensor]:
    """Products of one value and several weights."""
    x = data(*rows, depth).tanh()
    return [x @ data(depth, count) for count in columns]


@pytest.mark.parametrize(
    "rows, depth, columns",
    [
        ((64,), 96, [64, 64, 64]),
        ((2, 24), 100, [32, 96]),
        ((16,), 257, [128, 32, 64, 32]),
        ((3, 5, 8), 33, [32, 32]),
    ],
)
def test_merged_products_are_what_single_ones_are(
    rows: tuple[int, ...], depth: int, columns: list[int]
) -> None:
    single, merged = [total(heads(rows, depth, columns)) for _ in range(2)]
    plain = single.prepare(config=Config(costs=DEAR_LAUNCHES, search=Graph(rounds=0)))
    plain.execute()
    plan = merged.prepare(config=ROUNDING)
    plan.execute()
    assert RULE in plan.explain() and "found faster ways" in plan.explain()
    numpy.testing.assert_allclose(merged.numpy(), single.numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rows, columns", [((4,), [64, 64]), ((64,), [64, 30])])
def test_products_that_would_be_laid_out_otherwise_stay_apart(
    rows: tuple[int, ...], columns: list[int]
) -> None:
    plan = Tensor.prepare_batch(heads(rows, 50, columns), ROUNDING)
    assert RULE not in plan.explain()


def test_one_weight_twice_is_one_product() -> None:
    x, weight = data(32, 64), data(64, 64)
    plan = Tensor.prepare_batch([x @ weight + 1, x @ weight - 1], ROUNDING)
    assert RULE not in plan.explain()
