"""The dtype of every operation is PyTorch's, for all pairs of dtypes and kinds of operand."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor
from ogive.compiler.ir.dtype import DType
from ogive.errors import DtypeError
from tests.raising import raises

DTYPES = {
    ogive.bool: torch.bool, ogive.uint8: torch.uint8, ogive.int8: torch.int8,
    ogive.int16: torch.int16, ogive.int32: torch.int32, ogive.int64: torch.int64,
    ogive.float16: torch.float16, ogive.bfloat16: torch.bfloat16, ogive.float32: torch.float32,
    ogive.float64: torch.float64,
}  # fmt: skip
NUMBERS: tuple[Any, ...] = (True, 2, 2.5)

Function = Callable[[Any, Any], Any]

OPERATIONS: dict[str, tuple[Function, Function]] = {
    "add": (lambda a, b: a + b,) * 2,
    "sub": (lambda a, b: a - b,) * 2,
    "mul": (lambda a, b: a * b,) * 2,
    "div": (lambda a, b: a / b,) * 2,
    "floor_divide": (lambda a, b: a // b,) * 2,
    "remainder": (lambda a, b: a % b,) * 2,
    "pow": (lambda a, b: a**b,) * 2,
    "and": (lambda a, b: a & b,) * 2,
    "or": (lambda a, b: a | b,) * 2,
    "xor": (lambda a, b: a ^ b,) * 2,
    "shift left": (lambda a, b: a << b,) * 2,
    "shift right": (lambda a, b: a >> b,) * 2,
    "lt": (lambda a, b: a < b,) * 2,
    "ge": (lambda a, b: a >= b,) * 2,
    "eq": (lambda a, b: a == b,) * 2,
}
METHODS = (
    "maximum", "minimum", "atan2", "copysign", "logical_and", "logical_or", "logical_xor", "clamp",
    "fmod", "float_power", "hypot", "logaddexp", "logaddexp2", "xlogy", "fmax", "fmin",
    "heaviside", "nextafter", "isclose", "max", "min", "outer", "subtract", "multiply", "divide",
    "true_divide", "greater", "less_equal", "not_equal", "add_", "sub_", "mul_", "div_", "pow_",
    "floor_divide_", "remainder_", "bitwise_or_", "logical_and_", "lt_", "copysign_", "copy_",
    "clamp_", "hypot_", "clamp_min", "type_as",
)  # fmt: skip
UNARY = (
    "neg", "abs", "sign", "floor", "ceil", "round", "trunc", "exp", "exp2", "expm1", "log", "log2",
    "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh",
    "acosh", "atanh", "erf", "erfc", "sqrt", "rsqrt", "reciprocal", "square", "relu", "sigmoid",
    "bitwise_not", "logical_not", "isnan", "isinf", "isfinite", "sum", "prod", "mean", "all", "var",
    "std", "float", "int", "long", "half", "double", "bool", "char", "short", "byte", "positive",
    "frac", "sgn", "signbit", "sinc", "deg2rad", "rad2deg", "logit", "nan_to_num", "isposinf",
    "isneginf", "isreal", "lgamma", "digamma", "erfinv", "i0", "norm", "nansum", "nanmean",
    "count_nonzero", "cov", "corrcoef", "amax", "absolute", "negative", "arccos", "exp_",
    "sqrt_", "abs_", "floor_", "sigmoid_", "reciprocal_", "neg_", "zero_", "bitwise_not_",
    "logical_not_", "diag", "diagflat", "clone", "relu_", "square_", "erfinv_", "lgamma_",
)  # fmt: skip


def outcome(function: Callable[..., Any], *operands: Any) -> str:
    """The name of the result's dtype, or that there is none."""
    try:
        return str(function(*operands).dtype).rpartition(".")[2]
    except (RuntimeError, TypeError, ValueError, NotImplementedError, ZeroDivisionError):
        return "error"


def pairs(dtypes: tuple[DType, ...]) -> list[tuple[DType, DType]]:
    return [(left, right) for left in dtypes for right in dtypes]


@pytest.mark.parametrize("name", OPERATIONS)
def test_operators_of_two_tensors_give_torchs_dtype(name: str) -> None:
    ours, theirs = OPERATIONS[name]
    for left, right in pairs(tuple(DTYPES)):
        for shapes in (((2,), (2,)), ((2,), ()), ((), (2,)), ((), ())):
            a, b = ogive.ones(shapes[0], dtype=left), ogive.ones(shapes[1], dtype=right)
            x = torch.ones(shapes[0], dtype=DTYPES[left])
            y = torch.ones(shapes[1], dtype=DTYPES[right])
            assert outcome(ours, a, b) == outcome(theirs, x, y), (left, right, shapes)


