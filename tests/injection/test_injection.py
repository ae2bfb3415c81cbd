"""Exceptions at random moments: each assignment has happened once or not at all, and nothing is
lost, locked or left running."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def inject(count: int, seed: int, seconds: float) -> int:
    """How many exceptions arrived, of which none did harm."""
    command = [sys.executable, "-m", "tests.injection.run", "--count", str(count)]
    done = subprocess.run(
        [*command, "--seed", str(seed)],
        cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-10000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["wrong"] == 0
    return int(found["arrived"])


def test_exceptions_at_random_moments_do_no_harm() -> None:
    assert inject(336, seed=0, seconds=300) > 150


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1, 9))
def test_thousands_of_exceptions_at_random_moments_do_no_harm(seed: int) -> None:
    assert inject(2400, seed, seconds=1800) > 1200
