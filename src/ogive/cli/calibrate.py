"""`ogive calibrate`: measure how fast this machine is, and keep it for every process to come."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

from ogive.config import current_config
from ogive.devices.cpu.speeds import LEVELS, Speeds


def run() -> int:
    """Measure and print; 1 if the machine was too busy."""
    from ogive.engine.machine.host_machine import ensure_driver
    from ogive.engine.machine.machine_speeds import measure_speeds

    config = current_config()
    ensure_driver(config)
    start = time.perf_counter()
    speeds = measure_speeds(config)
    if speeds is None:
        print("ogive: other processes take too much of this machine to measure it", file=sys.stderr)
        return 1
    print(f"Measured in {time.perf_counter() - start:.2f} s:")
    for label, text in describe_speeds(speeds):
        print(f"  {label:14}{text}")
    return 0


def describe_speeds(speeds: Speeds) -> Iterator[tuple[str, str]]:
    """What is known about a machine's speed: labels and texts.

    >>> rates = ((10**9, 2 * 10**9),) * 4
    >>> two = Speeds((1, 2, 3), (1, 2), rates, rates, 10**9, 30, (0, 2000))
    >>> dict(describe_speeds(two))["reads"]
    'L1 1.0 → 2.0, L2 1.0 → 2.0, L3 1.0 → 2.0, memory 1.0 → 2.0 GB/s'
    """
    last = speeds.threads[-1]
    yield "threads", f"1 → {last}"
    for label, table in (("reads", speeds.read), ("writes", speeds.write)):
        rates = [
            f"{name} {row[0] / 1e9:.1f} → {row[-1] / 1e9:.1f}"
            for name, row in zip(LEVELS, table, strict=True)
        ]
        yield label, ", ".join(rates) + " GB/s"
    yield "computes", f"{speeds.instructions / 1e9:.1f} G vector instructions a second, each thread"
    yield "a step", f"{speeds.launch} ns"
    shared = zip(speeds.threads[1:], speeds.sharing[1:], strict=True)
    costs = [f"{count}: {nanoseconds / 1000:.1f}" for count, nanoseconds in shared]
    yield "sharing it", (", ".join(costs) + " µs") if costs else "one thread, nothing to share"
