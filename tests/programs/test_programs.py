"""Programs in the manner of published ones give under `ogive.torch` what they give under PyTorch.

Each program of `cases` is written for `torch`, which it is given, and returns numbers by name.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
import pytest
import torch as pytorch

import ogive.torch

FOLDER = Path(__file__).with_name("cases")
PROGRAMS = sorted(path.stem for path in FOLDER.glob("[a-z]*.py"))


def run(program: ModuleType, torch: Any) -> dict[str, Any]:
    torch.manual_seed(0)
    found = program.main(torch, numpy.random.default_rng(7))
    return {name: _as_array(value) for name, value in found.items()}


def _as_array(value: Any) -> Any:
    if isinstance(value, str):
        return value
    return numpy.asarray(value.detach() if hasattr(value, "detach") else value)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_gives_what_it_gives_under_pytorch(name: str) -> None:
    program = importlib.import_module(f"tests.programs.cases.{name}")
    wanted, found = run(program, pytorch), run(program, ogive.torch)
    assert wanted.keys() == found.keys()
    for key, value in wanted.items():
        if isinstance(value, str):
            assert found[key] == value
            continue
        assert found[key].shape == value.shape, key
        assert found[key].dtype == value.dtype, key
        numpy.testing.assert_allclose(
            found[key], value, rtol=program.TOLERANCE, atol=program.TOLERANCE, err_msg=key
        )
