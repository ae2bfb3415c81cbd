"""MPI by `mpi4py`, which is loaded only where several ranks were started."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from ogive.errors import MissingPackageError

INSTALL = "pip install 'ogive[mpi]'"

_STARTED = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK")
"""Environment variables that `mpiexec` and `srun` set for the processes that they start."""


def is_announced(environment: Mapping[str, str]) -> bool:
    """Whether a launcher of ranks has started this process."""
    return any(name in environment for name in _STARTED)


def load_mpi(load: Callable[[str], Any] = importlib.import_module) -> Any:
    """Import `mpi4py.MPI`, which initializes MPI, and turn off its finalization at exit.

    `ending.py` does that instead, since finalization would wait forever for a rank that has failed.
    Raises `MissingPackageError`.
    """
    try:
        load("mpi4py").rc.finalize = False
        return load("mpi4py.MPI")
    except (ImportError, RuntimeError) as error:  # RuntimeError if there is no MPI library
        raise MissingPackageError(
            f"several processes communicate by MPI, which cannot be loaded ({error}); "
            f"install mpi4py and a library for it: {INSTALL}"
        ) from error
