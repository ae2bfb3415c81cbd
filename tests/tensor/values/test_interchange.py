"""Memory shared with NumPy, PyTorch and JAX, and NumPy's functions on tensors."""

from __future__ import annotations

import gc
import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy
import pytest
import torch

import ogive
from ogive import Tensor, Variable
from ogive.compat.numpy_functions import BY_VALUE, FUNCTIONS, UFUNCS
from ogive.compiler.devices.dlpack import make_capsule
from ogive.compiler.ir import dtype as dtypes
from ogive.errors import ArgumentTypeError, DeviceError, DtypeError, InterchangeError, TraceError
from tests.raising import raises

FOREIGN = (dtypes.bfloat16, dtypes.float8_e4m3, dtypes.float8_e5m2)


def torch_dtype(dtype: ogive.DType) -> torch.dtype:
    name = "float8_e4m3fn" if dtype is dtypes.float8_e4m3 else dtype.name
    found: torch.dtype = getattr(torch, name)
    return found


def address(x: Tensor) -> int:
    from ogive.tensor.creation.user_data import memory_of

    memory = memory_of(x.node)
    assert memory is not None
    return memory.address


class Legacy:
    """A producer or consumer of before version 1: it knows no arguments."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, stream: Any = None) -> Any:
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


# Out


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_torch_reads_our_memory_without_a_copy(dtype: ogive.DType) -> None:
    x = Tensor(numpy.arange(6).reshape(2, 3) % 2).cast(dtype).realize()
    theirs = torch.from_dlpack(x)
    assert theirs.dtype is torch_dtype(dtype) and theirs.data_ptr() == address(x)
    assert theirs.double().tolist() == [[0, 1, 0], [1, 0, 1]]


@pytest.mark.parametrize("dtype", [d for d in dtypes.ALL if d not in FOREIGN], ids=str)
def test_numpy_reads_our_memory_without_a_copy(dtype: ogive.DType) -> None:
    x = ogive.ones(2, 3).cast(dtype).realize()
    array = numpy.from_dlpack(x)
    assert array.dtype == dtype.numpy and array.ctypes.data == address(x) and array.shape == (2, 3)


def test_lazy_values_views_scalars_and_empty_ones_are_computed() -> None:
    x = ogive.arange(6).reshape(2, 3)
    assert numpy.from_dlpack((x + 1).T).tolist() == [[1, 4], [2, 5], [3, 6]]
    assert numpy.from_dlpack(Tensor(2.5)).tolist() == 2.5
    assert numpy.from_dlpack(ogive.zeros(0, 3)).shape == (0, 3)
    assert x.__dlpack_device__() == (1, 0)


def test_symbolic_lengths_are_what_they_are_bound_to() -> None:
    n = Variable("n", 1, 4).bind(2)
    x = (ogive.arange(12).reshape(4, 3)[:n] + 1).realize()
    assert numpy.from_dlpack(x).tolist() == [[1, 2, 3], [4, 5, 6]]


def test_a_file_is_lent_as_a_copy(tmp_path: Any) -> None:
    ogive.save(ogive.arange(3), tmp_path / "x.npy")
    assert numpy.from_dlpack(ogive.load(tmp_path / "x.npy")).tolist() == [0, 1, 2]


def test_the_consumer_keeps_the_memory_alive() -> None:
    x = ogive.full((1000,), 7.0).realize()
    array, tensor = numpy.from_dlpack(x), torch.from_dlpack(x)
    del x
    gc.collect()
    others = [ogive.full((1000,), float(k)).realize() for k in range(20)]
    assert (array == 7).all() and (tensor == 7).all()
    assert array.ctypes.data not in [address(other) for other in others]


def test_memory_is_given_back_when_the_consumer_lets_go() -> None:
    x = ogive.full((3001,), 1.0).realize()
    place = address(x)
    array, capsule = numpy.from_dlpack(x), x.__dlpack__()
    del x, array
    gc.collect()
    first = ogive.full((3001,), 2.0).realize()
    assert address(first) != place
    del capsule  # which nobody took
    gc.collect()
    assert address(ogive.full((3001,), 3.0).realize()) == place


def test_assignment_leaves_lent_memory_alone() -> None:
    x = Tensor([1.0, 2.0, 3.0])
    array = numpy.from_dlpack(x)
    x.assign(x * 10)
    x[0] = 5
    assert x.tolist() == [5, 20, 30] and array.tolist() == [1, 2, 3]


def test_an_assignment_that_was_waiting_leaves_lent_memory_alone() -> None:
    x = Tensor([1.0, 2.0, 3.0])
    before = x.clone()
    x.assign(x * 10)
    array = numpy.from_dlpack(before)
    assert x.tolist() == [10, 20, 30] and array.tolist() == [1, 2, 3]


def test_a_captured_function_leaves_lent_memory_alone() -> None:
    x = Tensor([1.0, 2.0])

    @ogive.jit
    def step() -> None:
        x.assign(x + 1)

    for _ in range(3):
        step()
    array = numpy.from_dlpack(x)
    for _ in range(3):
        step()
    assert array.tolist() == [4, 5] and x.tolist() == [7, 8]


def test_results_of_a_captured_function_stay() -> None:
    double = ogive.jit(lambda x: x * 2)
    arrays = [numpy.from_dlpack(double(Tensor([float(k)]))) for k in range(5)]
    assert [array.tolist() for array in arrays] == [[0], [2], [4], [6], [8]]


def test_a_new_result_is_never_in_memory_that_was_lent() -> None:
    double = ogive.jit(lambda x: x * 2)
    for k in range(5):
        numpy.from_dlpack(double(Tensor([float(k)])))
        y = double(Tensor([float(k)]))
        before = address(y)
        y.assign(y + 1).realize()
        assert address(y) == before  # what is lent would be left alone


def test_what_a_plan_computes_is_copied_as_long_as_it_computes() -> None:
    x = Tensor([1.0, 2.0])
    y = x * 2
    plan = y.prepare()
    arrays = [numpy.from_dlpack(y)]
    x.assign(x + 1).realize()
    plan.execute()
    arrays.append(numpy.from_dlpack(y))
    with raises(InterchangeError, match="without a copy"):
        y.__dlpack__(copy=False)
    plan.release()
    x.assign(x + 1).realize()
    arrays.append(numpy.from_dlpack(y))
    assert [array.tolist() for array in arrays] == [[2, 4], [4, 6], [4, 6]]
    assert arrays[2].ctypes.data == address(y) != arrays[1].ctypes.data


def test_what_the_consumer_writes_the_tensor_has() -> None:
    x = Tensor([1.0, 2.0])
    torch.from_dlpack(x)[0] = 9
    assert (x + 1).tolist() == [10, 3]


def test_borrowed_memory_is_lent_read_only() -> None:
    array = numpy.arange(3)
    x = Tensor.from_numpy(array)
    assert not numpy.from_dlpack(x).flags.writeable
    assert numpy.from_dlpack(x).ctypes.data == array.ctypes.data
    old = numpy.from_dlpack(Legacy(x))
    assert old.ctypes.data != array.ctypes.data and old.tolist() == [0, 1, 2]
    with raises(InterchangeError, match="without a copy"):
        x.__dlpack__(copy=False)


def test_what_has_no_elements_is_lent_without_a_copy() -> None:
    x = ogive.from_dlpack(ogive.zeros(2, 0, dtype="int16"), copy=False, device="CPU")
    assert x.shape == (2, 0) and x.dtype is ogive.int16
    ogive.zeros(0).__dlpack__(copy=False)


def test_own_memory_can_be_written_also_the_second_time() -> None:
    x = Tensor([1.0])
    assert numpy.from_dlpack(x).flags.writeable and numpy.from_dlpack(x).flags.writeable
    assert numpy.from_dlpack(Legacy(x)).ctypes.data == address(x)


def test_a_copy_can_be_asked_for() -> None:
    x = Tensor([1.0]).realize()
    array = numpy.from_dlpack(x, copy=True)
    assert array.ctypes.data != address(x)
    array[0] = 5
    assert x.tolist() == [1.0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dl_device": (2, 0)}, "cannot be lent on device"),
        ({"stream": 1}, "the CPU has no streams"),
    ],
)
def test_what_the_cpu_has_not_is_refused(options: dict[str, Any], words: str) -> None:
    with raises(InterchangeError, match=words) as caught:
        Tensor([1.0]).__dlpack__(**options)
    assert isinstance(caught.value, BufferError)


def test_values_cannot_leave_a_function_that_is_captured() -> None:
    @ogive.jit
    def leak(x: Tensor) -> Tensor:
        numpy.from_dlpack(x)
        return x

    with raises(TraceError, match="asks for values"):
        leak(Tensor([1.0]))


def test_memory_that_is_still_lent_when_the_process_ends_does_no_harm() -> None:
    program = """
