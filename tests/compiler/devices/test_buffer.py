"""Buffers: lazy, shared, borrowed, released."""

from __future__ import annotations

import gc
import weakref

import ml_dtypes
import numpy
import pytest

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.ir.memory import ALIGNMENT
from ogive.errors import ArgumentError, ArgumentTypeError
from tests.raising import raises


def test_memory_is_allocated_on_first_use() -> None:
    buffer = Buffer(1000)
    assert not buffer.allocated
    address = buffer.address
    assert buffer.allocated
    assert buffer.address == address


@pytest.mark.parametrize("nbytes", [0, 1, 63, 64, 4097, 10_000_019])
def test_addresses_are_aligned_and_never_null(nbytes: int) -> None:
    address = Buffer(nbytes).address
    assert address > 0
    assert address % ALIGNMENT == 0


def test_a_buffer_holds_what_was_copied_into_it() -> None:
    data = numpy.random.default_rng(0).integers(0, 256, 1001).astype(numpy.uint8)
    buffer = Buffer(1001)
    buffer.copy_from(data.tobytes())
    assert buffer.memoryview() == data.data
    buffer.copy_from(data[::-1].copy().data)
    assert (buffer.as_numpy() == data[::-1]).all()


def test_an_empty_buffer_can_be_read_and_written() -> None:
    buffer = Buffer(0)
    buffer.copy_from(b"")
    assert buffer.as_numpy("float32", (0, 3)).shape == (0, 3)
    assert bytes(buffer.memoryview()) == b""


def test_copying_the_wrong_number_of_bytes_is_an_error() -> None:
    with raises(ArgumentError, match="3 bytes were given to a buffer of 4"):
        Buffer(4).copy_from(b"abc")


def test_an_array_of_a_buffer_shares_its_memory() -> None:
    buffer = Buffer(24)
    array = buffer.as_numpy(numpy.float32, (2, 3))
    array[...] = [[1, 2, 3], [4, 5, 6]]
    assert array.ctypes.data == buffer.address
    assert buffer.as_numpy(numpy.float32).tolist() == [1, 2, 3, 4, 5, 6]


def test_a_buffer_can_be_seen_as_a_type_numpy_does_not_have() -> None:
    buffer = Buffer(4)
    buffer.as_numpy(ml_dtypes.bfloat16)[:] = [1.5, -2]
    assert buffer.memoryview().hex() == "c03f00c0"


def test_an_array_keeps_the_memory_alive() -> None:
    buffer = Buffer(4096)
    alive = weakref.ref(buffer)
    array = buffer.as_numpy(numpy.float64, (8, 64))[2:4].T
    array[...] = 7
    del buffer
    assert alive() is not None
    Buffer(4096).as_numpy()[:] = 0
    assert (array == 7).all()
    del array
    assert alive() is None


def test_a_view_shares_the_memory_of_its_base() -> None:
    base = Buffer(100)
    view = base.view(10, 50).view(5, 20)
    assert not view.allocated
    base.copy_from(bytes(range(100)))
    assert view.allocated
    assert view.base is base
    assert view.address == base.address + 15
    assert bytes(view.memoryview()) == bytes(range(15, 35))


def test_a_view_keeps_its_base_alive() -> None:
    base = Buffer(64)
    alive = weakref.ref(base)
    view = base.view(0, 8).view(4, 4)
    del base
    assert alive() is not None
    del view
    assert alive() is None


@pytest.mark.parametrize(("offset", "nbytes"), [(-1, 2), (0, 11), (10, 1), (3, -1)])
def test_a_view_outside_its_base_is_an_error(offset: int, nbytes: int) -> None:
    with raises(ArgumentError, match="inside a buffer of 10"):
        Buffer(10).view(offset, nbytes)


def test_a_borrowed_array_is_seen_as_it_is_now_and_kept_alive() -> None:
    array = numpy.arange(6, dtype=numpy.int32).reshape(2, 3)
    alive = weakref.ref(array)
    buffer = Buffer.borrow(array)
    array[1, 2] = 50
    del array
    assert alive() is not None
    assert buffer.borrowed
    assert buffer.as_numpy(numpy.int32).tolist() == [0, 1, 2, 3, 4, 50]
    del buffer
    assert alive() is None


def test_borrowed_memory_and_its_views_are_not_writable() -> None:
    buffer = Buffer.borrow(numpy.zeros(4, numpy.uint8))
    for each in (buffer, buffer.view(1, 2)):
        assert not each.writable
        assert not each.as_numpy().flags.writeable
        with raises(ArgumentTypeError, match="borrowed"):
            each.copy_from(bytes(each.nbytes))


def test_a_strided_array_cannot_be_borrowed() -> None:
    with raises(ArgumentError, match="C-contiguous"):
        Buffer.borrow(numpy.zeros((4, 4)).T[1:])


def test_borrowed_memory_is_never_released_to_the_allocator() -> None:
    memory = find_device("CPU").memory
    held = memory.bytes_held
    buffer = Buffer.borrow(numpy.zeros(1000))
    assert buffer.address
    del buffer
    assert memory.bytes_held == held


def test_memory_is_reused_when_the_last_user_goes() -> None:
    buffer = Buffer(3 << 20)
    address = buffer.address
    view = buffer.view(8, 8)
    del buffer
    other = Buffer(3 << 20)
    assert other.address != address
    del view
    assert Buffer(3 << 20).address == address


def test_buffers_do_not_leak() -> None:
    gc.collect()
    Buffer(12_345_678).as_numpy()[:] = 1
    memory = find_device("CPU").memory
    allocated = memory.bytes_allocated
    for _ in range(200):
        buffer = Buffer(12_345_678)
        buffer.view(5, 5).as_numpy()[:] = 1
        del buffer
    assert memory.bytes_allocated == allocated
