"""docs/onnx.md: how many cases pass, and what fails or is absent, with the reason."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import onnx

BEGIN = "<!-- written by python -m tests.onnx -->"


DRAWN = "draws other numbers than NumPy, whose draws are expected"
HALF = "floats of 16 bits, rounded at other places than in the reference (0.4 % off; 0.1 % allowed)"
FORMATS = "images of formats that the standard library cannot decode"
NOISE = "the expected value is a rounding error, 1.9e-7 where exactly 0 is right and made here"

REASONS = {
    r"bernoulli|training_dropout": DRAWN,
    r"attention.*(bf16|fp16)": HALF,
    r"dft_inverse": NOISE,
    r"image_decoder": FORMATS,
}
"""Why a result is another one, or none, by what the name of a case begins with."""

FOR_REASONS = ("AssertionError", "OperatorError")
"""What is raised where the name of a case says why."""


def write(document: Path, results: dict[str, tuple[int, dict[str, str]]]) -> None:
    """Replace what follows the mark in the document: how many cases of a kind, and what fails."""
    head = document.read_text().partition(BEGIN)[0]
    lines = [BEGIN, "", f"onnx {onnx.__version__}:", "", "| kind | pass | of |", "|---|---|---|"]
    by_reason: dict[str, list[str]] = {}
    for kind, (count, failed) in results.items():
        lines.append(f"| {kind} | {count - len(failed)} | {count} |")
        for name, reason in failed.items():
            short = name.removeprefix("test_")
            by_reason.setdefault(_kind(short, reason), []).append(short)
    lines += ["", "| what fails, and why | cases | |", "|---|---|---|"]
    for reason, names in sorted(by_reason.items(), key=lambda item: -len(item[1])):
        lines.append(f"| {reason} | {len(names)} | {_listed(names)} |")
    document.write_text(head + "\n".join(lines) + "\n")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def _kind(name: str, reason: str) -> str:
    """The first line of an error without what is particular to a case."""
    first = " ".join(reason.split("\n  at ")[0].split())
    if "there is no such operator here" in first:
        operator = first.partition("(")[2].partition(",")[0]
        return f"no operator {operator}"
    if first.startswith(FOR_REASONS):
        known = [why for key, why in REASONS.items() if re.match(key, name)]
        if known or first.startswith("AssertionError"):
            return known[0] if known else "another result"
    return first[:100].replace("|", "\\|")
