"""Costs that the whole graph is rewritten and cut by: long reductions, orders, products; which
values are kept, computed again, or staged in scratch.
"""

from __future__ import annotations

from ogive.named import NamedTuple


class Reductions(NamedTuple):
    """When a reduction or a scan is made in two steps, so that there is enough to share out.

    Lengths are in elements unless they say bytes. Measured on an AMD EPYC (Zen 4) with two threads,
    and on 16 cores of a Xeon (34c35d4, a933416, 85167a2).
    """

    chunk: int = 1 << 14
    """Elements that go into one partial result, or into a row of them."""

    row_bytes: int = 1536
    """Bytes of a row of sums that registers hold, and one tile of a sum of columns takes."""

    row_chunks: int = 32
    """Partial rows that are wanted, so that there is enough to share out."""

    row_step: int = 16
    """Rows that are added up into one partial result are a multiple of this number."""

    most_rows: int = 1024
    """The most rows that are added up into one partial result in registers."""

    most_long_rows: int = 64
    """The same of long rows, which are added up in memory, where the error grows with them."""

    least_chunks: int = 4
    """How many chunks of elements are worth a second step."""

    least_row_chunks: int = 8
    """How many chunks of rows are worth a second step."""

    joined_bytes: int = 256
    """Shorter rows are joined until they have this many bytes: four lines."""

    many_in_rows: int = 1 << 20
    """Elements of long rows from which on a second step is worth it: fewer stay in a cache."""

    many_in_short_rows: int = 1 << 18
    """The same of short rows."""

    few_tiles: int = 32
    """A reduction that can be cut into fewer pieces along its results is split."""

    long: int = 1 << 22
    """A longer reduction is split in any case, so that it can be interrupted."""

    scan_chunk_bytes: int = 1 << 16
    """Bytes of a chunk of a scan, all columns together. Chunks are scanned side by side; twice as
    far apart, they would push each other out of a cache."""

    scan_columns: int = 256
    """Columns that one tile of a scan along rows takes."""

    few_scan_rows: int = 32
    """A scan along fewer rows is made in chunks."""

    few_scan_tiles: int = 8
    """A scan along fewer tiles of columns is made in chunks."""

    centred_elements: int = 1 << 21
    """Elements from which on columns are reduced in blocks that have centres of their own."""

    centred_columns: int = 256
    """Shorter rows are as wide as the registers that hold what they are reduced to."""

    centred_rows: tuple[int, ...] = (16, 24, 32)
    """How many rows may make such a block: eights of them, a few of which are read side by side,
    and no more than a cache holds."""


class Sorting(NamedTuple):
    """How lines are put in order: by a network of exchanges, or by the digits of their keys.

    Measured on an AMD EPYC (Zen 4) with lines of 2 to 16 million elements (d94b1c2, c1b9dc4).
    """

    longest_network: int = 1 << 14
    """The longest line that is sorted by exchanges: as many as vectors have lanes are in a cache
    together."""

    side_by_side: int = 8
    """Lines that are sorted by exchanges at a time."""

    exchange: float = 0.75
    """Nanoseconds of an exchange, of all these lines."""

    arranged_element: float = 2.0
    """Nanoseconds of an element that is arranged by one digit."""

    digit_value: float = 0.6
    """Nanoseconds of each value that a digit may have, in one arrangement."""

    most_values: int = 2048
    """The most values of a digit: what is counted for each stays in a first-level cache."""

    many_elements: int = 1 << 21
    """Elements of a line from which on a digit has fewer values: each is one more place at which
    memory is being written."""

    most_streams: int = 512
    """The most values of a digit there."""

    chunked_length: int = 1 << 18
    """Elements from which on a line is counted and arranged in chunks, which threads share."""

    chunks: int = 8
    """How many chunks these are."""

    many_lines: int = 8
    """Lines from which on there are enough of them to share out."""

    few_of: int = 4
    """How many times as long a line is as the blocks in which a few of its elements are found."""