import numpy, torch, ogive
x = ogive.Tensor([1.0, 2.0])
kept = [numpy.from_dlpack(x), torch.from_dlpack(x), x.__dlpack__(), x.bfloat16().__dlpack__()]
import builtins; builtins.kept = kept  # destroyed last
borrowed = builtins.borrowed = ogive.from_dlpack(torch.ones(3).bfloat16())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


# In


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_the_memory_of_torch_is_borrowed(dtype: ogive.DType) -> None:
    theirs = (torch.arange(6).reshape(2, 3) % 2).to(torch_dtype(dtype))
    x = ogive.from_dlpack(theirs)
    assert x.dtype is dtype and x.shape == (2, 3) and address(x) == theirs.data_ptr()
    theirs.view(torch.uint8)[...] = 0
    assert x.cast("float32").tolist() == [[0, 0, 0], [0, 0, 0]]


VIEWS = {
    "rows": lambda a: a[1:3],
    "columns": lambda a: a[:, 1:3],
    "transposed": lambda a: a.T,
    "steps": lambda a: a[::2, ::3],
    "backwards": lambda a: a[::-1, ::-2],
    "backwards, transposed": lambda a: a[::-1].T,
    "repeated": lambda a: numpy.broadcast_to(a[0], (3, 5)),
    "windows": lambda a: numpy.lib.stride_tricks.sliding_window_view(a[0].copy(), 3),
    "one element": lambda a: a[2:3, 3:4],
    "scalar": lambda a: a[2, 3, ...],
    "empty": lambda a: a[:0],
}


