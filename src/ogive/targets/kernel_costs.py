"""Costs that one kernel is changed by: how its loops are cut, its accesses, and where its axes are
placed (lanes, register tiles, the nest of loops).
"""

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


class Lanes(NamedTuple):
    """Which axis goes into lanes, and how many vectors are computed side by side.

    Measured on an AMD EPYC (Zen 4) (8d88b25, a933416, d4a7c1e).
    """

    picked_rows: int = 8
    """Rows up to which a tile is picked out of vectors, whatever their length."""

    transposed_rows: int = 16
    """Rows of a tile that registers hold while it is transposed."""

    reuse: int = 8
    """About how many products of a register tile each element that is loaded goes into."""

    work_between_gathers: int = 3
    """Cycles between loads that make up for one of them being gathered."""

    near_lane: float = 0.25
    """Cycles to load a lane that is picked out of vectors."""

    far_lane: float = 1.0
    """Cycles to load a lane that is gathered."""

    cut_rows: int = 8
    """Rows that are cut into panels at a time."""

    gathered_rows: int = 4
    """Rows that are read at the same positions at a time."""

    scanned_steps: int = 16
    """Elements of a row that are scanned at a time: a line of memory, of four bytes each."""

    sorted_steps: int = 8
    """Elements of a row to be sorted that are transposed at a time."""

    scanned_rows: int = 4
    """Rows that are scanned side by side, so that each waits for its own last sum only."""

    most_pieces: int = 36
    """Pieces that results are joined from, up to which all are computed side by side: a tile of
    Winograd's form has so many."""

    most_vectors: int = 4
    """Vectors that are computed side by side if they take few cycles."""

    little_work: int = 12
    """Cycles up to which a vector takes few."""

    some_work: int = 84
    """Cycles up to which a vector takes some: two of those are computed side by side."""

    column_tiles: int = 8
    """Sums of columns are cut into at least this many tiles."""

    parallel_tiles: int = 512
    """Output loops are joined into the parallel one until it has this many iterations."""


class Tiles(NamedTuple):
    """The costs of a product's register tile, in cycles: a multiply-add of vectors is 1.

    Measured on an AMD EPYC (Zen 4) with products of 1 to 4096 rows (dfde8e0, 9d5a238, 610b3ea).
    """

    spread: float = 0.25
    """Cycles of an element that is spread over a vector, beside multiply-adds."""

    near_load: float = 0.25
    """Cycles of a vector from the first-level cache, beside multiply-adds."""

    far_load: float = 1.0
    """Cycles of a vector from further away."""

    picked_load: float = 2.0
    """Cycles of a vector whose lanes are picked out of several."""

    far_visit: float = 12.0
    """Cycles to go to vectors that lie far from the last ones and in no near cache."""

    stored_row: int = 3
    """Cycles to go to another row to store."""

    spilled: int = 2
    """Cycles to bring a sum of blocks that has no register from the stack and back."""

    setup: int = 10
    """Cycles that begin and end a tile."""

    read_again: float = 0.25
    """Cycles to read an operand again for each tile, beside the sums of a row of one."""

    whole: int = 16
    """Rows from which on any tile is whole, and so is a vector of floats: variable lengths have a
    kernel for fewer."""

    narrow: int = 3
    """Vectors up to which a tile is not wide."""

    widest: int = 8
    """The most vectors of a tile that has several rows."""

    least_tiles: int = 4
    """Wide tiles are at least this many."""

    many_tiles: int = 8
    """Tiles from which on it does not matter whether one is left over for the last thread."""

    least_panel: int = 4
    """Rows from which on a panel makes a good tile."""

    many_vectors: int = 8
    """Vectors of columns of which one more or less makes no difference."""

    least_sums: int = 4
    """Vectors of sums from which on none waits for its last addition."""

    waiting_sums: int = 9
    """Vectors of sums from which on none waits for its last multiply-add, if two of these begin in
    a cycle: four cycles later, or a little more (with 16 registers, 8 sums take 1.12 times as long
    each as 12)."""

    spread_begun: float = 1.4
    """Multiply-adds that begin while an element is spread over a vector, where that is slow (7 to
    11 rows of one vector reach 0.6 to 0.75 of what 6 of two do)."""

    score_vectors: int = 2
    """Vectors of columns of a tile of scores whose rows nothing is read again for."""

    added_score_vectors: int = 4
    """Vectors of each row that are read at a time where rows of scores are added up."""

    most_score_vectors: int = 6
    """The most vectors of columns of any other tile of scores."""

    score_row_registers: int = 4
    """One register of this many is not for sums of scores, but for the maximum and the sum of a
    row, which are updated with every vector of them."""
