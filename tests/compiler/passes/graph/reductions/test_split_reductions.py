"""Long reductions in two steps: chunks, and what they were reduced to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ogive import Tensor, Variable
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.graph.reductions.split_reductions import split_reductions
from tests.compiler.passes.parametric import normalize

Array = np.ndarray[Any, np.dtype[Any]]


def values(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def reduced_shapes(tensor: Tensor) -> list[tuple[int, ...]]:
    """The shapes that are reduced one after the other once long reductions are split."""
    sink: UOp = split_reductions(normalize((tensor.node,)).sink, host_target())
    return [node.src[0].shape for node in sink.walk() if node.op is Op.REDUCE_AXES]


def test_chunks_of_rows_need_not_divide_their_number() -> None:
    assert reduced_shapes(Tensor(values(5003, 100)).sum(0)) == [(35, 144, 100), (35, 100)]


@pytest.mark.parametrize(
    ("shape", "joined"),
    [
        ((100003, 5), [(33, 192, 80), (528, 5)]),
        ((50001, 3, 2), [(33, 96, 96), (528, 3, 2)]),
        ((20001, 24), [(35, 144, 96), (140, 24)]),
    ],
)
def test_short_rows_are_joined_to_some_whole_lines(
    shape: tuple[int, ...], joined: list[tuple[int, ...]]
) -> None:
    assert reduced_shapes(Tensor(values(*shape)).sum(0)) == joined


@pytest.mark.parametrize(
    "build",
    [
        lambda: Tensor(values(100003, 8))[:, :5].sum(0),  # with gaps between them
        lambda: (Tensor(values(100003, 5)) * Tensor(values(5))).sum(0),  # beside what is no row
        lambda: Tensor(values(5, 100003)).T.sum(0),  # which are columns
        lambda: Tensor(values(40, 9001, 5)).sum(1),  # of which there are many
    ],
)
def test_other_rows_are_not_joined(build: Callable[[], Tensor]) -> None:
    assert all(shape[-1] != 80 for shape in reduced_shapes(build()))


def test_many_partial_rows_are_added_up_in_chunks_again() -> None:
    shapes = reduced_shapes(Tensor(values(1)).expand(1 << 18, 600).sum(0))
    assert shapes == [(4096, 64, 600), (64, 64, 600), (64, 600)]


@pytest.mark.parametrize("shape", [(100003, 5), (9001, 33), (5003, 100), (3001, 401), (257, 4099)])
@pytest.mark.parametrize("name", ["sum", "amax", "mean"])
def test_results_are_those_of_numpy(shape: tuple[int, int], name: str) -> None:
    x = values(*shape)
    expected = getattr(np, name)(x.astype(np.float64), 0)
    np.testing.assert_allclose(
        getattr(Tensor(x), name)(0).numpy(), expected, rtol=1e-6, atol=1e-5 * len(x) ** 0.5
    )


@pytest.mark.parametrize("dtype", ["int8", "int64", "bool", "float64", "float16"])
def test_short_rows_of_any_dtype(dtype: str) -> None:
    x = (values(70001, 7) > 1.5).astype(dtype)
    np.testing.assert_array_equal(Tensor(x).amax(0).numpy(), x.max(0))
    total = Tensor(x).sum(0).numpy()
    np.testing.assert_array_equal(total, x.sum(0, np.float64).astype(total.dtype))


def test_an_expression_of_short_rows() -> None:
    x, y = values(70001, 6), values(70001, 6)
    result = ((Tensor(x) - Tensor(y)) ** 2 * 0.5).sum(0)
    assert reduced_shapes(result)[0][-1] == 96
    exact = ((x.astype(np.float64) - y) ** 2 * 0.5).sum(0)
    np.testing.assert_allclose(result.numpy(), exact, rtol=1e-6)


def test_a_symbolic_number_of_rows() -> None:
    x = values(60000, 5)
    for count in (1, 31999, 60000):
        rows = Variable("rows", 1, 60000).bind(count)
        exact = x[:count].astype(np.float64).sum(0)
        np.testing.assert_allclose(Tensor(x)[:rows].sum(0).numpy(), exact, rtol=1e-5, atol=1e-3)
