"""Everyday programs give under `ogive.torch` what they give under PyTorch.

Each is a file of `programs/` with `main(T, nn, F, optim, np)`, which gives numbers, arrays and
strings by name. It may set `TOL`, the relative and the absolute tolerance.
"""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

import numpy
import pytest

FOLDER = Path(__file__).parent / "programs"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"everyday_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def results(program: Any, library: str) -> dict[str, Any]:
    modules = [importlib.import_module(library + part) for part in ("", ".nn", ".nn.functional")]
    found = program.main(*modules, importlib.import_module(library + ".optim"), numpy)
    return {
        key: value if isinstance(value, str) else numpy.array(numpy.asarray(value))
        for key, value in found.items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_program_gives_what_it_gives_under_pytorch(name: str) -> None:
    program = load(name)
    rtol, atol = getattr(program, "TOL", (1e-4, 1e-5))
    expected, found = results(program, "torch"), results(program, "ogive.torch")
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        if isinstance(value, str):
            assert found[key] == value, key
        else:
            assert found[key].dtype == value.dtype, key
            numpy.testing.assert_allclose(found[key], value, rtol, atol, err_msg=key, strict=True)
