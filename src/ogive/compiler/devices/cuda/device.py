"""`CUDA`: NVIDIA GPUs, used through the driver alone.

A kernel's text is LLVM IR. Its code is a line that says how it is launched, followed by the machine
code that the driver's assembler makes from LLVM's PTX. Launches go to the default stream, and only
those of kernels that may fault are waited for.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ogive.compiler.devices.cuda.gpu import DriverGpu, Gpu, count_gpus
from ogive.compiler.devices.host_memory import Allocator
from ogive.compiler.devices.protocol import (
    Block,
    CompiledKernel,
    Device,
    DeviceStep,
    Event,
    Executable,
    HostStep,
    KernelFault,
    KernelStep,
    StepFailure,
)
from ogive.config import Config
from ogive.errors import DeviceError

if TYPE_CHECKING:
    from ogive.compiler.devices.cuda.graph_batches import GraphBatches
    from ogive.compiler.devices.cuda.native_launches import NativeLaunch
    from ogive.compiler.devices.cuda.products.product_kernels import ProductKernels
    from ogive.compiler.devices.cuda.thread_kernels import Launch
    from ogive.compiler.ir.node import UOp
    from ogive.compiler.passes.pipeline.pass_runner import Watcher
    from ogive.compiler.passes.place.placement import Placement
    from ogive.compiler.targets.target import Target

NO_FAULT = (1 << 63) - 1
"""The value of a fault word while nothing has failed; kernels lower it to the number of a site."""

AT_ONCE = 1 << 62
"""The grain of a launch: all tiles at once."""

OLDEST = (9, 0)
"""The first architecture that code is generated for: Hopper."""


def count_devices() -> int:
    """The number of GPUs; 0 without a usable driver."""
    try:
        return count_gpus()
    except DeviceError:
        return 0


def make_device(index: int) -> CudaDevice:
    """Make the device of one GPU. Raises `DeviceError`, with the reason, if there is none."""
    return CudaDevice(index, DriverGpu(index))


class CudaDevice(Device):
    """A GPU."""

    kind = "CUDA"

    def __init__(self, index: int, gpu: Gpu) -> None:
        super().__init__(index)
        self.gpu = gpu
        self.facts = gpu.facts()
        capability = (self.facts.major, self.facts.minor)
        if capability < OLDEST:
            raise DeviceError(
                f"{self.name} is a {self.facts.name} of compute capability "
                f"{capability[0]}.{capability[1]}; code is generated from {OLDEST[0]}.{OLDEST[1]} "
                "on: compute on the CPU"
            )
        self._reserved: dict[int, int] = {}
        self.memory = Allocator(
            self.name, self.facts.memory_bytes, self._take, self._give_back
        )

    def _take(self, capacity: int) -> Block:
        address = self.gpu.allocate(capacity)
        self._reserved[address] = capacity
        return address, capacity, None

    def _give_back(self, block: Block) -> None:
        del self._reserved[block[0]]
        self.gpu.free(block[0])

    def reserved_bytes(self) -> int:
        return sum(self._reserved.values())

    def describe(self) -> str:
        major, minor, memory = self.facts.major, self.facts.minor, self.facts.memory_bytes
        return f"{self.facts.name}, compute capability {major}.{minor}, {memory >> 30} GiB"

    def copy_in(self, address: int, data: memoryview) -> None:
        if data.nbytes:
            self.gpu.copy_in(address, data)

    def copy_out(self, address: int, into: memoryview) -> None:
        if into.nbytes:
            self.gpu.copy_out(address, into)

    def copy_step(self, source: Device, nbytes: int) -> DeviceStep:
        if source is not self:
            return super().copy_step(source, nbytes)

        def copy(to: int, origin: int, nbytes: int) -> None:
            try:
                if nbytes:
                    self.gpu.copy_within(to, origin, nbytes)
            except Exception as error:
                raise StepFailure(error) from None

        return HostStep(copy, (0, 0, nbytes))

    def record(self) -> Event:
        event: Event = self.gpu.record()
        return event

    # Code

    @functools.cached_property
    def _target(self) -> Target:
        from ogive.compiler.devices.cuda.gpu_target import target_of

        return target_of(self.facts)

    def target(self, config: Config) -> Target:
        from ogive.compiler.devices.cuda.gpu_target import with_costs

        return self._target if config.costs is None else with_costs(self._target, config.costs)

    def compile_region(
        self,
        region: UOp,
        target: Target,
        config: Config,
        placement: Placement | None,
        watch: Watcher | None = None,
    ) -> CompiledKernel:
        from ogive.compiler.devices.cuda.attention.compile_attention import compile_attention
        from ogive.compiler.devices.cuda.compile_kernel import EMIT_PASSES
        from ogive.compiler.devices.cuda.products.compile_product import compile_product
        from ogive.compiler.devices.llvm.compile_region import compile_region

        if placement is None:
            for compile_matrices in (compile_product, compile_attention):
                kernel = compile_matrices(region, target, config)
                if kernel is not None:
                    return kernel
        return compile_region(region, target, config, placement, watch, EMIT_PASSES)

    def assemble(self, text: str, target: Target) -> bytes:
        from ogive.compiler.devices.cuda.compile_kernel import assemble_kernel
        from ogive.compiler.devices.cuda.products.compile_product import MARK, assemble_product

        if text.startswith(MARK):
            return assemble_product(text, target)
        return assemble_kernel(text, target, self.gpu)

    def load(self, name: str, code: bytes) -> CudaKernel | NativeLaunch:
        from ogive.compiler.devices.cuda.products.compile_product import MARK, read_code
        from ogive.compiler.devices.cuda.thread_kernels import Launch

        if code.startswith(MARK.encode()):
            return self._products.load(read_code(code.decode(errors="replace")))
        line, _, machine_code = code.partition(b"\n")
        launch = Launch.read(line.decode(errors="replace"))
        return CudaKernel(self, launch, self.gpu.load(name, machine_code, launch.shared_bytes))

    @functools.cached_property
    def _products(self) -> ProductKernels:
        """The loader of products by tensor cores, which only GPUs of the driver have."""
        from ogive.compiler.devices.cuda.products.product_kernels import ProductKernels

        assert isinstance(self.gpu, DriverGpu)
        return ProductKernels(self.gpu, self.name)

    # Running

    def launch_step(self, step: KernelStep) -> DeviceStep:
        kernel = step.kernel
        if isinstance(kernel, CudaKernel):
            native = kernel.native(len(step.arguments))
            if native is None:
                return HostStep(kernel.run, step.arguments, tiles=step.tiles)
            kernel = native
        waits = isinstance(step.kernel, CudaKernel) and step.kernel.may_fault
        return KernelStep(
            kernel, step.arguments, step.tiles, grain=AT_ONCE, parallel=False, whole=step.whole,
            batcher=None if waits else self._batches,
        )  # fmt: skip

    @functools.cached_property
    def _batches(self) -> GraphBatches:
        from ogive.compiler.devices.cuda.graph_batches import GraphBatches

        assert isinstance(self.gpu, DriverGpu)
        return GraphBatches(self.gpu)

    @functools.cached_property
    def fault_word(self) -> Any:
        """The word in which kernels report faults: one for all, since each launch is waited for."""
        return self.gpu.fault_word()


class CudaKernel:
    """A loaded kernel."""

    address = 0  # the host cannot call its code

    def __init__(self, device: CudaDevice, launch: Launch, loaded: Any) -> None:
        self._device = device
        self._launch = launch
        self._loaded = loaded
        self._native: Executable | None = None

    @property
    def may_fault(self) -> bool:
        """Whether the kernel may fault, so that its launches wait for its end."""
        return self._launch.faults

    def native(self, words: int) -> Executable | None:
        """A host function that launches the kernel with `words` arguments; None if impossible."""
        call = self._device.gpu.launch_call(self._loaded)
        if self._native is None and call is not None:
            from ogive.compiler.devices.cuda.native_launches import make_native_launch

            threads, tiles, shared_bytes, faults = self._launch
            fault = 0
            if faults:
                fault = self._device.fault_word.address
                self._device.fault_word.value = NO_FAULT
            self._native = make_native_launch(
                call._replace(
                    words=words, threads=threads, tiles=tiles, shared_bytes=shared_bytes,
                    fault=fault, no_fault=NO_FAULT,
                ),
                Config(),
                self._loaded,
            )  # fmt: skip
        return self._native

    def run(self, tiles: int, *words: int) -> None:
        """Launch the kernel over `tiles` tiles. Raises `KernelFault` or `StepFailure`."""
        if tiles <= 0:
            return
        threads, per_block, shared_bytes, faults = self._launch
        gpu = self._device.gpu
        try:
            address = 0
            if faults:
                word = self._device.fault_word
                word.value, address = NO_FAULT, word.address
            blocks = -(-tiles // per_block)
            gpu.launch(self._loaded, blocks, threads, shared_bytes, [*words, tiles, address])
            if faults:
                gpu.synchronize()
        except Exception as error:
            raise StepFailure(error) from None
        if faults and word.value != NO_FAULT:
            raise KernelFault(word.value)
