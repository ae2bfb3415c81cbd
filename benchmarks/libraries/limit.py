"""What the machine can do at all: reading, streaming copies, and fused multiply-adds.

Three small loops in LLVM's own language, run on every thread at once. The time they would need
for a row's bytes or operations is the row's limit, measured in the same run as the libraries.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from benchmarks.libraries.base import Function, HostArray, Library, NotThere, Prepared
from benchmarks.rows import Row

CHAINS = 12  # independent accumulators: enough to hide the latency of an addition or an FMA
REGION = 64 << 20  # bytes each thread can read or copy
SAMPLE_OPERATIONS = 100_000_000  # per thread and pass, about a millisecond
PASSES = 8  # in one call, so that waking the threads does not count


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


def module_text(lanes: int) -> str:
    """The three loops; each turn handles `CHAINS` vectors of `lanes` floats."""
    vector = f"<{lanes} x float>"
    chains = range(CHAINS)

    def address(k: int, base: str) -> list[str]:
        return [
            f"%{base}i{k} = add i64 %first, {k}",
            f"%{base}p{k} = getelementptr {vector}, ptr %{base}, i64 %{base}i{k}",
        ]

    first = f"%first = mul i64 %i, {CHAINS}"
    read, copy, multiply = [first], [first], []
    for k in chains:
        load = f"%v{k} = load {vector}, ptr %sourcep{k}, align 64"
        read += [*address(k, "source"), load, f"%n{k} = fadd {vector} %s{k}, %v{k}"]
        store = f"store {vector} %v{k}, ptr %targetp{k}, align 64, !nontemporal !0"
        copy += [*address(k, "source"), load, *address(k, "target"), store]
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
        + loop("copy", "ptr %source, ptr %target", [], copy, "")
        + arithmetic
        + wrapper
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

    def function(self, name: str) -> Callable[[int, int, int], None]:
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
            count, unit = SAMPLE_OPERATIONS // (2 * turn), 2
        else:
            # As many bytes as the row has, so that they lie in the caches as the row's do.
            unit = 8 if row.limit.kind == "copy" else 4
            count = min(row.limit.amount // self.threads // unit, REGION // 4) // turn
        amount = count * turn * unit * self.threads
        function = self.function(row.limit.kind)

        def passes(addresses: tuple[int, int]) -> None:
            for _ in range(PASSES):
                function(count, *addresses)

        def on_every_thread() -> None:
            list(self.pool.map(passes, self.addresses))

        return Prepared(on_every_thread, list, PASSES * amount / row.limit.amount)

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
