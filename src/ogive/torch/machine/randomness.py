"""Seeds and states of random draws. The numbers are Ogive's own: see docs/random.md."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ogive.random import binomial as binomial
from ogive.random import default_generator as default_generator
from ogive.random import get_rng_state as get_rng_state
from ogive.random import initial_seed as initial_seed
from ogive.random import manual_seed as _manual_seed
from ogive.random import poisson as poisson
from ogive.random import seed as seed
from ogive.random import set_rng_state as set_rng_state
from ogive.random.generator import Generator as _Generator
from ogive.tensor.core import to_device

__all__ = [
    "Generator", "binomial", "default_generator", "fork_rng", "get_rng_state", "initial_seed",
    "manual_seed", "poisson", "seed", "set_rng_state",
]  # fmt: skip


class Generator(_Generator):
    """A source of random draws with its own state, on the CPU.

    >>> generator = ogive.torch.Generator(device="cpu").manual_seed(3)
    >>> generator.initial_seed()
    3
    """

    def __init__(self, device: Any = "cpu") -> None:
        self.device = to_device(device)
        super().__init__()


def manual_seed(seed: int) -> _Generator:
    """Restart the random draws from a seed. Negative seeds are mapped as in PyTorch."""
    return _manual_seed(int(seed) % (1 << 64))


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, **options: Any) -> Iterator[None]:
    """A context that restores the state of random draws at its end."""
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)
