"""Runs programs of some seeds: `python -m tests.changing_sizes FIRST LAST [LENGTH]`."""

from __future__ import annotations

import sys
import time

from tests.changing_sizes import differences, draw_program


def main() -> None:
    first, last, *rest = map(int, sys.argv[1:])
    began = time.perf_counter()
    count = 0
    for seed in range(first, last):
        program = draw_program(seed, *rest)
        try:
            found = differences(program, seed)
        except Exception as error:
            found = [f"{program}: {type(error).__name__}: {error}"]
        count += bool(found)
        for line in found[:1]:
            print(seed, line[:600], flush=True)
    print(f"{count} of {last - first} differ; {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
