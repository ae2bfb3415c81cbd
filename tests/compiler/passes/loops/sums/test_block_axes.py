"""Sums in blocks: right for any length, accurate, the same on any threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Tensor
from ogive.compiler.ir.ops import Op
from ogive.compiler.targets.target import Target
from ogive.config import Config
from tests.compiler.passes.loops.loops import CONFIG, kernels_of
from tests.costs import SMALL_SCORES, host_with

LENGTHS = [47, 512, 769, 991, 1000]  # too short, full blocks, one left over, a prime, other blocks


def random(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def reductions(tensor: Tensor, target: Target | None = None) -> list[list[int]]:
    """The lengths that each reduction of the last kernel closes, innermost first."""
    return [
        [counter.src[0].arg for counter in node.closed]
        for node in kernels_of(tensor, target)[-1].walk()
        if node.op is Op.REDUCE
    ]


def product(rows: int, length: int, columns: int) -> Tensor:
    left, right = random(rows, length), random(length, columns, seed=1)
    return Tensor(left.astype(np.float32)) @ Tensor(right.astype(np.float32))


def test_a_long_sum_of_products_is_a_sum_of_sums() -> None:
    assert reductions(product(48, 2048, 64)) == [[256], [8]]
    assert reductions(product(48, 1000, 64)) == [[250], [4]]
    assert reductions(product(48, 333, 64)) == [[111], [3]]


def test_operands_that_are_read_a_few_times_make_shorter_blocks() -> None:
    assert reductions(product(8, 1024, 64)) == [[32], [32]]
    assert reductions(product(1, 3600, 64)) == [[60], [60]]


def test_sums_of_integers_are_exact_and_not_cut() -> None:
    left, right = np.ones((48, 1024), np.int8), np.ones((1024, 64), np.int8)
    given = Tensor(left).cast("int32") @ Tensor(right).cast("int32")
    assert len(reductions(given)) == 1


def test_what_does_not_fill_a_block_is_added_by_itself() -> None:
    assert sorted(reductions(product(48, 991, 64))) == [[3], [247], [248]]


def test_a_short_sum_and_a_sum_in_lanes_stay_as_they_are() -> None:
    assert reductions(product(48, 64, 64)) == [[64]]
    matrix, vector = random(64, 1024), random(1024)
    assert reductions(Tensor(matrix) @ Tensor(vector)) == [[1024]]


@pytest.mark.parametrize("vectorize", [True, False])
@pytest.mark.parametrize("length", LENGTHS)
def test_products_of_any_length_are_right(length: int, vectorize: bool) -> None:
    left, right = random(19, length), random(length, 70, seed=1)
    result = Tensor(left) @ Tensor(right)
    result.prepare(CONFIG.with_changes({"vectorize": vectorize})).execute()
    np.testing.assert_allclose(result.numpy(), left @ right, rtol=1e-12, atol=1e-12)


def test_the_error_of_a_product_grows_with_a_block_and_not_with_the_sum() -> None:
    left, right = random(32, 16384).astype(np.float32), random(16384, 64, seed=1).astype(np.float32)
    expected = left.astype(np.float64) @ right
    error = np.abs((Tensor(left) @ Tensor(right)).numpy() - expected).max()
    assert error < 1e-6 * np.abs(expected).max()


@pytest.mark.parametrize(
    ("batch", "channels", "side", "filters", "window", "stride"),
    [(1, 61, 9, 33, 3, 1), (2, 157, 20, 32, 3, 2), (4, 94, 8, 170, 5, 2)],
)
def test_blocks_of_channels_of_a_convolution_are_right(
    batch: int, channels: int, side: int, filters: int, window: int, stride: int
) -> None:
    torch = pytest.importorskip("torch")
    image = random(batch, channels, side, side)
    weight = random(filters, channels, window, window, seed=1)
    convolve = torch.nn.functional.conv2d
    expected = convolve(torch.tensor(image), torch.tensor(weight), None, stride, window // 2)
    result = Tensor(image).conv2d(Tensor(weight), None, stride, window // 2)
    np.testing.assert_allclose(result.numpy(), expected.numpy(), rtol=1e-11, atol=1e-11)


def test_a_convolution_is_as_accurate_as_a_product() -> None:
    """Its windows are contiguous along what is summed as well, if not for long."""
    torch = pytest.importorskip("torch")
    image = np.abs(random(1, 256, 32, 32)).astype(np.float32)
    weight = np.abs(random(8, 256, 3, 3, seed=1)).astype(np.float32)
    result = Tensor(image).conv2d(Tensor(weight), None, 1, 1)
    assert reductions(result) == [[4, 3, 3], [64]]
    arrays = [torch.tensor(array.astype(np.float64)) for array in (image, weight)]
    expected = torch.nn.functional.conv2d(*arrays, None, 1, 1).numpy()
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((2, 20, 56), [[56], [20], [2]]),  # the inner axes make several blocks
        ((3, 5, 7), [[5, 7], [3]]),  # or one
        ((192, 2, 32), [[2, 32], [96], [2]]),  # so that the outer one is cut as well
        ((3, 2, 7), [[3, 2, 7]]),
    ],
)
def test_a_product_that_is_summed_along_several_axes_is_a_sum_of_sums(
    shape: tuple[int, int, int], expected: list[list[int]]
) -> None:
    """Here the axes have gaps between them, and are not merged."""
    wider = tuple([size + 1 for size in shape])
    left, right = random(*wider, 5), random(*wider, 3, 1, seed=1)
    inside = tuple([slice(0, size) for size in shape])
    result = (Tensor(left)[inside].unsqueeze(3) * Tensor(right)[inside]).sum((0, 1, 2))
    assert reductions(result) == expected
    exact = (left[inside][:, :, :, None] * right[inside]).sum((0, 1, 2))
    np.testing.assert_allclose(result.numpy(), exact, rtol=1e-11, atol=1e-11)


def test_a_product_of_positions_reads_nothing_and_is_right() -> None:
    rows, columns = ogive.arange(700).float().unsqueeze(1), ogive.arange(40).float()
    expected = np.arange(40.0) * np.arange(700.0).sum()
    np.testing.assert_allclose((rows * columns).sum(0).numpy(), expected, rtol=1e-6)


SUMS: dict[str, tuple[tuple[int, ...], tuple[int, ...], list[list[int]]]] = {
    "a row of several blocks": ((40, 6144), (1,), [[1024], [6]]),
    "a row with something left over": ((40, 10007), (1,), [[1024], [9], [791]]),
    "a short row": ((40, 2047), (1,), [[2047]]),
    "columns": ((640, 50), (0,), [[16], [20], [2]]),
    "columns of many rows": ((5000, 50), (0,), [[20], [10], [25]]),
    "a batch of images": ((70, 33, 60, 60), (0, 2, 3), [[960], [3], [720], [14], [5]]),
}


@pytest.mark.parametrize("kind", SUMS)
def test_any_long_sum_is_a_sum_of_sums(kind: str) -> None:
    shape, axes, expected = SUMS[kind]
    values = random(*shape).astype(np.float32)
    given = Tensor(values).sum(axes)
    assert reductions(given) == expected
    exact = values.sum(axes, dtype=np.float64)
    np.testing.assert_allclose(given.numpy(), exact, rtol=0, atol=3e-7 * np.abs(exact).max())


def test_sums_of_sums_that_both_leave_something_over_miss_nothing() -> None:
    ones = np.ones((97, 97), np.float32)
    assert Tensor(ones).flip(1).square().sum().item() == 97 * 97
    left, right = np.ones((519, 2, 67, 5)), np.ones((519, 2, 67, 3, 1))
    product = Tensor(left)[:, :, :65].unsqueeze(3) * Tensor(right)[:, :, :65]
    assert (product.sum((0, 1, 2)).numpy() == 519 * 2 * 65).all()


@pytest.mark.parametrize(
    ("shape", "axis"), [((40, 10007), 1), ((4747, 5), 0), ((1301, 37), 0), ((521, 158), 0)]
)
def test_sums_that_share_a_loop_are_cut_together(shape: tuple[int, int], axis: int) -> None:
    values = random(*shape)
    given = Tensor(values)
    together = given.sum(axis) / given.amax(axis) - (given * given).sum(axis)
    expected = values.sum(axis) / values.max(axis) - (values * values).sum(axis)
    np.testing.assert_allclose(together.numpy(), expected, rtol=1e-11)


def test_what_a_sum_in_blocks_needs_is_reduced_once() -> None:
    values = random(40, 10007)
    given = Tensor(values).var(1)
    assert reductions(given) == [[1024], [9], [791]] * 2  # the mean, and the sum about it
    np.testing.assert_allclose(given.numpy(), values.var(1, ddof=1), rtol=1e-12)


def test_rows_of_scores_are_added_up_in_blocks() -> None:
    target = host_with(SMALL_SCORES)
    query, key, value = random(2, 40, 16), random(2, 331, 16, seed=1), random(2, 331, 64, seed=2)
    given = Tensor(query).scaled_dot_product_attention(Tensor(key), Tensor(value))
    assert {(83,), (3,), (82,)} <= set(map(tuple, reductions(given, target)))
    staged = [node for node in kernels_of(given, target)[-1].walk() if node.op is Op.STAGE]
    assert len(staged) == 2  # scores and exponentials: once, for full blocks and what is left over
    scores = np.exp(query @ key.transpose(0, 2, 1) / 4)
    expected = scores @ value / scores.sum(-1, keepdims=True)
    given.realize(config=Config(costs=SMALL_SCORES))
    np.testing.assert_allclose(given.numpy(), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("kind", ["product", "row times matrix", "sum of columns"])
def test_the_bits_do_not_depend_on_the_number_of_threads(kind: str) -> None:
    def compute(threads: int) -> bytes:
        if kind == "product":
            result = product(200, 991, 300)
        elif kind == "row times matrix":
            result = product(1, 1100, 1000)
        else:
            result = Tensor(random(1100, 1000).astype(np.float32)).sum(0)
        result.prepare(Config(threads=threads)).execute()
        return result.numpy().tobytes()

    assert len({compute(threads) for threads in (1, 2, 3, 7)}) == 1


@pytest.mark.parametrize("shape", [(1100, 1000), (4099, 257), (70, 16001)])
def test_a_row_times_a_large_matrix_and_its_sums_of_columns_are_right(
    shape: tuple[int, int],
) -> None:
    matrix, row = random(*shape), random(1, shape[0], seed=1)
    turned = Tensor(np.ascontiguousarray(matrix.T)).T
    for given, expected in [
        (Tensor(row) @ Tensor(matrix), row @ matrix),
        (Tensor(row) @ turned, row @ matrix),
        (Tensor(matrix).sum(0), matrix.sum(0)),
    ]:
        np.testing.assert_allclose(given.numpy(), expected, rtol=1e-11, atol=1e-11)
