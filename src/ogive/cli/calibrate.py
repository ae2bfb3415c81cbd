"""`ogive calibrate`: measure how fast this machine is, and keep it for every process to come."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from ogive.config import Config, current_config
from ogive.devices.known_devices import host
from ogive.devices.protocol import HostSpeeds


def run(measure: Callable[[Config], HostSpeeds | None] | None = None) -> int:
    """Measure and print; 1 if the machine was too busy."""
    start = time.perf_counter()
    speeds = (measure or host().measure_speeds)(current_config())
    if speeds is None:
        print("ogive: other processes take too much of this machine to measure it", file=sys.stderr)
        return 1
    print(f"Measured in {time.perf_counter() - start:.2f} s:")
    for label, text in speeds.describe():
        print(f"  {label:14}{text}")
    return 0
