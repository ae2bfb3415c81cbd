"""The costs of operations and memory on a target, from which the other costs are made."""

from __future__ import annotations

from ogive.named import NamedTuple


class Operations(NamedTuple):
    """The cycles of one operation on a whole vector. A cycle is the time of an addition.

    Measured on an AMD EPYC (Zen 4) with one thread, as time beside that of additions over arrays
    that the first-level cache holds (7b8e788, 20ae9c1).
    """

    cycle_nanoseconds: float = 0.27
    """Nanoseconds of a cycle: 3.7 GHz."""

    least_nanoseconds: float = 0.2
    """Nanoseconds of an instruction at the best, as of additions beside loads and stores."""

    simple: int = 1
    """Cycles of an addition, a comparison, a selection and the like."""

    integer_division: int = 8
    """Cycles of a floor division or remainder."""

    gather: int = 4
    """Cycles of a vector whose lanes come from places that are data."""

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
    """Cycles of a step of a division, or of a reciprocal, beside others: no load hides it. A long
    vector takes several steps (`Target.divided_bytes`)."""

    repeated_root: float = 5.0
    """The same of a square root."""

    reciprocal_root: float = 10.0
    """The same of a reciprocal square root."""

    power: float = 110.0
    """Cycles of a power whose exponent is a value."""

    hidden_share: float = 0.5
    """The share that counts of a simple operation which is computed again: loads hide the rest."""

    lane_reduction: float = 2.5
    """Cycles of a sum across the lanes of a vector, several being summed at once (610b3ea)."""

    transposed_store: float = 0.3
    """Cycles of an element of a product that changes lanes on its way to memory (20ae9c1)."""

    gate_share: float = 0.02
    """The share of a kernel's time that gates take where tiles do not fill their axis (ff26dda)."""

    mask_share: float = 0.06
    """The share of a kernel's time that masks take where an axis does not fill its last vector
    (6055663)."""


class Memory(NamedTuple):
    """How fast memory is, and what starting and sharing work takes.

    Rates are bytes a nanosecond of one thread: what a fast machine has (an EPYC and a Xeon of
    2023), so that work is rather left to one thread than shared in vain.
    """

    rates: tuple[float, float, float, float] = (200.0, 100.0, 80.0, 20.0)
    """Bytes a nanosecond read or written in the first, second and third cache, and in memory."""

    kept_read: tuple[float, float, float, float] = (200.0, 120.0, 60.0, 20.0)
    """Bytes a nanosecond, by level, that a kernel reads of what another one has written. Measured
    on an AMD EPYC (Zen 4): stencils of 0.25 to 64 MB, with and without `contiguous()`. Writing and
    reading an element again takes 0.09 ns in a second-level cache, 0.1 in the third one; in memory
    0.2 ns of two threads' time."""

    kept_write: tuple[float, float, float, float] = (200.0, 64.0, 50.0, 16.0)
    """Bytes a nanosecond, by level, that it writes."""

    mixed_element: float = 0.145
    """Nanoseconds more of an element that is read across the rows of memory by a kernel that reads
    it along them, too: tiles of both take more registers than there are."""

    transposed_element: float = 0.1
    """The same of a kernel that reads across the rows of memory alone, for each value that it reads
    so: three of 1024² take 0.25 ms longer than one."""

    mixed_functions: float = 2.0
    """How many times as long elementary functions take in such a kernel."""

    memory_threads: int = 4
    """How many threads memory serves at that rate; a cache serves all."""

    launch: float = 50.0
    """Nanoseconds that a step of a plan takes besides its work."""

    sharing: float = 4000.0
    """Nanoseconds that it takes to share work out, whatever the number of threads."""

    sharing_thread: float = 1000.0
    """Nanoseconds more for each thread."""

    apart_bytes: int = 1 << 10
    """Bytes between rows from which on a processor does not fetch the next one by itself."""

    set_bytes: int = 1 << 12
    """Bytes between lines that share a set of the first-level cache."""

    ways: int = 8
    """How many lines a set of the first-level cache holds."""

    few_sets_bytes: int = 2048
    """Rows a multiple of this many bytes apart fall into few sets of the first-level cache."""

    streams: int = 8
    """How many rows are read side by side at full speed."""

    fetched_rows: int = 16
    """How many rows a processor fetches ahead side by side."""
