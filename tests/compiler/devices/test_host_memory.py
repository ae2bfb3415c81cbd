"""The free lists under buffers."""

from __future__ import annotations

import itertools
import threading

import numpy
import pytest

from ogive.compiler.devices.host_memory import Allocator, size_class
from ogive.compiler.devices.protocol import Block
from ogive.compiler.ir.memory import ALIGNMENT
from ogive.errors import AllocateError
from tests.raising import raises


def test_a_size_class_wastes_at_most_a_quarter() -> None:
    for nbytes in [*range(257, 5000), *(int(1.37**power) for power in range(20, 80))]:
        capacity = size_class(nbytes)
        assert nbytes <= capacity <= 1.25 * nbytes
        assert capacity % ALIGNMENT == 0
        assert size_class(capacity) == capacity


def test_blocks_are_aligned_and_large_enough() -> None:
    allocator = Allocator("CPU")
    for nbytes in [1, 63, 64, 65, 1000, 1 << 20]:
        address, capacity, owner = allocator.allocate(nbytes)
        first = owner.ctypes.data
        assert address % ALIGNMENT == 0
        assert capacity >= nbytes
        assert first <= address
        assert address + capacity <= first + owner.nbytes


def test_a_released_block_is_handed_out_again() -> None:
    allocator = Allocator("CPU")
    block = allocator.allocate(1000)
    allocator.release(block)
    assert allocator.allocate(1001) is block
    assert (allocator.bytes_allocated, allocator.bytes_reused) == (1024, 1024)


def test_blocks_in_use_do_not_overlap() -> None:
    allocator = Allocator("CPU")
    blocks = [allocator.allocate(100) for _ in range(50)]
    spans = sorted((address, address + capacity) for address, capacity, _ in blocks)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))


def test_the_bytes_held_are_bounded() -> None:
    allocator = Allocator("CPU", held_limit=10_000)
    for block in [allocator.allocate(size) for size in (1000, 2000, 4000) for _ in range(5)]:
        allocator.release(block)
        assert allocator.bytes_held <= 10_000


def test_what_is_not_kept_is_given_back_once() -> None:
    given: list[Block] = []
    allocator = Allocator("GPU", 2000, lambda capacity: (capacity, capacity, None), given.append)
    blocks = [allocator.allocate(size) for size in (1000, 5000)]
    for block in blocks:
        allocator.release(block)
    assert given == blocks[1:]
    allocator.trim()
    assert given == [blocks[1], blocks[0]]


def test_a_block_over_the_limit_is_not_kept() -> None:
    allocator = Allocator("CPU", held_limit=1000)
    allocator.release(allocator.allocate(5000))
    assert allocator.bytes_held == 0


def test_trim_gives_back_all_that_is_held() -> None:
    allocator = Allocator("CPU")
    for block in [allocator.allocate(size) for size in (10, 1000, 100_000)]:
        allocator.release(block)
    assert allocator.bytes_held > 0
    allocator.trim()
    assert allocator.bytes_held == 0


def test_impossible_memory_is_a_typed_error_that_tells_the_size() -> None:
    with raises(AllocateError, match=r"cannot allocate 1,152,921,504,606,846,976 bytes"):
        Allocator("CPU").allocate(1 << 60)
    with pytest.raises(MemoryError):
        Allocator("CPU").allocate(1 << 60)


def test_threads_never_get_the_same_block() -> None:
    allocator = Allocator("CPU")
    clashes: list[int] = []

    def work(seed: int) -> None:
        random = numpy.random.default_rng(seed)
        for _ in range(300):
            blocks = [allocator.allocate(int(size)) for size in random.integers(1, 600, 5)]
            for _, _, owner in blocks:
                owner[:] = seed
            clashes.extend(1 for _, _, owner in blocks if (owner != seed).any())
            for block in blocks:
                allocator.release(block)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not clashes
    assert allocator.bytes_held == allocator.bytes_allocated
