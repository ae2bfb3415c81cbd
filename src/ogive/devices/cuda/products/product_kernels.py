"""Products on a GPU: modules loaded, tensor maps encoded, kernels launched.

A launch may begin before the one before it has ended: its blocks prepare themselves meanwhile, and
wait for that end before they touch memory (programmatic dependent launch).
"""

from __future__ import annotations

import ctypes
from typing import Any

from ogive.devices.buffer import Buffer
from ogive.devices.cuda.gpu import STREAM, DriverGpu, LoadedKernel
from ogive.devices.cuda.products.compile_product import ProductCode
from ogive.devices.cuda.products.launches import Launch, Memory, Number, TensorMap
from ogive.devices.protocol import StepFailure
from ogive.ir import dtype as dtypes

MAP_BYTES = 128
_MAP_TYPES = {
    dtypes.int8: 0, dtypes.uint8: 0, dtypes.float8_e4m3: 0, dtypes.float8_e5m2: 0,
    dtypes.float16: 6, dtypes.float32: 7, dtypes.bfloat16: 9,
}  # fmt: skip
_SWIZZLES = {16: 0, 32: 1, 64: 2, 128: 3}  # CU_TENSOR_MAP_SWIZZLE_…
_PROMOTION = 2  # CU_TENSOR_MAP_L2_PROMOTION_L2_128B
_OVERLAPPING = 6  # CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION


class _Attribute(ctypes.Structure):
    _fields_ = (("id", ctypes.c_int), ("gap", ctypes.c_int), ("value", ctypes.c_int * 16))


class _Configuration(ctypes.Structure):
    _fields_ = (
        ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p), ("count", ctypes.c_uint),
    )  # fmt: skip


class ProductKernels:
    """The products of one GPU. Kernels serve many products, and are loaded once."""

    def __init__(self, gpu: DriverGpu, device: str) -> None:
        self.gpu = gpu
        self.device = device
        self._loaded: dict[str, LoadedKernel] = {}

    def load(self, code: ProductCode) -> ProductKernel:
        """A product that can be launched. Raises `LoadError`."""
        return ProductKernel(self, code, [self._load(launch) for launch in code.launches])

    def _load(self, launch: Launch) -> LoadedKernel:
        found = self._loaded.get(launch.module)
        if found is None:
            code = launch.module.encode() + b"\0"
            found = self.gpu.load(launch.name, code, launch.shared_bytes)
            self._loaded[launch.module] = found
        return found


class ProductKernel:
    """A product that can be launched."""

    address = 0  # there is no code that the host could call

    def __init__(
        self, kernels: ProductKernels, code: ProductCode, loaded: list[LoadedKernel]
    ) -> None:
        self._gpu = kernels.gpu
        self._code = code
        self._loaded = loaded
        self._words: tuple[int, ...] = ()
        self._bound: list[_BoundLaunch] = []
        self._workspace: Buffer | None = None
        if code.workspace_bytes:
            self._workspace = Buffer(code.workspace_bytes, kernels.device)

    def run(self, tiles: int, *words: int) -> None:
        """Launch it; `words` are the addresses of its buffers. Raises `StepFailure`."""
        try:
            if words != self._words:
                self._bind(words)
            self._gpu.enter()
            for launch in self._bound:
                launch.launch(self._gpu)
        except Exception as error:
            raise StepFailure(error) from None

    def _bind(self, words: tuple[int, ...]) -> None:
        """Encode the parameters of all launches for some addresses."""
        places = {f"slot{slot}": word for slot, word in zip(self._code.slots, words, strict=True)}
        if self._workspace is not None:
            places["workspace"] = self._workspace.address
        self._bound = [
            _BoundLaunch(self._gpu, launch, loaded, places)
            for launch, loaded in zip(self._code.launches, self._loaded, strict=True)
        ]
        self._words = words


class _BoundLaunch:
    """A launch with its parameters as they lie in memory."""

    def __init__(
        self, gpu: DriverGpu, launch: Launch, kernel: LoadedKernel, places: dict[str, int]
    ) -> None:
        self._kernel = kernel
        self._values = [_encode(gpu, each, places) for each in launch.arguments]
        addresses = [ctypes.addressof(value) for value in self._values]
        self._parameters = (ctypes.c_void_p * len(addresses))(*addresses)
        overlapping = _Attribute(_OVERLAPPING)
        overlapping.value[0] = 1
        self._attributes = (_Attribute * 1)(overlapping)
        self._configuration = _Configuration(
            (launch.blocks, 1, 1), (launch.threads, 1, 1), launch.shared_bytes, STREAM,
            ctypes.addressof(self._attributes), 1,
        )  # fmt: skip

    def launch(self, gpu: DriverGpu) -> None:
        gpu.driver.call(
            "cuLaunchKernelEx", ctypes.addressof(self._configuration), self._kernel.function,
            self._parameters, None,
        )  # fmt: skip


def _encode(gpu: DriverGpu, argument: Memory | TensorMap | Number, places: dict[str, int]) -> Any:
    if isinstance(argument, Memory):
        return ctypes.c_uint64(places[argument.name] + argument.offset)
    if isinstance(argument, Number):
        return (ctypes.c_int32 if argument.nbytes == 4 else ctypes.c_int64)(argument.value)
    return encode_tensor_map(gpu, argument, places[argument.memory.name] + argument.memory.offset)


def encode_tensor_map(gpu: DriverGpu, tensor: TensorMap, address: int) -> Any:
    """What the copying engine is told of a tensor: 128 bytes, aligned to 64."""
    room = (ctypes.c_uint8 * (MAP_BYTES + 64))()
    start = -ctypes.addressof(room) % 64
    rank = len(tensor.extents)
    gpu.driver.call(
        "cuTensorMapEncodeTiled", ctypes.addressof(room) + start, _MAP_TYPES[tensor.dtype], rank,
        address, (ctypes.c_uint64 * rank)(*tensor.extents),
        (ctypes.c_uint64 * (rank - 1))(*tensor.strides), (ctypes.c_uint32 * rank)(*tensor.box),
        (ctypes.c_uint32 * rank)(*[1] * rank), 0, _SWIZZLES[tensor.swizzle], _PROMOTION, 0,
    )  # fmt: skip
    return (ctypes.c_uint8 * MAP_BYTES).from_buffer(room, start)
