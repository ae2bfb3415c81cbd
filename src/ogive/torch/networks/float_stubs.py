"""`torch.ao.quantization`: the parts that a model in floats uses."""

from __future__ import annotations

from typing import Any

import ogive
from ogive.nn import Identity
from ogive.nn.module import Module
from ogive.tensor.tensor import Tensor

__all__ = ["DeQuantStub", "FloatFunctional", "QuantStub", "QuantWrapper"]


class QuantStub(Module):
    """The place where a quantized model would quantize. Floats pass unchanged."""

    def __init__(self, qconfig: Any = None) -> None:
        if qconfig is not None:
            self.qconfig = qconfig

    def forward(self, x: Tensor) -> Tensor:
        return x


class DeQuantStub(QuantStub):
    """The place where a quantized model would convert back to floats. Floats pass unchanged."""


class QuantWrapper(Module):
    """A module between the two stubs."""

    def __init__(self, module: Module) -> None:
        self.quant, self.dequant, self.module = QuantStub(), DeQuantStub(), module
        self.train(module.training)

    def forward(self, x: Any) -> Any:
        return self.dequant(self.module(self.quant(x)))


class FloatFunctional(Module):
    """Operations as methods of a module, each followed by a module that could be replaced."""

    def __init__(self) -> None:
        self.activation_post_process = Identity()

    def forward(self, x: Any) -> Any:
        raise RuntimeError("FloatFunctional: call one of its operations, such as add")

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """The sum of two tensors."""
        return self._after(x + y)

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """The sum of a tensor and a number."""
        return self._after(x + y)

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """The product of two tensors, element by element."""
        return self._after(x * y)

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """The product of a tensor and a number."""
        return self._after(x * y)

    def cat(self, x: list[Tensor], dim: int = 0) -> Tensor:
        """The concatenation of tensors along an axis."""
        return self._after(ogive.cat(x, dim))

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """The ReLU of the sum of two tensors."""
        return self._after((x + y).relu())

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """The product of two matrices."""
        return self._after(x @ y)

    def _after(self, value: Tensor) -> Tensor:
        given: Tensor = self.activation_post_process(value)
        return given
