"""Programs in a Python process of their own, with nothing loaded and nothing computed before."""

from __future__ import annotations

import subprocess
import sys


def output_of(program: str, *arguments: str) -> str:
    """The standard output of a program, which must end well."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
