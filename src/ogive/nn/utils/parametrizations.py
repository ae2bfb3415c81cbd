"""Ready-made ways for a weight to be computed: by direction and length, by its largest stretch."""

from __future__ import annotations

import math

from ogive import random
from ogive.errors import ArgumentError
from ogive.nn.layers.convolution import Convolution
from ogive.nn.module import Given, Module
from ogive.nn.utils.parametrize import register_parametrization
from ogive.tensor.tensor import Tensor


class _WeightNorm(Module):
    """weight = length · direction / |direction|, a length for each entry along `dim`."""

    def __init__(self, dim: int | None = 0) -> None:
        self.dim = dim

    def forward(self, length: Tensor, direction: Tensor) -> Tensor:
        return direction * (length / self._norm(direction))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Lengths and directions of a weight."""
        return self._norm(weight), weight

    def _norm(self, weight: Tensor) -> Tensor:
        if self.dim is None:
            return weight.norm()
        kept = self.dim % weight.ndim
        axes = tuple([axis for axis in range(weight.ndim) if axis != kept])
        return weight.norm(dim=axes, keepdim=True) if axes else weight.abs()


def weight_norm(module: Given, name: str = "weight", dim: int | None = 0) -> Given:
    """Let a weight be a length times a direction, which are trained apart. Returns the module.

    Along `dim` each entry has a length of its own; with None there is one for all. The originals
    are `parametrizations.weight.original0`, the lengths, and `original1`, the directions.

    >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(4, 3))
    >>> {name: tuple(p.shape) for name, p in layer.named_parameters() if name != "bias"}
    {'parametrizations.weight.original0': (3, 1), 'parametrizations.weight.original1': (3, 4)}
    """
    return register_parametrization(module, name, _WeightNorm(dim))


class _SpectralNorm(Module):
    """weight = original / σ, where σ is the largest singular value of the weight as a matrix.

    Its singular vectors `_u` and `_v` are part of the state. In training each reading of the weight
    brings them nearer, by `n_power_iterations` products with the matrix; gradients do not flow
    through that.
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
        """The weight itself: it is divided from now on."""
        return value


_BEGINNING = 15
"""How often the singular vectors are brought nearer at the beginning."""


def spectral_norm(
    module: Given,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Given:
    """Divide a weight by its largest singular value, so that it stretches nothing.

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
