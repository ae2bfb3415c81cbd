"""Costs that work is shared among threads by: parts of one kernel or several small kernels on a
CPU, axes of a kernel on a graphics processor.
"""

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


class Threads(NamedTuple):
    """How much one thread does. Measured on an NVIDIA H200 with chains, sums, softmax and products
    of 2048 to 16384 rows."""

    full_warps: int = 16
    """Warps of a multiprocessor that keep it busy."""

    most_rows: int = 8
    """Rows of a product that a thread works on at once."""

    terms_at_once: int = 4
    """Vectors of a sum that a thread reads before it adds them up."""

    scanned_at_once: int = 8
    """Elements of a row that each thread of a warp reads before they are scanned."""

    vectors_each: int = 8
    """Vectors of a row that each thread of a block has at least."""

    square: int = 64
    """The side of the squares in which a block transposes: eight elements for each thread."""

    square_threads: int = 16
    """Threads along a side of the squares of a product, and terms that are staged at once."""

    square_results: tuple[int, ...] = (8, 4)
    """Results along each side of a square that a thread has, where there are enough squares."""

    exchange_bytes: int = 4096
    """Memory of a block that its threads exchange partial results in, at most."""

    product_results: int = 8192
    """Results of a product that a multiprocessor is busy with: of fewer each, terms are shared."""

    copied_bytes: int = 4 << 30
    """What is copied for a product of its elements, at most, in bytes."""
