"""Ogive's adapter, with a stand-in for the package that records what it is asked."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.libraries.ogive_library import OgiveLibrary
from benchmarks.rows import TINY_CAPTURED, TINY_REALIZED, keeping


class StandInTensor:
    """An array and a thunk: enough of Ogive's surface for the tiny rows."""

    executed = 0

    def __init__(self, compute: Any) -> None:
        self.compute = compute
        self.value: Any = None

    @classmethod
    def from_numpy(cls, array: Any) -> StandInTensor:
        return cls(lambda: array)

    @classmethod
    def prepare_batch(cls, tensors: list[StandInTensor]) -> SimpleNamespace:
        def execute() -> None:
            cls.executed += 1
            for tensor in tensors:
                tensor.realize()

        kernel = SimpleNamespace(name="k", ir="code", axes=(), timings={"llvm": 0.01})
        return SimpleNamespace(execute=execute, kernels=[kernel])

    def __add__(self, other: float) -> StandInTensor:
        return StandInTensor(lambda: self.compute() + np.float32(other))

    def prepare(self) -> SimpleNamespace:
        return self.prepare_batch([self])

    def realize(self) -> StandInTensor:
        self.value = self.compute()
        return self

    def numpy(self) -> Any:
        return self.value


settings: dict[str, Any] = {}


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> OgiveLibrary:
    package = SimpleNamespace(Tensor=StandInTensor, configure=settings.update)
    monkeypatch.setitem(sys.modules, "ogive", package)
    monkeypatch.setattr(StandInTensor, "executed", 0)
    return OgiveLibrary(1)


def test_a_captured_row_executes_one_plan(library: OgiveLibrary) -> None:
    prepared = library.prepare(TINY_CAPTURED)
    prepared.call()
    prepared.call()
    assert StandInTensor.executed == 2
    assert prepared.fetch()[0].tolist() == [1, 2, 3, 4]


def test_only_rows_that_say_so_keep_panels(library: OgiveLibrary) -> None:
    library.prepare(TINY_CAPTURED)
    assert settings == {"pack_constants": False}
    library.prepare(keeping(TINY_CAPTURED))
    assert settings == {"pack_constants": True}


def test_the_plan_tells_its_compile_time(library: OgiveLibrary) -> None:
    library.prepare(TINY_CAPTURED)
    report = library.compile_report()
    assert report is not None and report["unique"] == 1
    library.release()
    assert library.compile_report() is None


def test_a_row_built_each_time_makes_no_plan(library: OgiveLibrary) -> None:
    prepared = library.prepare(TINY_REALIZED)
    assert prepared.fetch()[0].tolist() == [1, 2, 3, 4]
    assert StandInTensor.executed == 0


def test_several_results_share_one_plan(library: OgiveLibrary) -> None:
    tensor = StandInTensor.from_numpy(np.zeros(2, dtype=np.float32))
    prepared = library.prepare_plan((tensor + 1, tensor + 2))
    prepared.call()
    assert [part.tolist() for part in prepared.fetch()] == [[1, 1], [2, 2]]
    assert StandInTensor.executed == 1
