"""Borrowed arrays: overlap and alignment change neither what is compiled nor what comes out.

That is why neither is in the key of a compiled graph. Kernels assume no more than the alignment of
an element, and never that two buffers are apart; and what a kernel writes is never borrowed.
"""

from __future__ import annotations

import re
from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

import ogive
from ogive import Tensor
from ogive.compiler.engine.caches.kernels import Kernel
from tests.compiler.engine.counting import Count
from tests.unreadable import before_an_unreadable_page

Array = NDArray[Any]


def program(x: Tensor, y: Tensor) -> Tensor:
    return (x * y).sum() + (x - y).exp().sum()


def reference(x: Array, y: Array) -> float:
    first, second = x.astype(numpy.float64), y.astype(numpy.float64)
    return float((first * second).sum() + numpy.exp(first - second).sum())


@pytest.fixture
def array() -> Array:
    return numpy.random.default_rng(3).standard_normal(1030).astype(numpy.float32)


def parts(array: Array) -> list[tuple[Array, Array]]:
    """Pairs of equal length: apart, the same, overlapping either way, at odd addresses."""
    return [
        (array[:500], array[512:1012]),
        (array[:500], array[:500]),
        (array[1:501], array[:500]),
        (array[:500], array[1:501]),
        (array[3:503], array[507:1007]),
    ]


def test_overlap_and_alignment_share_one_compiled_graph(array: Array) -> None:
    program(*map(Tensor.from_numpy, parts(array)[0])).realize()
    with Count() as counted:
        values = [program(*map(Tensor.from_numpy, pair)).item() for pair in parts(array)]
    assert counted == {"schedule_hits": len(values)}
    numpy.testing.assert_allclose(values, [reference(*p) for p in parts(array)], rtol=1e-5)


def test_a_jitted_function_takes_any_overlap(array: Array) -> None:
    jitted = ogive.jit(program)
    values = [jitted(*map(Tensor.from_numpy, pair)).item() for pair in parts(array)]
    numpy.testing.assert_allclose(values, [reference(*p) for p in parts(array)], rtol=1e-5)


def test_assigning_to_one_of_two_overlapping_arrays_changes_neither(array: Array) -> None:
    before = array.copy()
    x, y = Tensor.from_numpy(array[1:501]), Tensor.from_numpy(array[:500])
    x += y
    y[1:] = x[:-1]
    numpy.testing.assert_array_equal(x.numpy(), before[1:501] + before[:500])
    numpy.testing.assert_array_equal(y.numpy()[1:], (before[1:501] + before[:500])[:-1])
    numpy.testing.assert_array_equal(array, before)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8"])
def test_nothing_is_read_behind_the_end_of_an_array(dtype: str) -> None:
    """The length of work element by element is known at launch only."""
    for length in (3, 37, 1001):
        data = (numpy.arange(7 * length) % 5).astype(dtype).reshape(7, length)
        x = Tensor.from_numpy(before_an_unreadable_page(data))
        row = Tensor.from_numpy(before_an_unreadable_page(data[3]))
        for found, expected in [
            (x * 2 + 1, data * 2 + 1),
            (row * 2 + 1, data[3] * 2 + 1),
            (x + row, data + data[3]),
            (x.T.contiguous(), data.T),
            (x[:, 1:].flip(1), data[:, :0:-1]),
            (x.amax(1), data.max(1)),
            (x.amax(0), data.max(0)),
        ]:
            numpy.testing.assert_array_equal(found.numpy(), expected)


def kernels() -> tuple[Kernel, ...]:
    x = Tensor(numpy.zeros((37, 129), numpy.float32))
    y = Tensor(numpy.zeros((129, 41), numpy.float32))
    outputs = [x @ y, x.sum(0), x.permute(1, 0).contiguous(), (x > 0).sum()]
    return Tensor.prepare_batch(outputs).kernels


def test_kernels_assume_the_alignment_of_an_element_and_no_distance() -> None:
    sizes = {"float": 4, "double": 8, "i8": 1, "i32": 4, "i64": 8}
    accesses = 0
    for kernel in kernels():
        header = next(line for line in kernel.ir.split("\n") if line.startswith("define void @"))
        assert header.count("noalias") == 1, "the argument words, but no buffer"
        for kind, place, align in re.findall(
            r"(?:load|store) ([^,%]+?)(?: %[^,]+)?, ptr (%[^,]+), align (\d+)", kernel.ir
        ):
            element = kind.strip("<>").split(" x ")[-1].split()[0]
            if int(align) != 64:  # accumulators on the stack are ours
                assert int(align) == sizes[element], (kind, place)
                accesses += 1
    assert accesses > 4
