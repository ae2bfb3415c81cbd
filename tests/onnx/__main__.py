"""`python -m tests.onnx [parts of names]`: run the cases of the `onnx` package.

Without parts of names (with commas between) all of them run, and docs/onnx.md gets the counts and
what fails.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tests.onnx.cases import KINDS, cases_of, check
from tests.onnx.report import write

DOCUMENT = Path(__file__).parents[2] / "docs" / "onnx.md"


def run(kind: str, wanted: str) -> tuple[int, dict[str, str]]:
    """Run the cases of a kind that have a part of `wanted` in their name; why some fail."""
    parts = wanted.split(",")
    cases = {
        name: case for name, case in cases_of(kind).items() if any(part in name for part in parts)
    }
    failed: dict[str, str] = {}
    start = time.perf_counter()
    for name, case in cases.items():
        try:
            check(case)
        except Exception as error:
            failed[name] = reason = f"{type(error).__name__}: {error}".strip()
            print(f"{name}: {' '.join(reason.split())[:220]}", flush=True)
    seconds = time.perf_counter() - start
    print(f"{kind}: {len(cases) - len(failed)} of {len(cases)} pass ({seconds:.0f} s)")
    return len(cases), failed


def main(wanted: str) -> None:
    """Run the cases of all kinds, and write the document if none are left out."""
    results = {kind: run(kind, wanted) for kind in KINDS}
    if not wanted:
        write(DOCUMENT, results)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
