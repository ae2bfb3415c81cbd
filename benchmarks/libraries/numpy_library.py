"""NumPy, and the array-namespace style that JAX shares with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.libraries.base import Function, HostArray, Library, NotThere, Operations


class ArrayOperations(Operations):
    """The operations by the functions of `namespace`: numpy or jax.numpy."""

    def __init__(self, namespace: Any) -> None:
        self.namespace = namespace

    def exp(self, x: Any) -> Any:
        return self.namespace.exp(x)

    def relu(self, x: Any) -> Any:
        return self.namespace.maximum(x, 0)

    def gelu(self, x: Any) -> Any:
        raise NotThere("NumPy has no erf")

    def softmax(self, x: Any) -> Any:
        exponentials = self.namespace.exp(x - x.max(-1, keepdims=True))
        return exponentials / exponentials.sum(-1, keepdims=True)

    def log_softmax(self, x: Any) -> Any:
        shifted = x - x.max(-1, keepdims=True)
        return shifted - self.namespace.log(self.namespace.exp(shifted).sum(-1, keepdims=True))

    def layer_norm(self, x: Any, weight: Any, bias: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        variance = (centred * centred).mean(-1, keepdims=True)
        return centred / self.namespace.sqrt(variance + 1e-5) * weight + bias

    def permute(self, x: Any, axes: tuple[int, ...]) -> Any:
        return self.namespace.transpose(x, axes)

    def contiguous(self, x: Any) -> Any:
        return self.namespace.ascontiguousarray(x)


class NumpyOperations(ArrayOperations):
    """NumPy's own."""

    def __init__(self) -> None:
        super().__init__(np)

    def convolve(self, x: Any, weight: Any) -> Any:
        """As one matrix product over the gathered 3×3 windows."""
        batch, channels, height, width = x.shape
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
        columns = windows.transpose(0, 1, 4, 5, 2, 3).reshape(batch, channels * 9, height * width)
        return (weight.reshape(len(weight), -1) @ columns).reshape(batch, -1, height, width)


class NumpyLibrary(Library):
    """NumPy computes as it is called: there is nothing to capture or to wait for."""

    operations = NumpyOperations()

    def load(self, array: HostArray) -> Any:
        return array

    def fetch(self, tensor: Any) -> HostArray:
        return np.asarray(tensor)

    def eager(self, function: Function, inputs: list[Any]) -> Callable[[], Any]:
        return lambda: function(self.operations, *inputs)
