"""The transform for each constraint: from unbounded numbers into the region."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.distributions import constraints, transforms
from ogive.distributions.base_transform import Transform
from ogive.errors import ArgumentTypeError

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

Factory = Callable[[Any], Transform]


class ConstraintRegistry:
    """Transforms by the classes of constraints. Call it with a constraint.

    >>> biject_to(constraints.interval(2.0, 4.0))(Tensor([0.0])).tolist()
    [3.0]

    Raises `NotImplementedError` for a constraint that has none.
    """

    def __init__(self) -> None:
        self._factories: dict[type, Factory] = {}

    def register(self, constraint: Any, factory: Factory | None = None) -> Any:
        """Let `factory(constraint)` make the transforms of a class; also a decorator.

        `constraint` is the class, or a constraint of it.
        """
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, constraints.Constraint):
            raise ArgumentTypeError(
                f"register takes a class of constraints, or a constraint of it; got {constraint!r}"
            )
        if factory is None:
            return lambda factory: self.register(kind, factory)
        self._factories[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Transform:
        factory = self._factories.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"no transform is registered for {constraint!r}")
        return factory(constraint)


biject_to = ConstraintRegistry()
"""Bijective transforms, with an inverse and a determinant, for densities."""
transform_to = ConstraintRegistry()
"""Transforms that reach the whole region and may be cheaper, for optimizers."""


def _to_above(constraint: Any) -> Transform:
    start = transforms.AffineTransform(constraint.lower_bound, 1)
    return transforms.ComposeTransform([transforms.ExpTransform(), start])


def _to_below(constraint: Any) -> Transform:
    end = transforms.AffineTransform(constraint.upper_bound, -1)
    return transforms.ComposeTransform([transforms.ExpTransform(), end])


def _to_between(constraint: Any) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    sigmoid = transforms.SigmoidTransform()
    if all(isinstance(bound, int | float) for bound in (low, high)) and (low, high) == (0, 1):
        return sigmoid
    return transforms.ComposeTransform([sigmoid, transforms.AffineTransform(low, high - low)])


def _fill_both(registry: ConstraintRegistry) -> None:
    """Register the transforms that are the same in both registries.

    The transforms of a region's parts come from `registry` itself.
    """

    def of_independent(constraint: Any) -> Transform:
        base = registry(constraint.base_constraint)
        return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)

    def of_cat(constraint: Any) -> Transform:
        parts = [registry(part) for part in constraint.cseq]
        return transforms.CatTransform(parts, constraint.dim, constraint.lengths)

    def of_stack(constraint: Any) -> Transform:
        parts = [registry(part) for part in constraint.cseq]
        return transforms.StackTransform(parts, constraint.dim)

    for constraint, factory in (
        (constraints.real, lambda _: transforms.identity_transform),
        (constraints.greater_than, _to_above),
        (constraints.greater_than_eq, _to_above),
        (constraints.less_than, _to_below),
        (constraints.interval, _to_between),
        (constraints.half_open_interval, _to_between),
        (constraints.corr_cholesky, lambda _: transforms.CorrCholeskyTransform()),
        (constraints.independent, of_independent),
        (constraints.cat, of_cat),
        (constraints.stack, of_stack),
    ):
        registry.register(constraint, factory)


_fill_both(biject_to)
_fill_both(transform_to)
biject_to.register(constraints.simplex, lambda _: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda _: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda _: transforms.LowerCholeskyTransform())
for _matrices in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_matrices, lambda _: transforms.PositiveDefiniteTransform())
