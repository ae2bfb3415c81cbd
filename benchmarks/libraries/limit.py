"""What the machine can do at all: reading, streaming copies, and fused multiply-adds.

Small loops in LLVM's own language, run on every thread at once. The time they would need for a
row's bytes or operations is the row's limit. It takes turns with the libraries, as they do with
each other: the speed of memory is another one from moment to moment. Memory is read and copied by
two loops in turn, one of which asks for what it is about to read; the faster one is the limit.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from benchmarks.libraries.base import Function, HostArray, Library, NotThere, Prepared
from benchmarks.rows import Row

Way = Callable[[int, int, int], None]
CHAINS = 12  # independent accumulators: enough to hide the latency of an addition or an FMA
REGION = 64 << 20  # bytes each thread can read or copy
SAMPLE_OPERATIONS = 100_000_000  # per thread and pass, about a millisecond
LEAST_BYTES = 64 << 20  # in one call, as many passes over fewer: waking the threads does not count
READ_AHEAD, COPY_AHEAD = 4096, 2048  # bytes that are asked for before they are needed
PASSES = 8  # the same for arithmetic, and the most of them


def loop(name: str, parameters: str, state: list[str], body: list[str], result: str) -> str:
    """One function of LLVM IR that runs `body` for `i` from 0 to `count` over `state`."""
    phis = "\n".join(
        f"  %s{k} = phi {kind} [ zeroinitializer, %entry ], [ %n{k}, %loop ]"
        for k, kind in enumerate(state)
    )
    lines = "\n".join(f"  {line}" for line in body)
    return f"""
define void @{name}(i64 %count, {parameters}) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
{phis}
{lines}
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %exit
exit:
{result}
  ret void
}}
"""


def keep_alive(vector: str) -> str:
    """Add the accumulators up and store them, so that the loop is not removed."""
    lines = ["  %t0 = fadd VECTOR %n0, %n0"]
    lines += [f"  %t{k} = fadd VECTOR %t{k - 1}, %n{k}" for k in range(1, CHAINS)]
    lines += [f"  store VECTOR %t{CHAINS - 1}, ptr %sink, align 64"]
    return "\n".join(lines).replace("VECTOR", vector)


def address(k: int, base: str, vector: str) -> list[str]:
    """Where the `k`th vector of a turn lies."""
    return [
        f"%{base}i{k} = add i64 %first, {k}",
        f"%{base}p{k} = getelementptr {vector}, ptr %{base}, i64 %{base}i{k}",
    ]


def ask(k: int, distance: int, level: int) -> list[str]:
    """Ask for what lies so many bytes behind the `k`th vector, into the caches from a level on."""
    return [
        f"%ahead{k} = getelementptr i8, ptr %sourcep{k}, i64 {distance}",
        f"call void @llvm.prefetch.p0(ptr %ahead{k}, i32 0, i32 {level}, i32 1)",
    ]


def module_text(lanes: int) -> str:
    """The loops; each turn handles `CHAINS` vectors of `lanes` floats."""
    vector = f"<{lanes} x float>"
    first = f"%first = mul i64 %i, {CHAINS}"
    read, copy, read_ahead, copy_ahead, multiply = [first], [first], [first], [first], []
    for k in range(CHAINS):
        load = [*address(k, "source", vector), f"%v{k} = load {vector}, ptr %sourcep{k}, align 64"]
        total = f"%n{k} = fadd {vector} %s{k}, %v{k}"
        read += [*load, total]
        read_ahead += [*load, *ask(k, READ_AHEAD, level=2), total]
        stored = f"store {vector} %v{k}, ptr %targetp{k}, align 64, !nontemporal !0"
        store = [*address(k, "target", vector), stored]
        copy += [*load, *store]
        copy_ahead += [*load, *ask(k, COPY_AHEAD, level=3), *store]
        call = f"call {vector} @llvm.fma({vector} %s{k}, {vector} %scale, {vector} %shift)"
        multiply += [f"%n{k} = {call}"]
    accumulators = [vector] * CHAINS
    coefficients = f"{vector} %scale, {vector} %shift"
    arithmetic = loop(
        "multiply", coefficients + ", ptr %sink", accumulators, multiply, keep_alive(vector)
    )
    # Vectors do not travel through ctypes: a wrapper loads them.
    wrapper = f"""
