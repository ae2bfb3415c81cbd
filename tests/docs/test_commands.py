"""What the pages tell the reader to type is what we run, and what they link to is there."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT

INSTALL = "pip install . && ogive demo"
TEST = "pip install -e '.[test]' && python -m pytest"
SOURCES = [
    path.as_posix() + "/" * path.is_dir()
    for folder in ("src", "tests", "benchmarks", "docs")
    for path in (ROOT / folder).rglob("*")
]
PAGES = [str(page.relative_to(ROOT)) for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"))]


@pytest.mark.parametrize("command", [INSTALL, TEST])
def test_readme_gives_the_command(command: str) -> None:
    assert f"```\n{command}\n```" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_ci_runs_exactly_the_readmes_test_command() -> None:
    script = ROOT / ".ci/run"
    assert f'test_command="{TEST}"' in script.read_text(encoding="utf-8").splitlines()
    assert os.access(script, os.X_OK)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (Path(ROOT / page).parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES)
def test_modules_that_a_page_names_are_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for name in re.findall(r"`([\w/]+(?:\.py|/))`", text):
        assert any(path.endswith(f"/{name}") for path in SOURCES), name
