"""Captured functions see what has changed in objects that our library and Python's define."""

from __future__ import annotations

import array
import os
import types
from typing import Any

import pytest

import ogive
import ogive.torch as torch
from ogive import Tensor
from ogive.errors import CaptureWarning
from tests.jit.programs import Capture, Program, compare, results, set_attribute, set_item

PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    PROGRAMS[function.__name__] = function
    return function


@program
def mode_of_a_module_of_no_class_of_its_own(capture: Capture) -> Any:
    module = torch.nn.Module()
    function = capture(lambda x: x * 2 if module.training else x * 3)
    return results(function, module.eval, module.train)


@program
def number_in_a_module_of_no_class_of_its_own(capture: Capture) -> Any:
    module = torch.nn.Module()
    module.scale = 2.0
    return results(capture(lambda x: x * module.scale), set_attribute(module, "scale", 5.0))


@program
def parameter_of_a_distribution(capture: Capture) -> Any:
    normal = ogive.distributions.Normal(Tensor(0.0), Tensor(1.0))
    change = set_attribute(normal, "loc", Tensor(3.0))
    return results(capture(lambda x: normal.log_prob(x)), change, lambda: normal.loc.add_(1))


@program
def number_of_a_transform(capture: Capture) -> Any:
    transform = ogive.distributions.AffineTransform(1.0, 2.0)
    return results(capture(lambda x: transform(x)), set_attribute(transform, "scale", 5.0))


@program
def wrapped_module(capture: Capture) -> Any:
    wrapper = torch.nn.DataParallel(torch.nn.Threshold(0.0, 7.0))
    change = set_attribute(wrapper, "module", torch.nn.Threshold(1.5, 9.0))
    return results(capture(lambda x: wrapper(x)), change)


@program
def settings_of_normalization_over_processes(capture: Capture) -> Any:
    norm = torch.nn.SyncBatchNorm(1).eval()
    change = set_attribute(norm, "eps", 3.0)
    return results(capture(lambda x: norm(x[:, None]).detach()), change)


@program
def variable_of_the_environment(capture: Capture) -> Any:
    os.environ["OGIVE_TEST_SCALE"] = "2"
    try:
        function = capture(lambda x: x * float(os.environ["OGIVE_TEST_SCALE"]))
        return results(function, set_item(os.environ, "OGIVE_TEST_SCALE", "5"))
    finally:
        del os.environ["OGIVE_TEST_SCALE"]


@program
def dictionary_whose_attributes_are_its_entries(capture: Capture) -> Any:
    class Entries(dict[str, Any]):
        __getattr__ = dict.__getitem__

    entries: Any = Entries(scale=2.0, inner=Entries(shift=1.0))
    function = capture(lambda x: x * entries.scale + entries.inner.shift)
    return results(function, set_item(entries, "scale", 4.0), set_item(entries.inner, "shift", 3.0))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_captured_function_sees_what_the_plain_one_sees(name: str) -> None:
    compare(PROGRAMS[name])


@pytest.mark.parametrize(
    "kept",
    [types.MappingProxyType({0: 2.0}), array.array("d", [2.0]), memoryview(b"\2")],
    ids=["proxy", "array", "memory"],
)
def test_what_cannot_be_compared_is_named(kept: Any) -> None:
    function = ogive.jit(lambda x: x * kept[0])
    with pytest.warns(CaptureWarning, match="uses kept, which ogive.jit cannot watch"):
        assert function(Tensor([1.0])).tolist() == [2.0]