@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_strided_memory_is_read_in_place(view: Any, dtype: str) -> None:
    base = numpy.arange(20).reshape(4, 5).astype(dtype)
    array = view(base)
    x = ogive.from_dlpack(array, copy=False)
    if array.flags.writeable and array.size:
        base += 1
    assert x.shape == array.shape and x.tolist() == array.tolist()


def test_strided_foreign_dtypes_are_read_in_place() -> None:
    for dtype in FOREIGN:
        theirs = torch.arange(6.0).reshape(2, 3).to(torch_dtype(dtype))
        x = ogive.from_dlpack(theirs.t(), copy=False)
        assert x.tolist() == [[0, 3], [1, 4], [2, 5]]


def test_assignment_takes_other_memory() -> None:
    array = numpy.ones(3)
    x = ogive.from_dlpack(array)
    x[1] = 5
    x.assign(x * 2)
    assert x.tolist() == [2, 10, 2] and array.tolist() == [1, 1, 1]


def test_the_producer_may_be_dropped() -> None:
    theirs = torch.full((1000,), 7.0).bfloat16()
    x = ogive.from_dlpack(theirs)
    del theirs
    gc.collect()
    others = [torch.zeros(1000).bfloat16() for _ in range(20)]
    assert x.sum().item() == 7008 and len(others) == 20  # as bfloat16 rounds 7000


