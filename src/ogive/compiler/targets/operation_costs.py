"""The costs of operations and of memory on a target, from which other costs are computed."""

from __future__ import annotations

from ogive.named import NamedTuple


class Operations(NamedTuple):
    """The cycles of one operation on a whole vector. A cycle is the time of an addition.

    Measured on an AMD EPYC (Zen 4) with one thread, relative to additions over arrays in the
    first-level cache (7b8e788, 20ae9c1).
    """

    cycle_nanoseconds: float = 0.27
    """Nanoseconds of a cycle: 3.7 GHz."""

    least_nanoseconds: float = 0.2
    """Nanoseconds of an instruction at best, such as an addition beside loads and stores."""

    simple: int = 1
    """Cycles of an addition, a comparison, a selection and the like."""

    integer_division: int = 8
    """Cycles of a floor division or remainder."""

    gather: int = 4
    """Cycles to gather a vector from positions in memory."""

    random_bits: int = 80
    """Cycles of a block of the random cipher (twenty rounds of four operations)."""

    function: int = 12
    """Cycles of an elementary function: the mean of `exp`, `log`, `tanh` and `sin` of float32."""

    exponential: float = 12.0
    """Cycles of `exp` and `exp2`."""

    logarithm: float = 28.0
    """Cycles of logarithms."""

    sine: float = 22.0
    """Cycles of `sin` and `cos`."""

    hyperbolic_tangent: float = 34.0
    """Cycles of `tanh`."""

    error_function: float = 31.0
    """Cycles of `erf`."""

    repeated_division: float = 3.0
    """Cycles of a step of a division or reciprocal that no load hides. A long vector takes several
    steps (`Target.divided_bytes`)."""

    repeated_root: float = 5.0
    """The same for a square root."""

    reciprocal_root: float = 10.0
    """The same for a reciprocal square root."""

    power: float = 110.0
    """Cycles of a power whose exponent is not a constant."""

    hidden_share: float = 0.5
    """The share of a recomputed simple operation that counts. Loads hide the rest."""

    lane_reduction: float = 2.5
    """Cycles to add up the lanes of a vector, if several vectors are reduced at once (610b3ea)."""

    waiting_lanes: float = 8.0
    """The same with all that waits for it: rows of 128 that are divided by their sum twice take 10
    ns each beside their other work (EPYC, Zen 5, 2026-11-19)."""

    transposed_store: float = 0.3
    """Cycles per element of a product that is transposed on its way to memory (20ae9c1)."""

    gate_share: float = 0.02
    """The share of a kernel's time for gates if tiles do not divide their axis (ff26dda)."""

    mask_share: float = 0.06
    """The share of a kernel's time for masks if an axis does not fill its last vector (6055663)."""


class Memory(NamedTuple):
    """The speed of memory, and the costs of starting and sharing work.

    Rates are bytes per nanosecond of one thread on a fast machine (an EPYC and a Xeon of 2023), so
    that in doubt work stays on one thread.
    """

    rates: tuple[float, float, float, float] = (200.0, 100.0, 80.0, 20.0)
    """Bytes per nanosecond read or written in the first-, second- and third-level cache, and in
    memory."""

    kept_read: tuple[float, float, float, float] = (200.0, 120.0, 60.0, 20.0)
    """Bytes per nanosecond, by level, at which a kernel reads a value that another one has written.
    Measured on an AMD EPYC (Zen 4): stencils of 0.25 to 64 MB, with and without `contiguous()`.
    Writing an element and reading it back takes 0.09 ns in a second-level cache, 0.1 ns in the
    third-level one, and 0.2 ns in memory with two threads."""

    kept_write: tuple[float, float, float, float] = (200.0, 64.0, 50.0, 16.0)
    """Bytes per nanosecond, by level, at which a kernel writes such a value."""

    mixed_element: float = 0.145
    """Further nanoseconds per element read across the rows of memory by a kernel that also reads
    along them, since tiles of both take more registers than there are."""

    transposed_element: float = 0.1
    """The same, per value, for a kernel that only reads across the rows: three values of 1024² take
    0.25 ms longer than one."""

    mixed_functions: float = 2.0
    """The factor by which elementary functions take longer in such a kernel."""

    memory_threads: int = 4
    """The number of threads that memory serves at its rate. A cache serves all."""

    launch: float = 50.0
    """Nanoseconds of a step of a plan beside its work."""

    sharing: float = 4000.0
    """Nanoseconds to share work among threads, whatever their number."""

    sharing_thread: float = 1000.0
    """Further nanoseconds for each thread."""

    apart_bytes: int = 1 << 10
    """The least distance of rows in bytes at which a processor does not prefetch the next one."""

    set_bytes: int = 1 << 12
    """The distance in bytes of lines that share a set of the first-level cache."""

    ways: int = 8
    """The number of lines in a set of the first-level cache."""

    few_sets_bytes: int = 2048
    """Rows a multiple of this many bytes apart map to few sets of the first-level cache."""

    streams: int = 8
    """The number of streams that are read at full speed."""

    fetched_rows: int = 16
    """The number of streams that a processor prefetches."""
