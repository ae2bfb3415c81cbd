"""The functions between the layers of a network. All of them compute half-width floats in float32
inside, and integers in float32."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ogive.errors import ArgumentError, ShapeError
from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType
from ogive.tensor import build
from ogive.tensor.arithmetic import MAXIMUM, combine, float_dtype, number_dtype
from ogive.tensor.core import to_axis, to_shape
from ogive.tensor.lengths import difference
from ogive.tensor.reduction import Reduction

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


class Activation(Reduction):
    """Activations, softmax and normalization."""

    __slots__ = ()

    def relu(self) -> Tensor:
        """max(x, 0); NaN stays. Shapes: unchanged.

        >>> Tensor([-1.0, 2.0]).relu().tolist()
        [0.0, 2.0]
        """
        number_dtype(self.dtype, "relu")
        return combine(MAXIMUM, self, 0)

    def sigmoid(self) -> Tensor:
        """1 / (1 + e⁻ˣ). Shapes: unchanged.

        >>> Tensor([0.0]).sigmoid().tolist()
        [0.5]
        """
        x, dtype = _widen(self, "sigmoid")
        return (x.neg().exp() + 1).reciprocal().cast(dtype)

    def silu(self) -> Tensor:
        """x · sigmoid(x). Shapes: unchanged.

        >>> Tensor([0.0]).silu().tolist()
        [0.0]
        """
        x, dtype = _widen(self, "silu")
        return (x / (x.neg().exp() + 1)).cast(dtype)

    def gelu(self, approximate: str = "none") -> Tensor:
        """x · Φ(x), Φ being the normal distribution; "tanh" takes the usual approximation of it.

        Shapes: unchanged.

        >>> Tensor([0.0]).gelu().tolist()
        [0.0]
        """
        if approximate not in ("none", "tanh"):
            raise ArgumentError(f"gelu: approximate must be 'none' or 'tanh', got {approximate!r}")
        x, dtype = _widen(self, "gelu")
        if approximate == "none":
            inner = (x * math.sqrt(0.5)).erf()
        else:
            inner = ((x * x * x * 0.044715 + x) * math.sqrt(2 / math.pi)).tanh()
        return (x * 0.5 * (inner + 1)).cast(dtype)

    def softmax(self, dim: int = -1) -> Tensor:
        """eˣ over its sum along `dim`, computed from x less its maximum. Shapes: unchanged.

        >>> Tensor([1.0, 1.0]).softmax().tolist()
        [0.5, 0.5]
        """
        x, dtype = _widen(self, "softmax")
        axis = to_axis(dim, max(x.ndim, 1), "softmax")
        if x.numel() == 0:
            return x.cast(dtype)
        weights = (x - x.max(axis, keepdim=True).detach()).exp()
        return (weights / weights.sum(axis, keepdim=True)).cast(dtype)

    def log_softmax(self, dim: int = -1) -> Tensor:
        """The logarithm of `softmax`, computed without taking it. Shapes: unchanged.

        >>> Tensor([0.0]).log_softmax().tolist()
        [0.0]
        """
        x, dtype = _widen(self, "log_softmax")
        axis = to_axis(dim, max(x.ndim, 1), "log_softmax")
        if x.numel() == 0:
            return x.cast(dtype)
        centred = x - x.max(axis, keepdim=True).detach()
        return (centred - centred.exp().sum(axis, keepdim=True).log()).cast(dtype)

    def layer_norm(
        self,
        normalized_shape: int | Sequence[int],
        weight: Any = None,
        bias: Any = None,
        eps: float = 1e-5,
    ) -> Tensor:
        """(x - mean) / √(variance + eps) over the last axes, times `weight`, plus `bias`.

        Shapes: unchanged; `weight` and `bias` have the shape `normalized_shape`, which is how x's
        shape must end.

        >>> Tensor([[1.0, 1.0]]).layer_norm(2).tolist()
        [[0.0, 0.0]]

        Raises `ShapeError` when x does not end in `normalized_shape`.
        """
        shape = to_shape((normalized_shape,), "layer_norm")
        if not shape or self.shape[-len(shape) :] != shape:
            raise ShapeError(
                f"layer_norm: shape {build.show(self.shape)} does not end in the normalized shape "
                f"{build.show(shape)}{difference(self.shape, shape)}"
            )
        for name, parameter in (("weight", weight), ("bias", bias)):
            if parameter is not None and parameter.shape != shape:
                raise ShapeError(
                    f"layer_norm: {name} has the shape {build.show(parameter.shape)}, not the "
                    f"normalized shape {build.show(shape)}{difference(parameter.shape, shape)}"
                )
        x, dtype = _widen(self, "layer_norm")
        axes = tuple(range(-len(shape), 0))
        centred = x - x.mean(axes, keepdim=True)
        result = centred * (centred.square().mean(axes, keepdim=True) + eps).rsqrt()
        if weight is not None:
            result = result * weight
        if bias is not None:
            result = result + bias
        return result.cast(dtype)


def _widen(x: Activation, name: str) -> tuple[Tensor, DType]:
    """`x` in the dtype to compute in, and the dtype of the result."""
    dtype = float_dtype(x.dtype, name)
    return x.cast(dtypes.float32 if dtype in build.WIDENED else dtype), dtype
