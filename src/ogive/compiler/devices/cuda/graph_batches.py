"""Batches: launches in a row, replayed as one CUDA graph.

The first run of a batch makes its launches one by one. The second run captures them and
instantiates the graph. Each later run compares the steps' words and tiles with those of the run
before, updates the nodes of the steps that differ, and launches the graph: 0.5 µs per kernel
instead of 3 µs for a launch, and 0.2 µs per node that changes.

    run 1   launch, launch, launch
    run 2   capture(launch, launch, launch) → nodes; instantiate; cuGraphLaunch
    run n   words of step 2 differ → set parameters of its nodes; cuGraphLaunch

The host function `ogive_batch` does all of this; see `graph_batch_ir.py` and `graph_capture_ir.py`.
A step describes itself through its own launch function, which hands its launches to a receiver
instead of the GPU. So tensor maps, grids and attributes need no second description.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from string import Template
from typing import TYPE_CHECKING, Any

import numpy

from ogive.compiler.devices.cuda.graph_batch_ir import (
    BATCH,
    STEP_STRIDES,
    TABLE_FIELDS,
    TABLE_OFFSETS,
)
from ogive.compiler.devices.cuda.native_launches import CONFIGURATION_BYTES, NativeLaunch
from ogive.compiler.devices.known_devices import host
from ogive.compiler.devices.protocol import Executable, KernelStep
from ogive.config import Config

if TYPE_CHECKING:
    from ogive.compiler.devices.cuda.gpu import DriverGpu

_FUNCTIONS = {
    "enter": "cuCtxSetCurrent", "launch": "cuLaunchKernelEx", "begin": "cuStreamBeginCapture_v2",
    "end": "cuStreamEndCapture", "info": "cuStreamGetCaptureInfo_v3",
    "instantiate": "cuGraphInstantiateWithFlags", "replay": "cuGraphLaunch",
    "change": "cuGraphExecKernelNodeSetParams_v2", "destroy": "cuGraphDestroy",
}  # fmt: skip
_NOT_BLOCKING = 1  # CU_STREAM_NON_BLOCKING


class GraphBatches:
    """Makes the batches of one GPU."""

    def __init__(self, gpu: DriverGpu) -> None:
        self._gpu = gpu

    def batch(self, steps: Sequence[KernelStep], records: int, words: int) -> GraphBatch:
        """The batch of steps whose records lie at `records` and whose words begin at `words`."""
        launches = 0
        for step in steps:
            assert isinstance(step.kernel, NativeLaunch)
            launches += step.kernel.launches
        count = sum(len(step.arguments) for step in steps)
        return GraphBatch(self._gpu, self._function, len(steps), launches, records, words, count)

    @functools.cached_property
    def _function(self) -> Executable:
        gpu = self._gpu
        gpu.enter()
        stream = ctypes.c_void_p()
        gpu.driver.call("cuStreamCreate", ctypes.byref(stream), _NOT_BLOCKING)
        addresses = {word: gpu.address_of(name) for word, name in _FUNCTIONS.items()}
        return load_batch_function(
            addresses, stream=stream.value or 0, context=gpu.context, failure=gpu.failure_address
        )


def load_batch_function(
    functions: dict[str, int], stream: int, context: int, failure: int
) -> Executable:
    """Load `ogive_batch` for the driver's `functions` and the stream on which it captures."""
    places = {"stream": stream, "context": context, "failure": failure}
    numbers = {**functions, **places, **TABLE_OFFSETS, **STEP_STRIDES}
    numbers["configuration_bytes"] = CONFIGURATION_BYTES
    text = Template(BATCH).substitute(numbers)
    config = Config()
    return host().load("ogive_batch", host().assemble(text, host().target(config)))


class GraphBatch:
    """Consecutive steps of a plan, and their graph after the second run."""

    def __init__(
        self,
        gpu: DriverGpu,
        function: Executable,
        steps: int,
        launches: int,
        records: int,
        words: int,
        word_count: int,
    ) -> None:
        self.address = function.address
        self._function = function
        self._gpu = gpu
        self._copies = {
            "nodes": numpy.zeros(launches, numpy.int64),
            "first_nodes": numpy.zeros(steps, numpy.int64),
            "last_words": numpy.zeros(word_count, numpy.int64),
            "last_tiles": numpy.zeros(steps, numpy.int64),
        }
        fields: dict[str, int] = {
            "steps": steps, "records": records, "words": words, "word_bytes": 8 * word_count,
            "room": launches, **{name: each.ctypes.data for name, each in self._copies.items()},
        }  # fmt: skip
        self._table: Any = numpy.array([fields.get(name, 0) for name in TABLE_FIELDS], numpy.int64)
        self.table: int = self._table.ctypes.data

    def __del__(self) -> None:
        for name, field in (("cuGraphExecDestroy", "replayed"), ("cuGraphDestroy", "graph")):
            handle = int(self._table[TABLE_FIELDS.index(field)])
            if handle:
                self._gpu.driver.give_back("cuCtxSetCurrent", self._gpu.context)
                self._gpu.driver.give_back(name, handle)
