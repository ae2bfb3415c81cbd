"""A function of the host's launches kernels as the GPU's driver wants to be called."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from ogive import Config
from ogive.compiler.devices.cuda.native_launches import OVERLAPPING, LaunchCall, make_native_launch

NO_FAULT = (1 << 63) - 1
KERNEL = 0x1234


class FakeDriver:
    """Functions that note how they are called. A kernel reports the `site`."""

    def __init__(self, code: int = 0, site: int | None = None) -> None:
        self.calls: list[tuple[object, ...]] = []
        self.failure = ctypes.c_uint64()
        self.word = ctypes.c_uint64(NO_FAULT)
        kinds = [ctypes.c_int, *[ctypes.c_void_p] * 4]

        def launch(configuration: int, function: int, parameters: int, extra_at: int) -> int:
            sizes = (ctypes.c_uint * 7).from_address(configuration)
            rest = (ctypes.c_uint64 * 3).from_address(configuration + 32)
            attribute = (ctypes.c_int * 3).from_address(rest[1])
            extra = (ctypes.c_void_p * 5).from_address(extra_at)
            (size,) = ctypes.c_uint64.from_address(extra[3] or 0).value,
            words = (ctypes.c_int64 * (size // 8)).from_address(extra[1] or 0)
            self.calls.append(("launch", function, *sizes, list(words)))
            self.rest = rest[0], rest[2], attribute[0], attribute[2]
            if site is not None:
                self.word.value = site
            return code

        def enter(context: int) -> int:
            self.calls.append(("enter", context))
            return 0

        def synchronize(stream: int) -> int:
            self.calls.append(("synchronize",))
            return 0

        one = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
        self.functions = [ctypes.CFUNCTYPE(*kinds)(launch), one(enter), one(synchronize)]

    def run(self, words: list[int], tiles: int, faults: bool = False) -> int:
        """Launch a kernel over tiles, of which a block has 4; gives the fault."""
        launch, enter, synchronize = [
            ctypes.cast(each, ctypes.c_void_p).value or 0 for each in self.functions
        ]
        call = LaunchCall(
            launch, enter, synchronize, context=7, function=KERNEL,
            failure=ctypes.addressof(self.failure),
            words=len(words), threads=64, tiles=4, shared_bytes=128,
            fault=ctypes.addressof(self.word) if faults else 0, no_fault=NO_FAULT,
        )  # fmt: skip
        made = make_native_launch(call, Config())
        arguments, fault = np.array(words, np.int64), ctypes.c_int64(NO_FAULT)
        kind = ctypes.CFUNCTYPE(
            None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p
        )
        kind(made.address)(arguments.ctypes.data, 0, tiles, ctypes.addressof(fault))
        return fault.value


@pytest.mark.parametrize("tiles, blocks", [(1, 1), (4, 1), (5, 2)])
def test_a_launch_has_its_grid_its_words_and_behind_them_the_tiles(tiles: int, blocks: int) -> None:
    driver = FakeDriver()
    assert driver.run([11, -12, 13], tiles) == NO_FAULT
    words = [11, -12, 13, tiles, 0]
    assert driver.calls == [
        ("enter", 7), ("launch", KERNEL, blocks, 1, 1, 64, 1, 1, 128, words),
    ]  # fmt: skip
    assert driver.rest == (0, 1, OVERLAPPING.id, 1), "the default stream, and one attribute"


def test_a_kernel_that_may_fault_is_waited_for_and_its_fault_told_once() -> None:
    driver = FakeDriver(site=42)
    assert driver.run([1], 1, faults=True) == 42
    assert driver.calls[-1] == ("synchronize",)
    assert driver.word.value == NO_FAULT
    assert FakeDriver().run([1], 1, faults=True) == NO_FAULT


def test_the_code_of_a_launch_that_fails_is_left_for_who_asks_next() -> None:
    driver = FakeDriver(code=701)
    assert driver.run([1], 1, faults=True) == NO_FAULT
    assert driver.failure.value == 701
