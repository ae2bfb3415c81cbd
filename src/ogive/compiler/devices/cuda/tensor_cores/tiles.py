"""Tiles: the part of a product that a block computes, its warps and its stages."""

from __future__ import annotations

from ogive.compiler.devices.cuda.tensor_cores.fragments import INSTRUCTION_BYTES
from ogive.compiler.ir.dtype import DType
from ogive.named import NamedTuple

WARP = 32
WARPGROUP = 4 * WARP
ROWS = 64
"""The rows that one `wgmma` computes."""


class WarpTile(NamedTuple):
    """A tile that a block computes by `mma.sync`.

    `m`, `n` and `k` are in elements; the warps divide the tile of the result and each step along k.
    `group` rows of tiles are computed together, for the cache.
    """

    m: int
    n: int
    k: int
    warps_m: int
    warps_n: int
    warps_k: int = 1
    stages: int = 4
    blocks: int = 1
    group: int = 8

    @property
    def threads(self) -> int:
        return self.warps_m * self.warps_n * self.warps_k * WARP

    @property
    def fragments_m(self) -> int:
        """The fragments of 16 rows of a warp."""
        return self.m // self.warps_m // 16

    @property
    def fragments_n(self) -> int:
        """The fragments of 8 columns of a warp; an even number."""
        return self.n // self.warps_n // 8

    def k_steps(self, operand: DType) -> int:
        """The number of instructions along k of a tile."""
        return self.k * operand.itemsize // INSTRUCTION_BYTES

    def shared_bytes(self, operand: DType) -> int:
        """The bytes of shared memory of a block."""
        stages = self.stages * (self.m + self.n) * self.k * operand.itemsize
        sums = self.threads * self.fragments_m * self.fragments_n * 16
        return max(stages, sums if self.warps_k > 1 else 0)


class WarpgroupTile(NamedTuple):
    """A tile that a block computes by `wgmma`: a consumer of 128 threads for each 64 rows, and a
    producer. A stage holds 128 bytes along k of both operands.

    With `splits`, that many blocks share a tile: each adds up a part of k, and they exchange their
    sums through each other's shared memory.
    """

    m: int
    n: int
    stages: int
    splits: int = 1
    group: int = 16

    @property
    def consumers(self) -> int:
        return self.m // ROWS

    @property
    def threads(self) -> int:
        return (self.consumers + 1) * WARPGROUP

    @property
    def store_columns(self) -> int:
        """How many two-byte columns are stored at once: a divisor of the tile's columns."""
        return next(width for width in (64, 32, 16, 8) if self.n % width == 0)