define void @arithmetic(i64 %count, ptr %coefficients, ptr %sink) {{
  %scale = load {vector}, ptr %coefficients, align 64
  call void @multiply(i64 %count, {vector} %scale, {vector} %scale, ptr %sink)
  ret void
}}
"""
    return (
        loop("read", "ptr %source, ptr %sink", accumulators, read, keep_alive(vector))
        + loop("read_ahead", "ptr %source, ptr %sink", accumulators, read_ahead, keep_alive(vector))
        + loop("copy", "ptr %source, ptr %target", [], copy, "")
        + loop("copy_ahead", "ptr %source, ptr %target", [], copy_ahead, "")
        + arithmetic
        + wrapper
        + "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)\n"
        + "!0 = !{i32 1}\n"
    )


class LimitLibrary(Library):
    """The machine itself, as one more library that computes nothing."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        features = llvm.get_host_cpu_features()
        self.lanes = 16 if features.get("avx512f") else 8 if features.get("avx2") else 4
        self.engine = self.compile(features.flatten())
        self.pool = ThreadPoolExecutor(threads)
        self.arrays = [(aligned(REGION), aligned(REGION)) for _ in range(threads)]
        self.addresses = [(a.ctypes.data, b.ctypes.data) for a, b in self.arrays]

    def compile(self, features: str) -> Any:
        """Compile the loops for this machine; the engine owns their code."""
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        target = llvm.Target.from_default_triple()
        machine = target.create_target_machine(llvm.get_host_cpu_name(), features, opt=2)
        module = llvm.parse_assembly(module_text(self.lanes))
        module.verify()
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.finalize_object()
        return engine

    def function(self, name: str) -> Way:
        """The loop called `name`, as a foreign function of a count and two addresses."""
        kind = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
        return kind(self.engine.get_function_address(name))

    def prepare(self, row: Row) -> Prepared:
        """Time a good sample of the kind of work, and scale it to the row's amount."""
        if row.limit is None:
            raise NotThere("no limit is stated for this row")
        if row.limit.kind == "call":
            call = partial(self.function("read"), 1, *self.addresses[0])
            return Prepared(call, list)
        turn = CHAINS * self.lanes
        if row.limit.kind == "arithmetic":
            count, unit, times = SAMPLE_OPERATIONS // (2 * turn), 2, PASSES
        else:
            # As many bytes as the row has, so that they lie in the caches as the row's do, and as
            # short a sample where they do not: the best of many single ones, as the row's is.
            unit = 8 if row.limit.kind == "copy" else 4
            count = min(row.limit.amount // self.threads // unit, REGION // 4) // turn
            times = max(1, min(LEAST_BYTES // row.limit.amount, PASSES))
        amount = count * turn * unit * self.threads
        names: list[str] = [row.limit.kind]
        if row.limit.kind != "arithmetic":
            names.append(f"{row.limit.kind}_ahead")
        ways = itertools.cycle([self.function(name) for name in names])

        def passes(way: Way, addresses: tuple[int, int]) -> None:
            for _ in range(times):
                way(count, *addresses)

        def on_every_thread() -> None:
            way = next(ways)
            first, *others = self.addresses
            waiting = [self.pool.submit(passes, way, addresses) for addresses in others]
            passes(way, first)
            for future in waiting:
                future.result()

        return Prepared(on_every_thread, list, times * amount / row.limit.amount)

    def load(self, array: HostArray) -> Any:
        raise NotThere("a limit loads nothing")

    def fetch(self, tensor: Any) -> HostArray:
        raise NotThere("a limit has no result")

    def eager(self, function: Function, inputs: list[Any]) -> Callable[[], Any]:
        raise NotThere("a limit runs no function")


def aligned(size: int) -> HostArray:
    """A touched array of `size` bytes whose first element lies on a 64-byte boundary."""
    raw = np.ones(size // 4 + 16, dtype=np.float32)
    start = -raw.ctypes.data % 64 // 4
    return raw[start : start + size // 4]
