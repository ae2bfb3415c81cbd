"""Runs makers by turns, each in a process of its own: see `tests.hunt`."""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import time
from pathlib import Path

from tests.hunt.ledger import Counts, Ledger
from tests.hunt.makers import MAKERS, Difference, run

TURN = 30.0
"""Seconds of a processor that one maker has on one target, before the next has its turn."""


def main() -> None:
    given = _arguments()
    ledger = Ledger(given.ledger)
    names = given.only.split(",") if given.only else list(MAKERS)
    if given.counts:
        _show_counts(ledger)
    elif given.seed is not None:
        _repeat(names[0], given.targets or MAKERS[names[0]].targets[0], given.seed)
    elif given.turn:
        _take_turn(ledger, names[0], given.targets, given.seconds)
    else:
        _hunt(given.ledger, names, given.targets, given.seconds)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.hunt")
    parser.add_argument("--only", help=f"makers, of {', '.join(MAKERS)}")
    parser.add_argument("--targets", help="targets, of those that a maker has")
    parser.add_argument("--seconds", type=float, default=600.0, help="how long")
    parser.add_argument("--ledger", type=Path, default=Path("/tmp/ogive-hunt.jsonl"))
    parser.add_argument("--seed", type=int, help="run one program, and say what differs")
    parser.add_argument("--counts", action="store_true", help="show the ledger's sums")
    parser.add_argument("--turn", action="store_true", help="one maker, one target, this process")
    return parser.parse_args()


def _hunt(path: Path, names: list[str], targets: str | None, seconds: float) -> None:
    """Give every maker and target a turn, again and again. What dies, dies alone."""
    wanted = targets.split(",") if targets else None
    turns = [
        (name, target)
        for name in names
        for target in MAKERS[name].targets
        if wanted is None or target in wanted
    ]
    end = time.monotonic() + seconds
    for name, target in itertools.cycle(turns):
        left = end - time.monotonic()
        if left <= 0:
            return
        command = [
            sys.executable, "-m", "tests.hunt", "--turn", "--only", name, "--targets", target,
            "--seconds", str(left), "--ledger", str(path),
        ]  # fmt: skip
        status = subprocess.run(command).returncode
        if status != 0:
            print(f"{name} on {target} ended with {status}", flush=True)


def _take_turn(ledger: Ledger, name: str, target: str, seconds: float) -> None:
    """Run ranges of seeds until the turn is over, or the time."""
    end = time.monotonic() + seconds
    group = MAKERS[name].group
    while time.monotonic() < end and time.process_time() < TURN:
        first = ledger.next_seed(name, target)
        seeds = range(first, first + group)
        ledger.begin(name, target, seeds)
        began = time.process_time()
        outcome = run(name, seeds, target)
        ledger.add(name, target, seeds, outcome, time.process_time() - began)
        for difference in outcome.differences:
            _show(name, target, difference)


def _repeat(name: str, target: str, seed: int) -> None:
    outcome = run(name, range(seed, seed + 1), target)
    for difference in outcome.differences:
        _show(name, target, difference)
    print(f"{outcome.cases} cases, {len(outcome.differences)} differences")


def _show(name: str, target: str, difference: Difference) -> None:
    head = f"{name} on {target}, seed {difference.seed}: {difference.words}"
    print(head, *difference.program.splitlines(), sep="\n    ", flush=True)


def _show_counts(ledger: Ledger) -> None:
    rows = [(*key, *counts) for key, counts in sorted(ledger.counts().items())]
    sums = Counts(*map(sum, zip(*[row[2:] for row in rows], strict=True))) if rows else Counts()
    print(f"{'maker':16}{'target':10}{'programs':>10}{'cases':>10}{'differ':>8}{'rounding':>10}"
          f"{'CPU s':>9}")
    for row in (*rows, ("all", "", *sums)):
        print(f"{row[0]:16}{row[1]:10}{row[2]:10}{row[3]:10}{row[4]:8}{row[5]:10}{row[6]:9.0f}")
    for line in ledger.died():
        print(f"did not end: {line['maker']} on {line['target']}, seeds from {line['first']}")


if __name__ == "__main__":
    main()
