"""A GPU without the hardware: kernels run on the host, one thread after the other.

The text of a kernel is the one that becomes PTX. What only a GPU has, which thread of which block
this is, comes as parameters instead.
"""

from __future__ import annotations

import ctypes
import re
from typing import Any

import numpy

from ogive.config import Config
from ogive.devices.cuda.compile_kernel import write_ptx
from ogive.devices.cuda.device import CudaDevice
from ogive.devices.cuda.gpu import GpuFacts
from ogive.devices.host_bytes import host_bytes
from ogive.devices.known_devices import host
from ogive.devices.protocol import DONE
from ogive.targets.target import Target

FACTS = GpuFacts(
    "emulated", major=9, minor=0, memory_bytes=1 << 30, multiprocessors=4, most_threads=1024,
    shared_bytes=48 << 10, l2_bytes=1 << 20,
)  # fmt: skip

_HEAD = re.compile(r'^define ptx_kernel void @"([^"]+)"\((.*)\) #0 \{$', re.MULTILINE)
_READ = re.compile(r"call i32 @llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.x\(\)")


class EmulatedGpu:
    """Runs kernels on the host. `checks_ptx` has each become PTX as well."""

    def __init__(self, facts: GpuFacts = FACTS, checks_ptx: bool = True) -> None:
        self._facts = facts
        self._checks_ptx = checks_ptx
        self._memory: dict[int, Any] = {}
        self.launches = 0

    def facts(self) -> GpuFacts:
        return self._facts

    def allocate(self, nbytes: int) -> int:
        if sum(array.nbytes for array in self._memory.values()) + nbytes > self._facts.memory_bytes:
            raise MemoryError
        array = numpy.empty(nbytes + 256, numpy.uint8)
        address = -(-array.ctypes.data // 256) * 256
        self._memory[address] = array
        return address

    def free(self, address: int) -> None:
        del self._memory[address]

    def copy_in(self, address: int, data: memoryview) -> None:
        host_bytes(address, data.nbytes)[:] = data.cast("B")

    def copy_out(self, address: int, into: memoryview) -> None:
        into.cast("B")[:] = host_bytes(address, into.nbytes)

    def copy_within(self, to: int, origin: int, nbytes: int) -> None:
        ctypes.memmove(to, origin, nbytes)

    def assemble(self, text: str, target: Target) -> bytes:
        if self._checks_ptx:
            write_ptx(text, target)
        return host().assemble(_for_the_host(text), host().target(Config()))

    def load(self, name: str, code: bytes, shared_bytes: int) -> Any:
        return host().load(name, code)

    def launch(
        self, kernel: Any, blocks: int, threads: int, shared_bytes: int, words: list[int]
    ) -> None:
        self.launches += 1
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        array = numpy.array([word & (1 << 64) - 1 for word in words], numpy.uint64)
        function(kernel.address)(array.ctypes.data, blocks, threads)

    def fault_word(self) -> Any:
        return _Word()

    def synchronize(self) -> None:
        """All is done when it is launched."""

    def record(self) -> Any:
        return DONE


class _Word:
    def __init__(self) -> None:
        self._word = ctypes.c_uint64()
        self.address = ctypes.addressof(self._word)

    @property
    def value(self) -> int:
        return self._word.value

    @value.setter
    def value(self, given: int) -> None:
        self._word.value = given


def _for_the_host(text: str) -> str:
    """A module for the host, with a function that runs all threads of all blocks."""
    head = _HEAD.search(text)
    assert head is not None
    name, parameters = head.groups()
    kinds = [parameter.split()[0] for parameter in parameters.split(", ")]
    text = text.replace(
        head[0], f"define internal void @kernel({parameters}, i32 %emulated.tid, "
        "i32 %emulated.ctaid) {"
    )  # fmt: skip
    text = _READ.sub(r"add i32 %emulated.\1, 0", text)
    text = re.sub(r"^declare i32 @llvm\.nvvm\.read.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r'"nvvm\.reqntid"="\d+"', "", text)
    words = []
    for number, kind in enumerate(kinds):
        words += [
            f"  %at{number} = getelementptr i64, ptr %words, i64 {number}",
            f"  %word{number} = load {kind}, ptr %at{number}",
        ]
    arguments = ", ".join([f"{kind} %word{number}" for number, kind in enumerate(kinds)])
    return "\n".join([text, _RUN.replace("NAME", name).replace("LOADS", "\n".join(words))
                      .replace("ARGUMENTS", arguments)])  # fmt: skip


_RUN = """
define void @"NAME"(ptr %words, i64 %blocks, i64 %threads) {
entry:
LOADS
  %all = mul i64 %blocks, %threads
  br label %loop
loop:
  %number = phi i64 [ 0, %entry ], [ %next, %loop ]
  %block = udiv i64 %number, %threads
  %thread = urem i64 %number, %threads
  %ctaid = trunc i64 %block to i32
  %tid = trunc i64 %thread to i32
  call void @kernel(ARGUMENTS, i32 %tid, i32 %ctaid)
  %next = add i64 %number, 1
  %more = icmp ult i64 %next, %all
  br i1 %more, label %loop, label %over
over:
  ret void
}
"""


def emulated_device(index: int = 0) -> CudaDevice:
    """A device on an emulated GPU."""
    return CudaDevice(index, EmulatedGpu())
