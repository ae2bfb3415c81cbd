"""`ogive explain`: run a program, and report what graph search finds in its graphs."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from ogive.config import configure, current_config
from ogive.errors import ArgumentError


def run(program: str, arguments: Sequence[str], exactness: str) -> int:
    """Run a Python file as `__main__`. The disk cache is off, so that every graph is searched."""
    if not Path(program).is_file():
        raise ArgumentError(f"there is no file {program!r}; give the Python file to run")
    topics = [topic for topic in current_config().log.split(",") if topic]
    configure(log=",".join([*topics, "search"]), disk_cache=False, exactness=exactness)
    sys.argv = [program, *arguments]
    sys.path.insert(0, str(Path(program).parent))
    runpy.run_path(program, run_name="__main__")
    return 0
