"""The driver's library, `libcuda.so.1`: found, checked and initialized at the first use.

No CUDA toolkit is needed, and nothing is loaded before a GPU is used. A call that fails raises a
typed error with the driver's name of the failure and advice.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from typing import Any

from ogive.errors import AllocateError, DeviceError, ExecuteError

LIBRARIES = ("nvcuda.dll",) if sys.platform == "win32" else ("libcuda.so.1", "libcuda.so")
OLDEST = 12060
"""The oldest driver version whose assembler takes our PTX 8.6: 12060 is CUDA 12.6."""

_OUT_OF_MEMORY, _NO_DEVICE, _DEINITIALIZED, _UNINITIALIZED = 2, 100, 4, 3
_BROKEN = frozenset({700, 702, 710, 713, 714, 715, 716, 717, 718, 719})
"""Errors after which the driver refuses every call of this process."""

_POINTER, _NUMBER, _SIZE, _WORD = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_uint64
_COUNT, _TEXT = ctypes.c_uint, ctypes.c_char_p

_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "cuInit": (_COUNT,),
    "cuDriverGetVersion": (_POINTER,),
    "cuGetErrorName": (_NUMBER, _POINTER),
    "cuGetErrorString": (_NUMBER, _POINTER),
    # GPUs
    "cuDeviceGetCount": (_POINTER,),
    "cuDeviceGet": (_POINTER, _NUMBER),
    "cuDeviceGetName": (_TEXT, _NUMBER, _NUMBER),
    "cuDeviceGetAttribute": (_POINTER, _NUMBER, _NUMBER),
    "cuDeviceTotalMem_v2": (_POINTER, _NUMBER),
    "cuDevicePrimaryCtxRetain": (_POINTER, _NUMBER),
    "cuCtxSetCurrent": (_POINTER,),
    # Memory
    "cuMemGetInfo_v2": (_POINTER, _POINTER),
    "cuMemAlloc_v2": (_POINTER, _SIZE),
    "cuMemFree_v2": (_WORD,),
    "cuMemHostAlloc": (_POINTER, _SIZE, _COUNT),
    "cuMemcpyHtoD_v2": (_WORD, _POINTER, _SIZE),
    "cuMemcpyHtoDAsync_v2": (_WORD, _POINTER, _SIZE, _POINTER),
    "cuMemcpyDtoH_v2": (_POINTER, _WORD, _SIZE),
    "cuMemcpyDtoHAsync_v2": (_POINTER, _WORD, _SIZE, _POINTER),
    "cuMemcpyDtoDAsync_v2": (_WORD, _WORD, _SIZE, _POINTER),
    "cuMemcpyPeerAsync": (_WORD, _POINTER, _WORD, _POINTER, _SIZE, _POINTER),
    # Order
    "cuStreamSynchronize": (_POINTER,),
    "cuEventCreate": (_POINTER, _COUNT),
    "cuEventRecord": (_POINTER, _POINTER),
    "cuEventQuery": (_POINTER,),
    "cuEventSynchronize": (_POINTER,),
    "cuEventElapsedTime": (_POINTER, _POINTER, _POINTER),
    "cuEventDestroy_v2": (_POINTER,),
    # Code
    "cuLinkCreate_v2": (_COUNT, _POINTER, _POINTER, _POINTER),
    "cuLinkAddData_v2": (
        _POINTER, _NUMBER, _POINTER, _SIZE, _TEXT, _COUNT, _POINTER, _POINTER,
    ),
    "cuLinkComplete": (_POINTER, _POINTER, _POINTER),
    "cuLinkDestroy": (_POINTER,),
    "cuModuleLoadData": (_POINTER, _POINTER),
    "cuModuleUnload": (_POINTER,),
    "cuModuleGetFunction": (_POINTER, _POINTER, _TEXT),
    "cuFuncSetAttribute": (_POINTER, _NUMBER, _NUMBER),
    "cuLaunchKernel": (_POINTER, *[_COUNT] * 7, _POINTER, _POINTER, _POINTER),
    "cuLaunchKernelEx": (_POINTER, _POINTER, _POINTER, _POINTER),
    # Graphs
    "cuStreamCreate": (_POINTER, _COUNT),
    "cuStreamBeginCapture_v2": (_POINTER, _NUMBER),
    "cuStreamEndCapture": (_POINTER, _POINTER),
    "cuStreamGetCaptureInfo_v3": (_POINTER,) * 7,
    "cuGraphInstantiateWithFlags": (_POINTER, _POINTER, _WORD),
    "cuGraphExecKernelNodeSetParams_v2": (_POINTER, _POINTER, _POINTER),
    "cuGraphLaunch": (_POINTER, _POINTER),
    "cuGraphExecDestroy": (_POINTER,),
    "cuGraphDestroy": (_POINTER,),
    "cuTensorMapEncodeTiled": (
        _POINTER, _NUMBER, _COUNT, _POINTER, *[_POINTER] * 4, *[_NUMBER] * 4,
    ),
}  # fmt: skip

_SHORT = frozenset({
    "cuLaunchKernel", "cuLaunchKernelEx", "cuCtxSetCurrent", "cuEventRecord", "cuEventQuery",
})  # fmt: skip
"""Functions so short that they are called without releasing the GIL."""


class CudaDriver:
    """The library as loaded in this process; `call` calls a function that must succeed.

    `open_library` returns an object with the library's functions for a file name.
    """

    def __init__(self, open_library: Callable[[str], Any] | None = None) -> None:
        self._open = open_library
        self._functions: dict[str, Any] = {}
        self._libraries: tuple[Any, Any] | None = None
        self._process = 0
        self._is_broken = ""

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function. Raises `DeviceError`, `AllocateError` or `ExecuteError`."""
        code = self.function(name)(*arguments)
        if code:
            self.refuse(name, code)

    def try_call(self, name: str, *arguments: Any) -> int:
        """Call a function; returns the driver's code, 0 for success."""
        return int(self.function(name)(*arguments))

    def give_back(self, name: str, *arguments: Any) -> None:
        """Call a function that releases a resource; failures are ignored.

        At the end of the process the driver may already be shut down, and a forked process does
        not own its parent's resources.
        """
        if self._process == os.getpid():
            self.try_call(name, *arguments)

    def function(self, name: str) -> Any:
        """A function of the library, once it is initialized in this process."""
        function = self._functions.get(name)
        if function is None:
            function = self._find(name)
        if self._process != os.getpid():
            raise DeviceError(
                "a GPU cannot be used in a process that was forked after its parent used one; "
                "start it with multiprocessing.get_context('spawn')"
            )
        return function

    def _find(self, name: str) -> Any:
        holding, releasing = self._libraries or self._load()
        library = holding if name in _SHORT else releasing
        function = getattr(library, name)
        function.restype, function.argtypes = _NUMBER, _SIGNATURES[name]
        self._functions[name] = function
        return function

    def _load(self) -> tuple[Any, Any]:
        self._process = os.getpid()
        libraries = self._libraries = self._open_libraries()
        try:
            self._check_version()
            code = self.try_call("cuInit", 0)
            if code:
                self._refuse_start(code)
        except BaseException:
            self._libraries = None
            self._functions.clear()
            raise
        return libraries

    def _open_libraries(self) -> tuple[Any, Any]:
        problems = []
        for name in LIBRARIES:
            try:
                if self._open is not None:
                    return self._open(name), self._open(name)
                return ctypes.PyDLL(name), ctypes.CDLL(name)
            except OSError as error:
                problems.append(str(error))
        raise DeviceError(
            f"there is no NVIDIA driver here ({problems[0]}); install the driver of your GPU "
            "(nvidia.com/drivers), or compute on the CPU"
        )

    def _check_version(self) -> None:
        version = self.version
        if version < OLDEST:
            raise DeviceError(
                f"the NVIDIA driver is of CUDA {_dotted(version)}; ours is assembled from CUDA "
                f"{_dotted(OLDEST)} on: install a newer driver (560 or later)"
            )

    @property
    def version(self) -> int:
        """The CUDA version of the driver in its own notation: 12060 is 12.6."""
        version = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        return version.value

    def _refuse_start(self, code: int) -> None:
        if code == _NO_DEVICE:
            raise DeviceError(
                "the NVIDIA driver finds no GPU; is one hidden by CUDA_VISIBLE_DEVICES "
                f"({os.environ.get('CUDA_VISIBLE_DEVICES', 'which is not set')})?"
            )
        raise DeviceError(f"the NVIDIA driver does not start: {self.describe(code)}")

    def refuse(self, name: str, code: int) -> None:
        """Raise the error that the driver's code of a failed call means."""
        if code == _OUT_OF_MEMORY:
            raise AllocateError(
                f"the GPU has no memory left ({name}); free other tensors, call "
                "ogive.cuda.empty_cache(), or work on smaller pieces"
            )
        said = self.describe(code)
        if code in _BROKEN:
            raise ExecuteError(
                f"a kernel broke the GPU's context ({name}: {said}): nothing more runs there in "
                "this process; start it anew, and please report this"
            )
        raise ExecuteError(f"the NVIDIA driver refused {name}: {said}")

    def describe(self, code: int) -> str:
        """The driver's name and description of a code."""
        words = []
        for name in ("cuGetErrorName", "cuGetErrorString"):
            text = ctypes.c_char_p()
            if self.try_call(name, code, ctypes.byref(text)) == 0 and text.value:
                words.append(text.value.decode())
        return ", ".join(words) or f"error {code}"


def _dotted(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


process_driver = CudaDriver()
"""The driver of this process."""
