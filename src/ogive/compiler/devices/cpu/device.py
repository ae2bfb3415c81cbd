"""`CPU`: the processor that this process runs on, through LLVM.

`CPU:1` and further ones have memory of their own and share the processor, its code and its threads.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ogive.compiler.devices.host_bytes import host_bytes
from ogive.compiler.devices.host_memory import Allocator
from ogive.compiler.devices.protocol import (
    CompiledKernel,
    Device,
    DeviceStep,
    Executable,
    Host,
    KernelStep,
    KernelTimer,
)
from ogive.errors import DeviceError

if TYPE_CHECKING:
    from ogive.compiler.devices.cpu.native.native_plan import NativePlan
    from ogive.compiler.devices.cpu.native.pool import Pool
    from ogive.compiler.devices.cpu.processor import Processor
    from ogive.compiler.devices.cpu.speeds import Speeds
    from ogive.compiler.devices.exported_program import ExportedProgram
    from ogive.compiler.ir.node import UOp
    from ogive.compiler.passes.pipeline.pass_runner import Watcher
    from ogive.compiler.passes.place.placement import Placement
    from ogive.compiler.targets.target import Target
    from ogive.config import Config

MOST = 256
"""The limit of CPU devices. A greater index is taken for a mistake."""


def make_device(index: int) -> CpuDevice:
    """A CPU device. Raises `DeviceError` for an index that is too great."""
    if index >= MOST:
        raise DeviceError(f"there is no CPU:{index}; the last is CPU:{MOST - 1}")
    return CpuDevice(index)


class CpuDevice(Host):
    """The processor of this process, with memory of the device's own."""

    kind = "CPU"

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.memory = Allocator(self.name)

    def copy_in(self, address: int, data: memoryview) -> None:
        host_bytes(address, data.nbytes)[:] = data

    def copy_out(self, address: int, into: memoryview) -> None:
        into[:] = host_bytes(address, into.nbytes)

    def copy_step(self, source: Device, nbytes: int) -> DeviceStep:
        if not source.addressable:
            return super().copy_step(source, nbytes)
        from ogive.compiler.devices.cpu.native.native_plan import copy_step

        return copy_step(0, 0, nbytes)

    # Code

    @functools.cached_property
    def _processor(self) -> Processor:
        from ogive.compiler.devices.cpu.processor import processor

        return processor

    def target(self, config: Config) -> Target:
        return self._processor.target(config)

    def target_key(self, config: Config) -> str:
        return self._processor.target_key(config)

    def confirmed_target(self, config: Config) -> Target:
        return self._processor.confirmed_target(config)

    def compile_region(
        self,
        region: UOp,
        target: Target,
        config: Config,
        placement: Placement | None,
        watch: Watcher | None = None,
    ) -> CompiledKernel:
        from ogive.compiler.devices.llvm.compile_region import compile_region

        return compile_region(region, target, config, placement, watch)

    def assemble(self, text: str, target: Target) -> bytes:
        from ogive.compiler.devices.llvm.library.assembler import assemble

        return assemble(text, target)

    def load(self, name: str, code: bytes) -> Executable:
        return self._processor.load(name, code)

    # Running

    @property
    def is_native(self) -> bool:
        return True

    def launch_step(self, step: KernelStep) -> KernelStep:
        return step

    def prepare(self, config: Config) -> None:
        self._processor.prepare(config)

    def pool(self, config: Config) -> Pool:
        return self._processor.pool(config)

    def bind(self, steps: Sequence[DeviceStep], pool: object) -> NativePlan:
        return self._processor.bind(steps, pool)

    def write_program(self, program: ExportedProgram, config: Config) -> bytes:
        from ogive.compiler.devices.cpu.native.program_ir import program_ir
        from ogive.compiler.devices.llvm.library.assembler import assemble

        target = self.confirmed_target(config)
        if "linux" not in target.triple:
            raise DeviceError(
                f"programs are written as object files for Linux, not for {target.triple}"
            )
        return assemble(program_ir(program), target)

    def speeds(self) -> Speeds:
        return self._processor.speeds()

    def stored_speeds(self, config: Config) -> Speeds | None:
        return self._processor.stored_speeds(config)

    def measure_speeds(self, config: Config) -> Speeds | None:
        return self._processor.measure_speeds(config)

    def cores(self) -> int:
        return self._processor.cores()

    def timer(self, target: Target, threads: int) -> KernelTimer:
        from ogive.compiler.devices.cpu.kernel_timer import CpuTimer

        return CpuTimer(target, threads)
