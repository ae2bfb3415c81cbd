"""Wrong input: the words, the user's line, and tensors that stay as they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import ogive
from ogive import Tensor
from ogive.errors import (
    ArgumentError,
    ArgumentTypeError,
    AxisError,
    ConfigError,
    DivisionByZeroError,
    DtypeError,
    IndexRangeError,
    OgiveError,
    ShapeError,
)
from tests.raising import raises

A: Any = ogive.zeros(2, 3)
B = ogive.zeros(4, 5)
N = ogive.ones(2, 3, dtype="int32")
M = ogive.ones(2, 3, dtype="bool")
NUMBER: Any = 1
LIST: Any = [1]

CASES: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: A + B, ShapeError, r"add: shapes \(2, 3\) and \(4, 5\) do not broadcast: axis -2 has "
     "lengths 2 and 4; they must be equal or one of them 1"),
    (lambda: A.lt(ogive.zeros(2)), ShapeError, r"lt: shapes \(2, 3\) and \(2,\).*axis -1"),
    (lambda: A @ B, ShapeError, r"matmul: shapes \(2, 3\) and \(4, 5\) do not fit: axis -1 of the "
     "first has length 3 and axis -2 of the second 4"),
    (lambda: A @ ogive.zeros(2), ShapeError, "axis -1 of the second 2"),
    (lambda: ogive.zeros(2, 1, 3) @ ogive.zeros(3, 3, 1), ShapeError, "do not broadcast"),
    (lambda: A.realize(config=NUMBER), ArgumentTypeError,
     "config is an ogive.Config or None, not 1 of type int"),
    (lambda: A.prepare(NUMBER), ArgumentTypeError, "config is an ogive.Config or None, not 1"),
    (lambda: A @ 2, ArgumentTypeError, r"matmul takes tensors, not the number 2; use \*"),
    (lambda: A @ Tensor(2.0), ShapeError, "both operands need an axis to sum over"),
    (lambda: A.reshape(4), ShapeError, r"shape \(2, 3\) of 6 elements does not fit \(4,\)"),
    (lambda: A.reshape(-1, 4), ShapeError, r"does not fit \(-1, 4\)"),
    (lambda: A.reshape(-1, -1), ShapeError, r"only one length of \(-1, -1\) can be -1"),
    (lambda: A.reshape(-2, 3), ShapeError, "axis 0 of .* has a negative length"),
    (lambda: ogive.zeros(0, 3).reshape(0, -1), ShapeError, "could be anything"),
    (lambda: A.reshape(2.0, 3), ArgumentTypeError, "reshape: a length must be an integer, got 2.0"),
    (lambda: A.sum(2), AxisError, "sum: a tensor of 2 axes has no axis 2; the axes are -2 to 1"),
    (lambda: A.sum((0, -2)), AxisError, r"sum: axis 0 is named twice in \(0, -2\)"),
    (lambda: A.sum("rows"), ArgumentTypeError, "sum: an axis must be an integer, got 'rows'"),
    (lambda: A.softmax(5), AxisError, "softmax: a tensor of 2 axes has no axis 5"),
    (lambda: A.permute(0, 0), AxisError, r"permute: \(0, 0\) does not name each of the 2 axes"),
    (lambda: A.permute(0), AxisError, r"of shape \(2, 3\) once"),
    (lambda: A.transpose(0, 2), AxisError, "transpose: a tensor of 2 axes has no axis 2"),
    (lambda: A.expand(4, 3), ShapeError, r"expand: shape \(2, 3\) does not expand to \(4, 3\): "
     "axis 0 would go from 2 to 4"),
    (lambda: A.expand(3), ShapeError, r"expand: \(3,\) has fewer axes than \(2, 3\)"),
    (lambda: A.pad(((1, 1),)), ShapeError, r"pad: 1 pairs were given for the 2 axes of shape"),
    (lambda: A.pad(1), ArgumentTypeError, "pad takes numbers from the last axis on, or one pair "
     "per axis, got 1"),
    (lambda: A.pad((1, 1), "mirror"), ArgumentError, "mode must be one of constant, reflect"),
    (lambda: A.pad((1, 1), "reflect", 2), ArgumentError, "value=2 goes with mode 'constant'"),
    (lambda: A.pad((1, 2, 3)), ShapeError, "pad: 3 numbers were given for the 2 axes"),
    (lambda: A.pad((3, 0), "reflect"), ShapeError, "has 2 elements of axis 1 .* and 3 are asked"),
    (lambda: A.pad((-2, -2)), ShapeError, r"\(-2, -2\) cuts 4 elements off axis 1"),
    (lambda: A.shrink(((0, 3), (0, 3))), IndexRangeError, r"the window \(0, 3\) is not inside axis "
     "0 of length 2"),
    (lambda: A.squeeze(2), AxisError, "squeeze"), (lambda: A.unsqueeze(4), AxisError, "unsqueeze"),
    (lambda: A.flatten(1, 0), AxisError, "start_dim 1 comes after end_dim 0"),
    (lambda: ogive.zeros(3, 0).amax(1), ShapeError, r"amax: axis 1 of shape \(3, 0\) has no"),
    (lambda: ogive.zeros(0).argmin(), ShapeError, "argmin: axis 0 .* has no elements"),
    (lambda: N.mean(), DtypeError, "mean does not take int32: cast to a float dtype first"),
    (lambda: N.var(), DtypeError, "var does not take int32"),
    (lambda: M - M, DtypeError, "sub does not take bool: to invert a mask use ~"),
    (lambda: 1 - M, DtypeError, "sub does not take bool"), (lambda: -M, DtypeError, "neg does not"),
    (lambda: A & 1, DtypeError, "bitwise_and does not take float32: it works on integers and bool"),
    (lambda: ~A, DtypeError, "bitwise_not does not take float32"),
    (lambda: A << 1, DtypeError, "bitwise_left_shift does not take float32: it works on integers"),
    (lambda: N**-1, ArgumentError, "integers to the power -1; cast to float first"),
    (lambda: N // 0, DivisionByZeroError, "floor_divide: int32 is divided by the number 0"),
    (lambda: N % 0, DivisionByZeroError, "remainder: int32"),
    (lambda: N + 2**70, ArgumentError, "does not fit int32"),
    (lambda: A + "text", ArgumentTypeError, "add takes tensors, numbers and NumPy arrays, not str"),
    (lambda: A + None, ArgumentTypeError, "not NoneType"),
    (lambda: A + LIST, ArgumentTypeError, "not list"),
    (lambda: A.bitcast("complex64"), DtypeError, "cannot be read as complex64"),
    (lambda: Tensor([1j]).bitcast("int64"), DtypeError, "complex64 .* cannot be read as int64"),
    (lambda: ogive.where(A, 1, 2), DtypeError, "the condition must be bool, not float32"),
    (lambda: ogive.where(True, A, A), ArgumentTypeError, "the condition must be a tensor"),
    (lambda: ogive.cat([]), ArgumentError, "cat needs at least one tensor"),
    (lambda: ogive.cat([A, B]), ShapeError, r"cat along axis 0: tensor 1 has the shape \(4, 5\) "
     r"and tensor 0 \(2, 3\), which differ on axis 1"),
    (lambda: ogive.cat([A, ogive.zeros(3)]), ShapeError, "must have as many axes"),
    (lambda: ogive.cat([A, NUMBER]), ArgumentTypeError, "cat takes tensors, got int"),
    (lambda: ogive.cat(A), ArgumentTypeError, "cat takes a list of tensors, got Tensor"),
    (lambda: ogive.cat([Tensor(1)]), AxisError, "it has none"),
    (lambda: ogive.stack([A, B]), ShapeError, r"stack: tensor 1 has the shape \(4, 5\)"),
    (lambda: A.layer_norm(4), ShapeError, r"shape \(2, 3\) does not end in the normalized shape"),
    (lambda: A.layer_norm(3, B), ShapeError, r"weight has the shape \(4, 5\)"),
    (lambda: A.gelu("fast"), ArgumentError, "must be 'none' or 'tanh', got 'fast'"),
    (lambda: A.div(2, rounding_mode="up"), ArgumentError, "rounding_mode must be None, 'floor'"),
    (lambda: A.clamp(), ArgumentError, "clamp needs min, max or both"),
    (lambda: A.bitcast("float64"), DtypeError, r"bitcast: float32 \(32 bits\) cannot be read as"),
    (lambda: A.cast("complex32"), DtypeError, r"'complex32' \(did you mean 'complex128"),
    (lambda: Tensor.realize_batch([A, NUMBER]), ArgumentTypeError, "realize_batch takes tensors"),
    (lambda: Tensor.prepare_batch([]), ArgumentError, "prepare_batch needs at least one tensor"),
    (lambda: Tensor.from_numpy(LIST), ArgumentTypeError, "takes a NumPy array, not list"),
    (lambda: A.__array__(copy=False), ArgumentError, "can only be had as a copy"),
]  # fmt: skip


@pytest.mark.parametrize(("action", "error", "words"), CASES, ids=[case[2][:40] for case in CASES])
def test_errors_say_what_was_given_and_expected(
    action: Callable[[], Any], error: type[Exception], words: str
) -> None:
    before = [tensor.node for tensor in (A, B, N, M)]
    with raises(error, match=words) as caught:
        action()
    assert isinstance(caught.value, OgiveError)
    assert [tensor.node for tensor in (A, B, N, M)] == before


def test_an_error_points_at_the_users_line() -> None:
    with raises(
        ShapeError, match="do not broadcast", quoting=r"test_errors\.py:\d+: A \+ B  # the line"
    ):
        A + B  # the line


def test_the_line_is_the_users_where_a_setting_is_refused() -> None:
    with raises(
        ConfigError, match="threads must be 0",
        quoting=r"test_errors\.py:\d+: ogive\.Config\(threads=-1\)",
    ):
        ogive.Config(threads=-1)
    with raises(
        ConfigError, match="threads must be 0",
        quoting=r"test_errors\.py:\d+: ogive\.configure\(threads=-1\)",
    ):
        ogive.configure(threads=-1)


def test_a_tensor_and_its_node_know_the_line_that_made_them() -> None:
    from ogive.errors import describe_origin

    x = A.softmax()  # made here
    assert "x = A.softmax()  # made here" in describe_origin(x.origin)
    assert "x = A.softmax()  # made here" in describe_origin(x.node.origin)


def test_errors_are_the_builtin_ones_too() -> None:
    with raises(ValueError, match="do not broadcast"):
        A + B
    with raises(TypeError, match="unknown dtype"):
        A.cast("x")
    with raises(IndexError, match="out of range"):
        A[5]
    with pytest.raises(ZeroDivisionError):
        N // 0


def test_comparison_with_numbers_beyond_the_dtype_is_by_value() -> None:
    x = ogive.ones(2, dtype="uint8")
    assert (x < 300).dtype is ogive.bool
    assert (x + 300).dtype is ogive.uint8
