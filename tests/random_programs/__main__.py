"""Cuts failing programs down: `python -m tests.random_programs FIRST [LAST [LENGTH]]`."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

from ogive import Config
from tests.random_programs import Program, Unsuitable, config_for, generate, run


def failure(program: Program, config: Config) -> str | None:
    """What goes wrong when a program is run, if anything does."""
    try:
        run(program, config)
    except Unsuitable:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def shrink(program: Program, config: Config) -> Program:
    """The program without the instructions that its failure does not need."""
    kind = (failure(program, config) or "").partition(":")[0]
    changed = True
    while changed:
        changed = False
        for place in reversed(range(len(program))):
            shorter = [*program[:place], *program[place + 1 :]]
            found = failure(shorter, config)
            if found is not None and found.partition(":")[0] == kind:
                program, changed = shorter, True
    alive = {i.out for i in program}
    return [i for i in program if all(number in alive for number in i.inputs)]


def main(arguments: Sequence[str]) -> None:
    """Run the programs of some seeds and cut down those that fail.

    The arguments are `FIRST [LAST [LENGTH]]`.
    """
    first = int(arguments[0])
    last = int(arguments[1]) if len(arguments) > 1 else first + 1
    length = int(arguments[2]) if len(arguments) > 2 else 14
    for seed in range(first, last):
        program, config = generate(seed, length), config_for(seed)
        found = failure(program, config)
        if found is None:
            continue
        print(f"seed {seed}: {found}")
        small = shrink(program, config)
        for instruction in small:
            print(f"  {instruction.out}: {instruction.kind}{instruction.inputs} "
                  f"{instruction.arguments}")  # fmt: skip
        if last - first == 1:
            try:
                run(small, config)
            except Exception:
                traceback.print_exc()


if __name__ == "__main__":
    main(sys.argv[1:])
