"""LLVM as an assembler: IR text in, object code out.

The text needs no triple and no data layout; both come from the target. Only a few passes run: on
our kernels the full O2 pipeline takes fifteen times as long, and the code is no faster. Any number
of threads may assemble at once, each with a context and a target machine of its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Iterator

from ogive.compiler.devices.llvm.library.c_functions import Message, llvm_function
from ogive.compiler.devices.llvm_gate import llvm_gate
from ogive.compiler.targets.target import Target
from ogive.errors import CompileError

PASSES = (
    "module_AddAlwaysInlinerPass",
    "module_AddSROAPass",
    "module_AddInstCombinePass",
    "module_AddSimplifyCFGPass",
)

_OBJECT, _ASSEMBLY = 1, 0


def assemble(ir_text: str, target: Target, effort: int = 2) -> bytes:
    """Position-independent object code of a module. Raises `CompileError` with LLVM's message.

    `effort` is LLVM's optimization level for instruction selection and register allocation. 0 takes
    a fifth of the time and suits code that mostly calls other code.
    """
    with _machines.lend(target, effort) as machine, _optimized(ir_text, target, machine) as module:
        return _emit(machine, module, _OBJECT)


def optimized_ir(ir_text: str, target: Target) -> str:
    """The module after our passes, as text, for display."""
    with _machines.lend(target) as machine, _optimized(ir_text, target, machine) as module:
        printed = Message()
        llvm_function("PrintModuleToString")(module, printed.place)
        return printed.take()


def assembly(ir_text: str, target: Target) -> str:
    """The module as the target's assembly language, for display."""
    with _machines.lend(target) as machine, _optimized(ir_text, target, machine) as module:
        return _emit(machine, module, _ASSEMBLY).decode()


def check_module(ir_text: str) -> None:
    """Raise `CompileError` with LLVM's message if a text is not a well-formed module."""
    context = llvm_function("ContextCreate")()
    try:
        llvm_function("DisposeModule")(_parse(ir_text, context))
    finally:
        llvm_function("ContextDispose")(context)


@contextlib.contextmanager
def _optimized(ir_text: str, target: Target, machine: int) -> Iterator[int]:
    """A module after our passes, within this context."""
    # With an LLVM context of its own, because the global one keeps types and constants for ever.
    context = llvm_function("ContextCreate")()
    try:
        module = _parse(ir_text, context)
        try:
            llvm_function("SetTarget")(module, target.triple.encode())
            llvm_function("SetDataLayout")(module, _data_layout(machine))
            _run_passes(module, machine)
            yield module
        finally:
            llvm_function("DisposeModule")(module)
    finally:
        llvm_function("ContextDispose")(context)


def _parse(ir_text: str, context: int) -> int:
    """The module of a text. Raises `CompileError` with LLVM's message."""
    message = Message()
    module = llvm_function("ParseAssembly")(context, ir_text.encode(), message.place)
    refused = message.take()
    if not refused:
        if not llvm_function("VerifyModule")(module, message.place):
            message.take()
            return int(module)
        refused = message.take()
    if module:
        llvm_function("DisposeModule")(module)
    raise CompileError(f"LLVM refused the module: {refused}")


def _run_passes(module: int, machine: int) -> None:
    options = llvm_function("CreatePipelineTuningOptions")()
    builder = llvm_function("CreatePassBuilder")(machine, options)
    passes = llvm_function("CreateNewModulePassManager")()
    for name in PASSES:
        llvm_function(name)(passes)
    llvm_function("RunNewModulePassManager")(passes, module, builder)
    llvm_function("DisposeNewModulePassManger")(passes)
    llvm_function("DisposePassBuilder")(builder)
    llvm_function("DisposePipelineTuningOptions")(options)


def _data_layout(machine: int) -> bytes:
    data = llvm_function("CreateTargetMachineData")(machine)
    layout = Message()
    llvm_function("CopyStringRepOfTargetData")(data, layout.place)
    llvm_function("DisposeTargetData")(data)
    return layout.take().encode()


def _emit(machine: int, module: int, kind: int) -> bytes:
    message = Message()
    buffer = llvm_function("TargetMachineEmitToMemory")(machine, module, kind, message.place)
    refused = message.take()
    if not buffer:
        raise CompileError(f"LLVM cannot emit the module: {refused}")
    start, size = llvm_function("GetBufferStart")(buffer), llvm_function("GetBufferSize")(buffer)
    code = ctypes.string_at(start, size)
    llvm_function("DisposeMemoryBuffer")(buffer)
    return code


# Target machines


class TargetMachines:
    """A pool of LLVM's target machines: as many as threads have assembled at once."""

    def __init__(self) -> None:
        self._idle: dict[tuple[Target, int], list[int]] = {}

    @contextlib.contextmanager
    def lend(self, target: Target, effort: int = 2) -> Iterator[int]:
        """A machine that no other thread uses within this context."""
        family = _family(target.triple)
        with llvm_gate.assembling:
            idle = self._idle.setdefault((target, effort), [])
            try:
                machine = idle.pop()
            except IndexError:
                machine = _create_machine(family, target, effort)
            try:
                yield machine
            finally:
                idle.append(machine)


_machines = TargetMachines()


def _create_machine(family: int, target: Target, effort: int) -> int:
    names = [name.encode() for name in (target.triple, target.cpu, target.features)]
    machine = llvm_function("CreateTargetMachine")(
        family, *names, effort, b"pic", b"default", 0, 0, b""
    )
    if not machine:
        raise CompileError(f"LLVM makes no code for {target.triple!r}, {target.cpu!r}")
    return int(machine)


@functools.lru_cache(maxsize=8)
def _family(triple: str) -> int:
    """LLVM's handle for a family of processors. Raises `CompileError`."""
    with llvm_gate.lock, llvm_gate.users_lock():
        message = Message()
        for part in ("Target", "AsmPrinter", "AsmParser"):
            llvm_function(f"InitializeNative{part}")()
        family = llvm_function("GetTargetFromTriple")(triple.encode(), message.place)
        message.take()
        if not family:
            for part in ("TargetInfos", "Targets", "TargetMCs", "AsmPrinters"):
                llvm_function(f"InitializeAll{part}")()
            family = llvm_function("GetTargetFromTriple")(triple.encode(), message.place)
            if not family:
                raise CompileError(f"no LLVM target for {triple!r}: {message.take()}")
        return int(family)
