"""`torch.__config__`: the versions of Ogive's parts, and its threads."""

from __future__ import annotations

import llvmlite
import numpy

from ogive.torch.machine.defaults import get_num_threads
from ogive.torch.machine.release import __version__

__all__ = ["parallel_info", "show"]


def show() -> str:
    """The versions of the libraries that compute.

    >>> show().splitlines()[0]
    'Ogive built with:'
    """
    parts = {"PyTorch's names": __version__, "llvmlite": llvmlite.__version__}
    parts["NumPy"] = numpy.__version__
    return "\n".join(["Ogive built with:", *[f"  - {name} {each}" for name, each in parts.items()]])


def parallel_info() -> str:
    """The number of threads, as text."""
    return f"Ogive parallel info:\n\tget_num_threads() : {get_num_threads()}"
