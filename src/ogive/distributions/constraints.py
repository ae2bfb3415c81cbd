"""Constraints: the regions of parameters and samples, with a check of each value."""

from __future__ import annotations

from typing import Any

from ogive.distributions.distribution_parameters import epsilon
from ogive.errors import ArgumentError
from ogive.tensor.tensor import Tensor

__all__ = [
    "Constraint", "boolean", "cat", "circular", "corr_cholesky", "dependent", "dependent_property",
    "greater_than", "greater_than_eq", "half_open_interval", "independent", "integer_interval",
    "interval", "is_dependent", "less_than", "lower_cholesky", "lower_triangular", "multinomial",
    "nonnegative", "nonnegative_integer", "one_hot", "open_interval", "positive",
    "positive_definite", "positive_integer", "positive_semidefinite", "real", "real_vector",
    "simplex", "square", "stack", "symmetric", "unit_interval",
]  # fmt: skip


class Constraint:
    """A region. `event_dim` axes at the end belong to one value."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Tensor) -> Any:
        """Whether each value lies within. Shapes: value's without the last `event_dim` axes."""
        raise NotImplementedError

    def __repr__(self) -> str:
        name = type(self).__name__.removeprefix("_").title().replace("_", "")
        bounds = [
            f"{bound}={value}"
            for bound, value in vars(self).items()
            if "bound" in bound and value is not None
        ]
        return f"{name}({', '.join(bounds)})"


class _Dependent(Constraint):
    """A region that depends on the parameters."""

    def __init__(self, is_discrete: bool = False, event_dim: int = 0) -> None:
        self.is_discrete = is_discrete
        self.event_dim = event_dim

    def check(self, value: Tensor) -> Any:
        raise ArgumentError("this constraint depends on parameters: ask an instance for it")


class dependent_property(property, _Dependent):
    """A property that gives the region for the parameters of an instance."""

    def __init__(self, fn: Any = None, *, is_discrete: bool = False, event_dim: int = 0) -> None:
        property.__init__(self, fn)
        self.is_discrete = is_discrete
        self.event_dim = event_dim

    def __call__(self, fn: Any) -> dependent_property:
        return dependent_property(fn, is_discrete=self.is_discrete, event_dim=self.event_dim)


class independent(Constraint):
    """A constraint whose last `reinterpreted_batch_ndims` axes count as one value."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Any:
        inside = self.base_constraint.check(value)
        kept = inside.ndim - self.reinterpreted_batch_ndims
        return inside.flatten(kept).all(-1) if self.reinterpreted_batch_ndims else inside


class _Parts(Constraint):
    """Constraints of parts along an axis."""

    def __init__(self, cseq: Any, dim: int = 0, lengths: Any = None) -> None:
        self.cseq = list(cseq)
        self.lengths = list(lengths) if lengths is not None else [1] * len(self.cseq)
        self.dim = dim
        self.is_discrete = any(each.is_discrete for each in self.cseq)
        self.event_dim = max(each.event_dim for each in self.cseq)


class cat(_Parts):
    """Parts of given lengths along an axis, each with a constraint of its own."""

    def check(self, value: Tensor) -> Any:
        from ogive.tensor.movement.joining import cat as join

        parts = value.split(self.lengths, self.dim)
        return join(
            [each.check(part) for each, part in zip(self.cseq, parts, strict=True)], self.dim
        )


class stack(_Parts):
    """Entries along an axis, each with a constraint of its own."""

    def check(self, value: Tensor) -> Any:
        from ogive.tensor.movement.joining import stack as join

        parts = value.unbind(self.dim)
        return join(
            [each.check(part) for each, part in zip(self.cseq, parts, strict=True)], self.dim
        )


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Tensor) -> Any:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Any:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _Bounded(Constraint):
    """A region between bounds, which may be tensors."""

    def __init__(self, lower_bound: Any = None, upper_bound: Any = None) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound


class integer_interval(_Bounded):
    """Whole numbers from `lower_bound` to `upper_bound`, inclusive."""

    is_discrete = True

    def check(self, value: Tensor) -> Any:
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class interval(_Bounded):
    """Numbers from `lower_bound` to `upper_bound`, inclusive."""

    def check(self, value: Tensor) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class open_interval(_Bounded):
    """Numbers between `lower_bound` and `upper_bound`, exclusive."""

    def check(self, value: Tensor) -> Any:
        return (self.lower_bound < value) & (value < self.upper_bound)


class half_open_interval(_Bounded):
    """Numbers from `lower_bound` to below `upper_bound`."""

    def check(self, value: Tensor) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class greater_than(_Bounded):
    """Numbers above `lower_bound`."""

    def check(self, value: Tensor) -> Any:
        return self.lower_bound < value


class greater_than_eq(_Bounded):
    """Numbers of at least `lower_bound`."""

    def check(self, value: Tensor) -> Any:
        return self.lower_bound <= value


class less_than(_Bounded):
    """Numbers below `upper_bound`."""

    def __init__(self, upper_bound: Any) -> None:
        super().__init__(None, upper_bound)

    def check(self, value: Tensor) -> Any:
        return value < self.upper_bound


class _WholeFrom(_Bounded):
    is_discrete = True

    def check(self, value: Tensor) -> Any:
        return (value % 1 == 0) & (value >= self.lower_bound)


class multinomial(Constraint):
    """Counts whose sum is at most `upper_bound`."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Any:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _Real(Constraint):
    def check(self, value: Tensor) -> Any:
        return value == value


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Tensor) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Any:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    def check(self, value: Tensor) -> Any:
        return super().check(value) & (value.diagonal(0, -2, -1) > 0).all(-1)


class _CorrCholesky(_LowerTriangular):
    def check(self, value: Tensor) -> Any:
        tolerance = epsilon(value) * value.shape[-1] * 10
        return ((value.square().sum(-1) - 1).abs() <= tolerance).all(-1) & super().check(value)


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Any:
        return (value[..., 0, 0] == value[..., 0, 0]) & (value.shape[-1] == value.shape[-2])


class _Symmetric(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Any:
        return value.isclose(value.mT, atol=1e-6).flatten(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Tensor) -> Any:
        from ogive.linalg import eigvalsh

        return super().check(value) & (eigvalsh(value) >= 0).all(-1)


class _PositiveDefinite(_Symmetric):
    def check(self, value: Tensor) -> Any:
        from ogive.linalg import cholesky_ex

        return super().check(value) & (cholesky_ex(value)[1] == 0)


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint depends on the parameters of an instance."""
    return isinstance(constraint, _Dependent)


dependent = _Dependent()
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _WholeFrom(0)
positive_integer = _WholeFrom(1)
real = _Real()
real_vector = independent(real, 1)
positive = greater_than(0.0)
nonnegative = greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
circular = interval(-3.141592653589793, 3.141592653589793)
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
