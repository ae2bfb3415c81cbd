"""The kernels compiled so far, by region, target and configuration."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ogive.codegen.compile import CompiledKernel, compile_region
from ogive.config import Config
from ogive.device.target import Target
from ogive.ir.node import UOp
from ogive.runtime.link import LoadedKernel, link


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel of a plan: what it is called, its LLVM IR, how its axes are placed.

    `slots` are the buffer slots it touches, in the order of its arguments; `timings` say how long
    each stage took when it was compiled.
    """

    compiled: CompiledKernel

    @property
    def name(self) -> str:
        return self.compiled.name

    @property
    def ir(self) -> str:
        return self.compiled.ir

    @property
    def axes(self) -> tuple[tuple[str, int], ...]:
        return self.compiled.axes

    @property
    def slots(self) -> tuple[int, ...]:
        return self.compiled.signature.slots

    @property
    def variables(self) -> tuple[str, ...]:
        return self.compiled.signature.variables

    @property
    def timings(self) -> dict[str, float]:
        return self.compiled.timings

    @cached_property
    def loaded(self) -> LoadedKernel:
        return link(self.compiled.object_code, self.compiled.name)

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"


class KernelCache:
    """Kernels by content, bounded, first in first out. Plans keep what they use alive."""

    def __init__(self) -> None:
        self._kernels: dict[Any, Kernel] = {}
        self._lock = threading.Lock()
        self.compiled = 0
        self.hits = 0

    def kernel_for(self, region: UOp, target: Target, config: Config) -> Kernel:
        """The kernel that computes a region, compiled at most once."""
        key = (region, target.key, config.code_key)
        found = self._kernels.get(key)
        if found is not None:
            self.hits += 1
            return found
        with self._lock:
            found = self._kernels.get(key)
            if found is None:
                found = Kernel(compile_region(region, target, config))
                self.compiled += 1
                self._kernels[key] = found
                while len(self._kernels) > config.kernel_cache_size:
                    del self._kernels[next(iter(self._kernels))]
        return found


kernel_cache = KernelCache()
