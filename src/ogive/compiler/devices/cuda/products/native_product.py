"""Launches of products as native functions, which the plan driver calls between host kernels.

A product is a host function with the signature of a host kernel. It encodes the tensor maps of the
given addresses on its stack and passes them to the GPU's driver:

    %code = call i32 @cuTensorMapEncodeTiled(ptr %map, i32 9, i32 2, ptr %address, …)
    %code = call i32 @give_launch(i64 %begin, ptr configuration, ptr function, ptr %parameters, …)

Constants (extents, strides, grids) lie in memory whose addresses are part of the function.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from string import Template
from typing import TYPE_CHECKING, Any

from ogive.compiler.devices.cuda.native_launches import (
    GIVE_LAUNCH,
    NAME,
    OVERLAPPING,
    NativeLaunch,
)
from ogive.compiler.devices.cuda.products.launches import (
    Argument,
    Launch,
    Memory,
    Number,
    TensorMap,
)
from ogive.compiler.devices.known_devices import host
from ogive.compiler.ir import dtype as dtypes
from ogive.named import NamedTuple

if TYPE_CHECKING:
    from ogive.config import Config

MAP_BYTES = 128
_MAP_TYPES = {
    dtypes.int8: 0, dtypes.uint8: 0, dtypes.float8_e4m3: 0, dtypes.float8_e5m2: 0,
    dtypes.float16: 6, dtypes.float32: 7, dtypes.bfloat16: 9,
}  # fmt: skip
_SWIZZLES = {16: 0, 32: 1, 64: 2, 128: 3}  # CU_TENSOR_MAP_SWIZZLE_…
_PROMOTION = 2  # CU_TENSOR_MAP_L2_PROMOTION_L2_128B

class _Configuration(ctypes.Structure):
    _fields_ = (
        ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p), ("count", ctypes.c_uint),
    )  # fmt: skip


class ProductCall(NamedTuple):
    """Addresses of the GPU driver's functions, of the context, and for the code of a failure."""

    launch: int
    encode: int
    enter: int
    context: int
    failure: int


def make_native_product(
    call: ProductCall,
    launches: list[tuple[Launch, int]],
    words: Mapping[str, int],
    known: Mapping[str, int],
    config: Config,
    kept: object = None,
) -> NativeLaunch:
    """Make a host function that makes launches.

    Args:
        call: the addresses that it needs of the driver.
        launches: each with the address of its function.
        words: the argument with the address of each buffer.
        known: the addresses of buffers that never change.
        config: the settings.
        kept: objects to keep alive with the function.
    """
    text = _Text(call, words, known)
    for launch, function in launches:
        text.add(launch, function)
    code = host().assemble(text.module(), host().target(config))
    return NativeLaunch(host().load(NAME, code), (kept, text.held), len(launches))


