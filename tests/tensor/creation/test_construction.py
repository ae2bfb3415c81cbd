"""Tensors from data, and what they say about themselves."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import ogive
from ogive import Tensor, nn
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.ops import Op
from ogive.errors import ArgumentError, ArgumentTypeError, DeviceError, DtypeError, ShapeError
from ogive.tensor.creation.user_data import memory_of
from tests.raising import raises
from tests.tensor.interpreter import evaluate


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (True, ogive.bool), (3, ogive.int64), (2.5, ogive.float32), ([1, 2], ogive.int64),
        ([1, 2.5], ogive.float32), ([True, False], ogive.bool), ([], ogive.float32),
        ([[], []], ogive.float32), (np.float64(1), ogive.float64), (np.int8(1), ogive.int8),
        ([np.float64(1)], ogive.float64), (np.ones(2), ogive.float64),
        (np.ones(2, np.uint16), ogive.uint16), (np.ones(2, ml_dtypes.bfloat16), ogive.bfloat16),
        (np.ones(2, ml_dtypes.float8_e4m3fn), ogive.float8_e4m3), ((1, 2), ogive.int64),
        ([np.arange(2), np.arange(2)], ogive.int64),
    ],
)  # fmt: skip
def test_data_has_the_dtype_torch_would_give(data: Any, dtype: ogive.DType) -> None:
    assert Tensor(data).dtype is dtype
    assert Tensor(data).shape == np.shape(data)


@pytest.mark.parametrize("dtype", [dtype.name for dtype in dtypes.ALL if not dtype.is_bool])
def test_every_dtype_holds_data(dtype: str) -> None:
    x = Tensor([[1, 2], [3, 4]], dtype=dtype)
    assert x.dtype is getattr(ogive, dtype)
    assert evaluate(x).astype(np.complex64).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3).T, np.arange(12)[::3], np.arange(6)[::-1],
        np.broadcast_to(np.arange(3), (4, 3)), np.arange(4, dtype=">i4"), np.float32(7),
        np.array(5), np.empty((0, 3)), np.empty((3, 0), np.int8),
        np.asfortranarray(np.ones((2, 3))),
        np.frombuffer(b"\x00" + np.arange(3, dtype=np.int32).tobytes(), np.int32, 3, 1),
    ],
)  # fmt: skip
def test_arrays_of_any_layout_keep_their_values(array: Any) -> None:
    native = np.asarray(array).astype(np.asarray(array).dtype.newbyteorder("="))
    for x in (Tensor(array), Tensor.from_numpy(np.asarray(array))):
        np.testing.assert_array_equal(evaluate(x), native)


def test_a_tensor_of_an_array_is_a_copy() -> None:
    array = np.zeros(3)
    x = Tensor(array)
    array[0] = 1
    assert evaluate(x).tolist() == [0, 0, 0]


def test_from_numpy_reads_the_array_when_it_runs() -> None:
    array = np.zeros((2, 2), np.float32)
    x = Tensor.from_numpy(array)
    y = x + 1
    array[0, 0] = 5
    assert evaluate(y).tolist() == [[6, 1], [1, 1]]
    memory = memory_of(x.node)
    assert memory is not None and memory.borrowed


def test_a_python_number_takes_no_memory() -> None:
    assert Tensor(3).node.op is Op.CONST
    assert Tensor(3).numpy() == 3
    assert Tensor(2.5).item() == 2.5
    assert Tensor(3, dtype="uint8").dtype is ogive.uint8


def test_a_tensor_of_a_tensor_is_the_same_values() -> None:
    x = Tensor([1, 2])
    assert Tensor(x).node is x.node
    assert Tensor(x, dtype="float32").dtype is ogive.float32


def test_an_empty_tensor_has_values_without_computing() -> None:
    assert (ogive.zeros(2, 0) + 1).numpy().shape == (2, 0)
    assert (ogive.zeros(2, 0) + 1).tolist() == [[], []]


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        ([[1, 2], [3]], ShapeError, r"ragged list: entry \[1\] has the shape \(1,\), and entry "
         r"\[0\] the shape \(2,\)"),
        ([[1], 2], ShapeError, r"entry \[1\] has the shape \(\), and entry \[0\] the shape \(1,\)"),
        ([1, [2]], ShapeError, r"ragged list: entry \[1\] has the shape \(1,\)"),
        ([[[1]], [[2, 3]]], ShapeError, r"ragged list: entry \[1\] has the shape \(1, 2\)"),
        ("text", ArgumentTypeError, "made from numbers, lists and arrays, not from str"),
        (["text"], DtypeError, "'text' is text; tensors hold numbers"),
        (object(), ArgumentTypeError, "not from object"),
        (None, ArgumentTypeError, "not from NoneType"),
        ([1, None], ArgumentError, "other objects"),
        ([2**70, 1], ArgumentError, "fit no integer dtype"),
        ([2**63], ArgumentError, "beyond int64"),
        (2**64, ArgumentError, "does not fit int64"),
        (np.ones(2, "M8[s]"), DtypeError, "unknown dtype .*M8.*the dtypes are bool, int8"),
        (np.array(["a"]), DtypeError, "unknown dtype"),
        (np.array([object()]), DtypeError, "unknown dtype"),
    ],
)  # fmt: skip
def test_bad_data_is_refused_in_words(data: Any, error: type[Exception], words: str) -> None:
    with raises(error, match=words):
        Tensor(data)


T = torch.tensor


@pytest.mark.parametrize(
    "data",
    [
        [T(1.5), T(2.5)], [[T(1.5)], [T(2.5)]], [[T(1), 2.5]], ([T(1)], (2,)), [T([[3]]), T([4])],
        [2, T(1, dtype=torch.int8)], [T(True), False], [2.0, T(1.0, dtype=torch.float64)],
        [T(1.0, dtype=torch.float16), T(1.0, dtype=torch.bfloat16)], [1j, T(1.5)],
    ],
    ids=str,
)  # fmt: skip
def test_lists_hold_tensors_of_one_element_as_numbers(data: Any) -> None:
    def converted(entry: Any) -> Any:
        if isinstance(entry, torch.Tensor):
            name = str(entry.dtype).partition(".")[2]
            return Tensor(np.array(entry.tolist()), dtype=name)
        return type(entry)(map(converted, entry)) if isinstance(entry, list | tuple) else entry

    made, expected = Tensor(converted(data)), torch.tensor(data)
    assert f"torch.{made.dtype.name}" == str(expected.dtype)
    assert made.tolist() == expected.tolist()


def test_a_list_of_tensors_takes_values_and_no_gradients() -> None:
    x = ogive.ones(2, requires_grad=True)
    assert not Tensor([x[0] * 2, x[1]]).requires_grad
    assert ogive.jit(lambda y: Tensor([y.sum(), 1]))(Tensor([1.0, 2.0])).tolist() == [3, 1]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([Tensor([1, 2])], r"of shape \(2,\).*ogive\.stack"),
        ([[Tensor(1)], [Tensor(1), 2]], "ragged list: at depth 1"),
        ([Tensor(1), [2]], "ragged list: at depth 1"),
    ],
)  # fmt: skip
def test_lists_with_tensors_that_do_not_fit_are_refused(data: Any, words: str) -> None:
    with raises(ShapeError, match=words):
        Tensor(data)


def test_an_unknown_dtype_names_the_nearest() -> None:
    with raises(DtypeError, match=r"unknown dtype 'flaot32' \(did you mean 'float32'\?\)"):
        Tensor([1], dtype="flaot32")
    with raises(DtypeError, match="the dtypes are bool, int8"):
        ogive.zeros(2, dtype="quaternion")


def test_an_unknown_device_names_the_nearest() -> None:
    with raises(DeviceError, match=r"unknown device 'CPUU' \(did you mean 'CPU'\?\)"):
        Tensor([1], device="CPUU")
    with raises(DeviceError, match="the devices are CPU"):
        ogive.zeros(2, device="abacus")
    assert Tensor([1], device="cpu").device == "CPU"


def test_to_takes_a_dtype_or_a_device() -> None:
    x = Tensor([1, 2])
    assert x.to("float16").dtype is ogive.float16
    assert x.to("cpu").device == "CPU"
    with raises(DeviceError, match=r"unknown device 'gpu' \(did you mean 'CPU'\?\)"):
        x.to("gpu")
    for name in ("xpu", "xpu:0", "mps"):
        with raises(DeviceError, match=f"unknown device '{name}'.*; the devices are CPU"):
            x.to(name)
    with raises(ArgumentTypeError, match=r"unknown dtype 'flot16' \(did you mean 'float16'"):
        x.to("flot16")


def test_facts_about_a_tensor() -> None:
    x = ogive.zeros(2, 3, dtype="int8")
    assert (x.shape, x.ndim, x.numel(), x.dtype, x.device) == ((2, 3), 2, 6, ogive.int8, "CPU")
    assert len(x) == 2
    assert [row.shape for row in x] == [(3,), (3,)]
    assert hash(x) == hash(x) and x in {x}


def test_a_tensor_equals_nothing_of_another_kind() -> None:
    x = Tensor([1.0, 2.0])
    equal, different = x == None, x != "a"  # noqa: E711
    assert [equal, different] == [False, True]
    assert (x == 1).tolist() == [True, False] and x in [None, x]
    with raises(TypeError, match="eq takes tensors, numbers and NumPy arrays, not list"):
        assert x == [1.0, 2.0]


def test_text_is_of_values() -> None:
    x = Tensor([1.0, 2.0]) + 1
    assert str(x) == f"{x}" == "Tensor([2., 3.], shape=(2,), dtype=float32, device=CPU)"
    assert f"{x.mean():.3f}" == "2.500" and f"{Tensor(7):03d}" == "007"
    with raises(TypeError, match=r"'\.3f' is for one number, .* the shape \(2,\)"):
        format(x, ".3f")
    assert f"loss {x.mean()}, {Tensor(7)}" == "loss 2.5, 7"
    captured = ogive.jit(lambda x: (f"{x} {x.sum()}", x + 1)[1])
    assert captured(x).tolist() == [3.0, 4.0]


def test_pytorchs_functions_are_methods_of_their_first_argument() -> None:
    package: Any = ogive.tensor
    x = package([[1.0, 3.0, 2.0]])
    assert ogive.topk(x, 2).indices.tolist() == [[1, 2]]
    assert ogive.softmax(input=x, dim=1).shape == nn.functional.softmax(x, -1).shape == (1, 3)
    with raises(TypeError, match=r"relu takes a tensor first, got list"):
        ogive.relu([1.0])
    with raises(TypeError, match=r"gelu takes a tensor first, got ndarray"):
        nn.functional.gelu(np.ones(3))


def test_bool_and_item_need_one_element() -> None:
    x = ogive.zeros(2, 3)
    with raises(ShapeError, match=r"bool\(\) of 6 elements .*use any\(\) or all\(\)"):
        bool(x)
    with raises(ShapeError, match=r"item\(\) needs one element, and shape \(2, 3\) has 6"):
        x.item()
    assert not Tensor(0.0) and int(Tensor(3)) == 3 and float(Tensor(2.5)) == 2.5


def test_scalars_have_no_length() -> None:
    with raises(ArgumentTypeError, match=r"no len\(\)"):
        len(Tensor(1))
    with raises(ArgumentTypeError, match="cannot be iterated"):
        iter(Tensor(1))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [((5,), 5), ((1, 5), 4), ((5, 1, -2), 2), ((0, 1, 0.3), 4), ((2, 2), 0), ((0, 10, 4), 3),
     ((0, 5, -1), 0)],
)
def test_arange_has_numpys_length(arguments: Any, expected: int) -> None:
    assert ogive.arange(*arguments).shape == np.arange(*arguments).shape == (expected,)


def test_ranges_that_make_no_sense_are_refused() -> None:
    with raises(ArgumentError, match="from 0 to 5 by 0 is not a finite range"):
        ogive.arange(0, 5, 0)
    with raises(ArgumentError, match="is not a finite range"):
        ogive.arange(float("nan"))
    with raises(ArgumentError, match="num is -1"):
        ogive.linspace(0, 1, -1)
    with raises(ShapeError, match=r"zeros: axis 1 of \(2, -3\) has a negative length"):
        ogive.zeros(2, -3)
    with raises(ArgumentTypeError, match=r"zeros: a length must be an integer, got 2\.5"):
        ogive.zeros(2.5)


def test_import_brings_in_nothing_heavy() -> None:
    code = (
        "import sys, ogive\n"
        "heavy = {'llvmlite', 'sqlite3', 'torch', 'scipy', 'jax'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "fill",
    [
        lambda x: ogive.full((2,), 300, dtype="int8"),
        lambda x: x.fill_(-129),
        lambda x: ogive.where(x > 0, x, 1000),
        lambda x: x.masked_fill(x > 0, 300),
        lambda x: x.new_full((2,), 300),
    ],
)
def test_numbers_that_do_not_fit_are_not_wrapped(fill: Any) -> None:
    with raises(ArgumentError, match="does not fit int8, which holds -128 to 127"):
        fill(Tensor([1, 2], dtype="int8"))


def test_bounds_beyond_a_dtype_bound_nothing() -> None:
    assert Tensor([1, 2], dtype="int8").clamp(0, 1000).tolist() == [1, 2]
    assert Tensor([1, 200], dtype="uint8").clamp(-1, 100).tolist() == [1, 100]


def test_lists_that_contain_themselves_are_refused() -> None:
    inner: list[Any] = []
    inner.append(inner)
    beside: list[Any] = [1.0]
    beside.append(beside)
    deep: list[Any] = [1.0]
    for _ in range(5000):
        deep = [deep]
    for nested in (inner, beside, deep):
        with raises(ArgumentError, match="nested more than 64 deep, or contain themselves"):
            Tensor(nested)


def test_numbers_beyond_float32_become_infinite_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Tensor([1e300, -1e300]).tolist() == [np.inf, -np.inf]


@pytest.mark.parametrize(
    ("start", "stop"), [(Tensor(1j), Tensor(2.0)), (Tensor(0.5), 1 + 2j), (Tensor(1 - 1j), 3.0)]
)
def test_a_line_between_complex_tensors_is_complex(start: Any, stop: Any) -> None:
    found = ogive.linspace(start, stop, 5)
    first, last = [each.item() if isinstance(each, Tensor) else each for each in (start, stop)]
    assert found.dtype == ogive.complex64
    np.testing.assert_allclose(found.numpy(), np.linspace(first, last, 5), rtol=1e-6)
