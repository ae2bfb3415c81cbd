"""Costs for dividing work among threads: parts of a kernel or several small kernels on a CPU, axes
of a kernel on a graphics processor.
"""

from __future__ import annotations

from ogive.named import NamedTuple


class Sharing(NamedTuple):
    """The work that is worth a call, and when small kernels share a level.

    Work is in operations of whole vectors. Measured on an AMD EPYC (Zen 4) with two threads, and on
    16 cores of a Xeon (7b8e788, 0a19baa).
    """

    call_work: int = 1 << 15
    """The least operations that are worth a call on another thread."""

    level_calls: int = 8
    """A kernel of more calls than this is divided by itself."""

    level_bytes: int = 1 << 16
    """The most bytes that a small kernel writes: even if it runs long before its readers, they are
    still in a cache."""

    level_work: int = 1 << 20
    """The least operations of a level, in all its steps, that are worth a job for the pool."""

    most_level_work: int = 1 << 24
    """The most operations of a level of several steps, since it cannot be interrupted."""

    level_memory: int = 1 << 20
    """The most further bytes of memory that running steps at once may take."""


class Threads(NamedTuple):
    """The work of one thread on a graphics processor.

    Measured on an NVIDIA H200 with chains, sums, softmax and products of 2048 to 16384 rows.
    """

    full_warps: int = 16
    """The warps that keep a multiprocessor busy."""

    most_rows: int = 8
    """The most rows of a product in the tile of a thread."""

    terms_at_once: int = 4
    """Vectors of a sum that a thread reads before it adds them up."""

    scanned_at_once: int = 8
    """Elements of a row that each thread of a warp reads before it scans them."""

    vectors_each: int = 8
    """The least vectors of a row for each thread of a block."""

    square: int = 64
    """The side of the square tile of a transpose: eight elements for each thread."""

    square_threads: int = 16
    """Threads along each side of a product's square tile, and terms that are staged at once."""

    square_results: tuple[int, ...] = (8, 4)
    """Results of a thread along each side of a tile; the first for which there are enough tiles."""

    exchange_bytes: int = 4096
    """The greatest memory of a block, in bytes, for exchanging partial results."""

    product_results: int = 8192
    """The results of a product that keep a multiprocessor busy. With fewer, threads share terms."""

    copied_bytes: int = 4 << 30
    """The greatest operand of a product that is copied, in bytes."""
