"""Programs started as ranks, for tests."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
SECONDS = 240
"""After so long a program hangs."""

_places = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
needs_mpi = pytest.mark.skipif(
    importlib.util.find_spec("mpi4py") is None or shutil.which("mpiexec", path=_places) is None,
    reason="mpi4py and mpiexec are not installed (pip install 'ogive[mpi]')",
)


def command(ranks: int, program: Path, *arguments: str) -> list[str]:
    """The command line that starts ranks."""
    return [sys.executable, "-m", "ogive", "launch", "-n", str(ranks), str(program), *arguments]


def launch(ranks: int, program: Path, *arguments: str, **options: Any) -> Any:
    """Run a program as ranks, to its end."""
    return subprocess.run(
        command(ranks, program, *arguments),
        capture_output=True, text=True, timeout=SECONDS, check=False, **options,
    )  # fmt: skip


def make_checks(ranks: int, *modules: str, **options: Any) -> dict[str, list[str]]:
    """What came of each check of some modules: nothing, or what went wrong on which ranks."""
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as results:
        done = launch(ranks, HERE / "rank_checks.py", results.name, *modules, **options)
        assert done.returncode == 0, done.stdout + done.stderr + results.read()
        complaints: dict[str, list[str]] = json.load(results)
    return complaints
