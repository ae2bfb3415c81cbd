"""MPI through `mpi4py`, which is loaded where several ranks were started, and nowhere else."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from ogive.errors import MissingPackageError

INSTALL = "pip install 'ogive[mpi]'"

_STARTED = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK")
"""Variables that `mpiexec` and `srun` set for the processes that they start."""


def is_announced(environment: Mapping[str, str]) -> bool:
    """Whether something that starts ranks has started this process."""
    return any(name in environment for name in _STARTED)


def load_mpi(load: Callable[[str], Any] = importlib.import_module) -> Any:
    """`mpi4py.MPI`, begun. How it ends is for `ending.py`: by itself it would wait for ever.

    Raises `MissingPackageError`.
    """
    try:
        load("mpi4py").rc.finalize = False
        return load("mpi4py.MPI")
    except (ImportError, RuntimeError) as error:  # the latter where there is no library of MPI
        raise MissingPackageError(
            f"several processes talk to each other by MPI, and it cannot be loaded ({error}); "
            f"install mpi4py and a library for it: {INSTALL}"
        ) from error
