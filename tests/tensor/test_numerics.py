"""Values of every operation against PyTorch in float64, for all dtypes, shapes and views.

Each case runs twice: the graph as the NumPy interpreter reads it (is the *graph* right?) and as the
engine computes it (are the *kernels* right?).
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import ogive
from ogive import Tensor
from tests.tensor.interpreter import WAYS
from tests.tensor.table import CASES
from tests.tensor.table.case import Case

Array = NDArray[Any]

SHAPES: tuple[tuple[int, ...], ...] = ((7,), (3, 5), (2, 3, 4), (1, 1), (33, 17), (0,), (2, 0, 3))
PRECISION = {
    "float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52,
}  # fmt: skip
TORCH = {"float16": torch.float16, "bfloat16": torch.bfloat16}

View = Callable[[Any], Any]
VIEWS: dict[str, View] = {
    "plain": lambda x: x,
    "transposed": lambda x: x.permute(*reversed(range(x.ndim))),
    "stepped": lambda x: x[::2] if x.shape[0] > 1 else x,
    "repeated": lambda x: x.unsqueeze(0).expand(2, *x.shape),
}


def numpy_dtype(name: str) -> Any:
    return ml_dtypes.bfloat16 if name == "bfloat16" else np.dtype(name)


def random_input(case: Case, name: str, shape: tuple[int, ...], random: Any, last: bool) -> Array:
    """Values of the case's domain, with special ones strewn in."""
    if name == "bool":
        return np.asarray(random.random(shape) < 0.5)
    if name not in PRECISION:
        low = 0 if name == "uint8" else -6
        values = random.integers(low, 7, shape)
        if case.nonzero and last:
            values = np.where(values == 0, 3, values)
        return np.asarray(values).astype(name)
    values = np.asarray(random.uniform(*case.domain, shape))
    if case.special and values.size > 4:
        values.reshape(-1)[:4] = random.permutation([np.nan, np.inf, -np.inf, 0.0])
    return values.astype(numpy_dtype(name))


def to_torch(array: Array) -> torch.Tensor:
    """The reference's input: floats in float64."""
    is_float = array.dtype.kind in "fV"
    return torch.from_numpy(array.astype(np.float64) if is_float else np.array(array))


def expected_of(result: torch.Tensor) -> Array:
    return np.asarray(result.double() if result.is_floating_point() else result)


def assert_close(case: Case, actual: Array, expected: Array, name: str) -> None:
    assert actual.shape == expected.shape
    if actual.dtype.kind not in "fV":
        assert np.array_equal(actual, expected)
        return
    kind = name if name in PRECISION else "float32"
    kind = "float16" if actual.dtype == np.float16 else kind
    precision = PRECISION[kind] * case.error
    actual = actual.astype(np.float64)
    facts = ml_dtypes.finfo(numpy_dtype(kind))
    with np.errstate(over="ignore", invalid="ignore"):
        overflows = np.abs(expected) > float(facts.max)
        expected = np.where(overflows, np.sign(expected) * np.inf, expected)
    # Below the normal numbers precision is absolute.
    least = precision if case.absolute else float(facts.tiny) * precision
    np.testing.assert_allclose(actual, expected, rtol=precision, atol=least, equal_nan=True)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_values_agree_with_torch(case: Case, way: str) -> None:
    random = np.random.default_rng(zlib.crc32(case.name.encode()))
    inputs = list(itertools.product(SHAPES, VIEWS))
    made: list[tuple[str, Tensor, Array, str]] = []
    for name in case.dtypes:
        # Kernels take time to compile: each dtype of each case takes its turn of the inputs.
        turn = random.permutation(len(inputs))[: 3 if way == "compiled" else 12]
        for shape, label in [((33, 17), "plain"), *[inputs[i] for i in turn]]:
            arrays = [
                random_input(case, name, shape, random, last=i == case.arity - 1)
                for i in range(case.arity)
            ]
            view = VIEWS[label]
            try:
                reference = case.reference(*[view(to_torch(array)) for array in arrays])
            except (RuntimeError, IndexError):
                continue  # what torch refuses (no elements, no such axis) is no value
            result = case.ours(*[view(Tensor.from_numpy(array)) for array in arrays])
            words = f"{case.name} {name} {shape} {label}"
            made.append((words, result, expected_of(reference), name))
    if way == "compiled":  # each has kernels of its own; together they go through LLVM
        Tensor.realize_batch([result for _, result, _, _ in made])
    for words, result, expected, name in made:
        try:
            assert_close(case, WAYS[way](result), expected, name)
        except AssertionError as error:
            raise AssertionError(f"{words}: {error}") from None


def test_results_are_on_the_device_of_their_operands() -> None:
    random = np.random.default_rng(0)
    for case, shape in itertools.product(CASES, [(4, 4), (5,)]):
        arrays = [
            random_input(case, case.dtypes[0], shape, random, last=i == case.arity - 1)
            for i in range(case.arity)
        ]
        try:
            case.reference(*map(to_torch, arrays))
        except (RuntimeError, IndexError):
            continue
        result = case.ours(*[Tensor(array, device="CPU:1") for array in arrays])
        assert result.device == "CPU:1", case.name


