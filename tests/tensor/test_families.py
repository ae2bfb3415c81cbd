"""What the tables cannot say: facts about tensors, results that are no tensor, creation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
import torch

import ogive
from ogive import Tensor, Variable
from ogive.errors import (
    ArgumentError,
    ArgumentTypeError,
    AxisError,
    DtypeError,
    IndexRangeError,
    ShapeError,
)
from tests.raising import raises

A: Any = ogive.ones(2, 3)
V: Any = ogive.ones(3)
N: Any = ogive.ones(2, 3, dtype="int32")


@pytest.mark.parametrize(
    "name", ["sum", "prod", "mean", "std", "var", "amax", "amin", "argmax", "argmin", "any", "all"]
)
def test_reductions_take_the_names_that_numpy_has(name: str) -> None:
    x = torch.tensor([[1.0, 2.0, 4.0], [0.0, 6.0, 5.0]])
    wanted = getattr(x, name)(axis=1, keepdims=True)
    got = getattr(Tensor(x.numpy()), name)(axis=1, keepdims=True)
    assert got.shape == (2, 1)
    np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-6)


def test_one_keyword_is_not_given_by_both_names() -> None:
    with raises(ArgumentTypeError, match="sum: axis and dim mean the same; give one"):
        A.sum(axis=0, dim=0)


def test_facts_about_shape_and_memory() -> None:
    x = ogive.zeros(2, 3, dtype="int16")
    assert (x.size(), x.size(-1), x.dim(), x.ndimension(), x.nelement()) == ((2, 3), 3, 2, 2, 6)
    assert (x.element_size(), x.itemsize, x.nbytes) == (2, 2, 12)
    assert not x.is_floating_point() and x.is_signed() and x.is_same_size(A)
    assert x.is_cpu and not (x.is_cuda or x.is_sparse or x.is_quantized) and x.get_device() == -1


def test_max_and_min_give_values_and_positions() -> None:
    x = Tensor([[1, 5, 5], [7, 2, 7]])
    values, indices = x.max(1)
    assert (values.tolist(), indices.tolist()) == ([5, 7], [1, 0])
    found = x.min(0, keepdim=True)
    assert (found.values.tolist(), found.indices.tolist()) == ([[1, 2, 5]], [[0, 1, 0]])
    assert x.max().item() == 7
    assert x.max(Tensor([4, 4, 4])).tolist() == [[4, 5, 5], [7, 4, 7]]


def test_equality_of_whole_tensors_is_a_python_bool() -> None:
    x = Tensor([1.0, float("nan")])
    assert A.equal(A + 0) is True and A.equal(V) is False and x.equal(x) is False
    assert x.allclose(x, equal_nan=True) is True and x.allclose(x) is False
    assert Tensor([1.0]).allclose(Tensor([1.1]), rtol=0.2) is True


def test_new_tensors_take_the_dtype_of_the_given_one() -> None:
    x = Tensor([1.5], dtype="float16")
    for made in (x.new_zeros(2, 3), x.new_ones((2, 3)), x.new_empty(2, 3), x.new_full((2, 3), 7)):
        assert made.dtype is ogive.float16 and made.shape == (2, 3)
    assert x.new_full((2,), 7, dtype="int8").tolist() == [7, 7]
    assert x.new_tensor([[1, 2]]).tolist() == [[1.0, 2.0]]
    assert ogive.empty_like(N).dtype is ogive.int32 and ogive.empty(2, 0).shape == (2, 0)


def test_creation_agrees_with_torch() -> None:
    np.testing.assert_allclose(
        ogive.logspace(-2, 3, 7, dtype="float64").numpy(),
        torch.logspace(-2, 3, 7, dtype=torch.float64).numpy(), rtol=1e-14,
    )  # fmt: skip
    for offset in (-2, 0, 1):
        ours, theirs = ogive.tril_indices(3, 4, offset), torch.tril_indices(3, 4, offset)
        assert ours.tolist() == theirs.tolist() and ours.dtype is ogive.int64
        ours, theirs = ogive.triu_indices(3, 4, offset), torch.triu_indices(3, 4, offset)
        assert ours.tolist() == theirs.tolist()
    assert ogive.broadcast_shapes((2, 1), 3, (1, 1, 1)) == (1, 2, 3)
    assert [x.shape for x in ogive.atleast_2d(Tensor(1), V, A)] == [(1, 1), (1, 3), (2, 3)]


def test_nextafter_steps_through_every_kind_of_number() -> None:
    for dtype in (np.float16, np.float32, np.float64):
        facts = np.finfo(dtype)
        starts = np.array([1, -1, 0, 0, 1, facts.max, np.inf, np.nan, -2, 3], dtype)
        ends = np.array([2, -2, 1, -1, 0, np.inf, 0, 1, 5, 3], dtype)
        expected = np.nextafter(starts, ends)
        np.testing.assert_array_equal(Tensor(starts).nextafter(Tensor(ends)).numpy(), expected)


def test_narrow_floats_of_special_functions_are_right_to_the_last_bit_or_its_neighbour() -> None:
    points = np.random.default_rng(5).uniform(0.1, 9, 400)
    for dtype in (np.float16, np.float32):
        x = points.astype(dtype)
        for name in ("lgamma", "digamma", "i0"):
            exact = getattr(torch.from_numpy(x.astype(np.float64)), name)().numpy()
            ours = getattr(Tensor(x), name)().numpy().astype(np.float64)
            step = np.abs(np.spacing(exact.astype(dtype)).astype(np.float64))
            assert (np.abs(ours - exact) <= step).all(), name


def test_lgamma_keeps_its_digits_near_its_zeros_and_poles() -> None:
    random = np.random.default_rng(7)
    steps = random.uniform(-1, 1, 40) * 10.0 ** random.uniform(-15, -1, 40)
    points = [*(1 + steps), *(2 + steps), *random.uniform(0.05, 12, 100), *-np.abs(steps)]
    ours = Tensor(np.array(points)).lgamma().tolist()
    for x, found in zip(points, ours, strict=True):
        with mpmath.workdps(40):
            exact = mpmath.loggamma(mpmath.mpf(x)).real
            assert abs(found - exact) <= 8 * np.spacing(abs(float(exact))), x
    assert Tensor([1.0, 2.0]).double().lgamma().tolist() == [0, 0]


def test_erfinv_undoes_erf_out_to_the_ends() -> None:
    y = np.array([1e-300, 1e-9, 0.3, 0.5, 0.97, 0.9999, 1 - 1e-7, 1 - 1e-12, 1 - 2.0**-53])
    x = Tensor(y).erfinv().numpy()
    missing = torch.special.erfc(torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(missing, 1 - y, rtol=2e-13)
    assert Tensor([-1.0, 1.0, 2.0]).erfinv().tolist()[:2] == [-np.inf, np.inf]


def test_rrelu_draws_slopes_between_its_bounds_in_training() -> None:
    x = ogive.full((1000,), -1.0)
    slopes = -x.rrelu(0.25, 0.75, training=True).numpy()
    assert 0.25 <= slopes.min() < 0.3 and 0.7 < slopes.max() < 0.75
    assert ogive.ones(3).rrelu(training=True).tolist() == [1, 1, 1]


def test_frexp_takes_numbers_apart_as_numpy_does() -> None:
    for dtype in (np.float16, np.float32, np.float64):
        facts = np.finfo(dtype)
        values = np.array(
            [0, -0.0, 1, -3.7, facts.max, facts.tiny, facts.smallest_subnormal], dtype
        )
        mantissa, exponent = Tensor(values).frexp()
        expected = np.frexp(values)
        np.testing.assert_array_equal(mantissa.numpy(), expected[0])
        np.testing.assert_array_equal(exponent.numpy(), expected[1])
        assert mantissa.numpy().dtype == dtype and exponent.dtype is ogive.int32
    mantissa, exponent = Tensor([np.inf, np.nan]).frexp()
    assert np.isinf(mantissa.numpy()[0]) and np.isnan(mantissa.numpy()[1])


def test_symbolic_lengths_go_through() -> None:
    n = Variable("n", 1, 4).bind(3)
    x = ogive.arange(12).reshape(4, 3)[:n]
    array = np.arange(12).reshape(4, 3)[:3]
    cases: list[tuple[Any, Any]] = [
        (x.tril(), np.tril(array)), (x.roll(1, 1), np.roll(array, 1, 1)),
        (x.movedim(0, 1), array.T), (x.repeat(2, 1), np.tile(array, (2, 1))),
        (ogive.einsum("ij,ij->i", x, x), (array * array).sum(1)),
        (x.logsumexp(1).exp().round(), np.exp(array).sum(1).round()),
        (x.select(0, 0), array[0]), (x.count_nonzero(0), (array != 0).sum(0)),
        (x.mT, array.T), (x.cast("float64").norm(2, 1), np.linalg.norm(array, axis=1)),
    ]  # fmt: skip
    for ours, expected in cases:
        np.testing.assert_allclose(ours.numpy(), expected, rtol=1e-6)


ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: A.max((0, 1)), ArgumentTypeError, r"max takes one axis, got \(0, 1\); amax takes"),
    (lambda: N.hypot(N), DtypeError, "hypot does not take int32: it works on floats"),
    (lambda: N.heaviside(A), DtypeError, "the dtypes are int32 and float32; they must be equal"),
    (lambda: N.add(N, alpha=0.5), DtypeError, "add: alpha is 0.5, and must be an integer"),
    (lambda: N.addcdiv(N, N), DtypeError, "addcdiv does not take int32"),
    (lambda: A.masked_fill(A, 1), DtypeError, "the condition must be bool"),
    (lambda: A.masked_fill(A > 0, V), ArgumentTypeError, r"the value has the shape \(3,\)"),
    (lambda: N.elu(), DtypeError, "elu does not take int32"),
    (lambda: A.glu(), ShapeError, r"glu: axis 1 of shape \(2, 3\) has no two equal halves"),
    (lambda: A.prelu(ogive.ones(2)), ShapeError, r"weight has the shape \(2,\).*one per channel"),
    (lambda: A.softshrink(-1), ArgumentError, "lambd is -1"),
    (lambda: A.polygamma(-1), ArgumentError, "polygamma: n is -1"),
    (lambda: A.norm("two"), ArgumentError, "norm: p is a number, 'fro' or 'nuc', got 'two'"),
    (lambda: A.movedim((0, 1), 0), ShapeError, r"2 axes .* do not go to 1 places"),
    (lambda: A.movedim((0, 0), (0, 1)), AxisError, "axis 0 is named twice"),
    (lambda: ogive.ones(2, 2, 2).t(), ShapeError, "more than 2 axes; use mT"),
    (lambda: V.mT, AxisError, "no two axes to exchange"),
    (lambda: V.narrow(0, 2, 2), IndexRangeError, "2 elements from 2 on are not inside axis 0"),
    (lambda: V.unfold(0, 4, 1), ShapeError, "size 4 and step 1 do not fit axis 0 of length 3"),
    (lambda: A.select_scatter(A, 0, 0), ShapeError, "and what it replaces"),
    (lambda: A.repeat(2), ShapeError, r"repeat: \(2,\) has fewer numbers than shape \(2, 3\)"),
    (lambda: A.roll((1, 2), 0), ShapeError, "do not fit the dims"),
    (lambda: A.rot90(1, (0, 0)), AxisError, "names one axis twice"),
    (lambda: V.split([1, 1]), ShapeError, r"sizes \[1, 1\] do not add up to the 3 elements"),
    (lambda: V.split(-1), ArgumentError, "it must be positive"),
    (lambda: V.chunk(0), ArgumentError, "there must be at least one"),
    (lambda: A.hsplit(2), ShapeError, "axis 1 of shape .* has no 2 equal parts"),
    (lambda: V.vsplit(1), ShapeError, "fewer than 2 axes"),
    (lambda: A.diagonal(0, 1, 1), AxisError, "dim1 and dim2 are both axis 1"),
    (lambda: V.trace(), ShapeError, "must have 2 axes"),
    (lambda: V.tril(), ShapeError, r"tril: shape \(3,\) has no matrices"),
    (lambda: A.mm(V), ShapeError, r"mm: shapes \(2, 3\) and \(3,\) must have 2 and 2 axes"),
    (lambda: ogive.ones(2, 1, 3).bmm(ogive.ones(3, 3, 1)), ShapeError, "different number of"),
    (lambda: V.cross(ogive.ones(2)), ShapeError, r"cross: axis 0 of shape \(2,\) must have"),
    (lambda: V.linear(ogive.ones(5, 4)), ShapeError, r"linear: input has the shape \(3,\); with a "
     r"weight of shape \(5, 4\) expected \(..., 4\)"),
    (lambda: ogive.ones(3, 1).addmm(A, A.T), ShapeError, "do(es)? not broadcast"),
    (lambda: ogive.multi_dot([A]), ArgumentError, "at least two"),
    (lambda: ogive.einsum("ij,jk", A), ArgumentError, "names 2 operands, and 1 were given"),
    (lambda: ogive.einsum("ij->ii", A), ArgumentError, "names 'i' twice in the result"),
    (lambda: ogive.einsum("ij->ik", A), ArgumentError, "has 'k' only in the result"),
    (lambda: ogive.einsum("i", A), ShapeError, "'i' in 'i' names 1 axes, and the operand has 2"),
    (lambda: ogive.einsum("i1", A), ArgumentError, "'1' in 'i1' is no letter"),
    (lambda: ogive.einsum("ij,j", A, ogive.ones(2)), ShapeError, "'j' in .* lengths 3 and 2"),
    (lambda: ogive.einsum("ii", A), ShapeError, "have the lengths 2 and 3; no diagonal"),
    (lambda: ogive.tensordot(A, A, 1), ShapeError, "differ in length"),
    (lambda: ogive.meshgrid(A), ShapeError, "must be a vector or a scalar"),
    (lambda: ogive.meshgrid(V, indexing="yx"), ArgumentError, "indexing is 'ij' or 'xy'"),
    (lambda: ogive.cdist(A, ogive.ones(2, 2)), ShapeError, r"must be \(..., a, n\)"),
    (lambda: A.sum_to_size(3, 3), ShapeError, r"shape \(3, 3\) does not expand to \(2, 3\)"),
    (lambda: A.diff(-1), ArgumentError, "diff: n is -1"),
    (lambda: ogive.cosine_similarity(N, N), DtypeError, "does not take int32"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("action", "error", "words"), ERRORS, ids=[f"{i} {e[2][:30]}" for i, e in enumerate(ERRORS)]
)
def test_errors_say_what_was_given_and_expected(
    action: Callable[[], Any], error: type[Exception], words: str
) -> None:
    with raises(error, match=words):
        action()
