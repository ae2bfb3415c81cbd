"""Ready-made ways for a weight to be computed: by direction and length, by its largest stretch, as
an orthogonal matrix."""

from __future__ import annotations

import math

from ogive import random
from ogive.errors import ArgumentError
from ogive.nn.layers.images.convolution import Convolution
from ogive.nn.module import Given, Module
from ogive.nn.utils.parametrize import register_parametrization
from ogive.tensor.creation.constructors import eye, zeros
from ogive.tensor.linear_algebra.decompositions import qr
from ogive.tensor.linear_algebra.householder import geqrf, householder_product
from ogive.tensor.linear_algebra.inverses import solve
from ogive.tensor.linear_algebra.matrix_exponential import matrix_exp
from ogive.tensor.movement.joining import cat
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


class _Orthogonal(Module):
    """Q with orthonormal columns, or rows where it is wide, from a matrix of the same shape.

    With "matrix_exp" Q = exp(A), with "cayley" (1 - A/2)⁻¹·(1 + A/2), where A is the antisymmetric
    matrix that has the lower triangle of the original; with "householder" the columns of the
    original are reflections. `base` is a Q to begin with, which the others are multiplied to.
    """

    base: Tensor | None

    def __init__(self, weight: Tensor, map_name: str, use_trivialization: bool) -> None:
        self.map_name = map_name
        self.register_buffer("base", _orthonormal(weight) if use_trivialization else None)

    def forward(self, original: Tensor) -> Tensor:
        is_wide = original.shape[-2] < original.shape[-1]
        tall = original.mT if is_wide else original
        matrix = self._reflected(tall) if self.map_name == "householder" else self._rotated(tall)
        if self.base is not None:
            matrix = self.base @ matrix
        return matrix.mT if is_wide else matrix

    def _rotated(self, tall: Tensor) -> Tensor:
        rows, columns = [int(size) for size in tall.shape[-2:]]
        lower = tall.tril()
        if rows != columns:
            rest = zeros(*tall.shape[:-1], rows - columns, dtype=tall.dtype)
            lower = cat([lower, rest], dim=-1)
        turning = lower - lower.mH
        if self.map_name == "matrix_exp":
            return matrix_exp(turning)[..., :columns]
        unit = eye(rows, dtype=tall.dtype)
        return solve(unit - turning * 0.5, unit + turning * 0.5)[..., :columns]

    def _reflected(self, tall: Tensor) -> Tensor:
        below = tall.tril(-1)
        lengths = 2 / (1 + (below * below).sum(-2))
        signs = tall.diagonal(dim1=-2, dim2=-1).detach().sign().unsqueeze(-2)
        return householder_product(below, lengths) * signs

    def right_inverse(self, value: Tensor) -> Tensor:
        """A matrix that leads to `value`, or to an orthogonal one where it is none."""
        is_wide = value.shape[-2] < value.shape[-1]
        tall = value.mT if is_wide else value
        if self.base is None:
            reflectors, lengths = geqrf(tall)
            signs = reflectors.diagonal(dim1=-2, dim2=-1).sign()
            signs = signs * (1 - 2 * lengths.eq(0).to(signs.dtype))
            reflectors = reflectors.diagonal_scatter(signs, 0, -2, -1)
        else:
            self.base.assign(_orthonormal(value))
            reflectors = -eye(*tall.shape[-2:], dtype=tall.dtype)
        return reflectors.mT if is_wide else reflectors


def _orthonormal(value: Tensor) -> Tensor:
    """A square orthogonal matrix that begins with the columns of `value`, or its rows where it is
    wide. Shapes: (..., m, n) → (..., max(m, n), max(m, n))."""
    tall = value.detach()
    tall = tall.mT if tall.shape[-2] < tall.shape[-1] else tall
    rows, columns = [int(size) for size in tall.shape[-2:]]
    if rows != columns:
        rest = random.randn(*tall.shape[:-1], rows - columns, dtype=tall.dtype)
        tall = cat([tall, rest], dim=-1)
    orthogonal, triangle = qr(tall)
    return orthogonal * triangle.diagonal(dim1=-2, dim2=-1).sign().unsqueeze(-2)


MAPS = ("matrix_exp", "cayley", "householder")


def orthogonal(
    module: Given,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Given:
    """Let a weight be a matrix with orthonormal columns, or rows where it is wide.

    `orthogonal_map` is "matrix_exp", "cayley" or "householder"; by default the first for square
    weights and the last for others. With `use_trivialization` the weight begins as it is, made
    orthogonal. Returns the module.

    >>> layer = nn.utils.parametrizations.orthogonal(nn.Linear(4, 3))
    >>> bool((layer.weight @ layer.weight.mT - ogive.eye(3)).abs().max() < 1e-5)
    True

    Raises `ArgumentError` for a weight that is no matrix, or an unknown map.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor) or weight.ndim < 2:
        raise ArgumentError(f"{type(module).__name__} has no matrix {name!r}")
    if orthogonal_map is None:
        is_square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if is_square else "householder"
    if orthogonal_map not in MAPS:
        raise ArgumentError(f"orthogonal_map is one of {', '.join(MAPS)}, not {orthogonal_map!r}")
    return register_parametrization(
        module, name, _Orthogonal(weight, orthogonal_map, use_trivialization)
    )
