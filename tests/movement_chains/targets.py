"""Targets that this machine can run, beside what it is itself: other vectors, other caches."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from ogive import Config
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.cpu.host_machine import host_machine
from ogive.compiler.targets.target import Target, describe_cpu

CONFIG = Config(verify=True, poison=True, planner="disabled")


def targets() -> dict[str, tuple[Target, Config]]:
    """By name: the processor without AVX-512, vectors twice as wide as its registers or as narrow
    as any, tiny caches, no vectors, and what nobody changed."""
    host = host_target()
    wide = replace(host, vector_bytes=64, vector_registers=32)
    narrow = replace(host, vector_bytes=16, masked=False)
    tiny = replace(host, l1_bytes=256, l2_bytes=1024, l3_bytes=4096)
    return {
        "host": (host, CONFIG),
        "avx2": (without_avx512(host), CONFIG),
        "wide": (wide, CONFIG),
        "narrow": (narrow, CONFIG),
        "tiny": (tiny, replace(CONFIG, kernel_node_limit=8)),
        "scalar": (host, replace(CONFIG, vectorize=False)),
        "usual": (host, Config()),
    }


def distinct_targets() -> tuple[str, ...]:
    """The names of targets for which other code is made: some are what this machine is already."""
    names = {described: name for name, described in reversed(targets().items())}
    return tuple(reversed(names.values()))


def without_avx512(target: Target) -> Target:
    """The same processor, had it no AVX-512."""
    features = [
        f"-{name[1:]}" if name.startswith("+avx512") else name
        for name in target.features.split(",")
    ]
    caches = {1: target.l1_bytes, 2: target.l2_bytes, 3: target.l3_bytes}
    return describe_cpu(target.triple, target.cpu, ",".join(features), caches, target.cores)


@contextlib.contextmanager
def running_on(name: str) -> Iterator[Config]:
    """Have code made for a target, with its configuration."""
    target, config = targets()[name]
    with host_machine.taken_for(target):
        yield config
