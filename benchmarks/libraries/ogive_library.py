"""Ogive itself, and another checkout of it: `realize` each time, or a plan executed again."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.breakdown import summarize
from benchmarks.libraries.base import Function, HostArray, Library, Operations, Prepared, widened
from benchmarks.rows import Row


class OgiveOperations(Operations):
    """The methods that torch and tinygrad have too, and the functional gradient."""

    def integer_product(self, a: Any, b: Any) -> Any:
        return a.cast("int32") @ b.cast("int32")

    def gradient_step(
        self, loss: Function, parameters: Sequence[Any], rate: float
    ) -> tuple[Any, ...]:
        ogive = importlib.import_module("ogive")
        gradients = ogive.grad(loss, argnums=tuple(range(len(parameters))))(*parameters)
        return tuple(p - rate * g for p, g in zip(parameters, gradients, strict=True))


class OgiveLibrary(Library):
    """A plan's `execute` returns when everything is computed."""

    operations: Operations = OgiveOperations()
    stages: Mapping[str, str] | None = None  # of its passes; None for those of this checkout

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        # Through importlib, so that a package half written is a cell of the table, not an error.
        self.package: Any = importlib.import_module("ogive")
        self.tensor_class: Any = self.package.Tensor
        self.plan: Any = None

    def load(self, array: HostArray) -> Any:
        return self.tensor_class.from_numpy(array)

    def fetch(self, tensor: Any) -> HostArray:
        return widened(np.asarray(tensor.numpy()))

    def eager(self, function: Function, inputs: list[Any]) -> Callable[[], Any]:
        def call() -> Any:
            result = function(self.operations, *inputs)
            if isinstance(result, tuple):
                self.tensor_class.realize_batch(list(result))
            else:
                result.realize()
            return result

        return call

    def prepare(self, row: Row) -> Prepared:
        # Borrowed inputs count as variable in any case; this says so.
        self.package.configure(pack_constants=row.kept)
        if not row.captured:
            return super().prepare(row)
        first, *others = row.inputs()
        load = self.tensor_class if row.kept else self.load
        result = row.function(self.operations, self.load(first), *map(load, others))
        return self.prepare_plan(result)

    def prepare_plan(self, result: Any) -> Prepared:
        """Compile `result` into a plan whose `execute` is the call."""
        if isinstance(result, tuple):
            self.plan = self.tensor_class.prepare_batch(list(result))
        else:
            self.plan = result.prepare()
        return Prepared(self.plan.execute, lambda: self.fetch_all(result))

    def compile_report(self) -> dict[str, object] | None:
        return None if self.plan is None else summarize(self.plan.kernels, self.stages)

    def release(self) -> None:
        self.plan = None


class OgiveBefore(OgiveLibrary):
    """Another checkout, whose passes may be other ones: each of them is a stage of its own."""

    stages: Mapping[str, str] | None = {}
