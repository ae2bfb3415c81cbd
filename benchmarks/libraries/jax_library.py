"""JAX, eager and under `jax.jit`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from benchmarks.libraries.base import Function, HostArray, Library, widened
from benchmarks.libraries.numpy_library import ArrayOperations


class JaxOperations(ArrayOperations):
    """`jax.numpy` and `jax.nn`."""

    def __init__(self) -> None:
        super().__init__(jax.numpy)

    def relu(self, x: Any) -> Any:
        return jax.nn.relu(x)

    def gelu(self, x: Any) -> Any:
        return jax.nn.gelu(x, approximate=False)

    def softmax(self, x: Any) -> Any:
        return jax.nn.softmax(x)

    def log_softmax(self, x: Any) -> Any:
        return jax.nn.log_softmax(x)

    def contiguous(self, x: Any) -> Any:
        return x  # every JAX array is, once it leaves the compiled function

    def convolve(self, x: Any, weight: Any, stride: int = 1, groups: int = 1) -> Any:
        half = weight.shape[-1] // 2
        return jax.lax.conv_general_dilated(
            x,
            weight,
            window_strides=(stride, stride),
            padding=[(half, half), (half, half)],
            feature_group_count=groups,
        )

    def max_pool(self, x: Any) -> Any:
        return jax.lax.reduce_window(
            x,
            -jax.numpy.inf,
            jax.lax.max,
            window_dimensions=(1, 1, 3, 3),
            window_strides=(1, 1, 2, 2),
            padding=[(0, 0), (0, 0), (1, 1), (1, 1)],
        )

    def integer_product(self, a: Any, b: Any) -> Any:
        return jax.lax.dot(a, b, preferred_element_type=jax.numpy.int32)

    def gradient_step(
        self, loss: Function, parameters: Sequence[Any], rate: float
    ) -> tuple[Any, ...]:
        gradients = jax.grad(loss, argnums=tuple(range(len(parameters))))(*parameters)
        return tuple(p - rate * g for p, g in zip(parameters, gradients, strict=True))


class JaxLibrary(Library):
    """JAX returns before it has computed, so every call waits for its result."""

    operations = JaxOperations()
    captures_first = True

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        jax.config.update("jax_enable_x64", True)  # for the rows that are float64

    def load(self, array: HostArray) -> Any:
        return jax.numpy.asarray(array)

    def fetch(self, tensor: Any) -> HostArray:
        return widened(np.asarray(tensor))

    def eager(self, function: Function, inputs: list[Any]) -> Callable[[], Any]:
        return lambda: jax.block_until_ready(function(self.operations, *inputs))

    def captured(self, function: Function, inputs: list[Any]) -> Callable[[], Any]:
        compiled = jax.jit(lambda *tensors: function(self.operations, *tensors))
        return lambda: jax.block_until_ready(compiled(*inputs))
