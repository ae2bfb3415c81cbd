"""The LLVM functions that we call, directly from the library inside llvmlite.

Importing the package takes several times as long as loading that library, and through the package
only one thread at a time can call LLVM. But these functions are not a public interface: in another
release they may be missing or take other arguments. So only known releases are called, and others
are refused with an error before any call.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable
from typing import Any

from ogive.errors import CompileError
from ogive.folders import llvm_folder

KNOWN_RELEASES = ("0.50",)
"""The releases of llvmlite whose functions have the `_SIGNATURES`."""

KNOWN_LLVM = 22
"""The major version of LLVM that our passes and kernels are tested with."""

NEEDED = "pip install 'llvmlite>=0.50,<0.51'"

_POINTER, _TEXT, _SIZE, _YES = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_bool
_NUMBER = ctypes.c_int

_SIGNATURES: dict[str, tuple[Any, ...]] = {  # (return type, argument types ...)
    "GetVersionInfo": (ctypes.c_uint,),
    # This machine
    "GetProcessTriple": (None, _POINTER),
    "GetHostCPUName": (None, _POINTER),
    "GetHostCPUFeatures": (_NUMBER, _POINTER),
    "DisposeString": (None, _TEXT),
    # Targets
    "InitializeNativeTarget": (None,),
    "InitializeNativeAsmPrinter": (None,),
    "InitializeNativeAsmParser": (None,),
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
"""Functions slow enough to release the interpreter lock, which may take 5 ms to get back."""


class LlvmLibrary:
    """llvmlite's library in this process, which the first call finds, checks and loads."""

    def __init__(self, find_folder: Callable[[], str | None] = llvm_folder) -> None:
        self._find_folder = find_folder
        self._functions: dict[str, Any] = {}
        self._libraries: tuple[ctypes.CDLL, ctypes.CDLL] | None = None

    def function(self, name: str) -> Any:
        """A function by its exported name without llvmlite's prefix.

        Raises `CompileError` if the release of llvmlite is not known.
        """
        function = self._functions.get(name)
        if function is None:
            holding, releasing = self._libraries or self._load()
            result, *arguments = _SIGNATURES[name]
            function = (releasing if name in _LONG else holding)["LLVMPY_" + name]
            function.restype = result
            function.argtypes = arguments
            self._functions[name] = function
        return function

    def _load(self) -> tuple[ctypes.CDLL, ctypes.CDLL]:
        """The library twice: with functions that keep the interpreter lock, and that release it."""
        folder = self._find_folder()
        if folder is None:
            raise CompileError(f"llvmlite is not installed, and LLVM is in it; {NEEDED}")
        release = _release(folder)
        if not release.startswith(tuple([f"{known}." for known in KNOWN_RELEASES])):
            raise CompileError(
                f"llvmlite {release or 'of an unknown release'} in {folder}: its functions may "
                f"differ from those of {' or '.join(KNOWN_RELEASES)}, which we call; {NEEDED}"
            )
        path = _path(folder)
        try:
            libraries = ctypes.PyDLL(path), ctypes.CDLL(path)
        except OSError as error:
            raise CompileError(f"llvmlite's library does not load: {error}; {NEEDED}") from None
        problem = library_problem(libraries[0])
        if problem is not None:
            raise CompileError(f"llvmlite {release} in {folder} {problem}; {NEEDED}")
        self._libraries = libraries
        return libraries


def library_problem(library: ctypes.CDLL) -> str | None:
    """Why the functions of a library cannot be called; None if they can."""
    missing = [name for name in _SIGNATURES if not hasattr(library, "LLVMPY_" + name)]
    if missing:
        return f"has no {', '.join(missing)}"
    version = library["LLVMPY_GetVersionInfo"]
    version.restype, version.argtypes = ctypes.c_uint, ()
    major = version() >> 16
    return None if major == KNOWN_LLVM else f"has LLVM {major}, not {KNOWN_LLVM}"


def _release(folder: str) -> str:
    """The release of llvmlite in a folder, read without importing it; empty if not known."""
    try:
        with open(os.path.join(folder, "_version.py"), encoding="utf-8") as file:
            version = re.search(r"^version_version = '([^']*)'", file.read(), re.MULTILINE)
    except OSError:
        return ""
    return version[1] if version else ""


def _path(folder: str) -> str:
    for name in ("libllvmlite.so", "libllvmlite.dylib"):
        path = os.path.join(folder, "binding", name)
        if os.path.isfile(path):
            return path
    from llvmlite.binding import ffi

    return str(ffi.lib._name)


llvm_function = LlvmLibrary().function
"""The functions of this process's library, by name."""


class Message:
    """A string that LLVM fills in and we must free: pass `place`, then `take()` it."""

    def __init__(self) -> None:
        self._text = ctypes.c_char_p()
        self.place = ctypes.byref(self._text)

    def take(self) -> str:
        """LLVM's message, empty if there is none. The memory is freed."""
        text = (self._text.value or b"").decode(errors="replace")
        llvm_function("DisposeString")(self._text)
        self._text.value = None
        return text
