"""A GPU without the hardware: the host runs every thread of every block.

The text of a kernel is the one that becomes PTX. What only a GPU has is given by functions around
it: which thread of which block this is; a barrier, at which a thread lets the others go on; and the
exchange of values in a warp. Each thread has a stack of its own, and runs until it comes to a
barrier; then the next one does, round and round.
"""

from __future__ import annotations

import ctypes
import functools
import re
from typing import Any

import numpy

from ogive.compiler.devices.cuda.compile_kernel import write_ptx
from ogive.compiler.devices.cuda.device import CudaDevice
from ogive.compiler.devices.cuda.gpu import GpuFacts
from ogive.compiler.devices.host_bytes import host_bytes
from ogive.compiler.devices.known_devices import host
from ogive.compiler.devices.protocol import DONE
from ogive.compiler.targets.target import Target
from ogive.config import Config

FACTS = GpuFacts(
    "emulated", major=9, minor=0, memory_bytes=1 << 30, multiprocessors=4, most_threads=64,
    shared_bytes=48 << 10, l2_bytes=1 << 20,
)  # fmt: skip
FIRST_ADDRESS = 1 << 40
"""No number that a kernel is given in a test is as great, and no address of the host's as small."""
STACK_BYTES = 1 << 18
CONTEXT_BYTES = 4096  # more than a `ucontext_t` takes
_LINK, _STACK, _STACK_SIZE = 8, 16, 32  # where its fields are


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
        assert self._may_be_read(address)
        host_bytes(address, data.nbytes)[:] = data.cast("B")

    def copy_out(self, address: int, into: memoryview) -> None:
        assert self._may_be_read(address)
        into.cast("B")[:] = host_bytes(address, into.nbytes)

    def copy_within(self, to: int, origin: int, nbytes: int) -> None:
        assert self._may_be_read(to) and self._may_be_read(origin)
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
        for word in words[:-1]:
            assert self._may_be_read(word), f"a kernel is given memory of the host's, {word:#x}"
        array = numpy.array([word & (1 << 64) - 1 for word in words], numpy.uint64)
        shared = numpy.empty(shared_bytes + 16, numpy.uint8)
        begin = -(-shared.ctypes.data // 16) * 16
        block = _Block(kernel.address, threads, array.ctypes.data, begin)
        for number in range(blocks):
            shared[:] = 0xFF
            block.run(number)

    def _may_be_read(self, word: int) -> bool:
        """Whether a word is a number, or an address of this GPU's memory."""
        return word < FIRST_ADDRESS or any(
            address <= word <= address + array.nbytes for address, array in self._memory.items()
        )

    def launch_call(self, kernel: Any) -> None:
        """Only Python goes through the threads."""

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


class _State(ctypes.Structure):
    """What a thread is given; `_START` and `_TOOLS` know the order of the fields."""

    _fields_ = [
        ("words", ctypes.c_uint64),
        ("shared", ctypes.c_uint64),
        ("thread", ctypes.c_int64),
        ("block", ctypes.c_int64),
        ("own", ctypes.c_uint64),  # where its registers are kept while others run
        ("main", ctypes.c_uint64),
        ("swap", ctypes.c_uint64),
        ("values", ctypes.c_uint64),  # one for each thread of the block, to be exchanged
        ("is_over", ctypes.c_int64),
    ]


@functools.cache
def _library() -> tuple[Any, int]:
    """The C library, and where its function is that changes from one stack to another."""
    library = ctypes.PyDLL(None)
    for name in ("getcontext", "makecontext", "swapcontext"):
        getattr(library, name).restype = ctypes.c_int
    address = ctypes.cast(library.swapcontext, ctypes.c_void_p).value
    assert address is not None
    return library, address


class _Block:
    """The threads of a block, with their stacks."""

    def __init__(self, kernel: int, threads: int, words: int, shared: int) -> None:
        self._kernel = kernel
        self._library, swap = _library()
        self._main = ctypes.create_string_buffer(CONTEXT_BYTES)
        self._contexts = [ctypes.create_string_buffer(CONTEXT_BYTES) for _ in range(threads)]
        self._stacks = [numpy.empty(STACK_BYTES, numpy.uint8) for _ in range(threads)]
        self._values = (ctypes.c_uint32 * threads)()
        self._states = [
            _State(words, shared, thread, 0, ctypes.addressof(context),
                   ctypes.addressof(self._main), swap, ctypes.addressof(self._values))
            for thread, context in enumerate(self._contexts)
        ]  # fmt: skip

    def run(self, number: int) -> None:
        """Run one block from its beginning to its end."""
        for state, context, stack in zip(self._states, self._contexts, self._stacks, strict=True):
            state.block, state.is_over = number, 0
            self._library.getcontext(context)
            for place, value in (
                (_LINK, ctypes.addressof(self._main)), (_STACK, stack.ctypes.data),
                (_STACK_SIZE, STACK_BYTES),
            ):  # fmt: skip
                ctypes.c_uint64.from_buffer(context, place).value = value
            address = ctypes.addressof(state)
            low, high = ctypes.c_int(address & 0xFFFFFFFF), ctypes.c_int(address >> 32)
            self._library.makecontext(context, ctypes.c_void_p(self._kernel), 2, low, high)
        alive = list(self._states)
        while alive:
            for state in alive:
                self._library.swapcontext(self._main, ctypes.c_void_p(state.own))
            over = [state.is_over for state in alive]
            assert all(over) or not any(over), "a barrier that some skip"
            alive = [state for state in alive if not state.is_over]


_HEAD = re.compile(r'^define ptx_kernel void @"([^"]+)"\((.*)\) #0 \{$', re.MULTILINE)
_READ = re.compile(r"call i32 @llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.x\(\)")
_REPLACED = (
    (r"^declare \S+ @llvm\.nvvm\..*$", ""),
    (r"^@shared = .*$", ""),
    (r"addrspacecast \(ptr addrspace\(3\) @shared to ptr\)", "%emulated.shared"),
    (r"getelementptr \(i8, ptr %emulated\.shared, i64 (\d+)\)", r"%emulated.shared.\1"),
    (r'"nvvm\.reqntid"="\d+"', ""),
    (r"call void @llvm\.nvvm\.griddepcontrol\.wait\(\)", ""),
    (r"@llvm\.nvvm\.barrier\.cta\.sync\.aligned\.all\(i32 0\)",
     "@emulated.barrier(ptr %emulated.state)"),
    (r"@llvm\.nvvm\.shfl\.sync\.(bfly|up|idx)\.i32\(i32 -1, (.*), i32 (?:31|0)\)",
     r"@emulated.\1(ptr %emulated.state, \2)"),
)  # fmt: skip


def _for_the_host(text: str) -> str:
    """A module for the host, with a function that is one thread."""
    head = _HEAD.search(text)
    assert head is not None
    name, parameters = head.groups()
    kinds = [parameter.split()[0] for parameter in parameters.split(", ")]
    for pattern, replacement in _REPLACED:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    text = _READ.sub(r"add i32 %emulated.\1, 0", text)
    places = sorted(set(re.findall(r"%emulated\.shared\.(\d+)", text)))
    begins = [
        f"  %emulated.shared.{place} = getelementptr i8, ptr %emulated.shared, i64 {place}"
        for place in places
    ]
    more = "i32 %emulated.tid, i32 %emulated.ctaid, ptr %emulated.state, ptr %emulated.shared"
    lines = text.replace(head[0], f"define internal void @kernel({parameters}, {more}) {{")
    lines = lines.replace("\nentry:\n", "\n".join(["\nentry:", *begins, ""]), 1)
    loads = []
    for number, kind in enumerate(kinds):
        loads += [
            f"  %at{number} = getelementptr i64, ptr %words, i64 {number}",
            f"  %word{number} = load {kind}, ptr %at{number}",
        ]
    arguments = ", ".join([f"{kind} %word{number}" for number, kind in enumerate(kinds)])
    start = _START.replace("NAME", name).replace("LOADS", "\n".join(loads))
    return "\n".join([lines, start.replace("ARGUMENTS", arguments), _TOOLS])


_START = """
define void @"NAME"(i32 %low, i32 %high) {
  %low64 = zext i32 %low to i64
  %high64 = zext i32 %high to i64
  %shifted = shl i64 %high64, 32
  %number = or i64 %low64, %shifted
  %state = inttoptr i64 %number to ptr
  %words = load ptr, ptr %state
  %shared.at = getelementptr i64, ptr %state, i64 1
  %thread.at = getelementptr i64, ptr %state, i64 2
  %block.at = getelementptr i64, ptr %state, i64 3
  %over.at = getelementptr i64, ptr %state, i64 8
  %shared = load ptr, ptr %shared.at
  %thread = load i64, ptr %thread.at
  %block = load i64, ptr %block.at
  %tid = trunc i64 %thread to i32
  %ctaid = trunc i64 %block to i32
LOADS
  call void @kernel(ARGUMENTS, i32 %tid, i32 %ctaid, ptr %state, ptr %shared)
  store i64 1, ptr %over.at
  ret void
}
"""

_TOOLS = """
define internal void @emulated.barrier(ptr %state) noinline {
  %own.at = getelementptr i64, ptr %state, i64 4
  %main.at = getelementptr i64, ptr %state, i64 5
  %swap.at = getelementptr i64, ptr %state, i64 6
  %own = load ptr, ptr %own.at
  %main = load ptr, ptr %main.at
  %swap = load ptr, ptr %swap.at
  %ignored = call i32 %swap(ptr %own, ptr %main)
  ret void
}
; What LLVM calls on hosts that have no instruction for it.
define bfloat @__truncsfbf2(float %x) noinline {
  %bits = bitcast float %x to i32
  %high = lshr i32 %bits, 16
  %odd = and i32 %high, 1
  %half = add i32 %odd, 32767
  %sum = add i32 %bits, %half
  %rounded = lshr i32 %sum, 16
  %isnan = fcmp uno float %x, %x
  %chosen = select i1 %isnan, i32 32704, i32 %rounded
  %word = trunc i32 %chosen to i16
  %value = bitcast i16 %word to bfloat
  ret bfloat %value
}
define internal i32 @emulated.bfly(ptr %state, i32 %value, i32 %distance) noinline {
  %thread.at = getelementptr i64, ptr %state, i64 2
  %thread = load i64, ptr %thread.at
  %wide = zext i32 %distance to i64
  %other = xor i64 %thread, %wide
  %result = call i32 @emulated.exchange(ptr %state, i32 %value, i64 %other)
  ret i32 %result
}
define internal i32 @emulated.up(ptr %state, i32 %value, i32 %distance) noinline {
  %thread.at = getelementptr i64, ptr %state, i64 2
  %thread = load i64, ptr %thread.at
  %wide = zext i32 %distance to i64
  %lane = and i64 %thread, 31
  %before = sub i64 %thread, %wide
  %has = icmp uge i64 %lane, %wide
  %other = select i1 %has, i64 %before, i64 %thread
  %result = call i32 @emulated.exchange(ptr %state, i32 %value, i64 %other)
  ret i32 %result
}
define internal i32 @emulated.idx(ptr %state, i32 %value, i32 %lane) noinline {
  %thread.at = getelementptr i64, ptr %state, i64 2
  %thread = load i64, ptr %thread.at
  %wide = zext i32 %lane to i64
  %first = and i64 %thread, -32
  %other = or i64 %first, %wide
  %result = call i32 @emulated.exchange(ptr %state, i32 %value, i64 %other)
  ret i32 %result
}
define internal i32 @emulated.exchange(ptr %state, i32 %value, i64 %other) noinline {
  %thread.at = getelementptr i64, ptr %state, i64 2
  %values.at = getelementptr i64, ptr %state, i64 7
  %thread = load i64, ptr %thread.at
  %values = load ptr, ptr %values.at
  %own = getelementptr i32, ptr %values, i64 %thread
  store i32 %value, ptr %own
  call void @emulated.barrier(ptr %state)
  %place = getelementptr i32, ptr %values, i64 %other
  %result = load i32, ptr %place
  call void @emulated.barrier(ptr %state)
  ret i32 %result
}
"""


def emulated_device(index: int = 0, checks_ptx: bool = True) -> CudaDevice:
    """A device on an emulated GPU."""
    return CudaDevice(index, EmulatedGpu(checks_ptx=checks_ptx))
