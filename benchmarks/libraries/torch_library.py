"""PyTorch, eager and compiled: two peers, each in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from benchmarks.libraries.base import Function, HostArray, Library, NotThere, Operations


class TorchOperations(Operations):
    """PyTorch, by its fused functions where it has them."""

    def gelu(self, x: Any) -> Any:
        return torch.nn.functional.gelu(x)

    def layer_norm(self, x: Any, weight: Any, bias: Any) -> Any:
        return torch.nn.functional.layer_norm(x, (x.shape[-1],), weight, bias)

    def linear(self, x: Any, weight: Any, bias: Any) -> Any:
        return torch.addmm(bias, x, weight)

    def attention(self, query: Any, key: Any, value: Any) -> Any:
        # Four axes, because only then PyTorch takes its flash kernel on the CPU.
        batched = (tensor.unsqueeze(0) for tensor in (query, key, value))
        return torch.nn.functional.scaled_dot_product_attention(*batched).squeeze(0)

    def convolve(self, x: Any, weight: Any, stride: int = 1, groups: int = 1) -> Any:
        padding = weight.shape[-1] // 2
        return torch.nn.functional.conv2d(x, weight, None, stride, padding, 1, groups)

    def max_pool(self, x: Any) -> Any:
        return torch.nn.functional.max_pool2d(x, 3, stride=2, padding=1)

    def batch_norm(self, x: Any, mean: Any, variance: Any, weight: Any, bias: Any) -> Any:
        return torch.nn.functional.batch_norm(x, mean, variance, weight, bias)

    def embedding(self, weight: Any, tokens: Any) -> Any:
        return torch.nn.functional.embedding(tokens, weight)

    def integer_product(self, a: Any, b: Any) -> Any:
        return torch._int_mm(a, b)

    def gradient_step(
        self, loss: Function, parameters: Sequence[Any], rate: float
    ) -> tuple[Any, ...]:
        with torch.enable_grad():
            leaves = [parameter.detach().requires_grad_() for parameter in parameters]
            gradients = torch.autograd.grad(loss(*leaves), leaves)
        return tuple(p - rate * g for p, g in zip(parameters, gradients, strict=True))


class TorchCompileOperations(TorchOperations):
    """The same, with the functional gradient, which the tracer follows without a break."""

    def gradient_step(
        self, loss: Function, parameters: Sequence[Any], rate: float
    ) -> tuple[Any, ...]:
        gradients = torch.func.grad(loss, argnums=tuple(range(len(parameters))))(*parameters)
        return tuple(p - rate * g for p, g in zip(parameters, gradients, strict=True))


class TorchLibrary(Library):
    """Eager PyTorch: on the CPU an operation is finished when it returns."""

    operations: Operations = TorchOperations()

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)

    def load(self, array: HostArray) -> Any:
        if array.dtype.name == "bfloat16":
            return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(array)

    def fetch(self, tensor: Any) -> HostArray:
        tensor = tensor.detach()
        return np.asarray(tensor.float() if tensor.dtype is torch.bfloat16 else tensor)

    def eager(self, function: Function, inputs: list[Any]) -> Callable[[], Any]:
        return lambda: function(self.operations, *inputs)


class TorchCompileLibrary(TorchLibrary):
    """`torch.compile` with its default settings."""

    operations = TorchCompileOperations()
    captures_first = True

    def eager(self, function: Function, inputs: list[Any]) -> Callable[[], Any]:
        raise NotThere("torch.compile is always captured")

    def captured(self, function: Function, inputs: list[Any]) -> Callable[[], Any]:
        # All rows share one wrapper, whose earlier compilations would count as recompilations.
        torch.compiler.reset()
        compiled = torch.compile(lambda *tensors: function(self.operations, *tensors))
        return lambda: compiled(*inputs)