BROADCASTS = [
    ((3, 1), (4,)), ((1,), (5,)), ((2, 3, 4), (3, 1)), ((), (3,)), ((1, 1), (1,)), ((0, 1), (3,)),
    ((5, 1, 2), (1, 4, 1)),
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shapes", BROADCASTS)
def test_broadcasting_agrees_with_numpy(shapes: Any, way: str) -> None:
    random = np.random.default_rng(1)
    a, b = [np.asarray(random.normal(size=shape)) for shape in shapes]
    x, y = Tensor(a), Tensor(b)
    np.testing.assert_array_equal(WAYS[way](x + y), a + b)
    np.testing.assert_array_equal(WAYS[way](x < y), a < b)
    np.testing.assert_array_equal(WAYS[way](ogive.where(x < y, x, y)), np.where(a < b, a, b))
    np.testing.assert_array_equal(WAYS[way](ogive.where(x < y, x, 0.0)), np.where(a < b, a, 0))


PRODUCTS = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)), ((5, 1, 2, 3), (6, 3, 4)), ((1, 1), (1, 1)), ((0, 3), (3, 2)),
    ((2, 0), (0, 3)), ((17, 33), (33, 9)), ((4, 3), (2, 3, 1)), ((2, 3), (2, 3, 0)),
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32", "int8"])
@pytest.mark.parametrize("shapes", PRODUCTS)
def test_matmul_agrees_with_torch(shapes: Any, dtype: str, way: str) -> None:
    random = np.random.default_rng(2)
    a, b = [
        np.asarray(random.integers(-4, 5, shape)).astype(numpy_dtype(dtype)) for shape in shapes
    ]
    expected = np.asarray(torch.matmul(to_torch(a), to_torch(b)))
    actual = WAYS[way](Tensor(a) @ Tensor(b))
    np.testing.assert_array_equal(actual.astype(expected.dtype), expected)  # sums of small integers
    transposed = WAYS[way](Tensor(a.T).T @ Tensor(b.T).T)
    np.testing.assert_array_equal(transposed.astype(expected.dtype), expected)


@pytest.mark.parametrize("way", WAYS)
def test_creation_agrees_with_torch(way: str) -> None:
    read = WAYS[way]
    same = np.testing.assert_array_equal
    same(read(ogive.arange(7)), np.arange(7))
    same(read(ogive.arange(3, -8, -4)), np.arange(3, -8, -4))
    same(read(ogive.arange(0)), np.arange(0))
    same(read(ogive.arange(0, 1, 0.1)), torch.arange(0, 1, 0.1).numpy())
    same(read(ogive.arange(2, 5, dtype="float16")), np.arange(2, 5, dtype=np.float16))
    same(read(ogive.eye(3, 5)), np.eye(3, 5, dtype=np.float32))
    same(read(ogive.full((2, 3), 7)), np.full((2, 3), 7))
    same(read(ogive.ones(())), np.float32(1))
    for steps in (0, 1, 2, 5, 100):
        points = read(ogive.linspace(-1, 3, steps))
        np.testing.assert_allclose(points, np.linspace(-1, 3, steps), rtol=1e-6, atol=1e-7)
        if steps > 1:
            assert points[0] == -1 and points[-1] == 3


@pytest.mark.parametrize("way", WAYS)
def test_reductions_over_any_axes_agree_with_numpy(way: str) -> None:
    array = np.random.default_rng(3).integers(-9, 9, (2, 3, 4, 5))
    x = Tensor(array)
    for dim in (0, -1, (0, 2), (1, 3), (0, 1, 2, 3), [2, -4], None):
        axes = tuple(dim) if isinstance(dim, list) else dim
        for keepdim in (False, True):
            same = np.testing.assert_array_equal
            same(WAYS[way](x.sum(dim, keepdim)), array.sum(axes, keepdims=keepdim))
            same(WAYS[way](x.amax(dim, keepdim)), array.max(axes, keepdims=keepdim))
            same(WAYS[way](x.any(dim, keepdim)), array.any(axes, keepdims=keepdim))


@pytest.mark.parametrize("way", WAYS)
def test_softmax_of_large_values_is_finite(way: str) -> None:
    x = Tensor([[1e4, 0.0, -1e4], [3e38, 3e38, -3e38]])
    rows = WAYS[way](x.softmax())
    np.testing.assert_array_equal(rows, [[1, 0, 0], [0.5, 0.5, 0]])
    assert np.isfinite(WAYS[way](x.log_softmax())[0]).all()
    np.testing.assert_array_equal(WAYS[way](Tensor([-1e4, 1e4]).sigmoid()), [0, 1])


@pytest.mark.parametrize("way", WAYS)
def test_argmax_takes_the_first_and_counts_nan_as_extreme(way: str) -> None:
    rows = np.array([[1, 5, 5, 2], [1, np.nan, 9, np.nan]])
    np.testing.assert_array_equal(WAYS[way](Tensor(rows).argmax(1)), [1, 1])
    np.testing.assert_array_equal(WAYS[way](Tensor(rows).argmin(1)), [0, 1])
    assert WAYS[way](Tensor(rows).max()) != WAYS[way](Tensor(rows).max())


@pytest.mark.parametrize("way", WAYS)
def test_half_precision_sums_do_not_stagnate(way: str) -> None:
    ones = ogive.ones(4096, dtype="bfloat16")
    assert WAYS[way](ones.sum()) == 4096
    assert WAYS[way](ones.mean()) == 1


@pytest.mark.parametrize("way", WAYS)
def test_zeros_keep_their_sign_through_pad_and_cat(way: str) -> None:
    x = Tensor([-0.0, 0.0])
    for result in (x.pad(((1, 0),), value=-0.0), ogive.cat([x[:1], x])):
        np.testing.assert_array_equal(np.signbit(WAYS[way](result)), [True, True, False])
