"""`python -m tests.onnx [part of a name]`: run the node cases of the `onnx` package.

Without a part of a name all of them run, and docs/onnx.md gets the counts and what fails.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

from tests.onnx.cases import check, node_cases
from tests.onnx.report import write

DOCUMENT = Path(__file__).parents[2] / "docs" / "onnx.md"


def main(wanted: str) -> None:
    """Run the cases whose name has `wanted` in it."""
    parts = wanted.split(",")
    cases = {
        name: case for name, case in node_cases().items() if any(part in name for part in parts)
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
    print(f"{len(cases) - len(failed)} of {len(cases)} pass ({seconds:.0f} s)")
    print(Counter(reason.split(":")[0] for reason in failed.values()))
    if not wanted:
        write(DOCUMENT, cases, failed)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
