"""Invertible functions that know how they stretch volumes: y = f(x), log |det ∂y/∂x|."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ogive.distributions import constraints
from ogive.distributions.distribution_parameters import (
    broadcast_all,
    epsilon,
    smallest,
    sum_rightmost,
)
from ogive.errors import ArgumentError
from ogive.nn.functional import pad, softplus
from ogive.tensor.creation.constructors import arange
from ogive.tensor.movement.joining import stack as join
from ogive.tensor.tensor import Tensor

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform",
    "LowerCholeskyTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform",
    "SoftmaxTransform", "SoftplusTransform", "StackTransform", "StickBreakingTransform",
    "TanhTransform", "Transform", "identity_transform",
]  # fmt: skip


class Transform:
    """A function from `domain` to `codomain`. With `cache_size` 1 the last pair is remembered,
    so that the inverse of what was just made is exact.
    """

    bijective = False
    domain: Any = constraints.real
    codomain: Any = constraints.real
    sign: Any = 1

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ArgumentError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._pair: tuple[Any, Any] = (None, None)
        self._inverse: Any = None

    @property
    def inv(self) -> Transform:
        """The inverse."""
        return _Inverse(self)

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same function with another size of cache."""
        if self._cache_size == cache_size:
            return self
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._cache_size, made._pair = cache_size, (None, None)
        return made

    def __call__(self, x: Any) -> Any:
        if self._cache_size == 0:
            return self._call(x)
        if x is self._pair[0]:
            return self._pair[1]
        y = self._call(x)
        self._pair = (x, y)
        return y

    def _undo(self, y: Any) -> Any:
        if self._cache_size == 0:
            return self._invert(y)
        if y is self._pair[1]:
            return self._pair[0]
        x = self._invert(y)
        self._pair = (x, y)
        return x

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _invert(self, y: Any) -> Any:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of how much the function stretches volumes at x, with y = f(x)."""
        raise NotImplementedError

    def forward_shape(self, shape: Any) -> Any:
        """The shape of what comes out."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of what went in."""
        return shape

    def __repr__(self) -> str:
        return type(self).__name__ + "()"


