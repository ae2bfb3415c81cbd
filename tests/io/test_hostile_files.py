"""No file takes memory or time out of proportion, whatever it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ogive.io.checked_files import BYTES_PER_BYTE, FREE_BYTES
from tests.io import crafted

ROOT = Path(__file__).parents[2]
NOISE = 16 << 20
"""What modules take that are imported to load a file, and pieces of members that are unpacked."""


def run(module: str, *arguments: str) -> list[Any]:
    """What a module prints when it is run in a process of its own, each line as JSON."""
    command = [sys.executable, "-W", "ignore", "-m", module, *arguments]
    printed = subprocess.check_output(command, cwd=ROOT, text=True, env=dict(os.environ))
    return [json.loads(line) for line in printed.splitlines()]


def measured(
    makers: dict[str, Callable[[], bytes]], folder: Path, library: str = "ogive"
) -> dict[str, Any]:
    """What became of each file, and its size."""
    paths = [folder / name for name in makers]
    for path, make in zip(paths, makers.values(), strict=True):
        path.write_bytes(make())
    found = run("tests.io.measure_files", library, *map(str, paths))
    sizes = [path.stat().st_size for path in paths]
    named = zip(makers, found, sizes, strict=True)
    return {name: {**each, "size": size} for name, each, size in named}


def test_what_is_out_of_proportion_is_refused_before_it_is_made(tmp_path: Path) -> None:
    for name, found in measured(crafted.OUT_OF_PROPORTION, tmp_path).items():
        assert found["outcome"] == "FileError", (name, found)
        assert "besides the elements of tensors" in found["message"], (name, found)
        allowed = FREE_BYTES + BYTES_PER_BYTE * found["size"] + NOISE
        assert found["peak"] <= allowed, (name, found)


def test_what_is_malformed_takes_nothing(tmp_path: Path) -> None:
    for name, found in measured(crafted.MALFORMED, tmp_path).items():
        assert found["outcome"] == "FileError", (name, found)
        assert len(found["message"]) < 1000, (name, found)
        assert found["peak"] <= 4 * found["size"] + 2 * NOISE, (name, found)


def test_large_plain_files_are_loaded(tmp_path: Path) -> None:
    for name, found in measured(crafted.PLAIN, tmp_path).items():
        assert found["outcome"] == "loaded", (name, found)


def test_a_packed_array_takes_what_it_unpacks_to(tmp_path: Path) -> None:
    found = measured({"zeros.npz": crafted.PLAIN["zeros.npz"]}, tmp_path)["zeros.npz"]
    assert found["outcome"] == "loaded" and found["size"] < 100_000
    assert found["peak"] <= (64 << 20) + NOISE


def test_what_is_mentioned_again_is_read_once(tmp_path: Path) -> None:
    """In memory, as PyTorch's programs have it: neither time nor memory grows with mentions."""
    for name, found in measured(crafted.MENTIONED_AGAIN, tmp_path, "ogive.torch").items():
        assert found["outcome"] == "loaded", (name, found)
        assert found["peak"] <= 2 * found["size"] + NOISE, (name, found)


@pytest.mark.parametrize("rounds", [150, pytest.param(10_000, marks=pytest.mark.soak)])
def test_damaged_and_crafted_files_give_typed_errors_or_tensors(
    rounds: int, tmp_path: Path
) -> None:
    for found in run("tests.io.fuzz_files", str(rounds), "1", str(tmp_path)):
        assert not found["untyped"], found["untyped"]
        assert found["refused"] > rounds // 3 and found["loaded"], found
        assert found["open files"] == 0, found
        assert found["peak"] < FREE_BYTES + (64 << 20), found
