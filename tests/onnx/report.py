"""docs/onnx.md: how many cases pass, and what fails or is absent, with the reason."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import onnx

BEGIN = "<!-- written by python -m tests.onnx -->"


def write(document: Path, cases: dict[str, Any], failed: dict[str, str]) -> None:
    """Replace all that follows the mark in the document."""
    text = document.read_text() if document.exists() else "# ONNX\n\n"
    head = text.partition(BEGIN)[0]
    passed = len(cases) - len(failed)
    lines = [
        BEGIN,
        "",
        f"onnx {onnx.__version__}: **{passed} of {len(cases)}** node cases pass "
        f"({100 * passed / len(cases):.1f} %).",
        "",
        "| reason | cases | |",
        "|---|---|---|",
    ]
    by_reason: dict[str, list[str]] = {}
    for name, reason in failed.items():
        by_reason.setdefault(_kind(reason), []).append(name.removeprefix("test_"))
    for reason, names in sorted(by_reason.items(), key=lambda item: -len(item[1])):
        lines.append(f"| {reason} | {len(names)} | {_listed(names)} |")
    document.write_text(head + "\n".join(lines) + "\n")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def _kind(reason: str) -> str:
    """The first line of an error without what is particular to a case."""
    first = " ".join(reason.split("\n  at ")[0].split())
    if "there is no such operator here" in first:
        operator = first.partition("(")[2].partition(",")[0]
        return f"no operator {operator}"
    if "which there is none of here" in first or "cannot be computed with here" in first:
        return "a dtype that Ogive does not have (4 and 2 bits, fnuz, e8m0)"
    if first.startswith("AssertionError"):
        return "another result"
    return first[:100].replace("|", "\\|")