def test_old_producers_and_our_own_tensors_are_taken() -> None:
    array = numpy.arange(3.0)
    assert address(ogive.from_dlpack(Legacy(array))) == array.ctypes.data
    x = Tensor([1.0, 2.0]).bfloat16().realize()
    assert address(ogive.from_dlpack(x)) == address(x)


def test_a_copy_is_a_copy() -> None:
    array = numpy.zeros(2)
    x = ogive.from_dlpack(array, copy=True)
    array[0] = 5
    assert x.tolist() == [0, 0]


class Capsule:
    """Gives one capsule, changed or not."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule


def test_what_cannot_be_taken_is_refused() -> None:
    with raises(ArgumentTypeError, match="not list"):
        ogive.from_dlpack([1, 2])
    with raises(InterchangeError, match="refused"):
        ogive.from_dlpack(torch.ones(2, requires_grad=True))
    with raises(InterchangeError, match="expected a capsule"):
        ogive.from_dlpack(Capsule(None))
    with raises(DeviceError, match="unknown device"):
        ogive.from_dlpack(numpy.ones(2), device="moon")
    used = numpy.ones(2).__dlpack__()
    ogive.from_dlpack(Capsule(used))
    with raises(InterchangeError, match="has not been consumed"):
        ogive.from_dlpack(Capsule(used))


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [("device_type", 2, "which the CPU does not read"), ("lanes", 4, "cannot be taken")],
)
def test_a_capsule_of_something_else_is_refused(field: str, value: int, words: str) -> None:
    from ogive.compiler.devices import dlpack

    capsule = make_capsule(numpy.ones(2), True, False)
    tensor = dlpack._open(capsule).tensor
    target = tensor.dtype if field == "lanes" else tensor
    before = getattr(target, field)
    setattr(target, field, value)
    with raises(InterchangeError, match=words):
        ogive.from_dlpack(Capsule(capsule))
    setattr(target, field, before)


def test_a_newer_protocol_is_refused() -> None:
    from ogive.compiler.devices import dlpack

    capsule = make_capsule(numpy.ones(2), True, False)
    opened = dlpack._open(capsule)
    assert isinstance(opened, dlpack._Versioned)
    opened.major = 2
    with raises(InterchangeError, match=r"DLPack 2.0; only version 1 is known"):
        ogive.from_dlpack(Capsule(capsule))
    opened.major = 1


def test_memory_that_is_not_aligned_is_copied() -> None:
    array = numpy.zeros(9, numpy.uint8)[1:].view(numpy.float64)
    array[0] = 2.5
    if array.flags.aligned:
        pytest.skip("this machine aligns anything")
    assert ogive.from_dlpack(array).tolist() == [2.5]
    with raises(InterchangeError, match="cannot be read in place"):
        ogive.from_dlpack(array, copy=False)


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.int8, dtypes.bool_, *FOREIGN], ids=str)
def test_jax_goes_both_ways(dtype: ogive.DType) -> None:
    jax = pytest.importorskip("jax")
    theirs = jax.numpy.asarray([[1, 0, 1], [0, 1, 1]]).astype(dtype.numpy)
    x = ogive.from_dlpack(theirs)
    assert x.dtype is dtype and address(x) == theirs.unsafe_buffer_pointer()
    own = Tensor(numpy.ones((2, 3))).cast(dtype).realize()
    back = jax.dlpack.from_dlpack(own)
    assert back.dtype == dtype.numpy and back.unsafe_buffer_pointer() == address(own)


# NumPy's functions

RANDOM = numpy.random.default_rng()
WHOLE = {
    numpy.bitwise_and, numpy.bitwise_or, numpy.bitwise_xor, numpy.invert, numpy.left_shift,
    numpy.right_shift,
}  # fmt: skip


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
def test_ufuncs_are_lazy_and_agree(ufunc: Any) -> None:
    given = [RANDOM.random((3, 3)) * 0.9 + 0.05 for _ in range(ufunc.nin)]
    if ufunc is numpy.arccosh:
        given[0] += 1
    if ufunc in WHOLE:
        given = [(each * 5).astype(numpy.int64) for each in given]
    expected = ufunc(*given)
    ours = ufunc(*[Tensor(each) + 0 for each in given])
    assert isinstance(ours, Tensor) and not ours.is_realized
    numpy.testing.assert_allclose(ours.numpy(), expected, rtol=1e-12, strict=True)
    if ufunc.nin == 2:
        mixed = ufunc(given[0], Tensor(given[1]))
        assert isinstance(mixed, Tensor)
        numpy.testing.assert_allclose(mixed.numpy(), expected, rtol=1e-12, strict=True)


def test_numbers_beside_tensors_do_not_change_the_dtype() -> None:
    x = Tensor([1.0, 2.0])
    for made in (numpy.float64(2) * x, numpy.multiply(2.0, x), numpy.subtract(numpy.int64(3), x)):
        assert made.dtype is ogive.float32
    assert (numpy.float64(3) - x).tolist() == [2, 1] and (numpy.ones(2) - x).tolist() == [0, -1]
    assert numpy.add(x, 1, dtype="float64").dtype is ogive.float64


A = RANDOM.random((2, 3))
B = RANDOM.random((2, 3))
SAME: dict[str, Any] = {
    "sum": lambda a, b: numpy.sum(a, axis=1, keepdims=True),
    "prod": lambda a, b: numpy.prod(a),
    "mean": lambda a, b: numpy.mean(a, 0),
    "max": lambda a, b: numpy.max(a, axis=(0, 1)),
    "amax": lambda a, b: numpy.amax(a),
    "min": lambda a, b: numpy.min(a, axis=0),
    "amin": lambda a, b: numpy.amin(a, axis=-1),
    "all": lambda a, b: numpy.all(a > b, axis=0),
    "any": lambda a, b: numpy.any(a > b),
    "argmax": lambda a, b: numpy.argmax(a, axis=1),
    "argmin": lambda a, b: numpy.argmin(a),
    "var": lambda a, b: numpy.var(a, axis=0),
    "std": lambda a, b: numpy.std(a, axis=1, ddof=1, keepdims=True),
    "add.reduce": lambda a, b: numpy.add.reduce(a),
    "maximum.reduce": lambda a, b: numpy.maximum.reduce(a, axis=1, keepdims=True),
    "ravel": lambda a, b: numpy.ravel(a),
    "flip": lambda a, b: numpy.flip(a),
    "flip one": lambda a, b: numpy.flip(a, axis=1),
    "squeeze": lambda a, b: numpy.squeeze(a[:1]),
    "swapaxes": lambda a, b: numpy.swapaxes(a, 0, 1),
    "broadcast_to": lambda a, b: numpy.broadcast_to(a[0], (4, 3)),
    "reshape": lambda a, b: numpy.reshape(a, (3, -1)),
    "transpose": lambda a, b: numpy.transpose(a),
    "transpose axes": lambda a, b: numpy.transpose(numpy.expand_dims(a, 0), (2, 0, 1)),
    "expand_dims": lambda a, b: numpy.expand_dims(a, (0, -1)),
    "moveaxis": lambda a, b: numpy.moveaxis(numpy.expand_dims(a, 0), [0, 1], [-1, 0]),
    "tile": lambda a, b: numpy.tile(a, (2, 1)),
    "roll": lambda a, b: numpy.roll(a, 2, axis=1),
    "repeat": lambda a, b: numpy.repeat(a, 2, axis=0),
    "diag": lambda a, b: numpy.diag(a[0], 1),
    "tril": lambda a, b: numpy.tril(a),
    "triu": lambda a, b: numpy.triu(a, 1),
    "trace": lambda a, b: numpy.trace(a),
    "outer": lambda a, b: numpy.outer(a, b),
    "kron": lambda a, b: numpy.kron(a, b),
    "cumsum": lambda a, b: numpy.cumsum(a),
    "cumprod": lambda a, b: numpy.cumprod(a, axis=1),
    "isclose": lambda a, b: numpy.isclose(a, b, atol=0.3),
    "concatenate": lambda a, b: numpy.concatenate([a, B], axis=1),
    "concatenate flat": lambda a, b: numpy.concatenate([a, b], axis=None),
    "stack": lambda a, b: numpy.stack((A, b), -1),
    "where": lambda a, b: numpy.where(a > b, a, 0.0),
    "clip": lambda a, b: numpy.clip(a, 0.2, 0.8),
    "round": lambda a, b: numpy.round(a * 9),
    "around": lambda a, b: numpy.around(a * 9),
    "dot": lambda a, b: numpy.dot(a, numpy.transpose(b)),
    "dot scalar": lambda a, b: numpy.dot(a, b[0, 0]),
    "zeros_like": lambda a, b: numpy.zeros_like(a),
    "ones_like": lambda a, b: numpy.ones_like(a, dtype="int32"),
    "full_like": lambda a, b: numpy.full_like(a, 2.5),
}


@pytest.mark.parametrize("program", SAME.values(), ids=SAME)
def test_functions_are_lazy_and_agree(program: Any) -> None:
    ours, expected = program(Tensor(A), Tensor(B)), program(A, B)
    assert isinstance(ours, Tensor)
    numpy.testing.assert_allclose(ours.numpy(), numpy.asarray(expected), rtol=1e-12, strict=True)


def test_every_function_of_the_table_is_tried() -> None:
    source = "".join(str(program.__code__.co_names) for program in SAME.values())
    facts = {"shape", "ndim", "size"}
    tried = {function.__name__ for function in FUNCTIONS} - facts
    assert not [name for name in tried if f"'{name}'" not in source]


def test_facts_and_values_are_plain() -> None:
    x: Any = Tensor(A)
    assert (numpy.shape(x), numpy.ndim(x), numpy.size(x), numpy.size(x, 1)) == ((2, 3), 2, 6, 3)
    assert numpy.allclose(x, A) and numpy.array_equal(x, A) and numpy.array_repr(x)
    assert BY_VALUE[0] is numpy.allclose


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (lambda x: numpy.spacing(x), "numpy.spacing does not work on tensors"),
        (lambda x: numpy.linalg.eig(x), r"numpy.linalg.eig does not work .*x.numpy\(\)"),
        (lambda x: numpy.add.accumulate(x), "numpy.add.accumulate does not work"),
        (lambda x: numpy.add(x, x, out=numpy.ones((2, 2))), "takes no out"),
        (lambda x: numpy.add(x, x, where=x > 0), "takes no where"),
        (lambda x: numpy.sum(x, initial=3), "unexpected keyword argument 'initial'"),
        (lambda x: numpy.dot(x, ogive.ones(2, 2, 2)), "up to 2 axes"),
        (lambda x: numpy.round(x, 2), "decimals=0"),
        (lambda x: numpy.add(x, "a"), "takes tensors, numbers and NumPy arrays, not str"),
    ],
)
def test_what_there_is_none_of_is_refused(program: Any, words: str) -> None:
    with raises(ArgumentTypeError, match=words):
        program(ogive.ones(2, 2))


def test_an_array_cannot_be_added_to_in_place() -> None:
    array = numpy.ones(2)
    with raises(ArgumentTypeError, match="takes no out"):
        array += ogive.ones(2)


def test_dtypes_that_there_are_none_of_are_refused() -> None:
    with raises(DtypeError, match="unknown dtype"):
        Tensor(numpy.ones(2, ml_dtypes.float8_e4m3b11fnuz))
