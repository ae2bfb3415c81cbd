"""Costs that kernels are cut by: of what is kept, computed again, or staged in scratch."""

from __future__ import annotations

from ogive.named import NamedTuple


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
