"""What the functions of the standard give: the same as NumPy, in the same dtype and shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import ogive
from ogive import Tensor
from ogive.errors import ArgumentError, ArgumentTypeError, AxisError, DtypeError, ShapeError
from tests.compat.array_api.programs import PROGRAMS, Program, inputs
from tests.compat.array_api.standard import EXTENSIONS, FUNCTIONS
from tests.docs.markdown import ROOT, python_blocks, run_block
from tests.raising import raises

OURS, NUMPYS = inputs(ogive), inputs(numpy)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with numpy.errstate(all="ignore"):
        yield


@pytest.mark.parametrize(("title", "program"), PROGRAMS, ids=[title for title, _ in PROGRAMS])
def test_programs_give_what_numpy_gives(title: str, program: Program) -> None:
    found, expected = _flat(program(ogive, OURS)), _flat(program(numpy, NUMPYS))
    assert len(found) == len(expected)
    for own, other in zip(found, expected, strict=True):
        assert isinstance(own, Tensor)
        array = own.numpy()
        assert (array.shape, array.dtype) == (other.shape, other.dtype), title
        single = array.dtype in (numpy.float32, numpy.complex64)
        tolerance = 2e-6 if single else 1e-13
        numpy.testing.assert_allclose(array, other, rtol=tolerance, atol=tolerance)


def _flat(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return list(value)
    return [value if isinstance(value, Tensor) else numpy.asarray(value)]


def test_every_function_is_called_by_a_program() -> None:
    called: set[str] = set()

    class Recorder:
        def __init__(self, module: Any) -> None:
            self._module = module

        def __getattr__(self, name: str) -> Any:
            called.add(name)
            found = getattr(self._module, name)
            return Recorder(found) if name in EXTENSIONS else found

    for _, program in PROGRAMS:
        program(Recorder(numpy), NUMPYS)
    elsewhere = {
        "can_cast", "finfo", "iinfo", "isdtype", "result_type", "from_dlpack", "empty_like",
        "zeros_like", "ones", "asarray",
    }  # fmt: skip
    wanted = {*FUNCTIONS, *EXTENSIONS["linalg"]}
    assert wanted - called - elsewhere == set()


def test_the_page_on_the_standard_runs() -> None:
    scope: dict[str, Any] = {}
    for block in python_blocks(ROOT / "docs" / "array-api.md"):
        run_block(block, scope)
    assert scope


DTYPES = ("bool", "int8", "int32", "int64", "uint8", "float32", "float64", "complex64")


@pytest.mark.parametrize("first", DTYPES)
@pytest.mark.parametrize("second", DTYPES)
def test_dtypes_meet_as_the_standard_says(first: str, second: str) -> None:
    one, other = getattr(ogive, first), getattr(ogive, second)
    kinds = {one.kind, other.kind}
    if kinds & {"int", "uint"} and kinds & {"float", "complex"}:
        return  # the standard leaves this open, and NumPy's answer is not PyTorch's
    expected = numpy.result_type(one.numpy, other.numpy)
    assert ogive.result_type(one, other).numpy == expected
    assert ogive.can_cast(one, other) == (expected == other.numpy)


def test_scalars_take_on_the_dtype_of_arrays() -> None:
    assert ogive.result_type(ogive.float32, 1.5, 2) is ogive.float32
    assert ogive.result_type(ogive.float64, 1j) is ogive.complex128
    assert ogive.add(Tensor(1.5, ogive.float64), Tensor([1.0])).dtype is ogive.float64
    with raises(ArgumentError, match="needs a tensor or a dtype"):
        ogive.result_type(1, 2.5)


@pytest.mark.parametrize("name", ["float32", "float64", "complex64", "complex128"])
def test_finfo_gives_numpys_limits(name: str) -> None:
    own, other = ogive.finfo(getattr(ogive, name)), numpy.finfo(name)
    assert own.dtype.numpy == other.dtype
    assert own.bits == other.bits
    for field in ("eps", "max", "min", "smallest_normal"):
        assert getattr(own, field) == getattr(other, field)


@pytest.mark.parametrize("name", ["int8", "uint16", "int64", "uint64"])
def test_iinfo_gives_numpys_limits(name: str) -> None:
    own, other = ogive.iinfo(Tensor([1], name)), numpy.iinfo(name)
    assert (own.bits, own.max, own.min) == (other.bits, other.max, other.min)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "kind",
    ["bool", "signed integer", "unsigned integer", "integral", "real floating",
     "complex floating", "numeric"],
)  # fmt: skip
def test_kinds_of_dtypes_are_numpys(dtype: str, kind: str) -> None:
    own = ogive.isdtype(getattr(ogive, dtype), kind)
    assert own == numpy.isdtype(numpy.dtype(dtype), kind)
    assert ogive.isdtype(getattr(ogive, dtype), (kind, getattr(ogive, dtype)))


def test_asarray_copies_when_it_is_told_to() -> None:
    x = Tensor([1, 2])
    assert ogive.asarray(x) is x
    copy = ogive.asarray(x, copy=True)
    x[0] = 9
    assert copy.tolist() == [1, 2]
    array = numpy.zeros(2)
    shared = ogive.asarray(array, copy=False)
    array[0] = 5
    assert shared.tolist() == [5, 0]
    assert ogive.asarray(memoryview(b"ab")).tolist() == [97, 98]
    assert ogive.asarray(range(3)).tolist() == [0, 1, 2]


def test_arrays_have_what_the_standard_asks_of_them() -> None:
    x = Tensor([[1, 2, 3]])
    assert (x.ndim, x.shape, x.device, x.mT.shape) == (2, (1, 3), "CPU", (3, 1))
    assert [10, 20, 30][Tensor(1)] == 20
    assert complex(Tensor(2.5)) == 2.5
    assert complex(Tensor(1 - 2j)) == 1 - 2j
    assert x.to_device("CPU").tolist() == x.tolist()
    assert ogive.empty_like(x).shape == ogive.zeros_like(x).shape == x.shape
    assert ogive.from_dlpack(numpy.asarray([1j])).dtype is ogive.complex128
    assert numpy.from_dlpack(Tensor([1j])).tolist() == [1j]


@pytest.mark.parametrize(
    ("program", "error", "words"),
    [
        (lambda: ogive.exp(1.5), ArgumentTypeError, "exp takes tensors, not float"),
        (lambda: ogive.add(1, 2), ArgumentTypeError, "add takes tensors, not int"),
        (lambda: ogive.astype(Tensor([1j]), "float32"), DtypeError, "loses the imaginary part"),
        (lambda: ogive.asarray([1.5], copy=False), ArgumentError, "without a copy"),
        (lambda: ogive.asarray(Tensor([1]), dtype="int8", copy=False), ArgumentError, "int8"),
        (lambda: ogive.squeeze(Tensor([[1, 2]]), 1), ShapeError, "axis 1 of shape"),
        (lambda: ogive.take(Tensor([[1]]), Tensor([0])), ShapeError, "say which with axis"),
        (lambda: ogive.cumulative_sum(Tensor([[1]])), AxisError, "say which with axis"),
        (lambda: ogive.isdtype(ogive.int8, "whole"), ArgumentError, "no kind 'whole'"),
        (lambda: ogive.isdtype(ogive.int8, 3), ArgumentTypeError, "kind must be a dtype"),
        (lambda: ogive.finfo("int8"), DtypeError, "not int8; see iinfo"),
        (lambda: ogive.iinfo("float32"), DtypeError, "not float32; see finfo"),
        (lambda: ogive.roll(Tensor([1]), (1, 2), axis=0), ArgumentError, "2 shifts for 1 axes"),
        (lambda: ogive.imag(Tensor([1.5])), DtypeError, "has no imaginary part"),
        (lambda: ogive.vecdot(Tensor([1]), Tensor([1, 2])), ShapeError, "lengths 1 and 2"),
        (lambda: Tensor([1]).to_device("CPU", stream=1), ArgumentError, "no streams"),
        (lambda: [1][Tensor([0])], ArgumentTypeError, "is no index; an index is an integer tensor"),
        (lambda: ogive.stack([Tensor([1])], dim=0, axis=0), ArgumentTypeError, "mean the same"),
    ],
)
def test_what_makes_no_sense_is_refused(program: Any, error: type[Exception], words: str) -> None:
    with raises(error, match=words):
        program()
