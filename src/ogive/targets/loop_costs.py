"""Costs that one kernel's loops and accesses are changed by."""

from __future__ import annotations

from ogive.named import NamedTuple


class Loops(NamedTuple):
    """How the loops of a kernel are cut.

    Lengths of blocks of sums follow from rounding as much as from time (a91ec0c, 21d1d9e); the
    others were measured on an AMD EPYC (Zen 4) (5f3edc4, 2880882).
    """

    rows_beside: int = 4
    """Rows that are added up at a time: as many streams as are read at full speed."""

    more_rows_beside: int = 8
    """The same where reductions need each other: their rows are in a cache by then."""

    cheap_work: int = 12
    """Cycles a vector of what is added up by rows: of more, reading is the lesser part, and code
    for so many elements side by side would be long."""

    least_tiles: int = 8
    """Fewer sums of rows than this are shared out by their columns instead."""

    column_step: int = 64
    """Blocks of columns are a multiple of this many."""

    longest_block: int = 256
    """The most products, more or less, that are added up before their sum goes into another."""

    shortest_block: int = 48
    """The fewest, where multiplying takes all the time."""

    shortest_read_block: int = 32
    """The fewest, where reading the operands takes as long."""

    fewest_blocks: int = 4
    """How many blocks a sum has whose blocks are neither of the longest nor of the shortest."""

    much_reused: int = 32
    """How often each operand is read from which on multiplying takes all the time."""

    written_lines: int = 4
    """How many lines of a row are written before the next rows are."""

    chain: int = 16
    """About how many terms go into a sum before it goes into another one."""

    sharing_sums: int = 64
    """How many sums share a block where the sum runs along what lies side by side."""

    vector_elements: int = 8
    """Elements from which on a block of an axis is read by vectors."""

    most_excess: float = 0.125
    """The share of iterations that shorter blocks may have too many."""

    least_terms: int = 64
    """Terms from which on a loop is ended early: shorter ones are better of one length."""

    least_share: float = 0.1
    """The share of its iterations that a loop must do without to be ended early."""


class Accesses(NamedTuple):
    """How lanes come from memory that does not have them side by side, and what is fetched ahead.

    Measured on an AMD EPYC (Zen 4) (8a16fde, aa899d4).
    """

    picked_stride: int = 4
    """The distance in elements up to which lanes are picked out of whole vectors."""

    gathered_lane: int = 2
    """Instructions of a lane that is touched by itself: it is loaded and inserted."""

    transposed_rows: int = 4
    """Rows from which on transposing a tile takes less than touching its lanes one by one."""

    interleaved_rows: int = 4
    """Rows up to which vectors are put together from all of them."""

    ahead_bytes: int = 1 << 10
    """How many bytes ahead of each stream of a long sum is asked for."""

    ahead_lines: int = 3
    """How many lines ahead of a transpose its rows are asked for."""
