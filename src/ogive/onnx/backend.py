"""The interface by which the tests of the `onnx` package run a model; it needs no `onnx` itself.

`onnx.backend.test.BackendTest(ogive.onnx.backend, __name__)` makes test cases of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from ogive.compiler.ir.device_names import DEFAULT_DEVICE, split_name
from ogive.errors import ArgumentError
from ogive.onnx.model import Model, load
from ogive.tensor.tensor import Tensor


class BackendRep:
    """A prepared model."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def run(self, inputs: Any, **_: Any) -> tuple[Any, ...]:
        """The outputs as NumPy arrays, lists of these for sequences, None for no value."""
        if isinstance(inputs, Mapping):
            given = dict(inputs)
        else:
            names = [info.name for info in self.model.inputs]
            values = inputs if isinstance(inputs, Sequence) else [inputs]
            given = dict(zip(names, values, strict=True))
        return tuple(_to_arrays(value) for value in self.model.run(given).values())


class OgiveBackend:
    """An `onnx.backend.base.Backend`: models by their message, on the CPU."""

    @classmethod
    def is_compatible(cls, model: Any, device: str = DEFAULT_DEVICE, **_: Any) -> bool:
        """Whether every operator of the model is there."""
        try:
            cls.prepare(model, device)
        except NotImplementedError:
            return False
        return True

    @classmethod
    def prepare(cls, model: Any, device: str = DEFAULT_DEVICE, **_: Any) -> BackendRep:
        """A model that can be run many times."""
        if not cls.supports_device(device):
            raise ArgumentError(f"models run on {DEFAULT_DEVICE} here, not on {device!r}")
        return BackendRep(load(model.SerializeToString()))

    @classmethod
    def run_model(
        cls, model: Any, inputs: Any, device: str = DEFAULT_DEVICE, **_: Any
    ) -> tuple[Any, ...]:
        """The outputs of a model that is run once."""
        return cls.prepare(model, device).run(inputs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether models can run on a device."""
        return split_name(device)[0] == DEFAULT_DEVICE


def _to_arrays(value: Any) -> Any:
    if isinstance(value, list):
        return [_to_arrays(each) for each in value]
    return numpy.asarray(value.numpy()) if isinstance(value, Tensor) else value


prepare = OgiveBackend.prepare
run_model = OgiveBackend.run_model
is_compatible = OgiveBackend.is_compatible
supports_device = OgiveBackend.supports_device
