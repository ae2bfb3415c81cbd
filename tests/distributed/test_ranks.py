"""Checks that real ranks make; all of a module by one start of the ranks."""

from __future__ import annotations

import functools
import importlib.util
import re
from pathlib import Path

import pytest

from tests.distributed.launching import HERE, make_checks, needs_mpi

pytestmark = needs_mpi

make_once = functools.cache(make_checks)


def checks(module: str) -> list[str]:
    """The names of a module's checks. The module itself is for ranks to import."""
    found = importlib.util.find_spec(module)
    assert found is not None and found.origin is not None
    return re.findall(r"^def (check_\w+)", Path(found.origin).read_text("utf-8"), re.MULTILINE)


STARTS = [(2, "collective_checks"), (4, "collective_checks"), (4, "training_checks")]
CASES = [
    (ranks, f"tests.distributed.{module}", check)
    for ranks, module in STARTS
    for check in checks(f"tests.distributed.{module}")
]


@pytest.mark.parametrize(("ranks", "module", "check"), CASES)
def test_ranks(ranks: int, module: str, check: str) -> None:
    complaints = make_once(ranks, module)[check]
    assert not complaints, "\n".join(complaints)


def test_every_module_of_checks_is_run() -> None:
    modules = {path.stem for path in HERE.glob("*_checks.py")} - {"rank_checks"}
    assert {f"tests.distributed.{name}" for name in modules} == {module for _, module, _ in CASES}
