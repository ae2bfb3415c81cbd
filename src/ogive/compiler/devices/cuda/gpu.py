"""One GPU behind the driver: its context, memory, modules and launches.

The context is the primary one, which PyTorch and JAX use as well, and the stream is the default
one, so all work of this process on a GPU runs in order, whichever library launches it.
"""

from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING, Any, Protocol

from ogive.compiler.devices.cuda.cuda_driver import CudaDriver, process_driver
from ogive.errors import AllocateError, CompileError, DeviceError, LoadError
from ogive.named import NamedTuple

if TYPE_CHECKING:
    from ogive.compiler.devices.cuda.native_launches import LaunchCall
    from ogive.compiler.targets.target import Target

STREAM = None
"""The default stream."""

_ATTRIBUTES = {
    "most_threads": 1, "multiprocessors": 16, "l2_bytes": 38, "major": 75, "minor": 76,
    "shared_bytes": 97,
}  # fmt: skip
_DYNAMIC_SHARED_BYTES = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_PTX = 1  # CU_JIT_INPUT_PTX
_MAPPED = 2  # CU_MEMHOSTALLOC_DEVICEMAP
_NO_TIMING = 2  # CU_EVENT_DISABLE_TIMING
_POINTER, _SIZE, _END = 1, 2, 0  # CU_LAUNCH_PARAM_BUFFER_POINTER, …_SIZE, …_END


class GpuFacts(NamedTuple):
    """A GPU as the driver describes it."""

    name: str
    major: int
    minor: int
    memory_bytes: int
    multiprocessors: int
    most_threads: int
    shared_bytes: int
    l2_bytes: int
    tensor_cores: bool = False


class Gpu(Protocol):
    """The operations that a device needs of a GPU; tests implement them without the hardware."""

    def facts(self) -> GpuFacts:
        """The driver's description of the GPU."""

    def allocate(self, nbytes: int) -> int:
        """Allocate memory; returns its address. Raises `MemoryError`."""

    def free(self, address: int) -> None:
        """Free memory."""

    def copy_in(self, address: int, data: memoryview) -> None:
        """Write bytes, in order with all earlier work."""

    def copy_out(self, address: int, into: memoryview) -> None:
        """Read bytes, after all earlier work is done."""

    def copy_within(self, to: int, origin: int, nbytes: int) -> None:
        """Copy bytes within the GPU, in order with all earlier work."""

    def assemble(self, text: str, target: Target) -> bytes:
        """Compile a kernel's LLVM IR to machine code. Raises `CompileError`."""

    def load(self, name: str, code: bytes, shared_bytes: int) -> Any:
        """Load a kernel, for `launch`. Raises `LoadError`."""

    def launch(
        self, kernel: Any, blocks: int, threads: int, shared_bytes: int, words: list[int]
    ) -> None:
        """Launch a kernel over `blocks` blocks, with the words of its parameters."""

    def launch_call(self, kernel: Any) -> LaunchCall | None:
        """The data with which a native function launches a kernel; None if only Python can."""

    def fault_word(self) -> Any:
        """A word that kernels and the host both see: the host by `value`, kernels at `address`."""

    def synchronize(self) -> None:
        """Wait for all work. Raises the error of work that failed."""

    def record(self) -> Any:
        """An event when all work so far is done, with `is_over` and `wait()`."""


def count_gpus(driver: CudaDriver = process_driver) -> int:
    """The number of GPUs of the driver. Raises `DeviceError` without a driver."""
    count = ctypes.c_int()
    driver.call("cuDeviceGetCount", ctypes.byref(count))
    return count.value


