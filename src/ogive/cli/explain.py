"""`ogive explain`: a program is run, and what graph search finds for it is told on the way."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from ogive.config import configure, current_config
from ogive.errors import ArgumentError


def run(program: str, arguments: Sequence[str], exactness: str) -> int:
    """Run a Python file as it runs by itself; each new graph is searched, and not found on disk."""
    if not Path(program).is_file():
        raise ArgumentError(f"there is no file {program!r}; give the Python file to run")
    topics = [topic for topic in current_config().log.split(",") if topic]
    configure(log=",".join([*topics, "search"]), disk_cache=False, exactness=exactness)
    sys.argv = [program, *arguments]
    sys.path.insert(0, str(Path(program).parent))
    runpy.run_path(program, run_name="__main__")
    return 0
