"""Ready-made parametrizations of weights: weight normalization and spectral normalization."""

from __future__ import annotations

import math

from ogive import random
from ogive.errors import ArgumentError
from ogive.nn.layers.convolution import Convolution
from ogive.nn.module import Given, Module
from ogive.nn.utils.parametrize import register_parametrization
from ogive.tensor.tensor import Tensor


class _WeightNorm(Module):
    """weight = length · direction / |direction|, with a length for each entry along `dim`."""

    def __init__(self, dim: int | None = 0) -> None:
        self.dim = dim

    def forward(self, length: Tensor, direction: Tensor) -> Tensor:
        return direction * (length / self._norm(direction))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """The lengths and directions of a weight."""
        return self._norm(weight), weight

    def _norm(self, weight: Tensor) -> Tensor:
        if self.dim is None:
            return weight.norm()
        kept = self.dim % weight.ndim
        axes = tuple([axis for axis in range(weight.ndim) if axis != kept])
        return weight.norm(dim=axes, keepdim=True) if axes else weight.abs()


def weight_norm(module: Given, name: str = "weight", dim: int | None = 0) -> Given:
    """Parametrize a weight as a length times a direction, both trained. Returns the module.

    Each entry along `dim` has a length of its own; with None, there is one length. The lengths are
    `parametrizations.weight.original0`, and the directions `original1`.

    >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(4, 3))
    >>> {name: tuple(p.shape) for name, p in layer.named_parameters() if name != "bias"}
    {'parametrizations.weight.original0': (3, 1), 'parametrizations.weight.original1': (3, 4)}
    """
    return register_parametrization(module, name, _WeightNorm(dim))


class _SpectralNorm(Module):
    """weight = original / σ, where σ is the largest singular value of the weight as a matrix.

    The estimates `_u` and `_v` of its singular vectors are part of the state. In training, each
    read of the weight improves them by `n_power_iterations` power iterations. Gradients do not flow
    through these.
    """

    _u: Tensor
    _v: Tensor

    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        if not weight.ndim:
            raise ArgumentError("spectral_norm takes a weight with axes, not a scalar")
        if n_power_iterations < 1:
            raise ArgumentError(
                f"n_power_iterations must be at least 1, got {n_power_iterations}"
            )
        self.dim = dim % weight.ndim
        self.n_power_iterations = n_power_iterations
        self.eps = eps
        if weight.ndim > 1:
            rows = weight.shape[self.dim]
            sizes = {"_u": rows, "_v": math.prod(weight.shape) // rows}
            for name, size in sizes.items():
                vector = random.randn(size, dtype=weight.dtype).normalize(dim=0, eps=self.eps)
                self.register_buffer(name, vector.realize())
            self._approach(self._matrix(weight.detach()), _BEGINNING)

    def _matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    def _approach(self, matrix: Tensor, times: int) -> None:
        u, v = self._u, self._v
        for _ in range(times):
            u = (matrix @ v).normalize(dim=0, eps=self.eps)
            v = (matrix.mT @ u).normalize(dim=0, eps=self.eps)
        self._u.assign(u)
        self._v.assign(v)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return weight.normalize(dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._approach(matrix.detach(), self.n_power_iterations)
        return weight / (self._u @ (matrix @ self._v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """The weight itself."""
        return value


_BEGINNING = 15
"""The number of power iterations at the beginning."""


def spectral_norm(
    module: Given,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Given:
    """Divide a weight by its largest singular value, so that its spectral norm is 1.

    The weight is a matrix with axis `dim` as its rows: by default the first, or the second for
    transposed convolutions. Returns the module.

    >>> layer = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 3), n_power_iterations=20)
    >>> round(ogive.linalg.matrix_norm(layer.weight, 2).item(), 3)
    1.0
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ArgumentError(f"{type(module).__name__} has no parameter {name!r}")
    if dim is None:
        dim = 1 if isinstance(module, Convolution) and module.transposed else 0
    return register_parametrization(
        module, name, _SpectralNorm(weight, n_power_iterations, dim, eps)
    )
