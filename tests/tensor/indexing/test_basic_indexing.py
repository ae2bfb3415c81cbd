"""Basic indexing against NumPy, read and written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ogive
from ogive import Tensor
from ogive.compiler.ir.ops import Op
from ogive.errors import ArgumentError, ArgumentTypeError, IndexRangeError, ShapeError
from tests.raising import raises
from tests.tensor.interpreter import evaluate

bounds = st.one_of(st.none(), st.integers(-9, 9))
steps = st.one_of(st.none(), st.integers(-5, 5).filter(lambda step: step != 0))
slices = st.builds(slice, bounds, bounds, steps)


@st.composite
def indexed(draw: Any) -> tuple[tuple[int, ...], Any]:
    """A shape, and an index that fits it."""
    shape = tuple(draw(st.lists(st.integers(0, 7), max_size=4)))
    index: list[Any] = []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        whole = st.integers(-size, size - 1) if size else slices
        index.append(draw(st.one_of(slices, slices, whole)))
    for extra in draw(st.lists(st.sampled_from([None, ...]), max_size=2)):
        if extra is None or ... not in index:
            index.insert(draw(st.integers(0, len(index))), extra)
    return shape, tuple(index)


def check_reading(example: Any, read: Callable[[Tensor], Any]) -> None:
    shape, index = example
    array = np.arange(int(np.prod(shape))).reshape(shape)
    try:
        expected = array[index]
    except IndexError:
        with pytest.raises(IndexRangeError):
            Tensor(array)[index]
        return
    np.testing.assert_array_equal(read(Tensor(array)[index]), expected)


def check_writing(example: Any, lazy: bool, read: Callable[[Tensor], Any]) -> None:
    shape, index = example
    array = np.arange(int(np.prod(shape))).reshape(shape)
    x = Tensor(array) + 0 if lazy else Tensor(array)
    try:
        part = array[index]
    except IndexError:
        return
    value = -np.arange(1, part.size + 1).reshape(part.shape)
    x[index] = Tensor(value)
    array[index] = value
    np.testing.assert_array_equal(read(x), array)


@given(indexed())
@settings(max_examples=400)
def test_reading_agrees_with_numpy(example: Any) -> None:
    check_reading(example, evaluate)


@given(indexed(), st.booleans())
@settings(max_examples=400)
def test_writing_agrees_with_numpy(example: Any, lazy: bool) -> None:
    check_writing(example, lazy, evaluate)


@given(indexed(), st.booleans())
@settings(max_examples=60)
def test_kernels_read_and_write_what_numpy_does(example: Any, lazy: bool) -> None:
    check_reading(example, Tensor.numpy)
    check_writing(example, lazy, Tensor.numpy)


def test_a_simple_slice_is_one_node() -> None:
    x = Tensor(np.arange(10))
    part = x[2:7]
    assert part.node.op is Op.SHRINK
    assert part.node.src == (x.node,)


def test_a_step_pads_only_when_nothing_lies_around_the_slice() -> None:
    def ops(tensor: Tensor) -> set[Op]:
        return {node.op for node in tensor.node.walk()}

    x = Tensor(np.arange(10))
    assert Op.PAD not in ops(x[::2]) | ops(x[1:9:3]) | ops(x[3::4]) | ops(x[::-5])
    assert Op.PAD in ops(x[::3])


@pytest.mark.parametrize(
    ("index", "error", "words"),
    [
        (3, IndexRangeError, r"index 3 is out of range for axis 0 of length 2 of shape \(2, 3\)"),
        ((0, -4), IndexRangeError, "index -4 is out of range for axis 1 of length 3"),
        ((0, 0, 0), IndexRangeError, r"too many indices: 3 for the 2 axes of shape \(2, 3\)"),
        ((..., ...), ArgumentError, "only one Ellipsis"),
        (slice(None, None, 0), ArgumentError, "the slice of axis 0 has the step 0"),
        (1.5, ArgumentTypeError, "an index must be an integer, got 1.5"),
        (slice(1.5), ArgumentTypeError, "a bound of a slice must be an integer"),
        ("a", ArgumentTypeError, "an index must be an integer"),
    ],
)  # fmt: skip
def test_bad_indices_are_refused_in_words(index: Any, error: type[Exception], words: str) -> None:
    x = ogive.zeros(2, 3)
    with raises(error, match=words):
        x[index]
    before = x.node
    with raises(error, match=words):
        x[index] = 1
    assert x.node is before


def test_numpys_integers_index() -> None:
    assert ogive.zeros(2, 3)[np.int64(1), : np.int32(2)].shape == (2,)


def test_a_value_that_does_not_fit_changes_nothing() -> None:
    x = Tensor([[1, 2, 3]])
    before = x.node
    with raises(ShapeError, match=r"shape \(2,\) does not broadcast to \(3,\)"):
        x[0] = Tensor([1, 2])
    assert x.node is before