class _Inverse(Transform):
    """The other direction of a transform."""

    bijective = True

    def __init__(self, transform: Transform) -> None:
        super().__init__()
        self._forward = transform

    @property
    def domain(self) -> Any:
        return self._forward.codomain

    @property
    def codomain(self) -> Any:
        return self._forward.domain

    @property
    def sign(self) -> Any:
        return self._forward.sign

    @property
    def inv(self) -> Transform:
        return self._forward

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self._forward.with_cache(cache_size).inv

    def __call__(self, x: Any) -> Any:
        return self._forward._undo(x)

    def _undo(self, y: Any) -> Any:
        return self._forward(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._forward.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._forward.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._forward.forward_shape(shape)


class ComposeTransform(Transform):
    """Transforms one after the other."""

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Any:
        return math.prod([part.sign for part in self.parts]) if self.parts else 1

    @property
    def domain(self) -> Any:
        if not self.parts:
            return constraints.real
        dims = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            dims += part.domain.event_dim - part.codomain.event_dim
            dims = max(dims, part.domain.event_dim)
        return _widened(self.parts[0].domain, dims)

    @property
    def codomain(self) -> Any:
        if not self.parts:
            return constraints.real
        dims = self.parts[0].domain.event_dim
        for part in self.parts:
            dims += part.codomain.event_dim - part.domain.event_dim
            dims = max(dims, part.codomain.event_dim)
        return _widened(self.parts[-1].codomain, dims)

    def _call(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def _invert(self, y: Any) -> Any:
        for part in reversed(self.parts):
            y = part._undo(y)
        return y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if not self.parts:
            return x * 0
        total: Any = 0
        dims = self.domain.event_dim
        for position, part in enumerate(self.parts):
            after = y if position == len(self.parts) - 1 else part(x)
            found = part.log_abs_det_jacobian(x, after)
            total = total + sum_rightmost(found, dims - part.domain.event_dim)
            dims += part.codomain.event_dim - part.domain.event_dim
            x = after
        return total

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape


def _widened(constraint: Any, dims: int) -> Any:
    more = dims - constraint.event_dim
    return constraints.independent(constraint, more) if more else constraint


class IndependentTransform(Transform):
    """A transform whose last batch axes count as one value."""

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.bijective = base_transform.bijective
        self.sign = base_transform.sign
        more = reinterpreted_batch_ndims
        self.domain = constraints.independent(base_transform.domain, more)
        self.codomain = constraints.independent(base_transform.codomain, more)

    def _call(self, x: Any) -> Any:
        return self.base_transform(x)

    def _invert(self, y: Any) -> Any:
        return self.base_transform._undo(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        found = self.base_transform.log_abs_det_jacobian(x, y)
        return sum_rightmost(found, self.reinterpreted_batch_ndims)


class ReshapeTransform(Transform):
    """Values of one shape as values of another."""

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.in_shape, self.out_shape = tuple(in_shape), tuple(out_shape)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise ArgumentError("in_shape, out_shape have different numbers of elements")
        self.domain = constraints.independent(constraints.real, len(self.in_shape))
        self.codomain = constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return x.reshape(*x.shape[: x.ndim - len(self.in_shape)], *self.out_shape)

    def _invert(self, y: Any) -> Any:
        return y.reshape(*y.shape[: y.ndim - len(self.out_shape)], *self.in_shape)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x.new_zeros(x.shape[: x.ndim - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Any:
        return (*shape[: len(shape) - len(self.in_shape)], *self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return (*shape[: len(shape) - len(self.out_shape)], *self.in_shape)


class ExpTransform(Transform):
    """y = eˣ."""

    bijective = True
    codomain: Any = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _invert(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x


class PowerTransform(Transform):
    """y = x to the power `exponent`."""

    bijective = True
    domain: Any = constraints.positive
    codomain: Any = constraints.positive

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @property
    def sign(self) -> Any:
        return self.exponent.sign()

    def _call(self, x: Any) -> Any:
        return x**self.exponent

    def _invert(self, y: Any) -> Any:
        return y ** (1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return (self.exponent * y / x).abs().log()


class SigmoidTransform(Transform):
    """y = 1 / (1 + e⁻ˣ)."""

    bijective = True
    codomain: Any = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        return x.sigmoid().clamp(smallest(x), 1 - epsilon(x))

    def _invert(self, y: Any) -> Any:
        y = y.clamp(smallest(y), 1 - epsilon(y))
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(Transform):
    """y = log(1 + eˣ)."""

    bijective = True
    codomain: Any = constraints.positive

    def _call(self, x: Any) -> Any:
        return softplus(x)

    def _invert(self, y: Any) -> Any:
        return (-((-y).expm1())).log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -softplus(-x)


class TanhTransform(Transform):
    """y = tanh x."""

    bijective = True
    codomain: Any = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _invert(self, y: Any) -> Any:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AbsTransform(Transform):
    """y = |x|, whose inverse takes the positive one."""

    codomain: Any = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _invert(self, y: Any) -> Any:
        return y


class AffineTransform(Transform):
    """y = loc + scale · x."""

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self.event_dim = loc, scale, event_dim
        if event_dim:
            self.domain = self.codomain = constraints.independent(constraints.real, event_dim)

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _invert(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if isinstance(self.scale, Tensor):
            found = self.scale.abs().log()
        else:
            found = x.new_full(x.shape, math.log(abs(self.scale)))
        return sum_rightmost(found.expand(*x.shape), self.event_dim)


class SoftmaxTransform(Transform):
    """y = softmax x, whose inverse takes logarithms."""

    domain: Any = constraints.real_vector
    codomain: Any = constraints.simplex

    def _call(self, x: Any) -> Any:
        return x.softmax(-1)

    def _invert(self, y: Any) -> Any:
        return y.log()


class StickBreakingTransform(Transform):
    """n numbers to n + 1 shares: each breaks its part off what is left of a stick."""

    bijective = True
    domain: Any = constraints.real_vector
    codomain: Any = constraints.simplex

    def _offsets(self, x: Any, n: int) -> Any:
        return (n + 1 - arange(1, n + 1)).to(x.dtype).log()

    def _call(self, x: Any) -> Any:
        part = (x - self._offsets(x, x.shape[-1])).sigmoid()
        left = (1 - part).cumprod(-1)
        return pad(part, [0, 1], value=1) * pad(left, [1, 0], value=1)

    def _invert(self, y: Any) -> Any:
        cut = y[..., :-1]
        left = (1 - cut.cumsum(-1)).clamp(min=smallest(y))
        return cut.log() - left.log() + self._offsets(y, cut.shape[-1])

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        moved = x - self._offsets(x, x.shape[-1])
        logarithm = -softplus(-moved)  # of the sigmoid
        return (-moved + logarithm + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Any) -> Any:
        return (*shape[:-1], shape[-1] - 1)


class LowerCholeskyTransform(Transform):
    """Any matrix to a lower triangle with a positive diagonal."""

    domain: Any = constraints.independent(constraints.real, 2)
    codomain: Any = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(0, -2, -1).exp().diag_embed()

    def _invert(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(0, -2, -1).log().diag_embed()


class StackTransform(Transform):
    """A transform for each entry along an axis."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.transforms, self.dim = list(tseq), dim
        self.bijective = all(each.bijective for each in self.transforms)
        self.domain = constraints.stack([each.domain for each in self.transforms], dim)
        self.codomain = constraints.stack([each.codomain for each in self.transforms], dim)

    def _call(self, x: Any) -> Any:
        parts = zip(self.transforms, x.unbind(self.dim), strict=True)
        return join([each(part) for each, part in parts], self.dim)

    def _invert(self, y: Any) -> Any:
        parts = zip(self.transforms, y.unbind(self.dim), strict=True)
        return join([each._undo(part) for each, part in parts], self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        parts = zip(self.transforms, x.unbind(self.dim), y.unbind(self.dim), strict=True)
        return join([each.log_abs_det_jacobian(a, b) for each, a, b in parts], self.dim)


class CatTransform(Transform):
    """A transform for each part, of given lengths, along an axis."""

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Any = None, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.transforms, self.dim = list(tseq), dim
        self.lengths = list(lengths) if lengths is not None else [1] * len(self.transforms)
        self.bijective = all(each.bijective for each in self.transforms)
        domains = [each.domain for each in self.transforms]
        codomains = [each.codomain for each in self.transforms]
        self.domain = constraints.cat(domains, dim, self.lengths)
        self.codomain = constraints.cat(codomains, dim, self.lengths)

    def _parts(self, value: Any) -> Any:
        return zip(self.transforms, value.split(self.lengths, self.dim), strict=True)

    def _call(self, x: Any) -> Any:
        from ogive.tensor.movement.joining import cat

        return cat([each(part) for each, part in self._parts(x)], self.dim)

    def _invert(self, y: Any) -> Any:
        from ogive.tensor.movement.joining import cat

        return cat([each._undo(part) for each, part in self._parts(y)], self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        from ogive.tensor.movement.joining import cat

        ends = [part for _, part in self._parts(y)]
        found = [
            each.log_abs_det_jacobian(part, end)
            for (each, part), end in zip(self._parts(x), ends, strict=True)
        ]
        return cat(found, self.dim)


class CumulativeDistributionTransform(Transform):
    """y = P(x) for the distribution function P of a distribution."""

    bijective = True
    codomain: Any = constraints.unit_interval

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution
        self.domain = distribution.support

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _invert(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self.distribution.log_prob(x)


identity_transform = ComposeTransform([])
