"""Processors that are known by a level of their architecture, so that code runs on any of them.

    x86-64-v3    what servers and desktops have had since 2013 to 2015: AVX2, FMA
    x86-64-v4    those with AVX-512

Names and features are those of the x86-64 psABI. Caches are taken to have usual sizes: code for a
level does not depend on the machine that made it.
"""

from __future__ import annotations

import functools

from ogive.compiler.targets.target import Target, describe_cpu
from ogive.errors import ConfigError, nearest

_SECOND = ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3")
_THIRD = (*_SECOND, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave")
_FOURTH = (*_THIRD, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")
LEVELS = {"x86-64-v3": _THIRD, "x86-64-v4": _FOURTH}


@functools.lru_cache(maxsize=16)
def target_of_level(level: str, host: Target) -> Target:
    """The target of a level, on a machine that runs its code. Raises `ConfigError`."""
    features = LEVELS.get(level)
    if features is None:
        raise ConfigError(
            f"cpu is one of {', '.join(LEVELS)}, or empty for the processor of this machine, "
            f"got {level!r}{nearest(level, LEVELS)}"
        )
    missing = [name for name in features if name not in host.present]
    if missing:
        raise ConfigError(f"cpu={level!r}: this processor has no {', '.join(missing)}")
    return describe_cpu(
        triple=host.triple,
        cpu=level,
        features=",".join([f"+{name}" for name in features]),
        cores=host.cores,
    )
