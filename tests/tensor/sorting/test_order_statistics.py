"""Orders, searches and quantiles against PyTorch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import ogive
from ogive import Tensor
from ogive.compiler.targets.graph_costs import Sorting
from ogive.errors import (
    ArgumentError,
    ArgumentTypeError,
    AxisError,
    DtypeError,
    IndexRangeError,
    ShapeError,
)
from tests.raising import raises

random = np.random.default_rng(5)
LONGEST = Sorting().longest_network
LENGTHS = (7, LONGEST + 9)
"""An axis ordered by exchanging elements, and one arranged by digits."""


def numbers(*shape: int, dtype: str = "float32") -> Any:
    """Values with ties, both zeros, infinities and, for floats, NaN."""
    array = random.integers(-4, 5, shape).astype("float64") / 2
    if dtype.startswith(("float", "bfloat")):
        flat = array.reshape(-1)
        flat[: min(6, flat.size)] = [np.nan, -0.0, 0.0, np.inf, -np.inf, np.nan][: flat.size]
        random.shuffle(flat)
    return array


def pair(array: Any, dtype: str = "float32") -> tuple[Tensor, torch.Tensor]:
    names = {"float8_e4m3": "float8_e4m3fn"}
    theirs = torch.tensor(array).to(getattr(torch, names.get(dtype, dtype)))
    return Tensor(array).cast(dtype), theirs


def same(ours: Tensor, theirs: torch.Tensor) -> None:
    wide = torch.float64 if theirs.dtype.is_floating_point else theirs.dtype
    expected = theirs.to(wide).numpy()
    found = ours.cast("float64").numpy() if ours.dtype.is_float else ours.numpy()
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(
    "dtype",
    ["bool", "uint8", "int8", "int32", "int64", "float16", "bfloat16", "float32", "float64"],
)
def test_sort_is_stable_and_puts_nan_last(dtype: str, length: int, descending: bool) -> None:
    array = numbers(2, length, dtype=dtype)
    if dtype in ("bool", "uint8"):
        array = np.abs(array).round()
    ours, theirs = pair(array, dtype)
    found = ours.sort(-1, descending)
    expected = theirs.sort(dim=-1, descending=descending, stable=True)
    same(found.values, expected.values)
    same(found.indices, expected.indices)
    assert found.values.dtype is ours.dtype and found.indices.dtype is ogive.int64


def test_wide_unsigned_integers_and_8_bit_floats_are_ordered() -> None:
    wide = np.array([1, 2**64 - 1, 0, 2**63], dtype="uint64")
    assert Tensor(wide).sort().values.tolist() == sorted(wide.tolist())
    long = np.tile(wide, LONGEST)
    np.testing.assert_array_equal(Tensor(long).argsort().numpy(), np.argsort(long, kind="stable"))
    small = Tensor([0.5, -2.0, 448.0, -0.0]).cast("float8_e4m3")
    assert small.argsort().tolist() == [1, 3, 0, 2]


@pytest.mark.parametrize("length", LENGTHS)
def test_any_axis_is_sorted_also_of_views(length: int) -> None:
    array = numbers(3, length, 2)
    ours, theirs = pair(array)
    same(ours.sort(1).values, theirs.sort(1).values)
    turned = theirs.transpose(0, 1)
    same(ours.transpose(0, 1).argsort(0), turned.argsort(dim=0, stable=True))
    same(ours[::2].msort(), theirs[::2].msort())


def test_scalars_and_nothing_are_sorted() -> None:
    assert Tensor(3.0).sort().values.item() == 3.0 and Tensor(3.0).argsort().item() == 0
    assert ogive.zeros(2, 0).sort().values.shape == (2, 0)
    assert ogive.zeros(0, 40).sort().indices.shape == (0, 40)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("largest", [False, True])
def test_topk_and_kthvalue_agree_with_torch(length: int, largest: bool) -> None:
    ours, theirs = pair(random.permutation(2 * length).reshape(2, length))
    for dim, k in ((1, 3), (0, 2), (1, 0)):
        found, expected = ours.topk(k, dim, largest), theirs.topk(k, dim, largest)
        same(found.values, expected.values)
        same(found.indices, expected.indices)
    found, expected = ours.kthvalue(4, keepdim=True), theirs.kthvalue(4, keepdim=True)
    same(found.values, expected.values)
    same(found.indices, expected.indices)


@pytest.mark.parametrize("name", ["median", "nanmedian"])
@pytest.mark.parametrize("length", LENGTHS)
def test_medians_agree_with_torch(name: str, length: int) -> None:
    array = numbers(3, length)
    array[2] = np.nan
    for dtype in ("float64", "int64"):
        ours, theirs = pair(np.nan_to_num(array) if dtype == "int64" else array, dtype)
        same(getattr(ours, name)(), getattr(theirs, name)())
        for dim in (0, -1):
            found, expected = getattr(ours, name)(dim), getattr(theirs, name)(dim)
            same(found.values, expected.values)
            same(ours.gather(dim, found.indices.unsqueeze(dim)).squeeze(dim), expected.values)


@pytest.mark.parametrize("length", LENGTHS)
def test_the_mode_is_the_least_of_the_most_frequent(length: int) -> None:
    ours, theirs = pair(random.integers(0, 4, (5, length)), "int64")
    found = ours.mode()
    same(found.values, theirs.mode().values)
    same(ours.gather(1, found.indices.unsqueeze(1)).squeeze(1), theirs.mode().values)


@pytest.mark.parametrize("way", ["linear", "lower", "higher", "nearest", "midpoint"])
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_quantiles_agree_with_torch(name: str, way: str) -> None:
    array = random.standard_normal((3, 6))
    array[0, 2] = array[2, :] = np.nan
    ours, theirs = pair(array, "float64")
    shares = np.array([0.0, 0.3, 1.0])
    for dim, keepdim in ((1, False), (0, True), (None, True), (None, False)):
        for ours_q, theirs_q in ((0.4, 0.4), (Tensor(shares), torch.tensor(shares))):
            found = getattr(ours, name)(ours_q, dim, keepdim, interpolation=way)
            expected = getattr(theirs, name)(theirs_q, dim, keepdim, interpolation=way)
            assert tuple(found.shape) == tuple(expected.shape)
            np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-12)


def test_gradients_go_to_where_the_elements_were() -> None:
    for length in LENGTHS:
        array = random.permutation(length).astype("float64")
        weights = random.standard_normal(length)
        x = Tensor(array, requires_grad=True)
        y = torch.tensor(array, requires_grad=True)
        (x.sort(descending=True).values * Tensor(weights)).sum().backward()
        (x.topk(3).values.sum() + x.median() + x.quantile(0.3)).backward()
        (y.sort(descending=True).values * torch.tensor(weights)).sum().backward()
        (y.topk(3).values.sum() + y.median() + y.quantile(0.3)).backward()
        assert x.grad is not None and y.grad is not None
        np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-12)


def test_sorting_is_lazy_and_captured() -> None:
    order = (Tensor(random.standard_normal(100)) * 2).argsort()
    assert not order.is_realized

    @ogive.jit
    def largest(x: Tensor) -> Tensor:
        return x.sort().values[-3:] + 1

    for _ in range(3):
        array = random.standard_normal(100)
        np.testing.assert_array_equal(largest(Tensor(array)).numpy(), np.sort(array)[-3:] + 1)


@pytest.mark.parametrize("longest", [20, 64])
def test_an_axis_of_variable_length_is_sorted(longest: int) -> None:
    array = random.integers(0, 5, longest)
    for length in (7, longest):
        part = Tensor(array)[: ogive.Variable("n", 1, longest).bind(length)]
        found = part.sort(descending=True)
        expected = torch.tensor(array[:length]).sort(descending=True, stable=True)
        same(found.values, expected.values)
        same(found.indices, expected.indices)


PROGRAM = """
import numpy, ogive
x = ogive.Tensor(numpy.arange(100.0)[::-1].copy())
x.sort().values.realize()
ogive.linalg.inv(ogive.Tensor([[2.0]])).realize()
counts = ogive.counters()
print(counts["schedules_created"], counts["kernels_compiled"])
"""


def test_a_second_process_finds_the_schedule_of_a_sort(tmp_path: Path) -> None:
    environment = {**os.environ, "OGIVE_CACHE_DIR": str(tmp_path / "cache")}
    counts = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        counts.append(done.stdout.split())
    assert counts[0][0] != "0" and counts[1] == ["0", "0"]


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("length", [0, 1, 2, 5, 64, 100])
def test_searchsorted_agrees_with_torch(length: int, right: bool) -> None:
    sequence = np.sort(random.integers(0, 20, length).astype("float64"))
    values = np.array([[-1.0, 0, 3, np.inf], [19, 20, np.nan, 7.5]])
    ours = ogive.searchsorted(Tensor(sequence), Tensor(values), right=right)
    theirs = torch.searchsorted(torch.tensor(sequence), torch.tensor(values), right=right)
    same(ours, theirs)
    same(ogive.bucketize(Tensor(values), Tensor(sequence), right=right), theirs)


def test_searchsorted_takes_batches_sorters_and_numbers() -> None:
    rows = np.sort(random.standard_normal((3, 9)))
    values = random.standard_normal((3, 4))
    same(
        ogive.searchsorted(Tensor(rows), Tensor(values), side="right"),
        torch.searchsorted(torch.tensor(rows), torch.tensor(values), side="right"),
    )
    x = random.standard_normal(9)
    sorter = Tensor(x).argsort()
    found = ogive.searchsorted(Tensor(x), 0.1, sorter=sorter, out_int32=True)
    assert found.dtype is ogive.int32 and found.item() == np.searchsorted(np.sort(x), 0.1)


@pytest.mark.parametrize("count", [0, 3, 80])
@pytest.mark.parametrize("invert", [False, True])
def test_isin_agrees_with_numpy(count: int, invert: bool) -> None:
    elements, others = random.integers(0, 90, (5, 8)), random.integers(0, 90, count)
    found = ogive.isin(Tensor(elements), Tensor(others), invert=invert)
    np.testing.assert_array_equal(found.numpy(), np.isin(elements, others, invert=invert))


V = Tensor([3.0, 1.0])
ERRORS: list[tuple[Any, type[Exception], str]] = [
    (lambda: V.sort(1), AxisError, "argsort: a tensor of 1 axes has no axis 1"),
    (lambda: V.topk(3), IndexRangeError, "k=3 of the 2 elements along axis 0"),
    (lambda: V.kthvalue(0), IndexRangeError, "k=0 of 2 elements; it counts from 1"),
    (lambda: ogive.zeros(0).median(), IndexRangeError, "there are no elements"),
    (lambda: V.quantile(1.5), ArgumentError, "q is a share from 0 to 1, or several, got 1.5"),
    (lambda: V.quantile(0.5, interpolation="cubic"), ArgumentError, "linear, lower, .* 'cubic'"),
    (lambda: V.long().quantile(0.5), DtypeError, "takes float32 and float64, not int64"),
    (lambda: V.quantile(V.double()), ArgumentError, "tensor of one axis of float32"),
    (lambda: ogive.searchsorted(V, V, side="up"), ArgumentError, "side='up'"),
    (lambda: ogive.searchsorted(V.reshape(1, 2), ogive.ones(2, 2)), ShapeError, "before the last"),
    (lambda: ogive.bucketize(V, V.reshape(1, 2)), ShapeError, "a tensor of one axis"),
    (lambda: ogive.isin(1, 2), ArgumentTypeError, "isin takes a tensor, and a tensor or a number"),
]


@pytest.mark.parametrize(("call", "error", "words"), ERRORS)
def test_errors_are_in_words(call: Any, error: type[Exception], words: str) -> None:
    with raises(error, match=words):
        call()


def test_vmap_sorts_every_example() -> None:
    for length in LENGTHS:
        rows = random.standard_normal((3, length))
        found = ogive.vmap(lambda x: x.sort().values)(Tensor(rows))
        np.testing.assert_array_equal(found.numpy(), np.sort(rows))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("descending", [False, True])
def test_sorted_zeros_keep_their_signs(dtype: str, descending: bool) -> None:
    array = random.choice([0.0, -0.0, 1.0, -1.0, np.nan], (9, 30))
    found = Tensor(array).cast(dtype).sort(-1, descending)
    wanted = np.take_along_axis(array, found.indices.numpy(), -1)
    values = found.values.cast("float64").numpy()
    np.testing.assert_array_equal(values, wanted)
    zeros = wanted == 0
    np.testing.assert_array_equal(np.signbit(values[zeros]), np.signbit(wanted[zeros]))


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8"])
def test_values_and_positions_of_short_lines_are_one_kernel_each(dtype: str) -> None:
    x = Tensor(numbers(40, 50)).abs().nan_to_num().cast(dtype).realize()
    assert len(x.sort(-1).values.prepare().kernels) == 1
    assert len(x.sort(-1, descending=True).indices.prepare().kernels) == 1


def test_quantiles_may_be_listed() -> None:
    x = np.arange(12.0).reshape(3, 4)
    for listed in ([0.1, 0.5], (0.25,), np.array([0.0, 1.0])):
        found = Tensor(x).quantile(listed, 1)
        np.testing.assert_allclose(found.numpy(), np.quantile(x, listed, 1))
    with raises(ArgumentError, match="a share from 0 to 1"):
        Tensor(x).quantile([0.5, 1.5])
