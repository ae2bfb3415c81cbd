"""Targets that this machine can run, beside what it is itself: other vectors, other caches."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from ogive import Config
from ogive.devices.cpu.host import host_target
from ogive.devices.cpu.host_machine import host_machine
from ogive.targets.target import Target

CONFIG = Config(verify=True, poison=True, planner="disabled")


def targets() -> dict[str, tuple[Target, Config]]:
    """By name: vectors twice as wide as registers, as narrow as any, tiny caches, no vectors."""
    host = host_target()
    wide = replace(host, vector_bytes=64, vector_registers=32)
    narrow = replace(host, vector_bytes=16, masked=False)
    tiny = replace(host, l1_bytes=256, l2_bytes=1024, l3_bytes=4096)
    return {
        "host": (host, CONFIG),
        "wide": (wide, CONFIG),
        "narrow": (narrow, CONFIG),
        "tiny": (tiny, replace(CONFIG, kernel_node_limit=8)),
        "scalar": (host, replace(CONFIG, vectorize=False)),
    }


@contextlib.contextmanager
def running_on(name: str) -> Iterator[Config]:
    """Have code made for a target, with its configuration."""
    target, config = targets()[name]
    with host_machine.taken_for(target):
        yield config
