"""Costs for rewriting and cutting a graph: reductions, sorting, products, and which values are
kept, recomputed or staged in scratch memory.
"""

from __future__ import annotations

from ogive.named import NamedTuple


class Reductions(NamedTuple):
    """When a reduction or a scan is split in two steps, so that threads can share it.

    Lengths are in elements unless they say bytes. Measured on an AMD EPYC (Zen 4) with two threads,
    and on 16 cores of a Xeon (34c35d4, a933416, 85167a2).
    """

    chunk: int = 1 << 14
    """Elements that are reduced to one partial result, or to a row of them."""

    row_bytes: int = 1536
    """Bytes of the longest row of sums that registers hold: one tile of a sum of columns."""

    row_chunks: int = 32
    """Wanted number of partial rows, so that threads have enough to share."""

    row_step: int = 16
    """The number of rows in one partial result is a multiple of this."""

    most_rows: int = 1024
    """The most rows in one partial result, if registers hold the sums."""

    most_long_rows: int = 64
    """The same for long rows, whose sums are in memory, where the error grows with their number."""

    least_chunks: int = 4
    """The least number of chunks of elements that pays for a second step."""

    least_row_chunks: int = 8
    """The least number of chunks of rows that pays for a second step."""

    joined_bytes: int = 256
    """Shorter rows are joined until they have this many bytes: four cache lines."""

    many_in_rows: int = 1 << 20
    """The least elements of long rows that pay for a second step: fewer stay in a cache."""

    many_in_short_rows: int = 1 << 18
    """The same for short rows."""

    few_tiles: int = 32
    """A reduction is split if its results make fewer tiles than this."""

    long: int = 1 << 22
    """A reduction at least this long is split in any case, so that it can be interrupted."""

    scan_chunk_bytes: int = 1 << 16
    """Bytes of a chunk of a scan, all columns together. Several chunks are scanned at once. If they
    were twice as far apart, they would evict each other from a cache."""

    scan_columns: int = 256
    """Columns in one tile of a scan along rows."""

    few_scan_rows: int = 32
    """A scan of fewer rows than this is split into chunks."""

    few_scan_tiles: int = 8
    """A scan of fewer tiles of columns than this is split into chunks."""

    centred_elements: int = 1 << 21
    """The least elements for which columns are reduced in blocks with centres of their own."""

    centred_columns: int = 256
    """The least columns for that: registers hold the results of shorter rows."""

    centred_rows: tuple[int, ...] = (16, 24, 32)
    """The possible numbers of rows in such a block: multiples of eight, because a few rows are read
    together, and no more than a cache holds."""


class Sorting(NamedTuple):
    """How lines are sorted: by a network of exchanges, or by the digits of their keys.

    Measured on an AMD EPYC (Zen 4) with lines of 2 to 16 million elements (d94b1c2, c1b9dc4).
    """

    longest_network: int = 1 << 14
    """The longest line that is sorted by exchanges. A cache holds as many as vectors have lanes."""

    side_by_side: int = 8
    """Lines that are sorted by exchanges at once."""

    exchange: float = 0.75
    """Nanoseconds of an exchange in all these lines."""

    arranged_element: float = 2.0
    """Nanoseconds to arrange an element by one digit."""

    digit_value: float = 0.6
    """Nanoseconds for each value that a digit may have, in one arrangement."""

    most_values: int = 2048
    """The most values of a digit: their counts stay in a first-level cache."""

    many_elements: int = 1 << 21
    """In lines of at least this many elements a digit has fewer values, because each value is one
    more place at which memory is written."""

    most_streams: int = 512
    """The most values of a digit in such lines."""

    chunked_length: int = 1 << 18
    """The least elements of a line that is arranged in chunks, which threads share."""

    chunks: int = 8
    """The number of these chunks."""

    many_lines: int = 8
    """The number of lines that are enough to share among threads without chunks."""

    few_of: int = 4
    """The first elements of a line are found in blocks if it is this many times as long as the
    wanted blocks together."""


