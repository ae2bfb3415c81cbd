"""The functions of LLVM that we call, taken out of the library inside llvmlite.

Importing the package takes several times as long as loading that library, and through the package
only one thread at a time gets into LLVM.
"""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any

from ogive.devices.llvm.library.llvm_folder import llvm_folder

_POINTER, _TEXT, _SIZE, _YES = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_bool
_NUMBER = ctypes.c_int

_SIGNATURES: dict[str, tuple[Any, ...]] = {  # what each returns, and what it takes
    # This machine
    "GetProcessTriple": (None, _POINTER),
    "GetHostCPUName": (None, _POINTER),
    "GetHostCPUFeatures": (_NUMBER, _POINTER),
    "DisposeString": (None, _TEXT),
    # Targets
    "InitializeNativeTarget": (None,),
    "InitializeNativeAsmPrinter": (None,),
    "InitializeAllTargetInfos": (None,),
    "InitializeAllTargets": (None,),
    "InitializeAllTargetMCs": (None,),
    "InitializeAllAsmPrinters": (None,),
    "GetTargetFromTriple": (_POINTER, _TEXT, _POINTER),
    "CreateTargetMachine": (
        _POINTER, _POINTER, _TEXT, _TEXT, _TEXT, _NUMBER, _TEXT, _TEXT, _NUMBER, _NUMBER, _TEXT,
    ),
    "CreateTargetMachineData": (_POINTER, _POINTER),
    "CopyStringRepOfTargetData": (None, _POINTER, _POINTER),
    "DisposeTargetData": (None, _POINTER),
    # Modules
    "ContextCreate": (_POINTER,),
    "ContextDispose": (None, _POINTER),
    "ParseAssembly": (_POINTER, _POINTER, _TEXT, _POINTER),
    "SetTarget": (None, _POINTER, _TEXT),
    "SetDataLayout": (None, _POINTER, _TEXT),
    "VerifyModule": (_YES, _POINTER, _POINTER),
    "PrintModuleToString": (None, _POINTER, _POINTER),
    "DisposeModule": (None, _POINTER),
    # Passes
    "CreatePipelineTuningOptions": (_POINTER,),
    "CreatePassBuilder": (_POINTER, _POINTER, _POINTER),
    "CreateNewModulePassManager": (_POINTER,),
    "module_AddAlwaysInlinerPass": (None, _POINTER),
    "module_AddSROAPass": (None, _POINTER),
    "module_AddInstCombinePass": (None, _POINTER),
    "module_AddSimplifyCFGPass": (None, _POINTER),
    "RunNewModulePassManager": (None, _POINTER, _POINTER, _POINTER),
    "DisposeNewModulePassManger": (None, _POINTER),
    "DisposePassBuilder": (None, _POINTER),
    "DisposePipelineTuningOptions": (None, _POINTER),
    # Code
    "TargetMachineEmitToMemory": (_POINTER, _POINTER, _POINTER, _NUMBER, _POINTER),
    "GetBufferStart": (_POINTER, _POINTER),
    "GetBufferSize": (_SIZE, _POINTER),
    "DisposeMemoryBuffer": (None, _POINTER),
    # Linking
    "CreateLLJITCompiler": (_POINTER, _POINTER, _YES, _YES, _POINTER),
    "LLJIT_Link": (
        _POINTER, _POINTER, _TEXT, _POINTER, _SIZE, _POINTER, _SIZE, _POINTER, _SIZE, _POINTER,
    ),
    "LLJIT_Dylib_Tracker_Dispose": (_YES, _POINTER, _POINTER),
    "LLJITDispose": (_YES, _POINTER, _POINTER),
}  # fmt: skip

_LONG = frozenset(
    {
        "ParseAssembly", "RunNewModulePassManager", "TargetMachineEmitToMemory",
        "PrintModuleToString", "CreateLLJITCompiler", "LLJIT_Link", "LLJIT_Dylib_Tracker_Dispose",
        "LLJITDispose",
    }
)  # fmt: skip
"""Worth letting other threads run meanwhile: to get the interpreter back takes up to 5 ms."""


@functools.lru_cache(maxsize=len(_SIGNATURES))
def llvm_function(name: str) -> Any:
    """A function by the name that llvmlite exports it under, less its prefix."""
    result, *arguments = _SIGNATURES[name]
    function = _library(name in _LONG)["LLVMPY_" + name]
    function.restype = result
    function.argtypes = arguments
    return function


class Message:
    """A text that LLVM fills in and we give back: pass `place`, then `take()` it."""

    def __init__(self) -> None:
        self._text = ctypes.c_char_p()
        self.place = ctypes.byref(self._text)

    def take(self) -> str:
        """What LLVM said, empty if nothing."""
        text = (self._text.value or b"").decode(errors="replace")
        llvm_function("DisposeString")(self._text)
        self._text.value = None
        return text


@functools.lru_cache(maxsize=2)
def _library(releasing: bool) -> ctypes.CDLL:
    """The library, its functions `releasing` the interpreter lock or not."""
    return (ctypes.CDLL if releasing else ctypes.PyDLL)(_path())


@functools.lru_cache(maxsize=1)
def _path() -> str:
    folder = llvm_folder()
    for name in ("libllvmlite.so", "libllvmlite.dylib", "llvmlite.dll"):
        path = os.path.join(folder or "", "binding", name)
        if os.path.isfile(path):
            return path
    from llvmlite.binding import ffi

    return str(ffi.lib._name)
