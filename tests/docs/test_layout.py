"""CONTRIBUTING.md has a line for every folder of the package and of the tests, and for none that is
gone."""

from __future__ import annotations

import re
from pathlib import Path

import ogive
from tests.docs.markdown import ROOT

PACKAGE = Path(ogive.__file__).parent
FOLDERS = {
    f"{path.parent.relative_to(PACKAGE)}/".removeprefix("compiler/") or "compiler/"
    for path in PACKAGE.rglob("*.py")
    if path.parent != PACKAGE
}


def rows(section: str) -> list[tuple[list[str], list[str]]]:
    """Of each row of a section's table, the folders that it is about, and those of them that its
    text speaks of besides (`ir/ | ...; rewriting/: ...`)."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    _, _, text = page.partition(f"\n## {section}\n")
    table = re.findall(r"^\| (`.*?) \| (.*) \|$", text.partition("\n## ")[0], re.MULTILINE)
    return [
        (re.findall(r"`([\w/]+/)`", first), re.findall(r"`([\w/]+/)`", text))
        for first, text in table
    ]


def named() -> set[str]:
    """The folders that the table says something of."""
    found = set()
    for first, below in rows("Layout"):
        found.update(first)
        for name in below:
            full = {f"{folder}{name}" for folder in first}
            found.update(full & FOLDERS or {name})
    return found


def test_every_folder_has_a_line() -> None:
    missing = sorted(FOLDERS - named())
    assert not missing, missing


def test_no_line_is_about_a_folder_that_is_gone() -> None:
    gone = sorted(named() - FOLDERS)
    assert not gone, gone


def test_every_folder_of_tests_is_one_of_the_package_or_has_a_line() -> None:
    folders = {f"{path.parent.name}/" for path in (ROOT / "tests").glob("*/*")} - {"__pycache__/"}
    described = {name for first, _ in rows("Tests") for name in first}
    assert folders - FOLDERS == described
