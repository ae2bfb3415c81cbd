"""The description of a processor for the passes: instructions, vectors, caches, threads, costs.

Everything on which generated code may depend is part of `Target.key`. The number of cores is not,
since the same object code serves any number of threads.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import field, fields
from types import MappingProxyType

from ogive.compiler.digest import blake2b
from ogive.compiler.targets.costs import CPU_COSTS, Costs, gpu_costs
from ogive.named import NamedTuple, record

DEFAULT_CACHE_BYTES = {1: 32 << 10, 2: 1 << 20, 3: 8 << 20}
ARM = ("aarch64", "arm64")
CACHE_LINE = 64
MASKING = frozenset({"avx512f", "avx512bw", "avx512vl"})
BY_HALVES = frozenset({"znver4"})
"""Processors that execute arithmetic on vectors of 64 bytes in two steps."""
DIVIDES_WHOLE = frozenset({"znver5"})
"""Processors that divide vectors of 64 bytes as fast as shorter ones. Beside loads and stores, a
division takes 0.75 ns more on an AMD EPYC (Zen 5)."""
LANE_BY_LANE = "znver"
"""The prefix of processors that gather lanes one by one and broadcast elements slowly."""


class Dot(NamedTuple):
    """An instruction that multiplies words of narrow elements and adds to a vector of sums.

    A word and a sum have 32 bits. `left`, `right` and `total` are names of dtypes; `operand` is
    LLVM's type of a register of words. An instruction that does not add (`adds`) needs another one
    for that.
    """

    left: str
    right: str
    total: str
    intrinsic: str
    operand: str
    adds: bool = True

    @property
    def spare(self) -> int:
        """The registers needed beside sums and one operand: for the other operand and products."""
        return 1 if self.adds else 2


class Scaling(NamedTuple):
    """An instruction that multiplies floats by powers of two whose exponents are floats.

    It rounds once, and takes a register of `lanes` and a mask for them.
    """

    dtype: str
    lanes: int
    intrinsic: str


class Grid(NamedTuple):
    """The grid of a graphics processor: blocks of threads, which run in lockstep by warps.

    `block_threads` is the usual number of threads of a block, `shared_bytes` the memory that they
    share. At least `multiprocessors` blocks run at once. `tensor_cores` says whether warps can
    multiply matrices. Other processors have no grid: all is 0.
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
    """A processor as the compiler sees it. Targets are equal if code for one suits the other.

    `features` is LLVM's string (`+avx2,-sse4a,...`), `vector_bytes` the widest register worth
    using, `masked` whether vector loads and stores take a mask in hardware.
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
        """Whether many threads run a kernel, one tile each. On other targets kernels loop over
        tiles."""
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
        """The widest register that LLVM uses. Wider vectors take several registers.

        If no features are known, it is as wide as vectors.
        """
        return _register_bytes(self.present) if self.features else self.vector_bytes

    @property
    def dots(self) -> tuple[Dot, ...]:
        """Its instructions for dot products of narrow elements."""
        return _dots(self)

    def find_dot(self, left: str, right: str) -> Dot:
        """The instruction for these elements, which the target must have."""
        return next(dot for dot in self.dots if (dot.left, dot.right) == (left, right))

    @property
    def scalings(self) -> tuple[Scaling, ...]:
        """Its instructions that multiply floats by powers of two."""
        return _scalings(self)

    @property
    def gathers(self) -> bool:
        """Whether a gather instruction is faster than single loads.

        Some processors execute it as single loads, with further overhead.
        """
        return "avx2" in self.present and not self.cpu.startswith(LANE_BY_LANE)

    @property
    def spreads_slowly(self) -> bool:
        """Whether fewer broadcasts than multiplications begin in a cycle."""
        return self.cpu.startswith(LANE_BY_LANE)

    @property
    def step_bytes(self) -> int:
        """The bytes of a vector on which arithmetic operates in one step."""
        return min(self.vector_bytes, 32) if self.cpu in BY_HALVES else self.vector_bytes

    @property
    def streamed_bytes(self) -> int | None:
        """The least bytes, written in order, that are no longer in a cache when they are read.

        It is less than the last level, which also holds what is read. None if stores cannot bypass
        the caches.
        """
        return self.l3_bytes * 3 // 4 if self.architecture == "x86_64" else None

    @property
    def streamed_transposed_bytes(self) -> int | None:
        """The same for lines written far apart, which evict each other from a cache before it is
        full."""
        return self.l2_bytes * 2 if self.architecture == "x86_64" else None

    @property
    def divided_bytes(self) -> int:
        """The bytes of a vector that a division or a root processes in one step."""
        return self.vector_bytes if self.cpu in DIVIDES_WHOLE else min(self.vector_bytes, 32)

    @functools.cached_property
    def key(self) -> str:
        """A digest of everything that affects code, the same in every process."""
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
"""By the bytes of a vector, the instruction that multiplies pairs of int16 and adds each pair: the
feature to which it belongs, and LLVM's name."""


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
    """The target of a CPU, from its LLVM triple and feature string.

    `caches` has the bytes of its caches by level. Levels that are not given have usual sizes.

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
    """The target of a graphics processor, from its LLVM triple and architecture.

    Its threads have vectors only for loads and stores, of 16 bytes.
    """
    return Target(
        triple=triple,
        cpu=architecture,
        features=features,
        vector_bytes=16,
        masked=False,
        vector_registers=32,
        l1_bytes=grid.shared_bytes,
        l2_bytes=grid.shared_bytes,  # to the passes, the second-level cache is not shared
        l3_bytes=l2_bytes,
        costs=gpu_costs(),
        grid=grid,
    )
