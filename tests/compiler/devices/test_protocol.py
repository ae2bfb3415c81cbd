"""Names of devices, the registry, and copies between any two."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import ogive
from ogive import Tensor
from ogive.compiler.devices.host_bytes import host_bytes
from ogive.compiler.devices.host_memory import Allocator
from ogive.compiler.devices.known_devices import check_name, find_device, host
from ogive.compiler.devices.protocol import DONE, Device, HostStep, KernelStep, StepFailure
from ogive.errors import DeviceError
from tests.raising import raises


@pytest.mark.parametrize(
    "given, name",
    [("cpu", "CPU"), ("CPU:0", "CPU"), ("cpu:1", "CPU:1"), ("Cpu:012", "CPU:12"), ("disk", "DISK")],
)
def test_a_device_has_one_name(given: str, name: str) -> None:
    assert check_name(given) == name
    assert find_device(check_name(given)).name == name


def test_an_index_may_be_given_apart() -> None:
    assert check_name("cpu", 1) == "CPU:1" and check_name("cpu", 0) == "CPU"


@pytest.mark.parametrize(
    "given, words",
    [
        ("mps", "unknown device 'mps'; the devices are .*CPU.*, and there is no MPS here"),
        ("cpuu", r"unknown device 'cpuu' \(did you mean 'CPU'\?\); the devices are CPU"),
        ("CPU:x", "unknown device 'CPU:x'; behind the colon is which of several .* 'CPU:1'"),
        ("CPU:-1", "unknown device 'CPU:-1'"),
        ("CPU:", "unknown device 'CPU:'"),
        ("CPU:²", "unknown device"),
    ],
)
def test_an_unknown_name_is_told_with_those_there_are(given: str, words: str) -> None:
    with raises(DeviceError, match=words):
        check_name(given)


def test_what_there_is_not_is_told_when_a_tensor_is_to_be_there() -> None:
    with raises(DeviceError, match="there is no CPU:5000; the last is CPU:255"):
        Tensor([1], device="CPU:5000")
    with raises(DeviceError, match="there is no DISK:1"):
        find_device("DISK:1")
    with raises(DeviceError, match="there is no XPU here"):
        Tensor([1]).to("xpu:0")
    with raises(DeviceError, match="DISK is read-only"):
        Tensor([1]).to("disk")


def test_a_device_is_made_once() -> None:
    assert find_device("CPU:3") is find_device("CPU:3") is not find_device("CPU")
    assert host() is find_device("CPU")


def test_a_name_has_the_parts_that_pytorch_gives_it() -> None:
    device: Any = Tensor([1], device="cpu:2").device
    assert (device, device.type, device.index) == ("CPU:2", "cpu", 2)
    assert ogive.device("cpu") == "CPU"


class Distant(Device):
    """Memory that the host cannot address: what is there lies at other places than it says."""

    kind = "DISTANT"
    away = 1 << 40

    def __init__(self, index: int = 0) -> None:
        super().__init__(index)
        self.memory = Allocator(self.name)

    def copy_in(self, address: int, data: memoryview) -> None:
        host_bytes(address - self.away, data.nbytes)[:] = data

    def copy_out(self, address: int, into: memoryview) -> None:
        into[:] = host_bytes(address - self.away, into.nbytes)

    def target(self, *_: object) -> None:  # type: ignore[override]
        raise NotImplementedError

    compile_region = assemble = load = launch_step = target  # type: ignore[assignment]


@pytest.mark.parametrize("near", [(True, True), (True, False), (False, True), (False, False)])
def test_bytes_are_copied_between_any_two_devices(near: tuple[bool, bool]) -> None:
    devices = [find_device("CPU:1") if each else Distant() for each in near]
    data = numpy.arange(1000, dtype=numpy.uint8)
    places = [device.memory.allocate(data.nbytes) for device in devices]
    source, destination = [
        place[0] + (0 if device.addressable else Distant.away)
        for place, device in zip(places, devices, strict=True)
    ]
    devices[0].copy_in(source, data.data)
    step = devices[1].copy_step(devices[0], data.nbytes)
    assert isinstance(step, KernelStep if all(near) else HostStep)
    step = step._replace(arguments=(destination, source, data.nbytes))
    assert host().bind([step], host().pool(ogive.Config())).execute() is None
    found = numpy.zeros(1000, numpy.uint8)
    devices[1].copy_out(destination, found.data)
    numpy.testing.assert_array_equal(found, data)


def test_a_copy_that_fails_is_a_fault_of_its_plan() -> None:
    step = find_device("CPU").copy_step(find_device("DISK"), 8)
    assert isinstance(step, HostStep)
    with pytest.raises(StepFailure):
        step.function(0, 1 << 60, 8)
    fault = host().bind([step], host().pool(ogive.Config())).execute()
    assert fault is not None and fault.error is not None


def test_what_the_host_has_done_is_over() -> None:
    assert find_device("CPU").record() is DONE and DONE.is_over
    DONE.wait()


def test_files_compute_nothing_and_take_nothing() -> None:
    disk = find_device("DISK")
    with raises(DeviceError, match="DISK computes nothing"):
        disk.target(ogive.Config())
    with raises(DeviceError, match="DISK is read-only"):
        disk.memory.allocate(8)
    with raises(DeviceError, match="DISK is read-only"):
        disk.copy_in(1, memoryview(b"12345678"))
    with raises(DeviceError, match="CPU has no files"):
        find_device("CPU").open_file("x", 0, 1)
