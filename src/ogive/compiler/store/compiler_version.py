"""The version of the compiler: a digest of its sources, and the build of LLVM.

A cached result is valid only for the compiler that made it.
"""

from __future__ import annotations

import functools
import os

from ogive.compiler.digest import blake2b
from ogive.compiler.store.content_keys import make_key
from ogive.compiler.store.rows import Kind
from ogive.compiler.store.store import Store
from ogive.config import LOADED_AT
from ogive.folders import llvm_folder

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMPILER = ("", "compiler")
"""The folders of the package that decide what a given graph is compiled to; of the first, the
modules in it alone."""

LIBRARY = ("autograd", "compat", "deployment", "fft", "io", "jit", "nn", "onnx", "random", "tensor")
"""The folders that can change what a function of `onnx/` is captured as."""

CALLED = ("autograd", "compat", "optim", "tensor")
"""The folders that can change what a call of a library function in a graph is expanded to."""

CLOCK_GRAIN = 20_000_000
"""The most nanoseconds, generously, by which file times lag behind the clock."""


class Sources:
    """The compiler's sources, or those in certain `folders` of the package, such as `LIBRARY`.

    This process began to load them at a moment of `time.time_ns`.
    """

    def __init__(
        self,
        package: str = PACKAGE,
        loaded_at: int = LOADED_AT,
        folders: tuple[str, ...] = COMPILER,
    ) -> None:
        self._package = package
        self._loaded_at = loaded_at
        self._folders = folders

    def within(self, folders: tuple[str, ...]) -> Sources:
        """The sources of the same package in other folders."""
        return Sources(self._package, self._loaded_at, folders)

    def signature(self) -> bytes | None:
        """A signature of the sources that this process runs, from the file system's records.

        None if they are not files, or have changed since this process began to load them.
        """
        try:
            sources = _find_sources(self._package, self._folders)
        except OSError:
            return None
        if any(changed > self._loaded_at - CLOCK_GRAIN for _, _, _, changed in sources):
            return None
        return blake2b(repr(sources).encode(), digest_size=32).digest()

    def digest(self, store: Store, signature: bytes) -> bytes | None:
        """A digest of the sources with this signature; None if they have changed meanwhile.

        It is cached in `store`, since reading all sources takes longer than a warm start may take.
        """
        key = make_key(b"sources", signature)
        known = store.read(Kind.NOTE, [key]).get(key)
        if known is not None:
            return known
        digest = self.content_digest()
        if digest is None or self.signature() != signature:
            return None
        store.write([(Kind.NOTE, key, digest)])
        return digest

    def content_digest(self) -> bytes | None:
        """A digest of the contents of the sources; None if they cannot be read."""
        digest = blake2b(digest_size=32)
        try:
            for name, *_ in _find_sources(self._package, self._folders):
                with open(os.path.join(self._package, name), "rb") as file:
                    text = file.read()
                digest.update(f"{name}\0{len(text)}\n".encode() + text)
        except OSError:
            return None
        return digest.digest()


def _find_sources(package: str, folders: tuple[str, ...]) -> list[tuple[str, int, int, int]]:
    """The sources in `folders`: for each its name, its size, and the nanoseconds at which it was
    modified and at which its file changed. Each process looks at all of them, 3 µs each."""
    sources = []
    prefixes = [f"{folder}/" if folder else "" for folder in folders]
    while prefixes:
        prefix = prefixes.pop()
        with os.scandir(package + os.sep + prefix) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(".py"):
                    status = entry.stat()
                    size, modified = status.st_size, status.st_mtime_ns
                    sources.append((prefix + name, size, modified, status.st_ctime_ns))
                elif prefix and name != "__pycache__" and entry.is_dir():
                    prefixes.append(f"{prefix}{name}/")
    sources.sort()
    return sources


@functools.lru_cache(maxsize=1)
def llvm_identity() -> bytes | None:
    """An identity of the LLVM build, without loading it; None if it is not known."""
    folder = llvm_folder()
    if folder is None:
        return None
    try:
        with open(os.path.join(folder, "_version.py"), "rb") as file:
            version = file.read()
        with os.scandir(os.path.join(folder, "binding")) as entries:
            libraries = sorted(
                f"{entry.name} {entry.stat().st_size} {entry.stat().st_mtime_ns}"
                for entry in entries
                if entry.name.endswith((".so", ".dylib"))
            )
    except OSError:
        return None
    return blake2b("\n".join(libraries).encode() + version, digest_size=32).digest()
