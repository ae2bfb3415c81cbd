"""Compile a kernel's LLVM IR to code that the driver loads: LLVM IR → PTX → machine code."""

from __future__ import annotations

import re

from ogive.compiler.devices.cuda.gpu import Gpu
from ogive.compiler.devices.cuda.thread_kernels import Launch, emit_threads
from ogive.compiler.devices.llvm.compile_region import LLVM
from ogive.compiler.passes.pipeline.kernel_dialects import INSTRUCTIONS
from ogive.compiler.passes.pipeline.pass_runner import Pass
from ogive.compiler.targets.target import Target
from ogive.errors import CompileError

EMIT_PASSES = (
    Pass("emit_threads", INSTRUCTIONS, LLVM, "devices/cuda",
         'EXP(LOAD(x, r0)) → define ptx_kernel void @"e_12"(…) { %4 = load float, ptr %3 … }',
         reads=("lowered", "name", "target", "config.poison")).doing(emit_threads),
)  # fmt: skip

_CALLED = re.compile(r"^\.extern \.func .*$", re.MULTILINE)


def assemble_kernel(text: str, target: Target, gpu: Gpu) -> bytes:
    """The code of a kernel: its launch line and the machine code. Raises `CompileError`."""
    return f"{Launch.read(text).line}\n".encode() + gpu.assemble(text, target)


def write_ptx(text: str, target: Target) -> str:
    """The PTX of a module.

    Raises `CompileError` if LLVM refuses the module or leaves a symbol undefined, as it does with
    a misspelt intrinsic.
    """
    from ogive.compiler.devices.llvm.library.assembler import assembly

    ptx = assembly(text, target)
    missing = _CALLED.search(ptx)
    if missing is not None:
        raise CompileError(f"a kernel calls what there is not: {missing[0]}")
    return ptx
