"""What is wrong with a GPU, or with its driver, is told in words that say what to do."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import pytest

from ogive.compiler.devices.cuda.cuda_driver import OLDEST, CudaDriver
from ogive.compiler.devices.cuda.device import CudaDevice
from ogive.compiler.devices.cuda.gpu import DriverGpu
from ogive.errors import AllocateError, DeviceError, ExecuteError
from tests.compiler.devices.cuda.emulated_gpu import FACTS, EmulatedGpu
from tests.new_process import output_of
from tests.raising import raises


class _Function:
    """A function of a library that is none: it gives a code, and fills in a number."""

    def __init__(self, code: int, number: int) -> None:
        self.code = code
        self.number = number

    def __call__(self, *arguments: Any) -> int:
        if arguments and hasattr(arguments[0], "_obj"):
            arguments[0]._obj.value = self.number
        return self.code


class FakeLibrary:
    """A driver's library in which functions give these codes, and 0 otherwise."""

    def __init__(self, codes: dict[str, int], gpus: int = 1, version: int = OLDEST) -> None:
        self.numbers = {"cuDeviceGetCount": gpus, "cuDriverGetVersion": version}
        self.codes = codes

    def __getattr__(self, name: str) -> _Function:
        made = _Function(self.codes.get(name, 0), self.numbers.get(name, 0))
        setattr(self, name, made)
        return made


def driver_with(**given: Any) -> CudaDriver:
    return CudaDriver(lambda _: FakeLibrary(given.pop("codes", {}), **given))


def missing(name: str) -> Any:
    raise OSError(f"{name}: cannot open shared object file")


def test_without_a_driver_it_says_which_to_install() -> None:
    with raises(DeviceError, match=r"no NVIDIA driver here \(.*libcuda.*install the driver"):
        DriverGpu(0, CudaDriver(missing))


def test_an_old_driver_is_told_with_what_is_needed() -> None:
    with raises(DeviceError, match=r"of CUDA 11\.8; .* CUDA 12\.6 on: install a newer"):
        DriverGpu(0, driver_with(version=11080))


def test_a_driver_without_a_gpu_points_to_what_may_hide_it() -> None:
    driver = CudaDriver(lambda _: FakeLibrary({"cuInit": 100}))
    with raises(DeviceError, match="finds no GPU; is one hidden by CUDA_VISIBLE_DEVICES"):
        DriverGpu(0, driver)


def test_a_gpu_that_there_is_not_is_told_with_the_last() -> None:
    with raises(DeviceError, match="there is no CUDA:2; the last is CUDA:1"):
        DriverGpu(2, driver_with(gpus=2))


def test_an_old_gpu_is_refused() -> None:
    with raises(DeviceError, match=r"a Tesla of compute capability 7\.0; .* from 9\.0 on"):
        CudaDevice(0, EmulatedGpu(FACTS._replace(name="Tesla", major=7)))


def test_memory_that_is_not_there_says_how_to_get_some() -> None:
    driver = CudaDriver(lambda _: FakeLibrary({"cuMemAlloc_v2": 2}))
    with raises(AllocateError, match=r"no memory left .* ogive\.cuda\.empty_cache\(\)"):
        driver.call("cuMemAlloc_v2", ctypes.byref(ctypes.c_uint64()), 1 << 40)


def test_a_broken_context_says_that_the_process_must_start_anew() -> None:
    driver = CudaDriver(lambda _: FakeLibrary({"cuStreamSynchronize": 700}))
    with raises(ExecuteError, match=r"broke the GPU's context .* start it anew"):
        driver.call("cuStreamSynchronize", None)


def test_what_failed_to_start_is_tried_again() -> None:
    libraries = [FakeLibrary({"cuInit": 100}), FakeLibrary({"cuInit": 100}), FakeLibrary({})]
    driver = CudaDriver(lambda _: libraries.pop(0) if len(libraries) > 1 else libraries[0])
    with pytest.raises(DeviceError):
        driver.call("cuDeviceGetCount", ctypes.byref(ctypes.c_int()))
    driver.call("cuDeviceGetCount", ctypes.byref(ctypes.c_int()))


def test_a_forked_process_is_told_to_be_spawned() -> None:
    driver = driver_with()
    driver.call("cuDeviceGetCount", ctypes.byref(ctypes.c_int()))
    child = os.fork()
    if not child:
        driver.give_back("cuMemFree_v2", 0)  # which is nothing to it
        try:
            driver.call("cuDeviceGetCount", ctypes.byref(ctypes.c_int()))
        except DeviceError as error:
            os._exit(7 if "spawn" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_the_cpu_needs_nothing_of_it() -> None:
    program = (
        "import sys, ogive; (ogive.Tensor([1.0, 2.0]) + 1).numpy(); "
        "print([name for name in sys.modules if name.startswith('ogive.compiler.devices.cuda')])"
    )
    output = output_of(program)
    assert output.strip() == "[]"
