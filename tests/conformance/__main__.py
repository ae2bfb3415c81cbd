"""`python -m tests.conformance [--write] [--limit N] [operator ...]`."""

from __future__ import annotations

import argparse
import sys

from tests.conformance.check import check
from tests.conformance.database import OPERATORS
from tests.conformance.report import PAGE, page, summary

SAMPLES = 15


def main() -> int:
    """Run the samples and say what failed; 1 if something did without a stated reason."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("operators", nargs="*", help="names; all if there are none")
    parser.add_argument("--limit", type=int, default=SAMPLES, help="samples per operator and dtype")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    results = {}
    for label, operator in OPERATORS.items():
        if not options.operators or {label, operator.name} & set(options.operators):
            result = results[label] = check(operator, options.limit)
            for failure in result.unexplained if result is not None else ():
                print(failure, flush=True)
    print(summary(results))
    if options.write and not options.operators:
        PAGE.write_text(page(results, options.limit))
    return int(any(result is not None and result.unexplained for result in results.values()))


if __name__ == "__main__":
    sys.exit(main())
