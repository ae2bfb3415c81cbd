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

    def sigmoid(self, x: Any) -> Any:
        return 1 / (1 + self.namespace.exp(-x))

    def tanh(self, x: Any) -> Any:
        return self.namespace.tanh(x)

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

    def sort(self, x: Any) -> Any:
        return self.namespace.sort(x)

    def gather(self, x: Any, positions: Any) -> Any:
        return self.namespace.take_along_axis(x, positions, 1)


class NumpyOperations(ArrayOperations):
    """NumPy's own."""

    def __init__(self) -> None:
        super().__init__(np)

    def convolve(self, x: Any, weight: Any, stride: int = 1, groups: int = 1) -> Any:
        """As one matrix product a group over the gathered windows."""
        size = weight.shape[-1]
        half = size // 2
        padded = np.pad(x, ((0, 0), (0, 0), (half, half), (half, half)))
        windows = self.windows(padded, size, stride).transpose(0, 1, 4, 5, 2, 3)
        batch, _, _, _, height, width = windows.shape
        columns = windows.reshape(batch, groups, -1, height * width)
        rows = weight.reshape(groups, len(weight) // groups, -1)
        return (rows @ columns).reshape(batch, -1, height, width)

    def max_pool(self, x: Any) -> Any:
        edges = ((0, 0), (0, 0), (1, 1), (1, 1))
        padded = np.pad(x, edges, constant_values=-np.inf)
        return self.windows(padded, 3, 2).max((-2, -1))

    def windows(self, x: Any, size: int, stride: int) -> Any:
        """The windows of `(batch, channels, height, width)`, as two more axes."""
        every = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(2, 3))
        return every[:, :, ::stride, ::stride]

    def integer_product(self, a: Any, b: Any) -> Any:
        # Not int32: the same function serves as the reference, whose inputs are float64.
        return np.matmul(a, b, dtype=np.result_type(a, np.int32))


class NumpyLibrary(Library):
    """NumPy computes as it is called: there is nothing to capture or to wait for."""

    operations = NumpyOperations()

    def load(self, array: HostArray) -> Any:
        if array.dtype.name == "bfloat16":
            raise NotThere("NumPy has no bfloat16")
        return array

    def fetch(self, tensor: Any) -> HostArray:
        return np.asarray(tensor)

    def eager(self, function: Function, inputs: list[Any]) -> Callable[[], Any]:
        return lambda: function(self.operations, *inputs)
