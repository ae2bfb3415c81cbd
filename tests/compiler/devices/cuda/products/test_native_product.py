"""A function of the host's encodes tensor maps and launches products, as the driver wants it."""

from __future__ import annotations

import ctypes

import numpy as np

from ogive import Config
from ogive.compiler.devices.cuda.products.launches import Launch, Memory, Number, TensorMap
from ogive.compiler.devices.cuda.products.native_product import ProductCall, make_native_product
from ogive.compiler.ir import dtype as dtypes

MAP = TensorMap(Memory("slot3", 64), dtypes.bfloat16, (100, 30), (256,), (64, 16), 128)
LAUNCH = Launch("", "product", 12, 384, 1000, (MAP, Memory("slot5", 8), Number(-3, 4)))
COPY = Launch("", "copy", 5, 256, 0, (Memory("workspace", 16), Number(1 << 40, 8)))


class FakeDriver:
    """Functions that note how they are called; one for a function of the GPU's gives a `code`."""

    def __init__(self, code: int = 0) -> None:
        self.calls: list[tuple[object, ...]] = []
        self.failure = ctypes.c_uint64()
        pointer, number = ctypes.c_void_p, ctypes.c_uint

        def launch(configuration: int, function: int, parameters: int, extra: int) -> int:
            fields = (number * 7).from_address(configuration)
            if function == 70:
                places = (pointer * 3).from_address(parameters)
                encoded = ctypes.string_at(places[0] or 0, 4)
                address = ctypes.c_uint64.from_address(places[1] or 0).value
                last = ctypes.c_int32.from_address(places[2] or 0).value
                self.calls.append(("product", list(fields), encoded, address, last))
                return 0
            places = (pointer * 3).from_address(parameters)
            words = [ctypes.c_uint64.from_address(places[i] or 0).value for i in range(2)]
            self.calls.append(("copy", list(fields), words))
            return code

        def encode(*given: int) -> int:
            into, kind, rank, address, extents, strides, box, steps, *last = given
            ctypes.memmove(into, b"MAP1", 4)
            arrays = (
                [*(ctypes.c_uint64 * 2).from_address(extents)],
                [*(ctypes.c_uint64 * 1).from_address(strides)],
                [*(ctypes.c_uint32 * 2).from_address(box)],
                [*(ctypes.c_uint32 * 2).from_address(steps)],
            )
            self.calls.append(("encode", into % 64, kind, rank, address, *arrays, *last))
            return 0

        def enter(context: int) -> int:
            self.calls.append(("enter", context))
            return 0

        self.functions = [
            ctypes.CFUNCTYPE(ctypes.c_int, *[pointer] * 4)(launch),
            ctypes.CFUNCTYPE(
                ctypes.c_int, pointer, number, number, *[pointer] * 5, *[number] * 4
            )(encode),
            ctypes.CFUNCTYPE(ctypes.c_int, pointer)(enter),
        ]

    def run(self) -> None:
        """Launch a copy and a product, whose buffers are at 1000 and 2000."""
        launch, encode, enter = [
            ctypes.cast(each, ctypes.c_void_p).value or 0 for each in self.functions
        ]
        call = ProductCall(launch, encode, enter, 7, ctypes.addressof(self.failure))
        made = make_native_product(
            call, [(COPY, 71), (LAUNCH, 70)], {"slot3": 0, "slot5": 1}, {"workspace": 4096},
            Config(),
        )  # fmt: skip
        arguments, fault = np.array([1000, 2000], np.int64), ctypes.c_int64()
        kind = ctypes.CFUNCTYPE(
            None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p
        )
        kind(made.address)(arguments.ctypes.data, 0, 1, ctypes.addressof(fault))


def test_maps_are_encoded_for_the_addresses_and_launches_made_in_order() -> None:
    driver = FakeDriver()
    driver.run()
    assert driver.calls == [
        ("enter", 7),
        ("copy", [5, 1, 1, 256, 1, 1, 0], [4112, 1 << 40]),
        ("encode", 0, 9, 2, 1064, [100, 30], [256], [64, 16], [1, 1], 0, 3, 2, 0),
        ("product", [12, 1, 1, 384, 1, 1, 1000], b"MAP1", 2008, -3),
    ]
    assert driver.failure.value == 0


def test_nothing_is_launched_behind_a_launch_that_fails() -> None:
    driver = FakeDriver(code=701)
    driver.run()
    assert [call[0] for call in driver.calls] == ["enter", "copy"]
    assert driver.failure.value == 701
