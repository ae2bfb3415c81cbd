"""Transforms made of transforms: composed, stacked, over more event axes, reshaped."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ogive.distributions import constraints
from ogive.distributions.base_transform import Transform
from ogive.distributions.distribution_parameters import (
    sum_rightmost,
)
from ogive.errors import ArgumentError
from ogive.tensor.movement.joining import cat
from ogive.tensor.movement.joining import stack as join


class ComposeTransform(Transform):
    """Applies transforms one after the other."""

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
            logarithms = part.log_abs_det_jacobian(x, after)
            total = total + sum_rightmost(logarithms, dims - part.domain.event_dim)
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
        logarithms = self.base_transform.log_abs_det_jacobian(x, y)
        return sum_rightmost(logarithms, self.reinterpreted_batch_ndims)


class ReshapeTransform(Transform):
    """Reshapes events from `in_shape` to `out_shape`."""

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
        return cat([each(part) for each, part in self._parts(x)], self.dim)

    def _invert(self, y: Any) -> Any:
        return cat([each._undo(part) for each, part in self._parts(y)], self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        ends = [part for _, part in self._parts(y)]
        logarithms = [
            each.log_abs_det_jacobian(part, end)
            for (each, part), end in zip(self._parts(x), ends, strict=True)
        ]
        return cat(logarithms, self.dim)


identity_transform = ComposeTransform([])
