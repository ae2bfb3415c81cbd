"""Only a library whose functions we know is called; any other is refused in words."""

from __future__ import annotations

import ctypes
import shutil
from pathlib import Path
from typing import Any

import pytest

from ogive.compiler.devices.llvm.library import c_functions
from ogive.compiler.devices.llvm.library.c_functions import (
    LlvmLibrary,
    library_problem,
    llvm_function,
)
from ogive.errors import CompileError
from ogive.folders import llvm_folder
from tests.raising import raises


def installed() -> Path:
    folder = llvm_folder()
    assert folder is not None
    return Path(folder)


def copy_of(place: Path, release: str) -> str:
    """A folder like that of llvmlite, which says that it is of a release."""
    (place / "binding").mkdir()
    text = (installed() / "_version.py").read_text()
    (place / "_version.py").write_text(text.replace("'0.50.0'", f"'{release}'"))
    return str(place)


def test_the_library_that_is_installed_is_one_we_know() -> None:
    assert llvm_function("GetVersionInfo")() >> 16 == c_functions.KNOWN_LLVM


def test_every_function_that_is_called_has_a_signature_and_is_there() -> None:
    library = LlvmLibrary()
    for name in c_functions._SIGNATURES:
        assert library.function(name).argtypes is not None


@pytest.mark.parametrize("release", ["0.51.0", "0.49.1", "1.0.0", "0.500.1"])
def test_another_release_is_refused_before_its_library_is_loaded(
    tmp_path: Path, release: str
) -> None:
    library = LlvmLibrary(lambda: copy_of(tmp_path, release))
    with raises(CompileError, match=rf"llvmlite {release} .*pip install 'llvmlite>=0.50"):
        library.function("ContextCreate")


def test_a_folder_that_does_not_tell_its_release_is_refused(tmp_path: Path) -> None:
    with raises(CompileError, match="of an unknown release"):
        LlvmLibrary(lambda: str(tmp_path)).function("ContextCreate")


def test_no_llvmlite_at_all_is_said() -> None:
    with raises(CompileError, match=r"not installed.*pip install"):
        LlvmLibrary(lambda: None).function("ContextCreate")


def test_a_damaged_library_is_refused(tmp_path: Path) -> None:
    folder = copy_of(tmp_path, "0.50.7")
    (tmp_path / "binding" / "libllvmlite.so").write_bytes(b"\x7fELF")
    with raises(CompileError, match="does not load"):
        LlvmLibrary(lambda: folder).function("ContextCreate")


def test_a_library_without_our_functions_is_refused_by_their_names(tmp_path: Path) -> None:
    import _ctypes

    folder = copy_of(tmp_path, "0.50.7")
    shutil.copy(_ctypes.__file__, tmp_path / "binding" / "libllvmlite.so")
    with raises(CompileError, match=r"has no GetVersionInfo.*ParseAssembly"):
        LlvmLibrary(lambda: folder).function("ContextCreate")


class OtherLlvm:
    """A library with all functions, of another LLVM."""

    def __getattr__(self, name: str) -> Any:
        return self[name]

    def __getitem__(self, name: str) -> Any:
        return ctypes.CFUNCTYPE(ctypes.c_uint)(lambda: 23 << 16)


def test_another_llvm_is_refused() -> None:
    assert library_problem(OtherLlvm()) == "has LLVM 23, not 22"  # type: ignore[arg-type]
