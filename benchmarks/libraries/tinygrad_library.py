"""tinygrad on its CPU device, realized each time and under `TinyJit`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tinygrad import Device, Tensor, TinyJit

from benchmarks.libraries.base import Function, HostArray, Library, Operations, widened


class TinygradOperations(Operations):
    """tinygrad's methods."""

    def layer_norm(self, x: Any, weight: Any, bias: Any) -> Any:
        return x.layernorm() * weight + bias

    def max_pool(self, x: Any) -> Any:
        return x.max_pool2d((3, 3), stride=2, padding=1)

    def integer_product(self, a: Any, b: Any) -> Any:
        return a.matmul(b, dtype="int32")

    def gradient_step(
        self, loss: Function, parameters: Sequence[Any], rate: float
    ) -> tuple[Any, ...]:
        gradients = loss(*parameters).gradient(*parameters)
        return tuple(p - rate * g for p, g in zip(parameters, gradients, strict=True))


class TinygradLibrary(Library):
    """Every call realizes its result and then waits for the device."""

    operations = TinygradOperations()

    def load(self, array: HostArray) -> Any:
        loaded = Tensor(widened(array)).contiguous().realize()
        return loaded if array.dtype.name != "bfloat16" else loaded.cast("bfloat16").realize()

    def fetch(self, tensor: Any) -> HostArray:
        is_wide = tensor.dtype.itemsize > 2
        return np.asarray((tensor if is_wide else tensor.float()).numpy())

    def eager(self, function: Function, inputs: list[Any]) -> Callable[[], Any]:
        device = Device[Device.DEFAULT]

        def call() -> Any:
            result = realize(function(self.operations, *inputs))
            device.synchronize()
            return result

        return call

    def captured(self, function: Function, inputs: list[Any]) -> Callable[[], Any]:
        device = Device[Device.DEFAULT]
        captured = TinyJit(lambda *tensors: realize(function(self.operations, *tensors)))

        def call() -> Any:
            result = captured(*inputs)
            device.synchronize()
            return result

        for _ in range(2):  # the first call runs, the second captures, the third replays
            call()
        return call


def realize(result: Any) -> Any:
    """Realize one tensor, or several at once."""
    if isinstance(result, tuple):
        Tensor.realize(*result)
        return result
    return result.realize()
