"""Costs that work is shared by: parts of one kernel, or several small kernels side by side."""

from __future__ import annotations

from ogive.named import NamedTuple


class Sharing(NamedTuple):
    """How much work is worth a call, and when small kernels share a level.

    Work is in operations of whole vectors. Measured on an AMD EPYC (Zen 4) with two threads, and on
    16 cores of a Xeon (7b8e788, 0a19baa).
    """

    call_work: int = 1 << 15
    """Operations that are worth handing to another thread."""

    level_calls: int = 8
    """A kernel of more calls than that is shared out by itself."""

    level_bytes: int = 1 << 16
    """Bytes that a small kernel writes at most: if it runs long before it is needed, caches still
    have them."""

    level_work: int = 1 << 20
    """Operations that are worth a job for the pool, all steps of a level together."""

    most_level_work: int = 1 << 24
    """The most operations of a level of several steps: it is not interrupted."""

    level_memory: int = 1 << 20
    """Bytes that side by side may cost beyond what one after the other takes."""