class DriverGpu:
    """A GPU of this machine."""

    def __init__(self, index: int, driver: CudaDriver = process_driver) -> None:
        self.driver = driver
        count = count_gpus(driver)
        if index >= count:
            last = f"the last is CUDA:{count - 1}" if count else "there is none at all"
            raise DeviceError(f"there is no CUDA:{index}; {last}")
        ordinal = ctypes.c_int()
        driver.call("cuDeviceGet", ctypes.byref(ordinal), index)
        self.ordinal = ordinal.value
        self._failure = ctypes.c_uint64()

    def facts(self) -> GpuFacts:
        name = ctypes.create_string_buffer(256)
        self.driver.call("cuDeviceGetName", name, len(name), self.ordinal)
        memory = ctypes.c_size_t()
        self.driver.call("cuDeviceTotalMem_v2", ctypes.byref(memory), self.ordinal)
        attributes = {key: self._attribute(number) for key, number in _ATTRIBUTES.items()}
        return GpuFacts(
            name.value.decode(), memory_bytes=memory.value, **attributes, tensor_cores=True
        )

    def _attribute(self, number: int) -> int:
        value = ctypes.c_int()
        self.driver.call("cuDeviceGetAttribute", ctypes.byref(value), number, self.ordinal)
        return value.value

    @functools.cached_property
    def context(self) -> int:
        """The primary context, which is made when memory or code is first needed."""
        context = ctypes.c_void_p()
        self.driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.ordinal)
        assert context.value is not None
        return context.value

    def enter(self) -> None:
        """Make the context current in the calling thread: other libraries may have changed it.

        Raises the pending error of a launch that failed.
        """
        self.driver.call("cuCtxSetCurrent", self.context)
        if self._failure.value:
            code, self._failure.value = self._failure.value, 0
            self.driver.refuse("cuLaunchKernel", code)

    # Memory

    def allocate(self, nbytes: int) -> int:
        self.enter()
        address = ctypes.c_uint64()
        try:
            self.driver.call("cuMemAlloc_v2", ctypes.byref(address), nbytes)
        except AllocateError as error:
            raise MemoryError(str(error)) from None
        return address.value

    def free(self, address: int) -> None:
        self.driver.give_back("cuCtxSetCurrent", self.context)
        self.driver.give_back("cuMemFree_v2", address)

    def memory_bytes(self) -> tuple[int, int]:
        """The free bytes and all bytes."""
        self.enter()
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.driver.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    def copy_in(self, address: int, data: memoryview) -> None:
        self.enter()
        source, keep = _address_of(data)
        self.driver.call("cuMemcpyHtoD_v2", address, source, data.nbytes)
        del keep

    def copy_out(self, address: int, into: memoryview) -> None:
        self.enter()
        target, keep = _address_of(into)
        self.driver.call("cuMemcpyDtoH_v2", target, address, into.nbytes)
        del keep

    def copy_within(self, to: int, origin: int, nbytes: int) -> None:
        self.enter()
        self.driver.call("cuMemcpyDtoDAsync_v2", to, origin, nbytes, STREAM)

    def fault_word(self) -> FaultWord:
        self.enter()
        place = ctypes.c_void_p()
        self.driver.call("cuMemHostAlloc", ctypes.byref(place), 8, _MAPPED)
        assert place.value is not None
        return FaultWord(place.value)

    # Code

    def assemble(self, text: str, target: Target) -> bytes:
        from ogive.compiler.devices.cuda.compile_kernel import write_ptx

        code = write_ptx(text, target).encode()
        self.enter()
        linker = ctypes.c_void_p()
        log = ctypes.create_string_buffer(4096)
        options = (ctypes.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER, …_SIZE_BYTES
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        self.driver.call("cuLinkCreate_v2", 2, options, values, ctypes.byref(linker))
        try:
            failed = self.driver.try_call(
                "cuLinkAddData_v2", linker, _PTX, code, len(code), None, 0, None, None
            )
            result, size = ctypes.c_void_p(), ctypes.c_size_t()
            failed = failed or self.driver.try_call(
                "cuLinkComplete", linker, ctypes.byref(result), ctypes.byref(size)
            )
            if failed:
                said = log.value.decode(errors="replace").strip() or self.driver.describe(failed)
                raise CompileError(f"the driver does not assemble a kernel: {said}")
            return ctypes.string_at(result, size.value)
        finally:
            self.driver.try_call("cuLinkDestroy", linker)

    def load(self, name: str, code: bytes, shared_bytes: int) -> LoadedKernel:
        self.enter()
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        failed = self.driver.try_call("cuModuleLoadData", ctypes.byref(module), code)
        failed = failed or self.driver.try_call(
            "cuModuleGetFunction", ctypes.byref(function), module, name.encode()
        )
        if failed:
            raise LoadError(f"the driver does not load {name}: {self.driver.describe(failed)}")
        if shared_bytes:
            self.driver.call("cuFuncSetAttribute", function, _DYNAMIC_SHARED_BYTES, shared_bytes)
        return LoadedKernel(self, module, function)

    def launch(
        self, kernel: Any, blocks: int, threads: int, shared_bytes: int, words: list[int]
    ) -> None:
        self.enter()
        count = len(words)
        buffer = (ctypes.c_uint64 * count)(*[word & 0xFFFFFFFFFFFFFFFF for word in words])
        size = ctypes.c_size_t(8 * count)
        extra = (ctypes.c_void_p * 5)(
            _POINTER, ctypes.addressof(buffer), _SIZE, ctypes.addressof(size), _END
        )
        self.driver.call(
            "cuLaunchKernel",
            kernel.function, blocks, 1, 1, threads, 1, 1, shared_bytes, STREAM, None, extra,
        )  # fmt: skip

    def launch_call(self, kernel: Any) -> LaunchCall:
        from ogive.compiler.devices.cuda.native_launches import LaunchCall

        names = ("cuLaunchKernelEx", "cuCtxSetCurrent", "cuStreamSynchronize")
        launch, enter, synchronize = map(self.address_of, names)
        return LaunchCall(
            launch, enter, synchronize, self.context, kernel.function.value,
            failure=self.failure_address,
        )  # fmt: skip

    def address_of(self, name: str) -> int:
        """The address of a function of the driver."""
        return ctypes.cast(self.driver.function(name), ctypes.c_void_p).value or 0

    @property
    def failure_address(self) -> int:
        """The address where host functions leave the driver's code of a launch that failed."""
        return ctypes.addressof(self._failure)

    # Order

    def synchronize(self) -> None:
        self.enter()
        self.driver.call("cuStreamSynchronize", STREAM)

    def record(self) -> GpuEvent:
        self.enter()
        return GpuEvent(self)


class LoadedKernel:
    """A kernel's function, with the module that keeps it loaded."""

    def __init__(self, gpu: DriverGpu, module: Any, function: Any) -> None:
        self.gpu = gpu
        self.module = module
        self.function = function

    def __del__(self) -> None:
        self.gpu.driver.give_back("cuCtxSetCurrent", self.gpu.context)
        self.gpu.driver.give_back("cuModuleUnload", self.module)


class FaultWord:
    """A word of host memory that kernels write to; it is never freed."""

    def __init__(self, address: int) -> None:
        self.address = address
        self._word = ctypes.c_uint64.from_address(address)

    @property
    def value(self) -> int:
        return self._word.value

    @value.setter
    def value(self, given: int) -> None:
        self._word.value = given


class GpuEvent:
    """An event on the default stream."""

    def __init__(self, gpu: DriverGpu, timing: bool = False) -> None:
        self._gpu = gpu
        self._event = ctypes.c_void_p()
        flags = 0 if timing else _NO_TIMING
        gpu.driver.call("cuEventCreate", ctypes.byref(self._event), flags)
        gpu.driver.call("cuEventRecord", self._event, STREAM)

    @property
    def is_over(self) -> bool:
        """Whether all work before the event is done."""
        return self._gpu.driver.try_call("cuEventQuery", self._event) == 0

    def wait(self) -> None:
        """Wait for the event."""
        self._gpu.driver.call("cuEventSynchronize", self._event)

    def __del__(self) -> None:
        self._gpu.driver.give_back("cuEventDestroy_v2", self._event)


def _address_of(data: memoryview) -> tuple[int, Any]:
    """The address of bytes, and the object that keeps them there."""
    import numpy

    array = numpy.frombuffer(data, numpy.uint8)
    return array.__array_interface__["data"][0], array
