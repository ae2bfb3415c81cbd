"""`REFERENCE`: NumPy, one op at a time. It is slow, and its results define the meaning of a graph.

Its kernels are regions (`region_code.py`), which a launch evaluates. It uses no part of the
compiler after the cut into regions, and no LLVM.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from ogive.compiler.devices.host_bytes import host_array, host_bytes
from ogive.compiler.devices.host_memory import Allocator
from ogive.compiler.devices.protocol import (
    CompiledKernel,
    Device,
    HostStep,
    KernelStep,
    LastCalls,
    StepFailure,
)

if TYPE_CHECKING:
    from ogive.compiler.ir.node import UOp
    from ogive.compiler.passes.pipeline.pass_runner import Watcher
    from ogive.compiler.passes.place.placement import Placement
    from ogive.compiler.targets.target import Target
    from ogive.config import Config


NEVER = 1 << 62
"""A threshold that nothing reaches."""


def make_device(index: int) -> ReferenceDevice:
    """A reference device. There may be any number, each with memory of its own."""
    return ReferenceDevice(index)


class ReferenceDevice(Device):
    """Evaluates regions in the host's memory, one step after another."""

    kind = "REFERENCE"
    addressable = True
    reads_whole_memory = True

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.memory = Allocator(self.name)

    def copy_in(self, address: int, data: memoryview) -> None:
        host_bytes(address, data.nbytes)[:] = data

    def copy_out(self, address: int, into: memoryview) -> None:
        into[:] = host_bytes(address, into.nbytes)

    def target(self, config: Config) -> Target:
        """A target for which no rewrite pays: operands are read in place, sums are not split."""
        from ogive.compiler.targets.target import describe_cpu

        plain = describe_cpu("reference")
        costs = plain.costs.with_changes(
            packing={"least_work": NEVER},
            reductions={
                "least_chunks": NEVER, "least_row_chunks": NEVER, "long": NEVER,
                "few_scan_rows": 0, "few_scan_tiles": 0, "centred_elements": NEVER,
            },
            sorting={"longest_network": NEVER, "exchange": 0.0, "few_of": NEVER},
        )  # fmt: skip
        return dataclasses.replace(plain, costs=costs)

    def compile_region(
        self,
        region: UOp,
        target: Target,
        config: Config,
        placement: Placement | None,
        watch: Watcher | None = None,
    ) -> CompiledKernel:
        from ogive.compiler.devices.reference.region_code import write_region
        from ogive.compiler.ir import dtype as dtypes
        from ogive.compiler.ir.node import UOp
        from ogive.compiler.ir.ops import MOVEMENT
        from ogive.compiler.passes.lower.kernel_signature import kernel_signature

        value = region.roots[0].value
        while value.op in MOVEMENT:
            value = value.operand
        return CompiledKernel(
            name=f"evaluate_{value.op.name.lower()}",
            axes=(),
            ir=write_region(region),
            signature=kernel_signature(region),
            tiles=UOp.const(dtypes.index, 1),
            work=1,
            costs=(0, 0, 0),
            timings={},
        )

    def assemble(self, text: str, target: Target) -> bytes:
        from ogive.compiler.devices.reference.region_code import assemble_region

        return assemble_region(text)

    def load(self, name: str, code: bytes) -> LoadedRegion:
        from ogive.compiler.devices.reference.region_code import load_region

        return LoadedRegion(load_region(code))

    def launch_step(self, step: KernelStep) -> HostStep:
        kernel = step.kernel
        assert isinstance(kernel, LoadedRegion), "a kernel of another device"
        return HostStep(kernel.launch, step.arguments)


class LoadedRegion:
    """A region that can be launched."""

    address = 0  # a processor cannot call it

    def __init__(self, region: UOp) -> None:
        from ogive.compiler.ir.ops import Op
        from ogive.compiler.passes.lower.kernel_signature import kernel_signature

        self.region = region
        self.signature = kernel_signature(region)
        self.parameters = {node.slot: node for node in region.walk() if node.op is Op.PARAM}

    def launch(self, *words: int) -> LastCalls:
        """Evaluate it. `words` are the addresses of its buffers, then the values of its variables.

        Returns the calls that write, so that no exception can come between them. Raises
        `KernelFault`.
        """
        from ogive.compiler.devices.reference.evaluate_region import evaluate_region
        from ogive.compiler.ir.memory import LONGEST
        from ogive.compiler.passes.regions.flatten_regions import LENGTH

        slots, names = self.signature
        variables = dict(zip(names, words[len(slots) :], strict=True))
        memory = {}
        for slot, address in zip(slots, words, strict=False):
            node = self.parameters[slot]
            count = variables[LENGTH] if node.size == LONGEST else node.size
            array = host_array(address, count * node.dtype.itemsize)
            memory[slot] = array.view(node.dtype.numpy)
        try:
            return evaluate_region(self.region, memory, variables)
        except MemoryError as error:
            raise StepFailure(error) from None
