"""The parts of the driver that differ between systems and processors, as LLVM IR."""

from __future__ import annotations

from string import Template

from ogive.compiler.targets.target import Target
from ogive.errors import CompileError
from ogive.named import NamedTuple


class _System(NamedTuple):
    """Constants of a C library, and whether threads can be bound to processors."""

    monotonic: int  # CLOCK_MONOTONIC
    set_mask: int  # SIG_SETMASK
    has_places: bool


_SYSTEMS = {
    "linux": _System(monotonic=1, set_mask=2, has_places=True),
    "apple": _System(monotonic=6, set_mask=3, has_places=False),
}
"""The systems for which there is a driver, by a part of their triples."""


def platform_ir(target: Target) -> str:
    """`@clock`, `@relax`, `@enter_float_mode`, `@leave_float_mode`, `@set_signal_mask`,
    `@processor`, `@leave_processor`. Raises `CompileError` for an unknown system."""
    systems = [system for name, system in _SYSTEMS.items() if name in target.triple]
    if not systems:
        raise CompileError(f"no driver for {target.triple!r}: Ogive runs on Linux and macOS")
    system = systems[0]
    processor = {"x86_64": _X86, "aarch64": _ARM, "arm64": _ARM}.get(target.architecture, _OTHER)
    constants = {"monotonic": system.monotonic, "set_mask": system.set_mask}
    places = _PLACES if system.has_places else _NO_PLACES
    return Template(_POSIX).substitute(constants) + processor + places


_POSIX = """
; Nanoseconds since some moment.
define internal i64 @clock() nounwind {
  %time = alloca { i64, i64 }
  %ignored = call i32 @clock_gettime(i32 $monotonic, ptr %time)
  %fraction.at = getelementptr i64, ptr %time, i64 1
  %seconds = load i64, ptr %time
  %fraction = load i64, ptr %fraction.at
  %whole = mul i64 %seconds, 1000000000
  %nanoseconds = add i64 %whole, %fraction
  ret i64 %nanoseconds
}
declare i32 @clock_gettime(i32, ptr) nounwind

define internal i32 @set_signal_mask(ptr %mask, ptr %old) nounwind {
  %error = call i32 @pthread_sigmask(i32 $set_mask, ptr %mask, ptr %old)
  ret i32 %error
}
declare i32 @pthread_sigmask(i32, ptr, ptr) nounwind
"""

_X86 = """
; What a spinning thread does, to leave the core to its sibling.
define internal void @relax() alwaysinline nounwind {
  call void @llvm.x86.sse2.pause()
  ret void
}
declare void @llvm.x86.sse2.pause()

; Sets the default floating-point mode, and returns what must be given to @leave_float_mode. The
; low six bits are flags that arithmetic sets; writing the register is slow, and seldom needed.
define internal i64 @enter_float_mode() nounwind {
  %word = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %word)
  %mode = load i32, ptr %word
  %lasting = and i32 %mode, -64
  %usual = icmp eq i32 %lasting, 8064
  br i1 %usual, label %leave, label %change
change:
  store i32 8064, ptr %word
  call void @llvm.x86.sse.ldmxcsr(ptr %word)
  br label %leave
leave:
  %saved = zext i32 %mode to i64
  ret i64 %saved
}

define internal void @leave_float_mode(i64 %saved) nounwind {
  %word = alloca i32
  %mode = trunc i64 %saved to i32
  %lasting = and i32 %mode, -64
  %usual = icmp eq i32 %lasting, 8064
  br i1 %usual, label %leave, label %change
change:
  store i32 %mode, ptr %word
  call void @llvm.x86.sse.ldmxcsr(ptr %word)
  br label %leave
leave:
  ret void
}
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
"""

_ARM = """
define internal void @relax() alwaysinline nounwind {
  call void @llvm.aarch64.hint(i32 1)
  ret void
}
declare void @llvm.aarch64.hint(i32)

define internal i64 @enter_float_mode() nounwind {
  %mode = call i64 @llvm.aarch64.get.fpcr()
  call void @llvm.aarch64.set.fpcr(i64 0)
  ret i64 %mode
}

define internal void @leave_float_mode(i64 %saved) nounwind {
  call void @llvm.aarch64.set.fpcr(i64 %saved)
  ret void
}
declare i64 @llvm.aarch64.get.fpcr()
declare void @llvm.aarch64.set.fpcr(i64)
"""

_OTHER = """
define internal void @relax() alwaysinline nounwind {
  ret void
}
define internal i64 @enter_float_mode() alwaysinline nounwind {
  ret i64 0
}
define internal void @leave_float_mode(i64 %saved) alwaysinline nounwind {
  ret void
}
"""

_PLACES = """
; The number of the processor that the thread is on.
define internal i64 @processor() nounwind {
  %number = call i32 @sched_getcpu()
  %result = sext i32 %number to i64
  ret i64 %result
}

; Lets some threads run wherever the calling one may, but for the processor of that number, which
; it is on. If it may be nowhere else, they stay as they are. The C library's mask holds 1024.
define internal void @leave_processor(i64 %number, ptr %threads, i64 %count) nounwind {
entry:
  %allowed = alloca [16 x i64]
  %error = call i32 @sched_getaffinity(i32 0, i64 128, ptr %allowed)
  %is.known = icmp eq i32 %error, 0
  %is.small = icmp ult i64 %number, 1024
  %is.fine = and i1 %is.known, %is.small
  br i1 %is.fine, label %exclude, label %leave

exclude:
  %word = lshr i64 %number, 6
  %bit = and i64 %number, 63
  %mask = shl i64 1, %bit
  %all.but.it = xor i64 %mask, -1
  %word.at = getelementptr i64, ptr %allowed, i64 %word
  %all = load i64, ptr %word.at
  %others = and i64 %all, %all.but.it
  store i64 %others, ptr %word.at
  br label %next

next:
  %index = phi i64 [ 0, %exclude ], [ %index.next, %set ]
  %more = icmp slt i64 %index, %count
  br i1 %more, label %set, label %leave

set:
  %thread.at = getelementptr i64, ptr %threads, i64 %index
  %thread = load i64, ptr %thread.at
  %refused = call i32 @pthread_setaffinity_np(i64 %thread, i64 128, ptr %allowed)
  %index.next = add i64 %index, 1
  br label %next

leave:
  ret void
}
declare i32 @sched_getcpu() nounwind
declare i32 @sched_getaffinity(i32, i64, ptr) nounwind
declare i32 @pthread_setaffinity_np(i64, i64, ptr) nounwind
"""

_NO_PLACES = """
define internal i64 @processor() alwaysinline nounwind {
  ret i64 -1
}
define internal void @leave_processor(i64 %number, ptr %threads, i64 %count) nounwind {
  ret void
}
"""
