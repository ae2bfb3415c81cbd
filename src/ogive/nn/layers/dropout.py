"""Random zeros, in training only."""

from __future__ import annotations

from ogive.errors import ArgumentError
from ogive.nn.module import Module
from ogive.tensor.tensor import Tensor


class Dropout(Module):
    """Zeroes elements with probability `p` and divides the rest by 1 - p. Shapes: unchanged.

    >>> nn.Dropout(0.5).eval()(Tensor([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """

    method = "dropout"

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        if not 0 <= p <= 1:
            raise ArgumentError(f"p must be a probability between 0 and 1, not {p}")
        self.p = p
        self.inplace = inplace

    def forward(self, x: Tensor) -> Tensor:
        dropped: Tensor = getattr(x, self.method)(self.p, self.training)
        return x.assign(dropped) if self.inplace else dropped

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class AlphaDropout(Dropout):
    """Dropout that keeps mean and deviation, for layers with `SELU`."""

    method = "alpha_dropout"


class FeatureAlphaDropout(Dropout):
    """`AlphaDropout` of whole channels. Shapes: (N, C, ...), unchanged."""

    method = "feature_alpha_dropout"


class Dropout1d(Dropout):
    """Drops whole channels. Shapes: (N, C, L), unchanged."""

    method = "dropout1d"


class Dropout2d(Dropout):
    """Drops whole channels. Shapes: (N, C, H, W), unchanged."""

    method = "dropout2d"


class Dropout3d(Dropout):
    """Drops whole channels. Shapes: (N, C, D, H, W), unchanged."""

    method = "dropout3d"
