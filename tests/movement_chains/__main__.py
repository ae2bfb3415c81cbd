"""Runs the cases of some seeds: `python -m tests.movement_chains FIRST LAST [TARGET]`."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace

from tests.movement_chains import draw_case, run_cases
from tests.movement_chains.targets import running_on

GROUP = 16


def main(arguments: Sequence[str]) -> None:
    """Print what differs of the cases from FIRST to LAST."""
    first, last = int(arguments[0]), int(arguments[1])
    began = time.perf_counter()
    count = 0
    with running_on(arguments[2] if len(arguments) > 2 else "host") as config:
        config = replace(config, disk_cache=False)
        for begin in range(first, last, GROUP):
            cases = [draw_case(seed) for seed in range(begin, min(begin + GROUP, last))]
            for difference in run_cases(cases, config):
                count += 1
                print(f"{difference.case}\n    {difference.words}", flush=True)
    print(f"{count} of {last - first} differ; {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