class Packing(NamedTuple):
    """The costs of laying out the operands of a product, and of reading them where they are.

    Times are in cycles (of a multiply-add of whole vectors) an element. Measured on an AMD EPYC
    (Zen 4) with products of 16 to 4096 rows, columns and terms (20ae9c1, fcbe430, b8895de).
    """

    copied: float = 0.35
    """Cycles of an element that is laid out anew as it lies."""

    transposed: float = 1.0
    """Cycles of an element that is laid out across."""

    far_copied: float = 1.4
    """Cycles of an element that is laid out anew from memory that no cache holds."""

    apart: float = 0.06
    """Cycles of an element, at each reading, that lies a row apart from the next one."""

    close: float = 0.008
    """The same where rows are so short that they follow each other almost as in a panel."""

    far_apart: float = 0.8
    """The same where no cache holds the operand."""

    far_again: float = 0.15
    """The same at later readings of columns that are in a cache since the first."""

    narrow_bytes: int = 512
    """Bytes of a short row."""

    near_rows: int = 32
    """Rows of an operand that stay in the first-level cache, however they lie."""

    kept_share: float = 0.5
    """The share that counts of the time to lay out an operand, if that may be done once for all."""

    kept_bytes: int = 1 << 14
    """A smaller operand is laid out in the time that it takes to find out that it need not be."""

    checked: float = 1000.0
    """Nanoseconds that it takes to find out that what is kept is still of the inputs as they are:
    1.0, 2.6 and 8.5 µs of 1, 3 and 11 panels (EPYC, Zen 5, 2026-11-19)."""

    panel_vectors: int = 2
    """How wide panels are, and the register tiles that read them: 12 rows of two vectors reach 0.86
    of what a core can multiply and add."""

    rows_of_sums: int = 4
    """About how many rows a tile has whose sums are in lanes."""

    least_rows: int = 16
    """Products with fewer rows read the operand too seldom to pay for packing it."""

    least_work: int = 1 << 15
    """Multiplications below which everything is in the first-level cache anyway."""

    many_columns: int = 512
    """Columns from which on the other operand is packed as well, if its rows collide."""

    least_gain: float = 0.03
    """The share of lanes that must be gained for results to be transposed in registers."""

    crowded_share: float = 0.08
    """The share of time lost where the filters of a register tile do not fit the first-level
    cache."""

    least_use: float = 0.5
    """The share of lanes that features have to fill."""

    transposed_vector: float = 6.0
    """Cycles to transpose a vector of results."""

    packed: float = 0.5
    """Cycles of an element of a filter that is packed."""

    tiled_gain: float = 1.1
    """How many times as fast a convolution must be in tiles, by Winograd's form, as by windows."""

    kept_price: float = 0.125
    """Nanoseconds that must be saved in each run for a byte more that is kept for all: filters of
    512×512 channels take 7 MB more in tiles, and save a quarter of the time of an image of 7²."""

    tiled_roundings: float = 1.25
    """How many times the roundings of windows those of tiles may be, at most."""

    transformed: float = 16.0
    """Cycles of an element of a filter that is transformed for tiles in each run: 64×64 filters
    take 150 µs."""

    beside_products: float = 0.35
    """The share that counts of the time in which filters are read from memory: the rest is hidden
    by the products that they go into."""

    strip_filters: float = 0.25
    """How large the filters of tiles may be beside what is made of the image, at most, where tiles
    are multiplied in strips, each of which reads all filters."""

    windows_apart: int = 3
    """How many times as many pixels as windows an image has, from which on windows are apart."""


class Fusion(NamedTuple):
    """When a value is computed again rather than kept in memory.

    Work is in cycles a vector (`Operations`). Measured on an AMD EPYC (Zen 4) with two threads
    (7b8e788, ff26dda).
    """

    keep_gain: float = 0.25
    """What must be saved by keeping a value rather than computing it again, as a share of the time
    to write it and to read it back."""

    shared_work: int = 8
    """Cycles that two kernels may both take rather than share a value through memory."""

    few_repeats: int = 4
    """A loop that repeats a value fewer times than this repeats it seldom."""

    tiny_elements: int = 1 << 14
    """Elements below which a kernel runs on one thread anyway."""

    least_outer: int = 32
    """The least number of outer iterations worth keeping a reduction in its reader's kernel."""

    large_product: int = 1 << 20
    """Multiplications from which on a product has a kernel of its own."""

    inner_rows: int = 256
    """The longest axis that is gone through inside: each of its elements is far from the last."""


class Staging(NamedTuple):
    """When a kernel stages rows of a value in scratch memory.

    Measured on an AMD EPYC (Zen 4) with softmax and attention of 128 to 16384 positions (ec118cf,
    9ed648f). What has to stay in the second-level cache is a share of the target's.
    """

    row_share: float = 0.25
    """The longest row, as a share of the second-level cache: what it is computed from has to fit
    in beside it."""

    rows_at_once: int = 4
    """How many of the longest rows one kernel stages at most, all its staged values together."""

    row_work: int = 12
    """Cycles a vector from which on a value is read back and not computed again."""

    tile_share: float = 1.5
    """The scratch memory that tiles are made to fit, as a share of the second-level cache. What
    does not stay there is gone through in order, which takes less time than the products of a tile
    with fewer rows."""

    score_row_share: float = 0.5
    """The longest row of scores, as a share of the second-level cache."""

    score_bytes: int = 1 << 18
    """Bytes from which on scores are not kept in memory."""

    score_rows: int = 32
    """Rows that scores have at least that are not kept: fewer do not pay for laying out what they
    all read."""

    shared_score_bytes: int = 1 << 25
    """Bytes from which on several kernels compute the same scores rather than share them."""

    most_score_bytes: int = 1 << 29
    """Bytes from which on scores are not kept even if what they come from fits no cache."""

    score_growth: int = 4
    """By how much there must be more scores than elements that each is summed up from, unless all
    of the latter stay in the second-level cache."""

    small_operand_share: float = 0.25
    """What stays there, as a share of it."""

    operand_bytes: int = 1 << 22
    """The most that one row of scores may read besides the row's own operand: it is read again for
    every few rows, and must come from a cache."""


class ScoreGradients(NamedTuple):
    """When the gradients of attention keep its scores, and when they compute them again.

    Measured on an AMD EPYC (Zen 4) with 512 to 8192 positions (9ed648f, 721400d).
    """

    score_bytes: int = 1 << 28
    """Bytes of scores from which on they are computed again rather than kept."""

    causal_score_bytes: int = 1 << 25
    """The same where half of them does not count: those are left out if they are computed, and
    would be kept all the same."""

    narrow_again: bool = False
    """Whether scores of values of 16 bits are always computed again, row by row: where that takes
    less time than to read them."""

    block_bytes: int = 1 << 24
    """Bytes of scores that are kept at a time."""

    most_blocks: int = 64
    """Of more scores, larger blocks are kept: the graph grows with their number."""

    largest_block_bytes: int = 1 << 27
    """Bytes of the largest of these. Of yet more scores nothing is kept."""
