"""The memory plan: places intermediates of a plan in memory so that they reuse each other's space.

The live range of a value goes from the level that writes it to the last level that reads it. Values
whose live ranges do not overlap may share memory. Levels count, not positions in the list of steps:
steps that may run concurrently have the same level, so that reuse never breaks the order.

- `arena`: one block per device, each value at its own offset (the default);
- `remap`: values reuse whole buffers;
- `disabled`: every value has memory of its own.

Inputs, outputs and aliased memory are left out of the plan, each with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ogive.compiler.passes.regions.slots import aligned
from ogive.named import NamedTuple


class Life(NamedTuple):
    """The live range of an intermediate: its size, and the first and last level that need it."""

    nbytes: int
    first: int
    last: int


class Places(NamedTuple):
    """The place of each slot as (block, offset), and the size and device of each block."""

    places: Mapping[int, tuple[int, int]]
    blocks: tuple[int, ...]
    devices: tuple[str, ...]


class MemoryPlan(NamedTuple):
    """The places of intermediates (`places`, `blocks`, `devices` as in `Places`), and their cost.

    `logical` is the bytes of separate buffers, `planned` those of the blocks, and `peak` the
    greatest sum of sizes needed at one level, per device, which is a lower bound of any plan.
    `left_out` has the slots that were not planned, with the reason. `kept` is the bytes that stay
    allocated between runs.
    """

    places: Mapping[int, tuple[int, int]]
    blocks: tuple[int, ...]
    devices: tuple[str, ...]
    logical: int
    planned: int
    peak: int
    left_out: Mapping[int, str]
    kept: int = 0

    @property
    def by_device(self) -> dict[str, int]:
        """The bytes of the blocks on each device."""
        taken: dict[str, int] = {}
        for device, size in zip(self.devices, self.blocks, strict=True):
            taken[device] = taken.get(device, 0) + size
        return taken


def place(lives: Mapping[int, Life], mode: str, devices: Sequence[str]) -> Places:
    """The places of the intermediates `lives`, by slot; `devices` has the device of each slot."""
    places: dict[int, tuple[int, int]] = {}
    blocks: list[int] = []
    homes: list[str] = []
    for device, own in _by_device(lives, devices).items():
        own_places, sizes = _place(_padded(own), mode)
        for slot, (block, offset) in own_places.items():
            places[slot] = len(blocks) + block, offset
        blocks += sizes
        homes += [device] * len(sizes)
    return Places(places, tuple(blocks), tuple(homes))


def _by_device(lives: Mapping[int, Life], devices: Sequence[str]) -> dict[str, dict[int, Life]]:
    by_device: dict[str, dict[int, Life]] = {}
    for slot, life in lives.items():
        by_device.setdefault(devices[slot], {})[slot] = life
    return by_device


def _place(
    padded: Mapping[int, Life], mode: str
) -> tuple[dict[int, tuple[int, int]], list[int]]:
    """The places, and the sizes of blocks, on one device."""
    if mode == "arena":
        return _arena(padded)
    if mode == "remap":
        return _remap(padded)
    places = {slot: (block, 0) for block, slot in enumerate(padded)}
    return places, [life.nbytes for life in padded.values()]


def describe(
    placed: Places, lives: Mapping[int, Life], left_out: Mapping[int, str], devices: Sequence[str]
) -> MemoryPlan:
    """The memory plan of given places; `devices` has the device of each slot."""
    padded = _padded(lives)
    peaks = [largest_live_set(list(own.values())) for own in _by_device(padded, devices).values()]
    return MemoryPlan(
        *placed,
        logical=sum(life.nbytes for life in padded.values()),
        planned=sum(placed.blocks),
        peak=sum(peaks),
        left_out=dict(left_out),
    )


def _padded(lives: Mapping[int, Life]) -> dict[int, Life]:
    return {slot: Life(aligned(life.nbytes), *life[1:]) for slot, life in lives.items()}


def largest_live_set(lives: Sequence[Life]) -> int:
    """The greatest number of bytes that are needed at one level."""
    changes: dict[int, int] = {}
    for life in lives:
        changes[life.first] = changes.get(life.first, 0) + life.nbytes
        changes[life.last + 1] = changes.get(life.last + 1, 0) - life.nbytes
    peak = current = 0
    for level in sorted(changes):
        current += changes[level]
        peak = max(peak, current)
    return peak


def _arena(lives: Mapping[int, Life]) -> tuple[dict[int, tuple[int, int]], list[int]]:
    """The best of three placement orders: largest first, by first use, longest-lived first."""
    by_size = sorted(lives, key=lambda slot: (-lives[slot].nbytes, lives[slot].first, slot))
    by_time = sorted(lives, key=lambda slot: (lives[slot].first, -lives[slot].nbytes, slot))
    by_span = sorted(
        lives, key=lambda slot: (lives[slot].first - lives[slot].last, -lives[slot].nbytes, slot)
    )
    least = largest_live_set(list(lives.values()))
    best: tuple[int, dict[int, int]] | None = None
    for order in (by_size, by_time, by_span):
        if best is not None and best[0] == least:
            break
        offsets = _best_fit(order, lives)
        total = max((offsets[slot] + lives[slot].nbytes for slot in order), default=0)
        if best is None or total < best[0]:
            best = total, offsets
    assert best is not None
    total, offsets = best
    return {slot: (0, offset) for slot, offset in offsets.items()}, [total] if offsets else []


def _best_fit(order: Sequence[int], lives: Mapping[int, Life]) -> dict[int, int]:
    """Offsets: each value goes into the smallest sufficient gap between overlapping values."""
    from bisect import insort  # a process that plans nothing need not load it

    offsets: dict[int, int] = {}
    placed: list[tuple[int, int, int, int]] = []  # offset, end, first, last; sorted
    for slot in order:
        life = lives[slot]
        nbytes, own_first, own_last = life.nbytes, life.first, life.last
        position = 0
        chosen: int | None = None
        slack = 0
        for offset, end, first, last in placed:
            if first > own_last or own_first > last:
                continue
            gap = offset - position
            if gap >= nbytes and (chosen is None or gap - nbytes < slack):
                chosen, slack = position, gap - nbytes
            if end > position:
                position = end
        offset = position if chosen is None else chosen
        offsets[slot] = offset
        insort(placed, (offset, offset + nbytes, own_first, own_last))
    return offsets


def _remap(lives: Mapping[int, Life]) -> tuple[dict[int, tuple[int, int]], list[int]]:
    """Each value takes the smallest free buffer that is large enough, or a new one."""
    places: dict[int, tuple[int, int]] = {}
    blocks: list[int] = []
    busy_until: list[int] = []
    for slot in sorted(lives, key=lambda slot: (lives[slot].first, -lives[slot].nbytes, slot)):
        life = lives[slot]
        free = [
            block
            for block, size in enumerate(blocks)
            if busy_until[block] < life.first and size >= life.nbytes
        ]
        if free:
            block = min(free, key=lambda block: (blocks[block], block))
            busy_until[block] = life.last
        else:
            block = len(blocks)
            blocks.append(life.nbytes)
            busy_until.append(life.last)
        places[slot] = (block, 0)
    return places, blocks
