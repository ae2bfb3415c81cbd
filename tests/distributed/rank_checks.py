"""Run by all ranks: each check once, with what came of it as a line of JSON from rank 0.

`python rank_checks.py MODULE`: every function `check_…` of the module. Starting ranks is slow, so
that one start makes many checks; a check that fails on one rank fails.
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
    """Make the checks of a module, in order."""
    module = importlib.import_module(sys.argv[1])
    distributed.init()
    told = MPI.COMM_WORLD.Dup()
    for name in [name for name in vars(module) if name.startswith("check_")]:
        try:
            getattr(module, name)()
            found = ""
        except Exception:
            found = traceback.format_exc()
        every = told.gather(found)
        if every is not None:
            print(json.dumps({name: [f"rank {n}: {text}" for n, text in enumerate(every) if text]}))


if __name__ == "__main__":
    os.environ.setdefault("OGIVE_RANK_TIMEOUT", "60")
    main()
