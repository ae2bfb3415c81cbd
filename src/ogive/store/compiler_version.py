"""The version of the compiler: a digest of its sources, and the build of LLVM.

A cached result is valid only for the compiler that made it.
"""

from __future__ import annotations

import functools
import os

from ogive.config import LOADED_AT
from ogive.digest import blake2b
from ogive.folders import llvm_folder
from ogive.named import NamedTuple
from ogive.store.content_keys import make_key
from ogive.store.rows import Kind
from ogive.store.store import Store

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SURFACE = frozenset(
    {
        "amp", "autograd", "cli", "compat", "data", "distributed", "distributions", "eager", "fft",
        "io", "jit", "nn", "onnx", "optim", "random", "signal", "special", "tensor", "torch",
        "__pycache__",
    }
)  # fmt: skip
"""Folders of the package that cannot change what a given graph is compiled to."""

CLOCK_GRAIN = 20_000_000
"""The most nanoseconds, generously, by which file times lag behind the clock."""


class Sources:
    """The compiler's sources, which this process began to load at the time `loaded_at`."""

    def __init__(self, package: str = PACKAGE, loaded_at: int = LOADED_AT) -> None:
        self._package = package
        self._loaded_at = loaded_at

    def signature(self) -> bytes | None:
        """A signature of the sources that this process runs, from the file system's records.

        None if they are not files, or have changed since this process began to load them.
        """
        try:
            sources = _find_sources(self._package)
        except OSError:
            return None
        if any(each.changed > self._loaded_at - CLOCK_GRAIN for each in sources):
            return None
        return blake2b(repr([tuple(each) for each in sources]).encode(), digest_size=32).digest()

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
            for source in _find_sources(self._package):
                with open(os.path.join(self._package, source.name), "rb") as file:
                    text = file.read()
                digest.update(f"{source.name}\0{len(text)}\n".encode() + text)
        except OSError:
            return None
        return digest.digest()


class _Source(NamedTuple):
    """A source file, as the file system knows it; times are in nanoseconds."""

    name: str
    size: int
    modified: int
    changed: int


def _find_sources(package: str) -> list[_Source]:
    """The compiler's sources, sorted by name. Each process lists all of them, at 2 µs each."""
    sources = []
    folders = [""]
    while folders:
        prefix = folders.pop()
        with os.scandir(package + os.sep + prefix) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(".py"):
                    status = entry.stat()
                    times = (status.st_mtime_ns, status.st_ctime_ns)
                    sources.append(_Source(prefix + name, status.st_size, *times))
                elif name not in SURFACE and entry.is_dir():
                    folders.append(f"{prefix}{name}/")
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