class _Text:
    """Writes the text of the function. `held` keeps the memory that the function reads."""

    def __init__(
        self, call: ProductCall, words: Mapping[str, int], known: Mapping[str, int]
    ) -> None:
        self.held: list[Any] = []
        self._call = call
        self._words = words
        self._known = known
        self._rooms: list[str] = []
        self._lines: list[str] = []
        self._count = 0

    def module(self) -> str:
        """The text of the module."""
        call = self._call
        return "\n".join([
            f"define void @{NAME}(ptr %arguments, i64 %begin, i64 %end, ptr %fault) nounwind {{",
            "entry:",
            *self._rooms,
            f"  %entered = call i32 {_at(call.enter)}({_pointer(call.context)})",
            *self._lines,
            "  ret void",
            "failure:",
            f"  %code = phi i32 {', '.join(self._failures())}",
            "  %wide = zext i32 %code to i64",
            f"  store i64 %wide, {_pointer(call.failure)}",
            "  ret void",
            "}",
            Template(GIVE_LAUNCH).substitute(launch=call.launch),
        ])  # fmt: skip

    def add(self, launch: Launch, function: int) -> None:
        """Write a launch."""
        count = len(launch.arguments)
        parameters = self._room(f"[{count} x ptr]")
        for place, argument in enumerate(launch.arguments):
            value = self._argument(argument)
            at = self._new(f"getelementptr ptr, ptr {parameters}, i64 {place}")
            self._write(f"store ptr {value}, ptr {at}")
        configuration = self._configuration(launch)
        self._check(
            f"call i32 @give_launch(i64 %begin, {_pointer(configuration)}, {_pointer(function)}, "
            f"ptr {parameters}, ptr null)"
        )

    def _argument(self, argument: Argument) -> str:
        """Write the value of a parameter; returns its address."""
        if isinstance(argument, Number):
            room = self._room(f"i{8 * argument.nbytes}")
            self._write(f"store i{8 * argument.nbytes} {argument.value}, ptr {room}")
            return room
        if isinstance(argument, Memory):
            room = self._room("i64")
            self._write(f"store i64 {self._address(argument)}, ptr {room}")
            return room
        return self._map(argument)

    def _address(self, memory: Memory) -> str:
        if memory.name in self._known:
            return str(self._known[memory.name] + memory.offset)
        at = self._new(f"getelementptr i64, ptr %arguments, i64 {self._words[memory.name]}")
        word = self._new(f"load i64, ptr {at}")
        return self._new(f"add i64 {word}, {memory.offset}")

    def _map(self, tensor: TensorMap) -> str:
        """Write the encoding of a tensor map, 128 bytes aligned to 64; returns its address."""
        room = self._room(f"[{MAP_BYTES} x i8]", 64)
        address = self._new(f"inttoptr i64 {self._address(tensor.memory)} to ptr")
        rank = len(tensor.extents)
        arrays = [
            self._hold((ctypes.c_uint64 * rank)(*tensor.extents)),
            self._hold((ctypes.c_uint64 * (rank - 1))(*tensor.strides)),
            self._hold((ctypes.c_uint32 * rank)(*tensor.box)),
            self._hold((ctypes.c_uint32 * rank)(*[1] * rank)),
        ]
        given = [
            f"ptr {room}", f"i32 {_MAP_TYPES[tensor.dtype]}", f"i32 {rank}", f"ptr {address}",
            *map(_pointer, arrays),
            "i32 0", f"i32 {_SWIZZLES[tensor.swizzle]}", f"i32 {_PROMOTION}", "i32 0",
        ]  # fmt: skip
        self._check(f"call i32 {_at(self._call.encode)}({', '.join(given)})")
        return room

    def _configuration(self, launch: Launch) -> int:
        configuration = _Configuration(
            (launch.blocks, 1, 1), (launch.threads, 1, 1), launch.shared_bytes, None,
            ctypes.addressof(OVERLAPPING), 1,
        )  # fmt: skip
        return self._hold(configuration)

    # Text

    def _hold(self, memory: Any) -> int:
        self.held.append(memory)
        return ctypes.addressof(memory)

    def _room(self, kind: str, alignment: int = 8) -> str:
        self._count += 1
        self._rooms.append(f"  %r{self._count} = alloca {kind}, align {alignment}")
        return f"%r{self._count}"

    def _new(self, text: str) -> str:
        self._count += 1
        self._write(f"%v{self._count} = {text}")
        return f"%v{self._count}"

    def _write(self, text: str) -> None:
        self._lines.append(f"  {text}")

    def _check(self, call: str) -> None:
        """Write a call that returns a code, and a return from the function unless that is 0."""
        self._count += 1
        number = self._count
        self._lines += [
            f"  br label %from{number}",
            f"from{number}:",
            f"  %code{number} = {call}",
            f"  %failed{number} = icmp ne i32 %code{number}, 0",
            f"  br i1 %failed{number}, label %failure, label %after{number}",
            f"after{number}:",
        ]

    def _failures(self) -> list[str]:
        numbers = [line[4:-1] for line in self._lines if line.startswith("from")]
        return [f"[ %code{number}, %from{number} ]" for number in numbers]


def _pointer(address: int) -> str:
    return f"ptr inttoptr (i64 {address} to ptr)"


def _at(address: int) -> str:
    return f"inttoptr (i64 {address} to ptr)"
