"""LLVM as an assembler: IR text in, object code out.

The text needs no triple and no data layout; both come from the target. The passes are few: on our
kernels the full O2 pipeline takes fifteen times as long and the code is no faster.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
from typing import Any

from ogive.device.llvm_lock import llvm_lock
from ogive.device.target import Target
from ogive.errors import CompileError


def llvm_folder() -> str | None:
    """Where llvmlite is installed, found without importing it."""
    try:
        spec = importlib.util.find_spec("llvmlite")
    except (ImportError, ValueError):
        return None
    return None if spec is None or spec.origin is None else os.path.dirname(spec.origin)


@functools.lru_cache(maxsize=1)
def llvm_library() -> ctypes.CDLL:
    """The library inside llvmlite. Loading only that takes a fifth of the time of the package."""
    folder = llvm_folder()
    for name in ("libllvmlite.so", "libllvmlite.dylib", "llvmlite.dll"):
        path = os.path.join(folder or "", "binding", name)
        if os.path.isfile(path):
            return ctypes.CDLL(path)
    from llvmlite.binding import ffi

    return ctypes.CDLL(ffi.lib._name)


def assemble(ir_text: str, target: Target, effort: int = 2) -> bytes:
    """Position-independent object code of a module. Raises `CompileError` in LLVM's words.

    `effort` is LLVM's optimization level for instruction selection and registers; 0 takes a fifth
    of the time and suits code that mostly calls other code.
    """
    with llvm_lock:
        return bytes(_machine(target, effort).emit_object(_optimize(ir_text, target)))


def optimized_ir(ir_text: str, target: Target) -> str:
    """The module after our passes, as text, for display."""
    with llvm_lock:
        return str(_optimize(ir_text, target))


def assembly(ir_text: str, target: Target) -> str:
    """The module as the target's assembly language, for display."""
    with llvm_lock:
        return str(_machine(target).emit_assembly(_optimize(ir_text, target)))


def _optimize(ir_text: str, target: Target) -> Any:
    from llvmlite import binding

    machine = _machine(target)
    try:
        # A context of its own, since the global one keeps every type and constant for ever.
        module = binding.parse_assembly(ir_text, binding.create_context())
        module.triple = target.triple
        module.data_layout = _data_layout(target)
        module.verify()
    except RuntimeError as error:
        raise CompileError(f"LLVM refused the module: {error}") from None
    builder = binding.create_pass_builder(machine, binding.create_pipeline_tuning_options())
    passes = binding.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, builder)
    return module


@functools.lru_cache(maxsize=8)
def _data_layout(target: Target) -> str:
    return str(_machine(target).target_data)


@functools.lru_cache(maxsize=8)
def _machine(target: Target, effort: int = 2) -> Any:
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    binding.initialize_native_asmparser()
    try:
        family = binding.Target.from_triple(target.triple)
    except RuntimeError:
        binding.initialize_all_targets()
        binding.initialize_all_asmprinters()
        try:
            family = binding.Target.from_triple(target.triple)
        except RuntimeError as error:
            raise CompileError(f"no LLVM target for {target.triple!r}: {error}") from None
    return family.create_target_machine(
        cpu=target.cpu, features=target.features, opt=effort, reloc="pic", codemodel="default"
    )
