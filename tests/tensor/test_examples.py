"""The examples in the docstrings of the tensor layer run, and give what they show."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from types import ModuleType

import numpy
import pytest

import ogive
import ogive.tensor

MODULES = [
    "ogive",
    "ogive.live.registry",
    *[f"ogive.tensor.{module.name}" for module in pkgutil.iter_modules(ogive.tensor.__path__)],
]


def examples(module: ModuleType) -> list[doctest.DocTest]:
    names = {"Tensor": ogive.Tensor, "ogive": ogive, "numpy": numpy}
    return [
        test
        for test in doctest.DocTestFinder(exclude_empty=True).find(module, extraglobs=names)
        if test.examples
    ]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_run(name: str) -> None:
    runner = doctest.DocTestRunner()
    report: list[str] = []
    for test in examples(importlib.import_module(name)):
        runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)
