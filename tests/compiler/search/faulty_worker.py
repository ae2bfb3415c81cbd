"""A worker for which kernels with certain tiles of axis 0 come out bad, as a broken compiler's."""

from __future__ import annotations

import json
import os
import sys
import time

sys.path[:] = json.loads(sys.argv[1])

from ogive.compiler.devices.llvm.compile_region import PlacedKernel  # noqa: E402
from ogive.compiler.passes.place.placement import Placement  # noqa: E402
from ogive.compiler.search.timing_bench import Bench  # noqa: E402
from ogive.compiler.search.worker import Worker, main  # noqa: E402

_KERNEL = 'define void @"{}"(ptr %arguments, i64 %begin, i64 %end, ptr %fault) {{\n{}\n}}'
FAULTS = {
    2: "entry: br label %again\nagain: br label %again",
    3: "store volatile i64 1, ptr inttoptr (i64 8 to ptr)\nret void",
    6: "this is not LLVM IR",
}


class FaultyBench(Bench):
    def text_of(self, kernel: PlacedKernel, placement: Placement) -> str:
        tile = placement.upcast.get(0, 1)
        if tile in FAULTS:
            return _KERNEL.format(kernel.name, FAULTS[tile])
        if tile == 5:
            time.sleep(3600)  # a compiler that hangs
        if tile == 10:
            os.abort()
        if tile == 7:
            return "x" * (1 << 40)  # more memory than there is
        if tile == 9:
            raise AssertionError("a mistake of ours")
        return super().text_of(kernel, placement)


main(Worker(FaultyBench))
