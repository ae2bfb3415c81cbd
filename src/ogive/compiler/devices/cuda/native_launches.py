"""Launches as native functions, which the host's plan driver calls between its own kernels.

A launch is a host function with the signature of a host kernel. It appends the number of tiles and
the address for faults to the arguments, and passes them to the GPU's driver. So one foreign call
replays a plan with any number of launches, and arguments change by changing the plan's words.

A launch may begin before the previous one has ended: kernels wait for that end before they access
memory (programmatic dependent launch), which hides the time to start a kernel.

The argument for the first tile says who gets the launch: 0 is the GPU; another value is the address
of a receiver, whose first word is the function to call (`graph_batches.py`).
"""

from __future__ import annotations

import ctypes
from string import Template
from typing import TYPE_CHECKING

from ogive.compiler.devices.known_devices import host
from ogive.compiler.devices.protocol import Executable
from ogive.named import NamedTuple

if TYPE_CHECKING:
    from ogive.config import Config

NAME = "ogive_launch"
CONFIGURATION_BYTES = 56
"""The size of `CUlaunchConfig`: grid, block, shared memory, stream, attributes, their number."""

_OVERLAPPING = 6  # CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION


class LaunchAttribute(ctypes.Structure):
    """A `CUlaunchAttribute`."""

    _fields_ = (("id", ctypes.c_int), ("gap", ctypes.c_int), ("value", ctypes.c_int * 16))


OVERLAPPING = LaunchAttribute(_OVERLAPPING, value=(ctypes.c_int * 16)(1))
"""The attribute that lets a launch begin before the previous one has ended."""


class LaunchCall(NamedTuple):
    """The parts of a launch: the addresses of the GPU driver's functions and of their arguments.

    `words` are the arguments of the kernel except the last two. The driver's code of a failed
    launch is written at `failure`. `fault` is the address for the kernel's fault; 0 if it cannot.
    """

    launch: int
    enter: int
    synchronize: int
    context: int
    function: int
    failure: int
    words: int = 0
    threads: int = 0
    tiles: int = 1
    shared_bytes: int = 0
    fault: int = 0
    no_fault: int = 0


class NativeLaunch:
    """A host function that makes `launches` of `kernel`, which it keeps loaded."""

    def __init__(self, function: Executable, kernel: object, launches: int = 1) -> None:
        self.function = function
        self.kernel = kernel
        self.launches = launches
        self.address = function.address


def make_native_launch(call: LaunchCall, config: Config, kernel: object = None) -> NativeLaunch:
    """Make a host function that launches a kernel and keeps it alive."""
    values = dict(zip(LaunchCall._fields, call, strict=True))
    values |= {"all": call.words + 2, "last": call.words + 1, "bytes": 8 * (call.words + 2)}
    values |= {"given_bytes": 8 * call.words, "rounding": call.tiles - 1}
    values |= {"attributes": ctypes.addressof(OVERLAPPING)}
    text = _LAUNCH + (_WAIT if call.fault else _DONE) + GIVE_LAUNCH
    code = host().assemble(Template(text).substitute(values), host().target(config))
    return NativeLaunch(host().load(NAME, code), kernel)


GIVE_LAUNCH = """
define internal i32 @give_launch(
    i64 %receiver, ptr %configuration, ptr %function, ptr %parameters, ptr %extra) nounwind {
  %direct = icmp eq i64 %receiver, 0
  br i1 %direct, label %launch, label %receive

launch:
  %launched = call i32 inttoptr (i64 $launch to ptr)(
    ptr %configuration, ptr %function, ptr %parameters, ptr %extra)
  ret i32 %launched

receive:
  %at = inttoptr i64 %receiver to ptr
  %take = load ptr, ptr %at
  %taken = call i32 %take(
    ptr %at, ptr %configuration, ptr %function, ptr %parameters, ptr %extra)
  ret i32 %taken
}
"""
"""The function that hands a launch to the GPU or to a receiver."""

_LAUNCH = """
define void @ogive_launch(ptr %arguments, i64 %begin, i64 %end, ptr %fault) nounwind {
entry:
  %words = alloca [$all x i64], align 16
  %size = alloca i64
  %extra = alloca [5 x ptr], align 16
  %configuration = alloca [7 x i64], align 16
  call void @llvm.memcpy.p0.p0.i64(ptr %words, ptr %arguments, i64 $given_bytes, i1 false)
  %tiles.at = getelementptr i64, ptr %words, i64 $words
  %fault.at = getelementptr i64, ptr %words, i64 $last
  store i64 %end, ptr %tiles.at
  store i64 $fault, ptr %fault.at
  store i64 $bytes, ptr %size
  %extra1 = getelementptr ptr, ptr %extra, i64 1
  %extra2 = getelementptr ptr, ptr %extra, i64 2
  %extra3 = getelementptr ptr, ptr %extra, i64 3
  %extra4 = getelementptr ptr, ptr %extra, i64 4
  store ptr inttoptr (i64 1 to ptr), ptr %extra
  store ptr %words, ptr %extra1
  store ptr inttoptr (i64 2 to ptr), ptr %extra2
  store ptr %size, ptr %extra3
  store ptr null, ptr %extra4
  %more = add i64 %end, $rounding
  %blocks64 = udiv i64 %more, $tiles
  %blocks = trunc i64 %blocks64 to i32
  %grid1 = getelementptr i32, ptr %configuration, i64 1
  %grid2 = getelementptr i32, ptr %configuration, i64 2
  %block0 = getelementptr i32, ptr %configuration, i64 3
  %block1 = getelementptr i32, ptr %configuration, i64 4
  %block2 = getelementptr i32, ptr %configuration, i64 5
  %shared = getelementptr i64, ptr %configuration, i64 3
  %stream = getelementptr i64, ptr %configuration, i64 4
  %attributes = getelementptr i64, ptr %configuration, i64 5
  %count = getelementptr i64, ptr %configuration, i64 6
  store i32 %blocks, ptr %configuration
  store i32 1, ptr %grid1
  store i32 1, ptr %grid2
  store i32 $threads, ptr %block0
  store i32 1, ptr %block1
  store i32 1, ptr %block2
  store i64 $shared_bytes, ptr %shared
  store ptr null, ptr %stream
  store ptr inttoptr (i64 $attributes to ptr), ptr %attributes
  store i64 1, ptr %count
  %entered = call i32 inttoptr (i64 $enter to ptr)(ptr inttoptr (i64 $context to ptr))
  %code = call i32 @give_launch(
    i64 %begin, ptr %configuration, ptr inttoptr (i64 $function to ptr), ptr null, ptr %extra)
  %failed = icmp ne i32 %code, 0
  br i1 %failed, label %failure, label %launched

failure:
  %wide = zext i32 %code to i64
  store i64 %wide, ptr inttoptr (i64 $failure to ptr)
  ret void

launched:
"""

_DONE = """
  ret void
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""

_WAIT = """
  %waited = call i32 inttoptr (i64 $synchronize to ptr)(ptr null)
  %broken = icmp ne i32 %waited, 0
  br i1 %broken, label %lost, label %ended

lost:
  %why = zext i32 %waited to i64
  store i64 %why, ptr inttoptr (i64 $failure to ptr)
  ret void

ended:
  %site = load volatile i64, ptr inttoptr (i64 $fault to ptr)
  %faulted = icmp ne i64 %site, $no_fault
  br i1 %faulted, label %report, label %over

report:
  store i64 %site, ptr %fault
  store i64 $no_fault, ptr inttoptr (i64 $fault to ptr)
  ret void

over:
  ret void
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""
