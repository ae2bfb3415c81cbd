"""Placements found by searching: in memory, then on disk, then by searching now."""

from __future__ import annotations

import dataclasses
import os
import threading
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ogive.config import Config
from ogive.counters import count
from ogive.engine.keys import Key, make_key
from ogive.engine.store import Kind
from ogive.ir.node import UOp

if TYPE_CHECKING:
    from ogive.codegen.optimize.placement import Placement
    from ogive.device.target import Target
    from ogive.engine.disk import Disk


def placed_key(key: Key, placement: Placement | None) -> Key:
    """The key of a kernel, with its placement if that was searched for.

    Another placement may add in another order and so give other bits.
    """
    if placement is None:
        return key
    from ogive.tune.encode import placement_key

    return make_key(b"placed", *key, repr(placement_key(placement)).encode())


class _Results:
    """The results on a disk, by the kernel's key without the search, and by the beam's width."""

    def __init__(self, disk: Disk | None, target: Target, config: Config) -> None:
        assert config.search is not None
        self._disk = disk
        self._target = target
        self._config = config
        self._plain = dataclasses.replace(config, search=None)
        self._width = b"%d" % config.search.width

    def _key(self, disk: Disk, region: UOp) -> Key:
        kernel = disk.kernel_key(region, self._target, self._plain)
        return make_key(b"search", *kernel, self._width)

    def get(self, region: UOp) -> bytes | None:
        if self._disk is None:
            return None
        key = self._key(self._disk, region)
        return self._disk.store.read(Kind.NOTE, [key]).get(key)

    def put(self, region: UOp, result: bytes) -> None:
        if self._disk is not None:
            # At once: a search takes long, and the process may not come to its end.
            self._disk.write([(Kind.NOTE, self._key(self._disk, region), result)], self._config)


class PlacementCache:
    """Placements by region, bounded like kernels, first in first out."""

    def __init__(self) -> None:
        self._placements: dict[Any, Placement] = {}
        self.renew_lock()

    def renew_lock(self) -> None:
        """Forget a lock that a thread of the parent process held when it forked."""
        self._lock = threading.Lock()

    def get(self, region: UOp, target: Target, config: Config) -> Placement | None:
        """What was chosen for a region; None for the heuristics' placement."""
        return self._placements.get((region, target.key, config.code_key))

    def search(
        self, regions: Iterable[UOp], target: Target, config: Config, disk: Disk | None
    ) -> None:
        """Make sure of a placement for each region, which stands there as often as it runs."""
        if config.search is None:
            return
        times = Counter(regions)
        with self._lock:
            for region in list(times):
                if self.get(region, target, config) is not None:
                    del times[region]
            if not times:
                return
            from ogive.tune.search import search_placements

            found, searched = search_placements(
                times, target, config, _Results(disk, target, config)
            )
            count("kernels_searched", searched)
            for region, placement in found.items():
                self._placements[region, target.key, config.code_key] = placement
            while len(self._placements) > config.kernel_cache_size:
                del self._placements[next(iter(self._placements))]

    def clear(self) -> None:
        """Forget all placements in memory."""
        with self._lock:
            self._placements.clear()


placement_cache = PlacementCache()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=placement_cache.renew_lock)
