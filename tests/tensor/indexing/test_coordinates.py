"""Divisors, coordinates and histograms of several axes, on odd and empty inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor
from ogive.errors import ArgumentError, DtypeError
from tests.raising import raises


@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_divisors_and_multiples_are_pytorchs(name: str) -> None:
    random = numpy.random.default_rng(1)
    for dtype, shapes in (("int8", ((5, 1), (7,))), ("int64", ((0, 3), (3,))), ("int32", ((), ()))):
        arrays = [random.integers(-12, 13, shape).astype(dtype) for shape in shapes]
        mine = getattr(ogive, name)(*[Tensor(array) for array in arrays])
        other = getattr(torch, name)(*[torch.tensor(array) for array in arrays])
        assert mine.dtype.name == dtype
        numpy.testing.assert_array_equal(mine.numpy(), other.numpy())
    with raises(DtypeError, match="integers"):
        getattr(ogive, name)(Tensor([1.0]), 2)


def test_divisors_can_be_mapped_over() -> None:
    rows = Tensor([[4, 6], [9, 3]])
    assert ogive.vmap(lambda row: ogive.gcd(row, 6))(rows).tolist() == [[2, 6], [3, 3]]


@pytest.mark.parametrize("shape", [(4, 5), (3,), (2, 0), ()])
def test_what_is_not_zero_is_found_without_knowing_how_much(shape: tuple[int, ...]) -> None:
    mask = numpy.random.default_rng(2).random(shape) < 0.4
    for size in (0, 1, 7, 30):
        mine = ogive.nonzero_static(Tensor(mask), size=size, fill_value=-5)
        other = torch.nonzero_static(torch.tensor(mask), size=size, fill_value=-5)
        numpy.testing.assert_array_equal(mine.numpy(), other.numpy())
    with raises(ArgumentError, match="negative"):
        ogive.nonzero_static(Tensor(mask), size=-1)


def test_coordinates_lead_back_to_the_element() -> None:
    positions = numpy.array([[0, 17], [59, 23]])
    found = [axis.numpy() for axis in ogive.unravel_index(Tensor(positions), (3, 4, 5))]
    numpy.testing.assert_array_equal(numpy.stack(found), numpy.unravel_index(positions, (3, 4, 5)))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32"])
def test_coordinates_of_narrow_positions_are_computed_in_int64(dtype: str) -> None:
    positions = numpy.array([0, 127, 65], dtype)
    for shape in ((2, 300), (3, 70000), (5, 256), (128, 1)):
        found = ogive.unravel_index(Tensor(positions), shape)
        expected = torch.unravel_index(torch.tensor(positions), shape)
        assert [axis.dtype for axis in found] == [ogive.int64] * 2
        assert [axis.tolist() for axis in found] == [axis.tolist() for axis in expected]


def test_points_are_counted_by_bins_of_several_axes() -> None:
    random = numpy.random.default_rng(3)
    points, weights = random.normal(size=(40, 2)), random.random(40)
    edges = [numpy.array([-1.0, 0.0, 2.0]), numpy.array([-2.0, -1.0, 0.0, 1.5])]
    settings: list[tuple[Any, dict[str, Any]]] = [
        ([3, 4], {}), (3, {"range": [-1.0, 1.0, -2.0, 2.0]}), (edges, {"density": True}),
    ]  # fmt: skip
    for bins, given in settings:
        lines = [Tensor(b) for b in bins] if bins is edges else bins
        mine = ogive.histogramdd(Tensor(points), lines, weight=Tensor(weights), **given)
        theirs = [torch.tensor(b) for b in bins] if bins is edges else bins
        given["weight"] = torch.tensor(weights)
        other = torch.histogramdd(torch.tensor(points), theirs, **given)
        numpy.testing.assert_allclose(mine.hist.numpy(), other.hist.numpy(), atol=1e-12)
        for one, two in zip(mine.bin_edges, other.bin_edges, strict=True):
            numpy.testing.assert_allclose(one.numpy(), two.numpy(), atol=1e-12)


def test_coordinates_of_a_tensor_in_a_file_are_found(tmp_path: Path) -> None:
    numpy.save(tmp_path / "x.npy", numpy.array([0.0, 2.0, 0.0, 3.0]))
    found = ogive.nonzero_static(ogive.load(tmp_path / "x.npy"), size=3)
    assert found.tolist() == [[1], [3], [-1]]
