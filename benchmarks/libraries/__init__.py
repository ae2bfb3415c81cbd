"""The libraries that can be measured, each behind the same small interface.

A library's module is imported only in the process that measures it, so that a peer that is not
installed costs one cell of the table and nothing else.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass

from benchmarks.libraries.base import Library


@dataclass(frozen=True)
class Entry:
    """Where a library's adapter lives, what it imports and which package gives its version."""

    adapter: str
    imports: str
    package: str


ENTRIES = {
    "ogive": Entry("ogive_library:OgiveLibrary", "ogive", "ogive"),
    "before": Entry("ogive_library:OgiveBefore", "ogive", "ogive"),
    "torch": Entry("torch_library:TorchLibrary", "torch", "torch"),
    "torch.compile": Entry("torch_library:TorchCompileLibrary", "torch", "torch"),
    "jax": Entry("jax_library:JaxLibrary", "jax", "jax"),
    "numpy": Entry("numpy_library:NumpyLibrary", "numpy", "numpy"),
    "tinygrad": Entry("tinygrad_library:TinygradLibrary", "tinygrad", "tinygrad"),
    "limit": Entry("limit:LimitLibrary", "llvmlite", "llvmlite"),
}
NO_PEERS = ("ogive", "before", "limit")
PEERS = tuple(name for name in ENTRIES if name not in NO_PEERS)


def open_library(name: str, threads: int) -> Library:
    """Import and set up the library called `name`; raises `ImportError` where it is missing."""
    module, _, class_name = ENTRIES[name].adapter.partition(":")
    adapter = importlib.import_module(f"benchmarks.libraries.{module}")
    library = getattr(adapter, class_name)(threads)
    assert isinstance(library, Library)
    return library


def thread_environment(threads: int) -> dict[str, str]:
    """The environment that holds every library to `threads` threads on the CPU."""
    count = str(threads)
    return {
        "OMP_NUM_THREADS": count,
        "MKL_NUM_THREADS": count,
        "OPENBLAS_NUM_THREADS": count,
        "NPROC": count,
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}",
        "DEV": "CPU",
        "NUM_CPU_THREADS": count,
    }
