"""`Transform`: an invertible function with the determinant of its Jacobian."""

from __future__ import annotations

from typing import Any

from ogive.distributions import constraints
from ogive.errors import ArgumentError


class Transform:
    """An invertible function from `domain` to `codomain`.

    With `cache_size=1`, the last pair of input and output is kept. So the inverse of the last
    output is exact.
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
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy._cache_size, copy._pair = cache_size, (None, None)
        return copy

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
        """The logarithm of the Jacobian's absolute determinant at x, where y = f(x)."""
        raise NotImplementedError

    def forward_shape(self, shape: Any) -> Any:
        """The shape of the output for an input of `shape`."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of the input for an output of `shape`."""
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
