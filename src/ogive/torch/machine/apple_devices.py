"""`torch.mps`: there are no such devices here."""

from __future__ import annotations

from ogive.torch.machine.randomness import get_rng_state as get_rng_state
from ogive.torch.machine.randomness import manual_seed as manual_seed
from ogive.torch.machine.randomness import seed as seed
from ogive.torch.machine.randomness import set_rng_state as set_rng_state

__all__ = [
    "current_allocated_memory", "device_count", "empty_cache", "get_rng_state", "is_available",
    "manual_seed", "seed", "set_rng_state", "synchronize",
]  # fmt: skip


def device_count() -> int:
    """Return 0: there is no such device."""
    return 0


def current_allocated_memory() -> int:
    """Return 0: there is no such device."""
    return 0


def is_available() -> bool:
    """Return False: there is no such device."""
    return False


def synchronize() -> None:
    """Do nothing: there is no device to wait for."""


def empty_cache() -> None:
    """Do nothing: there is no device whose memory could be freed."""
