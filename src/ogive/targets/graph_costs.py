"""What rewrites of the whole graph decide by: long reductions, orders, panels of products."""

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
    """What it takes to lay out the operands of a product, or to read them where they are.

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
