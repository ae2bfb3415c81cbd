"""Load products on a GPU: each kernel once, and a host function that launches them."""

from __future__ import annotations

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.cuda.gpu import DriverGpu, LoadedKernel
from ogive.compiler.devices.cuda.native_launches import NativeLaunch
from ogive.compiler.devices.cuda.products.compile_product import ProductCode
from ogive.compiler.devices.cuda.products.launches import Launch
from ogive.compiler.devices.cuda.products.native_product import ProductCall, make_native_product
from ogive.config import Config


class ProductKernels:
    """Loads the products of one GPU. A kernel serves many products and is loaded once."""

    def __init__(self, gpu: DriverGpu, device: str) -> None:
        self.gpu = gpu
        self.device = device
        self._loaded: dict[str, LoadedKernel] = {}

    def load(self, code: ProductCode) -> NativeLaunch:
        """Make a host function that launches a product. Raises `LoadError`."""
        loaded = [self._load(launch) for launch in code.launches]
        functions = [kernel.function.value for kernel in loaded]
        workspace = Buffer(code.workspace_bytes, self.device) if code.workspace_bytes else None
        return make_native_product(
            self._call,
            list(zip(code.launches, functions, strict=True)),
            {f"slot{slot}": position for position, slot in enumerate(code.slots)},
            {} if workspace is None else {"workspace": workspace.address},
            Config(),
            (loaded, workspace),
        )

    @property
    def _call(self) -> ProductCall:
        names = ("cuLaunchKernelEx", "cuTensorMapEncodeTiled", "cuCtxSetCurrent")
        launch, encode, enter = map(self.gpu.address_of, names)
        return ProductCall(launch, encode, enter, self.gpu.context, self.gpu.failure_address)

    def _load(self, launch: Launch) -> LoadedKernel:
        function = self._loaded.get(launch.module)
        if function is None:
            code = launch.module.encode() + b"\0"
            function = self.gpu.load(launch.name, code, launch.shared_bytes)
            self._loaded[launch.module] = function
        return function
