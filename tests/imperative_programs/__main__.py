"""Runs programs and cuts failing ones down.

    python -m tests.imperative_programs FIRST [LAST [LENGTH]]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from tests.imperative_programs import generate, run
from tests.imperative_programs.running import Program


def failure(program: Program) -> str | None:
    """What goes wrong when a program is run, if anything does."""
    try:
        run(program)
    except Exception as error:
        cause = error.__cause__
        kind = type(error).__name__ if cause is None else type(cause).__name__
        return f"{kind}: {error}"
    return None


def shrink(program: Program) -> Program:
    """The program without the statements that its failure does not need."""
    kind = (failure(program) or "").partition(":")[0]
    changed = True
    while changed:
        changed = False
        for place in reversed(range(len(program))):
            shorter = [*program[:place], *program[place + 1 :]]
            found = failure(shorter)
            if found is not None and found.partition(":")[0] == kind:
                program, changed = shorter, True
    return program


def main(arguments: Sequence[str]) -> None:
    """Run the programs of some seeds and cut down those that fail."""
    first = int(arguments[0])
    last = int(arguments[1]) if len(arguments) > 1 else first + 1
    length = int(arguments[2]) if len(arguments) > 2 else 14
    began = time.perf_counter()
    count = 0
    for seed in range(first, last):
        program = generate(seed, length)
        if failure(program) is None:
            continue
        count += 1
        small = shrink(program)
        print(f"# seed {seed}", *small, f"# {failure(small)}", "", sep="\n", flush=True)
    print(f"{count} of {last - first} differ; {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
