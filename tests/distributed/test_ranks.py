"""Checks that real ranks make; all for one number of ranks by one start of them."""

from __future__ import annotations

import functools
import os
import re

import pytest

from tests.distributed.launching import HERE, make_checks, needs_mpi

pytestmark = needs_mpi

MODULES = {
    2: ["collective_checks", "pair_checks", "torch_checks"],
    4: ["collective_checks", "group_checks", "training_checks", "example_checks"],
}
"""The modules whose checks so many ranks make."""


def checks(module: str) -> list[str]:
    """The names of a module's checks. The module itself is for ranks to import."""
    text = (HERE / f"{module}.py").read_text("utf-8")
    return [f"{module}.{name}" for name in re.findall(r"^def (check_\w+)", text, re.MULTILINE)]


@functools.cache
def make_all(ranks: int) -> dict[str, list[str]]:
    return make_checks(ranks, *[f"tests.distributed.{module}" for module in MODULES[ranks]])


CASES = [
    (ranks, check)
    for ranks, modules in MODULES.items()
    for module in modules
    for check in checks(module)
]


@pytest.mark.parametrize(("ranks", "check"), CASES)
def test_ranks(ranks: int, check: str) -> None:
    complaints = make_all(ranks)[f"tests.distributed.{check}"]
    assert not complaints, "\n".join(complaints)


@pytest.mark.soak
def test_examples_learn_what_one_process_does_for_fifty_steps() -> None:
    found = make_checks(
        4, "tests.distributed.example_checks", env={**os.environ, "EXAMPLE_STEPS": "50"}
    )
    assert not any(found.values()), found


def test_every_module_of_checks_is_run() -> None:
    modules = {path.stem for path in HERE.glob("*_checks.py")} - {"rank_checks"}
    assert modules == {name for names in MODULES.values() for name in names}
