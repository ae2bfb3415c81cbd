"""Sizes beyond memory, and beyond what can be counted: typed errors, and nothing in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

import ogive
import ogive.torch
from ogive import Tensor
from ogive.errors import AllocateError, ArgumentError, ShapeError
from ogive.nn import functional
from tests.raising import raises

TWO = Tensor([1.0, 2.0])

MAKERS: dict[str, Callable[[int], Tensor]] = {
    "ones": lambda n: ogive.ones(n),
    "zeros_like": lambda n: ogive.zeros_like(ogive.ones(1).expand(n)),
    "arange": lambda n: ogive.arange(n),
    "arange by halves": lambda n: ogive.arange(0, n, 0.5),
    "linspace": lambda n: ogive.linspace(0, 1, n),
    "eye": lambda n: ogive.eye(2, n),
    "expand": lambda n: TWO.unsqueeze(1).expand(2, n),
    "repeat": lambda n: TWO.repeat(n),
    "tile": lambda n: TWO.tile(n),
    "repeat_interleave": lambda n: TWO.repeat_interleave(n),
    "pad": lambda n: functional.pad(TWO, (0, n)),
    "one_hot": lambda n: functional.one_hot(Tensor([0, 1]), n),
    "meshgrid": lambda n: ogive.meshgrid(ogive.ones(n), ogive.ones(n), indexing="ij")[0],
    "cartesian_prod": lambda n: ogive.cartesian_prod(ogive.ones(n), ogive.ones(2)),
    "cat": lambda n: ogive.cat([ogive.ones(n), ogive.ones(n)]),
    "outer": lambda n: ogive.outer(ogive.ones(n), TWO),
    "rand": lambda n: ogive.rand(n),
    "randperm": lambda n: ogive.randperm(n),
    "softmax": lambda n: ogive.ones(n).softmax(0),
    "histc": lambda n: ogive.histc(TWO, n),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_elements_that_nothing_can_hold_are_a_typed_error(make: Callable[[int], Tensor]) -> None:
    for size in (1 << 61, (1 << 63) - 1, 1 << 63, 1 << 64):
        with pytest.raises((AllocateError, ArgumentError, ShapeError)):
            make(size).tolist()


AT_ONCE: dict[str, Callable[[int], Any]] = {
    "tril_indices": lambda n: ogive.tril_indices(n, n),
    "triu_indices": lambda n: ogive.triu_indices(2, n),
    "combinations": lambda n: ogive.combinations(ogive.ones(n)),
    "fft": lambda n: ogive.fft.fft(TWO, n),
    "repeats": lambda n: TWO.repeat_interleave(Tensor(numpy.array([n, 0], numpy.uint64))),
}


@pytest.mark.parametrize("make", AT_ONCE.values(), ids=AT_ONCE)
def test_what_is_computed_at_once_is_a_typed_error_too(make: Callable[[int], Any]) -> None:
    for size in (1 << 48, 1 << 61, (1 << 63) - 1, 1 << 63):
        with pytest.raises((AllocateError, ShapeError)):
            make(size)


def test_more_elements_than_can_be_counted_are_refused_where_they_are_asked_for() -> None:
    words = r"shape \(1099511627776, 1099511627776\) has more elements than can be counted"
    for make in (ogive.ones, ogive.eye, TWO[:1].expand):
        with raises(ShapeError, match=words):
            make(1 << 40, 1 << 40)
    with raises(ShapeError, match="can be counted"):
        ogive.ones(0, 1 << 40, 1 << 40)
    with raises(ShapeError, match="can be counted"):
        ogive.arange(-(1 << 62), 1 << 62)
    with raises(ArgumentError, match="is not a finite range"):
        ogive.arange(0, 1e300, 1e-300)
    with raises(ArgumentError, match="is not a finite range"):
        ogive.arange(0.0, 10**400)


def test_the_error_says_how_many_bytes_are_wanted() -> None:
    with raises(AllocateError, match="cannot allocate 4,611,686,018,427,387,904 bytes"):
        ogive.ones(1 << 60).numpy()
    with raises(AllocateError, match="takes a block of 18,446,744,073,709,551,616 bytes"):
        ogive.ones(1 << 62).numpy()


def test_repeats_are_counted_without_wrapping() -> None:
    quarter = Tensor(numpy.full(4, 1 << 62))
    with raises(ShapeError, match="can be counted"):
        ogive.ones(4).repeat_interleave(quarter)
    times = Tensor(numpy.array([1, 2], numpy.uint64))
    assert TWO.repeat_interleave(times).tolist() == [1.0, 2.0, 2.0]
    assert TWO.repeat_interleave(Tensor([2])).tolist() == [1.0, 1.0, 2.0, 2.0]
    with raises(ArgumentError, match="-1 is negative"):
        TWO.repeat_interleave(Tensor([2, -1]))


def test_an_empty_tensor_can_be_long() -> None:
    long = ogive.ones(0, 1 << 40)
    assert long.numpy().shape == (0, 1 << 40) and long.sum().item() == 0
    with raises(ShapeError, match="NumPy cannot make an array of float32 and shape"):
        ogive.ones(0, 1 << 62).numpy()


def test_what_needs_no_memory_works_at_any_size() -> None:
    wide = ogive.ones(1 << 40).expand(1 << 20, 1 << 40)
    assert wide.numel() == 1 << 60 and wide[3, 5].item() == 1
    assert ogive.arange(1 << 62)[-2:].tolist() == [(1 << 62) - 2, (1 << 62) - 1]
    assert ogive.linspace(0, 1, 1 << 50)[-1].item() == 1


def test_a_tensor_is_as_it_was_after_an_error() -> None:
    y = TWO + 1
    with pytest.raises(AllocateError):
        (y.unsqueeze(1).expand(2, 1 << 60) + 1).realize()
    assert y.tolist() == [2.0, 3.0] and TWO.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("with_replacement", [False, True])
@pytest.mark.parametrize("size", [0, 1, 4])
def test_combinations_are_those_of_torch(size: int, with_replacement: bool) -> None:
    for taken in (1, 2, 3, 5):
        ours = ogive.combinations(ogive.arange(size), taken, with_replacement)
        theirs = torch.combinations(torch.arange(size), taken, with_replacement)
        assert ours.shape == tuple(theirs.shape) and ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("function", ["tensor", "as_tensor", "from_numpy"])
def test_repeated_arrays_that_no_memory_holds_are_refused_by_name(function: str) -> None:
    repeated = numpy.broadcast_to(numpy.ones(1), (1 << 58,))
    with pytest.raises(AllocateError):
        getattr(ogive.torch, function)(repeated).numpy()
