"""Dense layers, and those that only change shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ogive.errors import ShapeError
from ogive.nn.drawn_layer import EvenlyDrawnLayer
from ogive.nn.init import default_parameter
from ogive.nn.module import Module
from ogive.tensor.tensor import Tensor


class Identity(Module):
    """y = x.

    >>> nn.Identity()(Tensor([1, 2])).tolist()
    [1, 2]
    """

    def forward(self, x: Tensor) -> Tensor:
        return x


class Linear(EvenlyDrawnLayer):
    """y = x·Wᵀ + b.

    Shapes: (..., in_features) → (..., out_features); `weight` is (out_features, in_features).

    >>> nn.Linear(3, 2)(ogive.ones(5, 3)).shape
    (5, 2)
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: str | None = None,
        dtype: Any = None,
    ) -> None:
        self.in_features = in_features
        self.out_features = out_features
        kind = (in_features, device, dtype)
        self.weight = default_parameter((out_features, in_features), *kind)
        self.bias = default_parameter((out_features,), *kind) if bias else None
        self._finish()

    def _inputs(self) -> int:
        return self.in_features

    def forward(self, x: Tensor) -> Tensor:
        if not x.ndim or x.shape[-1] != self.in_features:
            raise ShapeError(f"expected (..., {self.in_features}), got {x.shape}")
        return x.linear(self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Bilinear(EvenlyDrawnLayer):
    """y[k] = x₁ᵀ·W[k]·x₂ + b[k].

    Shapes: (..., in1_features) and (..., in2_features) → (..., out_features).

    >>> nn.Bilinear(2, 3, 4)(ogive.ones(5, 2), ogive.ones(5, 3)).shape
    (5, 4)
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: str | None = None,
        dtype: Any = None,
    ) -> None:
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        shape = (out_features, in1_features, in2_features)
        kind = (in1_features, device, dtype)
        self.weight = default_parameter(shape, *kind)
        self.bias = default_parameter((out_features,), *kind) if bias else None
        self._finish()

    def _inputs(self) -> int:
        return self.in1_features

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        return first.bilinear(second, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class Flatten(Module):
    """Axes `start_dim` to `end_dim` become one.

    >>> nn.Flatten()(ogive.ones(2, 3, 4)).shape
    (2, 12)
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Axis `dim` becomes several.

    >>> nn.Unflatten(1, (3, 4))(ogive.ones(2, 12)).shape
    (2, 3, 4)
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        self.dim = dim
        self.unflattened_size = tuple(unflattened_size)

    def forward(self, x: Tensor) -> Tensor:
        return x.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
