"""Run by all ranks: each check once. Rank 0 writes what came of them to a file, as JSON.

`python rank_checks.py FILE MODULE…`: every function `check_…` of the modules. Starting ranks is
slow, so that one start makes many checks; a check that fails on one rank fails.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from mpi4py import MPI

from ogive import distributed


def main() -> None:
    """Make the checks of modules, in order."""
    distributed.init()
    told = MPI.COMM_WORLD.Dup()
    modules = [importlib.import_module(name) for name in sys.argv[2:]]
    complaints: dict[str, list[str]] = {}
    for check in [
        value for module in modules for name, value in vars(module).items() if "check_" in name[:6]
    ]:
        try:
            check()
            found = ""
        except Exception:
            found = traceback.format_exc()
        every = told.gather(found)
        if every is not None:
            complaints[f"{check.__module__}.{check.__name__}"] = [
                f"rank {rank}: {text}" for rank, text in enumerate(every) if text
            ]
    if told.rank == 0:
        Path(sys.argv[1]).write_text(json.dumps(complaints), "utf-8")


if __name__ == "__main__":
    os.environ.setdefault("OGIVE_RANK_TIMEOUT", "60")
    main()
