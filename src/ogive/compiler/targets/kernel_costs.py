"""Costs for the loops of one kernel, its accesses, and the placement of its axes: lanes, register
tiles, the nest of loops.
"""

from __future__ import annotations

from ogive.named import NamedTuple


class Loops(NamedTuple):
    """How the loops of a kernel are cut.

    Lengths of blocks of sums depend on rounding as much as on time (a91ec0c, 21d1d9e). The others
    were measured on an AMD EPYC (Zen 4) (5f3edc4, 2880882).
    """

    rows_beside: int = 4
    """Rows that are added up at a time: the streams that are read at full speed."""

    more_rows_beside: int = 8
    """The same if reductions need each other, because later ones find their rows in a cache."""

    cheap_work: int = 12
    """The most cycles per vector of terms that are added up by rows. With more, reading takes the
    lesser part of the time, and the code for several rows would be long."""

    least_tiles: int = 8
    """The least tiles of sums of rows. With fewer, threads share the columns instead."""

    column_step: int = 64
    """The length of a block of columns is a multiple of this."""

    longest_block: int = 256
    """The most products, about, in a block of a sum."""

    shortest_block: int = 48
    """The fewest, if the multiplications take all the time."""

    shortest_read_block: int = 32
    """The fewest, if reading the operands takes as long."""

    fewest_blocks: int = 4
    """The number of blocks of a sum between these limits."""

    much_reused: int = 32
    """The least reads of each operand at which the multiplications take all the time."""

    written_lines: int = 4
    """The cache lines of a row that are written before those of the next row."""

    chain: int = 16
    """The number of terms, about, in a block of a chain of additions."""

    sharing_sums: int = 64
    """The partial sums that share a block if a sum runs along contiguous elements."""

    vector_elements: int = 8
    """The least elements of a block of an axis that is read by vectors."""

    most_excess: float = 0.125
    """The greatest share of excess iterations of shorter blocks."""

    least_terms: int = 64
    """The least terms of a loop that ends early. Shorter ones are better with a fixed length."""

    least_share: float = 0.1
    """The least share of iterations that ending a loop early must save."""


class Accesses(NamedTuple):
    """How lanes are loaded that are not contiguous in memory, and how far ahead kernels prefetch.

    Measured on an AMD EPYC (Zen 4) (8a16fde, aa899d4).
    """

    picked_stride: int = 4
    """The greatest stride in elements at which lanes are picked out of whole vectors."""

    gathered_lane: int = 2
    """Instructions to load and insert a single lane."""

    transposed_rows: int = 4
    """The least rows of a tile that is transposed rather than accessed lane by lane."""

    interleaved_rows: int = 4
    """The most rows that are interleaved into whole vectors."""

    ahead_bytes: int = 1 << 10
    """The prefetch distance in each stream of a long sum, in bytes."""

    ahead_lines: int = 3
    """The prefetch distance in the rows of a transpose, in cache lines."""


class Lanes(NamedTuple):
    """Which axis goes into lanes, and how many vectors an iteration has.

    Measured on an AMD EPYC (Zen 4) (8d88b25, a933416, d4a7c1e).
    """

    picked_rows: int = 8
    """The most rows of a tile that is picked out of vectors, whatever their length."""

    transposed_rows: int = 16
    """The rows of a tile that registers hold while it is transposed."""

    reuse: int = 8
    """The typical number of products of a register tile for each loaded element."""

    work_between_gathers: int = 3
    """Cycles of work between loads that make up for one gather."""

    near_lane: float = 0.25
    """Cycles to pick a lane out of vectors."""

    far_lane: float = 1.0
    """Cycles to gather a lane."""

    cut_rows: int = 8
    """Rows in a tile of a kernel that cuts rows into panels."""

    gathered_rows: int = 4
    """Rows in a tile of a kernel that gathers at the same positions of each row."""

    waiting_rows: int = 4
    """Rows at a time in a kernel in which a sum along a row waits for another one. Softmax and
    layer norms of 64 to 512 columns take 0.70 to 0.95 of the time of one row (EPYC, Zen 5,
    2026-11-19)."""

    waiting_vectors: int = 48
    """The most vectors of such a row. With 64 there is no gain."""

    scanned_steps: int = 16
    """Elements of a row in a tile of a scan: a cache line of 4-byte elements."""

    sorted_steps: int = 8
    """Elements of a row in a transposed tile of a sort."""

    scanned_rows: int = 4
    """Rows that are scanned at once, since their sums do not wait for each other."""

    most_pieces: int = 36
    """The most pieces in a tile of a kernel that joins pieces: those of a tile of Winograd's
    form."""

    most_vectors: int = 4
    """Vectors in an iteration if each takes few cycles."""

    little_work: int = 12
    """The most cycles that count as few."""

    some_work: int = 84
    """The most cycles of a vector at which an iteration has two."""

    column_tiles: int = 8
    """The least tiles into which a sum of columns is cut."""

    parallel_tiles: int = 512
    """Output loops join the parallel loop until it has this many iterations."""


class Tiles(NamedTuple):
    """The costs of a product's register tile, in cycles. A multiply-add of vectors takes 1.

    Measured on an AMD EPYC (Zen 4) with products of 1 to 4096 rows (dfde8e0, 9d5a238, 610b3ea).
    """

    spread: float = 0.25
    """Cycles to broadcast an element to a vector, beside multiply-adds."""

    near_load: float = 0.25
    """Cycles to load a vector from the first-level cache, beside multiply-adds."""

    far_load: float = 1.0
    """Cycles to load a vector from further away."""

    picked_load: float = 2.0
    """Cycles to load a vector whose lanes are picked out of several."""

    far_visit: float = 12.0
    """Cycles to reach vectors that are far from the last ones and in no near cache."""

    stored_row: int = 3
    """Cycles to step to another row for a store."""

    spilled: int = 2
    """Cycles to load a spilled sum from the stack and store it again."""

    setup: int = 10
    """Cycles to begin and end a tile."""

    read_again: float = 0.25
    """Cycles to read an operand again for each tile, as a share of the sums of one of its rows."""

    whole: int = 16
    """The rows that fill any tile, and elements that fill any vector of floats. Symbolic lengths
    have a separate kernel for fewer."""

    narrow: int = 3
    """The most vectors of a tile that is not wide."""

    widest: int = 8
    """The most vectors of a tile that has several rows."""

    least_tiles: int = 4
    """The least number of wide tiles."""

    many_tiles: int = 8
    """The number of tiles at which one left over for the last thread does not matter."""

    least_panel: int = 4
    """The least rows of a panel that make a good tile."""

    many_vectors: int = 8
    """Vectors of columns at which one more or less makes no difference."""

    least_sums: int = 4
    """The least vectors of sums of which none waits for its last addition."""

    waiting_sums: int = 9
    """The least vectors of sums of which none waits for its last multiply-add. Two begin in a
    cycle, and one takes four cycles or a little more (with 16 registers, each of 8 sums takes 1.12
    times as long as each of 12)."""

    spread_begun: float = 1.4
    """Multiply-adds that begin during a broadcast, on processors where that is slow (7 to 11 rows
    of one vector reach 0.6 to 0.75 of the rate of 6 rows of two)."""

    score_vectors: int = 2
    """Vectors of columns in a tile of scores whose rows share no loads."""

    added_score_vectors: int = 4
    """Vectors of each row that are read at a time if rows of scores are added up."""

    most_score_vectors: int = 6
    """The most vectors of columns in other tiles of scores."""

    score_row_registers: int = 4
    """One register in this many is for the maximum and the sum of a row of scores, which are
    updated with every vector, instead of for sums of scores."""
