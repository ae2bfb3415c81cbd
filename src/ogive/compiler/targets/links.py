"""The seconds to exchange values between devices, by each algorithm.

A message of B bytes takes `latency + B / bandwidth`. A device can send one message and receive
another at the same time. The devices of a machine share its connection to other machines. For an
all-reduce of B bytes over `n` devices:

    direct       all send to the first, which adds and sends back     2 (n - 1) messages of B
    ring         each passes parts on to the next                     2 (n - 1) messages of B / n
    tree         in pairs, then pairs of pairs, and back              2 ⌈log₂ n⌉ messages of B
    two-level    rings inside of machines around rings across them    2 (m - 1) of B / m inside,
                 (k machines with m devices each)                     2 (k - 1) of B / m / k across

`tests/compiler/targets/test_links.py` simulates the messages one by one and gets the same times.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ogive.named import NamedTuple


class Link(NamedTuple):
    """A connection: bytes per second in each direction, and seconds before the first arrives."""

    bandwidth: float
    latency: float

    def seconds(self, nbytes: float, messages: int = 1) -> float:
        """The seconds of `messages` of `nbytes` each, in sequence."""
        return messages * (self.latency + nbytes / self.bandwidth)


class Network(NamedTuple):
    """Machines of `size` devices. `inside` connects devices of one machine, `across` machines."""

    inside: Link
    across: Link
    size: int

    def spanning(self, devices: int) -> Link:
        """The slowest link among the first `devices`."""
        return self.inside if devices <= self.size else self.across


class Way(NamedTuple):
    """An algorithm of an exchange, and its seconds."""

    algorithm: str
    seconds: float


def all_reduce(nbytes: float, devices: int, network: Network) -> Way:
    """The fastest way to add up values of `nbytes` over devices, so that each has the total."""
    if devices == 1:
        return Way("none", 0.0)
    ways = [Way(name, seconds(nbytes, devices, network)) for name, seconds in ALL_REDUCE.items()]
    return min(ways, key=lambda way: way.seconds)


def _direct(nbytes: float, devices: int, network: Network) -> float:
    return network.spanning(devices).seconds(nbytes, 2 * (devices - 1))


def _ring(nbytes: float, devices: int, network: Network) -> float:
    return 2 * gather(nbytes, devices, network)


def _tree(nbytes: float, devices: int, network: Network) -> float:
    return network.spanning(devices).seconds(nbytes, 2 * math.ceil(math.log2(devices)))


def _two_level(nbytes: float, devices: int, network: Network) -> float:
    if devices <= network.size or devices % network.size:
        return _ring(nbytes, devices, network)
    machines = devices // network.size
    inside = network.inside.seconds(nbytes / network.size, 2 * (network.size - 1))
    # The devices of a machine send their parts at once, which takes as long as the whole value.
    return inside + network.across.seconds(nbytes / machines, 2 * (machines - 1))


ALL_REDUCE: dict[str, Callable[[float, int, Network], float]] = {
    "direct": _direct, "ring": _ring, "tree": _tree, "two-level": _two_level,
}  # fmt: skip
"""The algorithms of an all-reduce."""


def gather(nbytes: float, devices: int, network: Network) -> float:
    """The seconds until all devices have `nbytes`, of which each had a part.

    The reverse, until each device has its part of a total, takes as long.
    """
    return network.spanning(devices).seconds(nbytes / devices, devices - 1)


def fit_link(small: tuple[float, float], large: tuple[float, float], messages: int = 2) -> Link:
    """The link that explains two measured exchanges, each (bytes, seconds).

    >>> link = fit_link((0, 2e-6), (1000, 4e-6))
    >>> round(link.bandwidth), link.latency
    (1000000000, 1e-06)
    """
    (few, short), (many, long) = small, large
    each = max(long - short, 1e-12) / messages
    bandwidth = (many - few) / each
    return Link(bandwidth, max(short / messages - few / bandwidth, 1e-9))
