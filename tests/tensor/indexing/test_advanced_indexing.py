"""Indexing with tensors, arrays, lists and masks against NumPy and PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import ogive
from ogive import Tensor
from ogive.compiler.ir.ops import Op
from ogive.errors import (
    ArgumentTypeError,
    DtypeError,
    IndexRangeError,
    OgiveError,
    ShapeError,
    TraceError,
)
from tests.raising import raises
from tests.tensor.interpreter import evaluate

SLICES = st.builds(
    slice,
    st.one_of(st.none(), st.integers(-5, 5)),
    st.one_of(st.none(), st.integers(-5, 5)),
    st.sampled_from([None, 1, 2, -1]),
)
WIDTHS = ((3,), (1,), (2, 3), (2, 1), (0,))


@st.composite
def indexed(draw: Any, plain_integers: bool) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """A shape, and an index of arrays, masks, slices and the like that fits it."""
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=4)))
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    index: list[Any] = []
    axis = 0
    used = draw(st.integers(1, len(shape)))
    while axis < used:
        kinds = ["slice", "array", "array", "list", "mask", "plane"]
        kind = draw(st.sampled_from([*kinds, "integer"] if plain_integers else kinds))
        size = shape[axis]
        if kind == "slice":
            index.append(draw(SLICES))
        elif kind == "integer":
            index.append(draw(st.integers(-size, size - 1)))
        elif kind == "array":
            width = draw(st.sampled_from(WIDTHS[:4]))
            index.append(random.integers(-size, size, width))
        elif kind == "list":
            index.append(random.integers(-size, size, 3).tolist())
        else:
            covered = shape[axis : axis + (2 if kind == "plane" else 1)]
            index.append(random.random(covered) < 0.5)
            axis += len(covered) - 1
        axis += 1
    for extra in draw(st.lists(st.sampled_from([None, ..., True]), max_size=2)):
        if extra is None or (extra is True and not plain_integers) or ... not in _kinds(index):
            places = st.integers(0, len(index))
            if extra is ...:
                # Between two lists NumPy minds one that stands for no axis, PyTorch does not.
                ends = [len(index)] if axis < len(shape) else [0, len(index)]
                places = st.sampled_from(ends)
            index.insert(draw(places), extra)
    return shape, tuple(index)


def _kinds(index: list[Any]) -> list[Any]:
    return [... if entry is ... else type(entry) for entry in index]


def as_ours(index: tuple[Any, ...], tensors: bool) -> tuple[Any, ...]:
    if not tensors:
        return index
    return tuple([Tensor(entry) if isinstance(entry, np.ndarray) else entry for entry in index])


def check(shape: Any, index: Any, tensors: bool, read: Any, reference: Any) -> None:
    """Read and write through an index as `reference` (a view of an array) does."""
    array = np.arange(int(np.prod(shape))).reshape(shape)
    ours = as_ours(index, tensors)
    try:
        expected = reference(array, index)
    except (IndexError, ValueError):
        with pytest.raises(OgiveError):
            Tensor(array)[ours].numpy()
        return
    found = read(Tensor(array)[ours])
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)
    x = Tensor(array)
    # Where a position comes twice the last value stays, as it does in NumPy.
    value = -np.arange(1, expected.size + 1).reshape(expected.shape)
    x[ours] = Tensor(value)
    flat = np.arange(array.size).reshape(shape)
    after = array.reshape(-1).copy()
    after[reference(flat, index).reshape(-1)] = value.reshape(-1)
    np.testing.assert_array_equal(read(x), after.reshape(shape))


def in_numpy(array: Any, index: Any) -> Any:
    return array[index]


def in_torch(array: Any, index: Any) -> Any:
    given = [torch.tensor(e) if isinstance(e, np.ndarray) else e for e in index]
    return torch.tensor(array)[tuple(given)].numpy()


@given(indexed(plain_integers=False), st.booleans())
@settings(max_examples=400)
def test_arrays_masks_and_slices_agree_with_numpy(example: Any, tensors: bool) -> None:
    shape, index = example
    check(shape, index, tensors, evaluate, in_numpy)


@given(indexed(plain_integers=True), st.booleans())
@settings(max_examples=200)
def test_integers_among_them_agree_with_torch(example: Any, tensors: bool) -> None:
    shape, index = example
    forward = [
        slice(e.start, e.stop, abs(e.step or 1)) if isinstance(e, slice) else e for e in index
    ]
    check(shape, tuple(forward), tensors, evaluate, in_torch)


@given(indexed(plain_integers=False), st.booleans())
@settings(max_examples=40)
def test_kernels_read_and_write_what_numpy_does(example: Any, tensors: bool) -> None:
    shape, index = example
    check(shape, index, tensors, Tensor.numpy, in_numpy)


X = np.arange(24).reshape(2, 3, 4)


def test_separate_positions_put_their_axes_in_front_and_adjacent_ones_in_place() -> None:
    x = Tensor(X)
    assert x[[0, 1, 0], :, [1, 2, 3]].shape == (3, 3)
    assert x[:, [0, 1], [1, 2]].shape == (2, 2)
    assert x[:, None, [0, 1]].shape == (2, 1, 2, 4)
    assert x[[0], None, [0]].shape == (1, 1, 4)
    assert x[0, :, [1, 2]].shape == (3, 2)  # as PyTorch, not NumPy


def test_scalar_tensors_take_an_axis_away_without_being_computed() -> None:
    x, position = Tensor(X), Tensor([0, 2]).sum()
    part = x[:, position]
    assert not position.is_realized
    np.testing.assert_array_equal(part.numpy(), X[:, 2])
    np.testing.assert_array_equal(x[Tensor(1), Tensor(-1), Tensor(0)].numpy(), X[1, -1, 0])


def test_truth_values_take_all_or_nothing_of_a_new_axis() -> None:
    x = Tensor(X)
    assert x[True].shape == (1, 2, 3, 4) and x[False].shape == (0, 2, 3, 4)
    assert x[Tensor(True)].shape == (1, 2, 3, 4)
    assert Tensor(5)[True].tolist() == [5]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64"])
def test_positions_may_be_of_any_integer_dtype(dtype: str) -> None:
    assert Tensor([5, 6, 7])[Tensor([2, 0], dtype=dtype)].tolist() == [7, 5]


@pytest.mark.parametrize("dtype", ["bool", "float16", "bfloat16", "float8_e4m3", "int8", "float64"])
def test_elements_may_be_of_any_dtype(dtype: str) -> None:
    x = Tensor([0, 1, 1]).cast(dtype)
    assert x[[1, 0]].cast("int64").tolist() == [1, 0]
    x[Tensor([0, 2])] = Tensor([1, 0]).cast(dtype)
    assert x.cast("int64").tolist() == [1, 1, 0]


def test_nothing_is_selected_by_nothing() -> None:
    x = Tensor(X)
    assert x[[]].shape == (0, 3, 4) and x[Tensor(X < 0)].shape == (0,)
    x[[]] = 7
    x[X < 0] = Tensor(np.zeros(0))
    np.testing.assert_array_equal(x.numpy(), X)
    assert ogive.zeros(0, 3)[[]].shape == (0, 3)


def test_one_value_for_a_mask_is_chosen_without_computing_the_mask() -> None:
    x = Tensor(X) + 0
    x[x > 5] = 0
    assert x.node.op is Op.WHERE
    np.testing.assert_array_equal(x.numpy(), np.where(X > 5, 0, X))
    part = Tensor(X) + 0
    part[:, Tensor([True, False, True])] = Tensor([[1, 2, 3, 4]])
    expected = X.copy()
    expected[:, [True, False, True]] = [[1, 2, 3, 4]]
    np.testing.assert_array_equal(part.numpy(), expected)


def test_values_for_a_mask_go_in_order() -> None:
    x = Tensor(X)
    count = int((X > 5).sum())
    x[x > 5] = Tensor(-np.arange(count))
    expected = X.copy()
    expected[X > 5] = -np.arange(count)
    np.testing.assert_array_equal(x.numpy(), expected)


def test_what_was_made_before_keeps_its_values() -> None:
    x = Tensor([1, 2, 3])
    before = x * 10
    x[Tensor([0, 2])] = Tensor([7, 8])
    assert (before.tolist(), x.tolist()) == ([10, 20, 30], [7, 2, 8])


def test_gradients_flow_through_reading_and_writing() -> None:
    w = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    v = Tensor([5.0, 6.0], requires_grad=True)
    y = w * 1
    y[[0, 2]] = v
    (w[Tensor([1, 1, 0])].sum() + (y * y).sum()).backward()
    assert w.grad is not None and v.grad is not None
    assert w.grad.tolist() == [1.0, 6.0, 0.0]
    assert v.grad.tolist() == [10.0, 12.0]


def test_captured_functions_index_by_tensors() -> None:
    @ogive.jit
    def pick(x: Tensor, index: Tensor) -> Tensor:
        return x[index, 0]

    for seed in range(3):
        index = np.random.default_rng(seed).integers(-3, 3, 4)
        x = np.arange(6).reshape(3, 2)
        np.testing.assert_array_equal(pick(Tensor(x), Tensor(index)).numpy(), x[index, 0])


def test_a_captured_function_refuses_a_mask_whose_count_is_needed() -> None:
    @ogive.jit
    def select(x: Tensor) -> Tensor:
        return x[x > 0]

    with pytest.raises(TraceError):
        select(Tensor([1.0, -1.0]))


@pytest.mark.parametrize(
    ("index", "error", "words"),
    [
        (([0, 2],), IndexRangeError, "index 2 is out of range for axis 0 of length 2"),
        ((0, [-4]), IndexRangeError, "index -4 is out of range for axis 0 of length 3"),
        (([0], [0], [0], [0]), IndexRangeError, r"too many indices: 4 for the 3 axes"),
        (([0.5],), ArgumentTypeError, "an index cannot be of .*; indices are integers, masks bool"),
        (([[0], [0, 1]],), ShapeError, "not of equal lengths"),
        (([0, 1], [0, 1, 2]), ShapeError, "indexing: shapes .* do not broadcast"),
        (([True, False, True],), IndexRangeError, r"mask of shape \(3,\) does not fit .* \(2,\)"),
        ((Tensor([1.0]),), DtypeError, "a tensor of float32 cannot index"),
    ],
)
def test_bad_indices_are_refused_in_words(index: Any, error: Any, words: str) -> None:
    x = Tensor(X)
    for use in (lambda: x[index], lambda: x.__setitem__(index, 0)):
        with raises(error, match=words):
            use()
    np.testing.assert_array_equal(x.numpy(), X)


def test_a_position_outside_is_a_fault_that_names_the_line() -> None:
    x = Tensor(X)
    with raises(
        IndexRangeError, match="outside the tensor", quoting=r"test_advanced_indexing\.py"
    ):
        x[Tensor([0, 2])].numpy()
    y = Tensor([1, 2, 3])
    y[Tensor([0, 3])] = 9
    with raises(
        IndexRangeError, match="outside the tensor it selects from",
        quoting=r"y\[Tensor\(\[0, 3\]\)\] = 9",
    ):
        y.numpy()
    assert y.tolist() == [1, 2, 3]


def test_values_that_do_not_fit_are_refused() -> None:
    x = Tensor(X)
    with raises(ShapeError, match=r"shape \(3,\) does not broadcast to \(2, 3, 4\)"):
        x[[0, 1]] = Tensor([1, 2, 3])