@pytest.mark.parametrize("name", OPERATIONS)
def test_operators_with_python_numbers_give_torchs_dtype(name: str) -> None:
    ours, theirs = OPERATIONS[name]
    for dtype, number in itertools.product(DTYPES, NUMBERS):
        if name == "pow" and number is True:
            continue  # torch treats True as 1 on one side and as bool on the other
        tensor, peer = ogive.ones(2, dtype=dtype), torch.ones(2, dtype=DTYPES[dtype])
        assert outcome(ours, tensor, number) == outcome(theirs, peer, number), (dtype, number)
        assert outcome(ours, number, tensor) == outcome(theirs, number, peer), (number, dtype)


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_two_tensors_give_torchs_dtype(name: str) -> None:
    for left, right in pairs(tuple(DTYPES)):
        a, b = ogive.ones(2, dtype=left), ogive.ones(2, dtype=right)
        x, y = torch.ones(2, dtype=DTYPES[left]), torch.ones(2, dtype=DTYPES[right])
        ours, theirs = outcome(getattr(a, name), b), outcome(getattr(x, name), y)
        assert ours == theirs, (left, right)


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_tensor_give_torchs_dtype(name: str) -> None:
    for dtype, peer in DTYPES.items():
        if name == "all" and dtype is ogive.uint8:
            continue  # torch gives uint8 there, for history's sake
        ours = outcome(lambda x: getattr(x, name)(), ogive.ones(2, dtype=dtype))
        theirs = outcome(lambda x: getattr(x, name)(), torch.ones(2, dtype=peer))
        assert ours == theirs, dtype


def test_where_takes_the_common_dtype_of_its_values() -> None:
    mask, peer = ogive.ones(2, dtype="bool"), torch.ones(2, dtype=torch.bool)
    for left, right in pairs(tuple(DTYPES)):
        x, y = torch.ones(2, dtype=DTYPES[left]), torch.ones(2, dtype=DTYPES[right])
        ours = ogive.where(mask, ogive.ones(2, dtype=left), ogive.ones(2, dtype=right))
        assert str(ours.dtype)[6:] == str(torch.where(peer, x, y).dtype)[6:]
    assert ogive.where(mask, 1, 2.5).dtype is ogive.float32


def test_cat_takes_the_common_dtype() -> None:
    for left, right in pairs(tuple(DTYPES)):
        ours = ogive.cat([ogive.ones(2, dtype=left), ogive.ones(1, dtype=right)])
        x, y = torch.ones(2, dtype=DTYPES[left]), torch.ones(1, dtype=DTYPES[right])
        assert str(ours.dtype)[6:] == str(torch.cat([x, y]).dtype)[6:]


@pytest.mark.parametrize("dtype", [ogive.float8_e4m3, ogive.float8_e5m2])
def test_the_8_bit_floats_are_for_storage(dtype: DType) -> None:
    x = ogive.ones(2, dtype=dtype)
    actions: tuple[Callable[[], Any], ...] = (
        lambda: x + x, lambda: x + 1, lambda: x.exp(), lambda: x.sum(), lambda: x @ x, lambda: -x,
        lambda: x < x, lambda: x.floor(), lambda: x.softmax(), lambda: x.max(),
    )  # fmt: skip
    for compute in actions:
        with raises(DtypeError, match="8-bit floats are for storage"):
            compute()
    assert x.cast("float32").dtype is ogive.float32


def test_wide_unsigned_integers_meet_in_what_holds_both() -> None:
    x = ogive.ones(2, dtype="uint16")
    assert (x + ogive.ones(2, dtype="int8")).dtype is ogive.int32
    with raises(DtypeError, match="no integer dtype holds both"):
        ogive.ones(2, dtype="uint64") + ogive.ones(2, dtype="int8")


def test_matmul_promotes_and_keeps_half_precision() -> None:
    a, b = ogive.ones(2, 3, dtype="float16"), ogive.ones(3, 2, dtype="float16")
    assert (a @ b).dtype is ogive.float16
    assert (a @ b.cast("float32")).dtype is ogive.float32
    assert (a.cast("int8") @ b.cast("int8")).dtype is ogive.int8


def test_numpy_numbers_count_as_python_numbers() -> None:
    x = Tensor([1, 2], dtype="float16")
    assert (x + numpy.float64(1.5)).dtype is ogive.float16
    assert (numpy.float64(1.5) * x).dtype is ogive.float16
    assert (x + numpy.int64(1)).dtype is ogive.float16
    joined: Any = numpy.ones(2) + x
    assert joined.dtype is ogive.float64
