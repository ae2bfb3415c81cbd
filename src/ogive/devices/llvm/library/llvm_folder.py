"""Where LLVM is, found without loading it."""

from __future__ import annotations

import os
from importlib.machinery import PathFinder


def llvm_folder() -> str | None:
    """Where llvmlite is installed, found without importing it."""
    # Nearly always on the path; only the general way, which takes longer to load, knows of others.
    spec = PathFinder.find_spec("llvmlite")
    if spec is None:
        import importlib.util

        try:
            spec = importlib.util.find_spec("llvmlite")
        except (ImportError, ValueError):
            return None
    return None if spec is None or spec.origin is None else os.path.dirname(spec.origin)
