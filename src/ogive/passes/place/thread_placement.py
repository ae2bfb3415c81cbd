"""Where axes go on a processor that runs many threads at once.

    out[r0*64 + r1] = sum over r2 of a[r0*128 + r2] * b[r2*64 + r1]
    after: r0 and r1 parallel, a thread for each of their 4096 pairs; r2 a loop of every thread

Threads that follow each other should touch what lies side by side: the parallel axes are nested
as the results lie in memory, the closest inside.
"""

from __future__ import annotations

from ogive.ir.node import UOp
from ogive.passes.place.kernel_facts import KernelFacts
from ogive.passes.place.placement import Placement
from ogive.targets.target import Grid


def place_on_threads(kernel: KernelFacts, grid: Grid) -> Placement:
    """A thread for each result, of those axes that all reductions depend on."""
    order = sorted(kernel.outputs, key=lambda counter: (counter not in kernel.common,
                                                        -_stride(kernel, counter)))
    return Placement(
        order=tuple([counter.number for counter in order]),
        parallel=len(kernel.common),
    )


def _stride(kernel: KernelFacts, counter: UOp) -> int:
    """How far apart results lie along an axis, at the least."""
    return min([abs(store.strides.get(counter, 0)) for store in kernel.stores])
