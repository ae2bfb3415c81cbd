"""Runs programs of some seeds: `python -m tests.line_programs MAKER FIRST [LAST]`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tests.line_programs import MAKERS, difference
from tests.line_programs.running import shorten


def main(arguments: Sequence[str]) -> None:
    """Show what differs for the seeds from the first on, cut down to the lines that matter."""
    maker, first = MAKERS[arguments[0]], int(arguments[1])
    last = int(arguments[2]) if len(arguments) > 2 else first + 1
    found = 0
    for seed in range(first, last):
        lines = maker(seed)
        words = difference(lines)
        if words is not None:
            found += 1
            print(f"seed {seed}: {words}", *shorten(lines), sep="\n  ", flush=True)
    print(f"{last - first} programs, {found} differ")


if __name__ == "__main__":
    main(sys.argv[1:])
