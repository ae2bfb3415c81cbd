"""The examples in docstrings are right, in every module."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from types import ModuleType
from typing import Any

import numpy
import pytest

import ogive

MODULES = ["ogive", *[m.name for m in pkgutil.walk_packages(ogive.__path__, "ogive.")]]
NAMES: dict[str, Any] = {
    "ogive": ogive, "Tensor": ogive.Tensor, "nn": ogive.nn, "numpy": numpy,
}  # fmt: skip
"""What examples may use without importing it."""


class Finder(doctest.DocTestFinder):
    """Finds the examples of functions under decorators too: they belong to the module inside."""

    def _from_module(self, module: ModuleType | None, object: Any) -> bool:
        found = inspect.unwrap(object) if inspect.isfunction(object) else object
        return bool(super()._from_module(module, found))  # type: ignore[misc]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_the_module_are_right(name: str) -> None:
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    complaints: list[str] = []
    for test in Finder().find(module, extraglobs=NAMES):
        runner.run(test, out=complaints.append)
    assert not complaints, "".join(complaints)


def test_examples_are_looked_for_where_there_are_some() -> None:
    for name in ("elementwise.unary_functions", "reduction.basic_reductions"):
        found = Finder().find(importlib.import_module(f"ogive.tensor.{name}"))
        assert sum(bool(test.examples) for test in found) > 10
