"""A processor as the passes know it: instructions, vectors, caches, cores or threads, costs.

Everything that generated code may depend on is part of `Target.key`. The core count is not: the
same object code serves any number of threads.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import field, fields
from types import MappingProxyType

from ogive.digest import blake2b
from ogive.named import NamedTuple, record
from ogive.targets.costs import CPU_COSTS, Costs, gpu_costs

DEFAULT_CACHE_BYTES = {1: 32 << 10, 2: 1 << 20, 3: 8 << 20}
ARM = ("aarch64", "arm64")
CACHE_LINE = 64
MASKING = frozenset({"avx512f", "avx512bw", "avx512vl"})
BY_HALVES = frozenset({"znver4"})
"""Processors whose arithmetic takes vectors of 64 bytes in two steps, and shorter ones in one."""
DIVIDES_WHOLE = frozenset({"znver5"})
"""Processors that divide vectors of 64 bytes as fast as shorter ones: 0.75 ns more for each beside
loads and stores, on an AMD EPYC (Zen 5)."""
LANE_BY_LANE = "znver"
"""How the names of processors begin that gather lanes one by one, and spread elements slowly."""


class Dot(NamedTuple):
    """An instruction that multiplies words of narrow elements and adds to a vector of sums.

    A word has 32 bits, as a sum does. `left`, `right` and `total` are names of dtypes; `operand` is
    LLVM's type of a register of words. One that does not add takes another instruction for that.
    """

    left: str
    right: str
    total: str
    intrinsic: str
    operand: str
    adds: bool = True

    @property
    def spare(self) -> int:
        """Registers that it takes beside sums and one operand: the other one, and products."""
        return 1 if self.adds else 2


class Scaling(NamedTuple):
    """An instruction that multiplies floats by powers of two whose exponents are floats, and rounds
    once: a register of them, under a mask as wide as there are lanes."""

    dtype: str
    lanes: int
    intrinsic: str


class Grid(NamedTuple):
    """How a graphics processor shares work out: blocks of threads, and warps of them in step.

    `shared_bytes` is what the threads of a block have in common, `block_threads` how many of them
    there are where nothing asks for another number, `multiprocessors` how many blocks run at once
    at least, `tensor_cores` whether warps multiply matrices. Other processors have none of that.
    """

    warp: int = 0
    block_threads: int = 0
    most_threads: int = 0
    shared_bytes: int = 0
    multiprocessors: int = 0
    tensor_cores: bool = False


NO_GRID = Grid()


@record(frozen=True)
class Target:
    """A processor as the compiler sees it. Two targets are equal when code for one suits the other.

    `features` is LLVM's string (`+avx2,-sse4a,...`), `vector_bytes` the widest register worth
    using, `masked` whether vector loads and stores take a mask in hardware. `costs` is what things
    take there.
    """

    triple: str
    cpu: str
    features: str
    vector_bytes: int
    masked: bool
    vector_registers: int
    l1_bytes: int
    l2_bytes: int
    l3_bytes: int
    costs: Costs = CPU_COSTS
    grid: Grid = NO_GRID
    cores: int = field(default=1, compare=False)

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def architecture(self) -> str:
        """The triple's first part: `x86_64`, `aarch64`, ..."""
        return self.triple.partition("-")[0]

    @property
    def has_grid(self) -> bool:
        """Whether kernels run on many threads at once, each of which is given a tile; elsewhere
        they loop over tiles."""
        return self.grid.warp > 0

    @property
    def is_arm(self) -> bool:
        """Whether it runs 64-bit ARM code."""
        return self.architecture in ARM

    @property
    def present(self) -> frozenset[str]:
        """The features that the CPU has."""
        return _present(self.features)

    @property
    def register_bytes(self) -> int:
        """The widest register that LLVM has there: wider vectors take several. One as wide as
        vectors, where nobody says what features there are."""
        return _register_bytes(self.present) if self.features else self.vector_bytes

    @property
    def dots(self) -> tuple[Dot, ...]:
        """The products of narrow elements that it adds up in one instruction."""
        return _dots(self)

    def find_dot(self, left: str, right: str) -> Dot:
        """The instruction for such elements, which it has."""
        return next(dot for dot in self.dots if (dot.left, dot.right) == (left, right))

    @property
    def scalings(self) -> tuple[Scaling, ...]:
        """The floats that it multiplies by powers of two in one instruction."""
        return _scalings(self)

    @property
    def gathers(self) -> bool:
        """Whether one instruction that loads from a place for each lane is faster than loads one
        by one. It is not where it is carried out as these, with more ado."""
        return "avx2" in self.present and not self.cpu.startswith(LANE_BY_LANE)

    @property
    def spreads_slowly(self) -> bool:
        """Whether fewer elements are spread over vectors at a time than vectors are multiplied."""
        return self.cpu.startswith(LANE_BY_LANE)

    @property
    def step_bytes(self) -> int:
        """How much of a vector arithmetic takes in one step."""
        return min(self.vector_bytes, 32) if self.cpu in BY_HALVES else self.vector_bytes

    @property
    def streamed_bytes(self) -> int | None:
        """From how many bytes on what is written in order is no longer in any cache when it is
        read: most of the last level, since what is read beside it wants room too. None where
        stores cannot go past the caches."""
        return self.l3_bytes * 3 // 4 if self.architecture == "x86_64" else None

    @property
    def streamed_transposed_bytes(self) -> int | None:
        """The same for lines that are written far apart of each other, which push each other out
        of a cache long before it is full."""
        return self.l2_bytes * 2 if self.architecture == "x86_64" else None

    @property
    def divided_bytes(self) -> int:
        """How much of a vector a division or a root takes in one step."""
        return self.vector_bytes if self.cpu in DIVIDES_WHOLE else min(self.vector_bytes, 32)

    @functools.cached_property
    def key(self) -> str:
        """A digest of all that affects code, the same in every process."""
        parts = tuple([getattr(self, entry.name) for entry in fields(self) if entry.compare])
        return blake2b(repr(parts).encode(), digest_size=16).hexdigest()


