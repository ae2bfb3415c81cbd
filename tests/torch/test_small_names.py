"""Names that programs set or pass by: settings of PyTorch's compiler, files, the hub, devices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest
import torch as pytorch

import ogive
import ogive.torch
from ogive.errors import ArgumentError, DeviceError, FileError
from tests.raising import raises

torch: Any = ogive.torch


def test_settings_of_the_compiler_keep_their_values() -> None:
    torch._dynamo.config.suppress_errors = True
    torch._inductor.config.coordinate_descent_tuning = True
    assert torch._dynamo.config.suppress_errors is True
    torch._dynamo.mark_static_address(torch.ones(2))
    with torch.backends.cudnn.flags(enabled=False):
        assert torch.ones(2).sum().item() == 2


def test_a_file_is_a_tensor_and_a_shared_one_takes_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    numpy.arange(4, dtype="float32").tofile(path)
    alone = torch.from_file(str(path), size=4)
    alone.add_(1)
    shared = torch.from_file(str(path), shared=True, size=6)
    assert shared.tolist() == [0, 1, 2, 3, 0, 0]
    shared[5] = 7
    assert numpy.fromfile(path, "float32").tolist() == [0, 1, 2, 3, 0, 7]
    with raises(ArgumentError, match="bytes"):
        torch.from_file(str(path), size=7)


def test_the_hub_runs_folders_that_are_here(tmp_path: Path) -> None:
    (tmp_path / "hubconf.py").write_text("def double(x, times=2):\n    return x * times\n")
    assert torch.hub.load(tmp_path, "double", 3, times=4, source="local") == 12
    with raises(FileError, match="no function"):
        torch.hub.load(tmp_path, "triple", source="local")
    with raises(FileError, match="clone"):
        torch.hub.load("someone/something", "double")


@pytest.mark.parametrize("name", ["max_pool2d", "adaptive_max_pool2d"])
def test_pools_give_positions_under_their_other_names(name: str) -> None:
    x = numpy.random.default_rng(2).normal(size=(1, 2, 6, 6))
    ours, theirs = [
        getattr(library.nn.functional, f"{name}_with_indices")(library.tensor(x), 2)
        for library in (torch, pytorch)
    ]
    for one, other in zip(ours, theirs, strict=True):
        assert one.tolist() == other.tolist()


def test_a_table_counts_how_often_its_rows_are_read() -> None:
    gradients = []
    for library in (torch, pytorch):
        weight = library.ones(3, 2, requires_grad=True)
        library.embedding(weight, library.tensor([0, 0, 2]), -1, True).sum().backward()
        gradients.append(weight.grad.tolist())
    assert gradients[0] == gradients[1]


def test_accelerators_are_those_that_there_are() -> None:
    for space in (torch.cuda, torch.accelerator):
        assert space.is_available() == ogive.cuda.is_available()
        assert space.device_count() == ogive.cuda.device_count()
    assert (torch.accelerator.current_accelerator() is None) is not ogive.cuda.is_available()
    assert torch.mps.device_count() == 0


@pytest.mark.skipif(ogive.cuda.is_available(), reason="there is one")
@pytest.mark.parametrize("call", [
    "current_device", "get_device_name", "get_device_properties", "get_device_capability", "init",
    "mem_get_info",
])
def test_questions_about_a_device_say_that_there_is_none(call: str) -> None:
    with raises(DeviceError, match="there is no CUDA device"):
        getattr(torch.cuda, call)()


def test_shapes_are_tensors_for_who_traces() -> None:
    assert torch._shape_as_tensor(torch.ones(2, 3)).tolist() == [2, 3]


@pytest.mark.parametrize("make", [
    lambda library: library.arange(0.0, -8.000001, -4.0, dtype=library.int64),
    lambda library: library.arange(0.5, 5.5, 1.5, dtype=library.int64),
    lambda library: library.logspace(4.3, 0, 4, 5.0, dtype=library.int64),
    lambda library: library.logspace(start=0.5, end=2, steps=3, dtype=library.int64),
])
def test_a_range_of_integers_has_bounds_without_fractions(make: Any) -> None:
    assert make(torch).tolist() == make(pytorch).tolist()
