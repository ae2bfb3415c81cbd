"""GPUs for tests: one that the host emulates, and one of this machine, if it has any."""

from __future__ import annotations

import functools

import pytest

import ogive
from ogive.compiler.devices import known_devices
from ogive.compiler.devices.cuda.device import CudaDevice
from tests.compiler.devices.cuda.emulated_gpu import emulated_device

IS_THERE = ogive.cuda.is_available()

ON_A_GPU = [
    pytest.mark.cuda,
    pytest.mark.skipif(not IS_THERE, reason="there is no NVIDIA GPU here"),
]


@functools.cache
def _emulated_device() -> CudaDevice:
    """One for all tests: kernels that are kept in caches belong to the device that loaded them."""
    return emulated_device(7)


@pytest.fixture(params=["emulated", pytest.param("real", marks=ON_A_GPU)])
def gpu(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a device."""
    if request.param == "real":
        return "CUDA"
    device = _emulated_device()
    monkeypatch.setitem(known_devices._devices, device.name, device)
    return device.name