@functools.lru_cache(maxsize=64)
def _present(features: str) -> frozenset[str]:
    return frozenset([name[1:] for name in features.split(",") if name.startswith("+")])


def _register_bytes(present: frozenset[str]) -> int:
    return 64 if "avx512f" in present else 32 if "avx2" in present else 16


_PAIRS = {
    16: ("sse2", "x86.sse2.pmadd.wd"),
    32: ("avx2", "x86.avx2.pmadd.wd"),
    64: ("avx512bw", "x86.avx512.pmaddw.d.512"),
}
"""What multiplies pairs of int16 and adds up each: the feature it is of, and LLVM's name for it, by
the bytes of a vector."""


@functools.lru_cache(maxsize=64)
def _dots(target: Target) -> tuple[Dot, ...]:
    size, present = target.vector_bytes, target.present
    floats, integers = f"<{size // 2} x bfloat>", f"<{size} x i8>"
    dots: list[tuple[str, str, str, str, str]] = []
    pairs: list[Dot] = []
    if target.architecture == "x86_64":
        if size == 64 and "avx512bf16" in present:
            dots.append(("bfloat16", "bfloat16", "float32", "x86.avx512bf16.dpbf16ps.512", floats))
        if (size == 64 and "avx512vnni" in present) or (size == 32 and "avxvnni" in present):
            name = f"x86.avx512.vpdpbusd.{8 * size}"
            dots.append(("uint8", "int8", "int32", name, integers))
        pair = _PAIRS.get(size)
        if pair is not None and pair[0] in present:
            pairs.append(Dot("int16", "int16", "int32", pair[1], f"<{size // 2} x i16>", False))
    elif target.is_arm:
        if "bf16" in present:
            name = "aarch64.neon.bfdot.v4f32.v8bf16"
            dots.append(("bfloat16", "bfloat16", "float32", name, floats))
        if "dotprod" in present:
            for kind, sign in (("int8", "s"), ("uint8", "u")):
                name = f"aarch64.neon.{sign}dot.v4i32.v16i8"
                dots.append((kind, kind, "int32", name, integers))
    return (*[Dot(*dot) for dot in dots], *pairs)


@functools.lru_cache(maxsize=64)
def _scalings(target: Target) -> tuple[Scaling, ...]:
    if target.vector_bytes < 64 or "avx512f" not in target.present:
        return ()
    return (
        Scaling("f32", 16, "x86.avx512.mask.scalef.ps.512"),
        Scaling("f64", 8, "x86.avx512.mask.scalef.pd.512"),
    )


def describe_cpu(
    triple: str,
    cpu: str = "",
    features: str = "",
    caches: Mapping[int, int] = MappingProxyType({}),
    cores: int = 1,
) -> Target:
    """The target of a CPU known by its LLVM triple and feature string, and the bytes of its caches
    by level; those that are not given are of usual sizes.

    >>> describe_cpu("x86_64-linux-gnu", "haswell", "+avx,+avx2").vector_bytes
    32
    """
    present = _present(features)
    is_arm = triple.startswith(ARM)
    wide = "avx512f" in present
    cache_bytes = {**DEFAULT_CACHE_BYTES, **caches}
    return Target(
        triple=triple,
        cpu=cpu,
        features=",".join(sorted(filter(None, features.split(",")), key=lambda name: name[1:])),
        vector_bytes=_register_bytes(present),
        masked=present >= MASKING,
        vector_registers=32 if wide or is_arm else 16,
        l1_bytes=cache_bytes[1],
        l2_bytes=cache_bytes[2],
        l3_bytes=cache_bytes[3],
        cores=cores,
    )


def describe_gpu(
    triple: str, architecture: str, features: str, grid: Grid, l2_bytes: int
) -> Target:
    """The target of a graphics processor known by its LLVM triple and architecture.

    Its threads have no vectors but for what they load and store at once: 16 bytes.
    """
    return Target(
        triple=triple,
        cpu=architecture,
        features=features,
        vector_bytes=16,
        masked=False,
        vector_registers=32,
        l1_bytes=grid.shared_bytes,
        l2_bytes=grid.shared_bytes,  # the second-level cache of passes is one that is not shared
        l3_bytes=l2_bytes,
        costs=gpu_costs(),
        grid=grid,
    )
