"""`ogive calibrate`: measure this machine's speed, and store it for later processes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from ogive.compiler.devices.known_devices import host
from ogive.compiler.devices.protocol import HostSpeeds
from ogive.config import Config, current_config


def run(measure: Callable[[Config], HostSpeeds | None] | None = None) -> int:
    """Measure and print; 1 if the machine was too busy."""
    start = time.perf_counter()
    speeds = (measure or host().measure_speeds)(current_config())
    if speeds is None:
        print("ogive: the machine is too busy with other processes to be measured", file=sys.stderr)
        return 1
    print(f"Measured in {time.perf_counter() - start:.2f} s:")
    for label, text in speeds.describe():
        print(f"  {label:14}{text}")
    return 0