class Packing(NamedTuple):
    """The costs of packing the operands of a product, and of reading them in place.

    Times are in cycles per element; a cycle is a multiply-add of whole vectors. Measured on an AMD
    EPYC (Zen 4) with products of 16 to 4096 rows, columns and terms (20ae9c1, fcbe430, b8895de).
    """

    copied: float = 0.35
    """Cycles to pack an element without transposing."""

    transposed: float = 1.0
    """Cycles to pack an element with transposing."""

    far_copied: float = 1.4
    """Cycles to pack an element from memory that no cache holds."""

    apart: float = 0.06
    """Cycles to read an element in place, in each pass, if the next one is a row further."""

    close: float = 0.008
    """The same if rows are so short that they are almost a panel."""

    far_apart: float = 0.8
    """The same if no cache holds the operand."""

    far_again: float = 0.15
    """The same in later passes over columns that are in a cache since the first one."""

    narrow_bytes: int = 512
    """Bytes of the longest short row."""

    near_rows: int = 32
    """Rows of an operand that stay in the first-level cache in any layout."""

    kept_share: float = 0.5
    """The share of the packing time that counts if the panels may be kept for many runs."""

    kept_bytes: int = 1 << 14
    """The least bytes of panels that are kept: packing fewer takes no longer than checking that the
    kept ones are still valid."""

    checked: float = 2000.0
    """Nanoseconds to check that a kept panel is still valid: 2.0 µs for one with all that goes with
    it, 0.8 for each further one (EPYC, Zen 5, 2026-11-20)."""

    panel_vectors: int = 2
    """The width of panels, and of the register tiles that read them, in vectors. Tiles of 12 rows
    of two vectors reach 0.86 of the peak multiply-adds of a core."""

    rows_of_sums: int = 4
    """The typical number of rows of a tile with the depth in lanes."""

    least_rows: int = 16
    """The least rows of a product that pay for packing its column operand."""

    least_work: int = 1 << 15
    """The least multiplications for packing. Smaller products fit in the first-level cache."""

    many_columns: int = 512
    """The least columns for which the row operand is packed, too, if its rows evict each other."""

    least_gain: float = 0.03
    """The least gain in the share of used lanes that pays for transposing results in registers."""

    crowded_share: float = 0.08
    """The share of time lost if the filters of a register tile do not fit in the first-level
    cache."""

    least_use: float = 0.5
    """The least share of lanes that features must fill."""

    transposed_vector: float = 6.0
    """Cycles to transpose a vector of results."""

    packed: float = 0.5
    """Cycles to pack an element of a filter."""

    tiled_gain: float = 1.1
    """How much faster a convolution must be in tiles, by Winograd's form, than by windows."""

    kept_price: float = 0.125
    """Nanoseconds that each run must save for one more byte that is kept. Filters of 512×512
    channels take 7 MB more in tiles, and save a quarter of the time for an image of 7²."""

    tiled_roundings: float = 1.25
    """The greatest ratio of the roundings of tiles to those of windows."""

    transformed: float = 16.0
    """Cycles to transform an element of a filter for tiles, if that is done in each run: 64×64
    filters take 150 µs."""

    beside_products: float = 0.35
    """The share of the time to read filters from memory that counts. Products hide the rest."""

    strip_filters: float = 0.25
    """The greatest ratio of filters to transformed image for which tiles are multiplied in strips,
    since each strip reads all filters."""

    windows_apart: int = 3
    """The least ratio of pixels to windows at which windows are far apart."""


class Fusion(NamedTuple):
    """When a value is recomputed rather than kept in memory.

    Work is in cycles per vector (`Operations`). Measured on an AMD EPYC (Zen 4) with two threads
    (7b8e788, ff26dda).
    """

    keep_gain: float = 0.25
    """The least gain of keeping a value over recomputing it, as a share of the time to write it and
    to read it back."""

    shared_work: int = 8
    """Cycles that two kernels may both spend rather than share a value through memory."""

    few_repeats: int = 4
    """A loop that recomputes a value fewer times than this recomputes it seldom."""

    tiny_elements: int = 1 << 14
    """Kernels of fewer elements run on one thread anyway."""

    least_outer: int = 32
    """The least outer iterations for which a reduction may be fused into its reader's kernel."""

    large_product: int = 1 << 20
    """The least multiplications of a product that has a kernel of its own."""

    inner_rows: int = 256
    """The longest axis that may be the inner loop although its elements are far apart."""


class Staging(NamedTuple):
    """When a kernel stages rows of a value in scratch memory.

    Measured on an AMD EPYC (Zen 4) with softmax and attention of 128 to 16384 positions (ec118cf,
    9ed648f). What has to stay in the second-level cache is a share of the target's.
    """

    row_share: float = 0.25
    """The longest row, as a share of the second-level cache, which must also hold its operands."""

    rows_at_once: int = 4
    """The most rows of the greatest length that one kernel stages, for all its staged values."""

    row_work: int = 12
    """The least cycles per vector of a value that is read back rather than recomputed."""

    tile_share: float = 1.5
    """The greatest scratch memory of a tile, as a share of the second-level cache. More than the
    whole cache is read in order, which still takes less time than tiles with fewer rows."""

    score_row_share: float = 0.5
    """The longest row of scores, as a share of the second-level cache."""

    score_bytes: int = 1 << 18
    """The least bytes of scores that are not kept in memory."""

    score_rows: int = 32
    """The least rows of scores that are not kept. Fewer do not pay for packing what all rows
    read."""

    shared_score_bytes: int = 1 << 25
    """The least bytes of scores that several kernels recompute rather than share."""

    most_score_bytes: int = 1 << 29
    """The least bytes of scores that are not kept even if their operands fit in no cache."""

    score_growth: int = 4
    """The least ratio of columns of scores to terms of their sums, unless the operand stays in the
    second-level cache."""

    small_operand_share: float = 0.25
    """The greatest operand that stays there, as a share of that cache."""

    operand_bytes: int = 1 << 22
    """The greatest bytes of the operand that all rows of scores read. It is read again for every
    few rows, so it must be in a cache."""


class ScoreGradients(NamedTuple):
    """When the gradients of attention keep its scores, and when they recompute them.

    Measured on an AMD EPYC (Zen 4) with 512 to 8192 positions (9ed648f, 721400d).
    """

    score_bytes: int = 1 << 28
    """The least bytes of scores that are recomputed rather than kept."""

    causal_score_bytes: int = 1 << 25
    """The same for causal scores. The masked half would be kept, but need not be recomputed."""

    narrow_again: bool = False
    """Whether scores of 16-bit values are always recomputed, row by row, because that takes less
    time than reading them."""

    block_bytes: int = 1 << 24
    """Bytes of scores that are kept at a time."""

    most_blocks: int = 64
    """The most blocks, since the graph grows with their number. More scores have larger blocks."""

    largest_block_bytes: int = 1 << 27
    """Bytes of the largest block. Of more scores nothing is kept."""
