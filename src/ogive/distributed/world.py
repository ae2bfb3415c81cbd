"""The ranks of this program: those that were started together by MPI, or this process alone."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from typing import Any

from ogive.config import current_config
from ogive.distributed.ending import Ending
from ogive.distributed.mpi_library import is_announced, load_mpi
from ogive.distributed.ranks import Program, Ranks


class World:
    """The ranks of the program, initialized at the first use.

    `environment` shows whether a launcher has started several, and `load` returns MPI.
    """

    def __init__(self, environment: Mapping[str, str], load: Callable[[], Any]) -> None:
        self._environment = environment
        self._load = load
        self._lock = threading.Lock()
        self._is_known = False
        self._ranks: Ranks | None = None

    def ranks(self) -> Ranks | None:
        """All ranks, or None if this process is the only one.

        Raises `MissingPackageError` if there are several and MPI cannot be loaded.
        """
        if not self._is_known:
            with self._lock:
                if not self._is_known:
                    self._ranks = self._find()
                    self._is_known = True
        return self._ranks

    def _find(self) -> Ranks | None:
        if not is_announced(self._environment):
            return None
        mpi = self._load()
        if mpi.COMM_WORLD.Get_size() == 1:
            return None
        program = Program(mpi, lambda: float(current_config().rank_timeout))
        ranks = Ranks(program, mpi.COMM_WORLD, range(mpi.COMM_WORLD.Get_size()))
        Ending(ranks).install()
        return ranks


world = World(os.environ, load_mpi)
"""The world of this process."""


def init() -> None:
    """Connect to the other ranks now, instead of at the first use of another function.

    Each process that `ogive launch` or `mpiexec` has started is a rank. Any other program is the
    only rank, and needs no MPI.

    >>> ogive.distributed.init()

    Raises `MissingPackageError` if there are several ranks and `mpi4py` is missing.
    """
    world.ranks()


def rank() -> int:
    """The number of this rank, from 0.

    >>> ogive.distributed.rank()
    0
    """
    ranks = world.ranks()
    return 0 if ranks is None else ranks.rank


def size() -> int:
    """The number of ranks.

    >>> ogive.distributed.size()
    1
    """
    ranks = world.ranks()
    return 1 if ranks is None else ranks.size
