"""The base of distributions: shapes, checks, and methods derived from others."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

from ogive.autograd.mode import no_grad
from ogive.distributions import constraints
from ogive.distributions.distribution_parameters import broadcast_all, computed
from ogive.errors import ArgumentError, ArgumentTypeError
from ogive.jit.tracing.watch import is_tracing
from ogive.tensor.tensor import Tensor

Shape = tuple[int, ...]


class Distribution:
    """Independent draws of shape `batch_shape`, each a value of shape `event_shape`.

    Parameters and values are checked, unless `validate_args` is False. In a captured function they
    are not checked, because values are not known there.
    """

    has_rsample = False
    has_enumerate_support = False
    arg_constraints: Any = {}
    _validate_args: ClassVar[bool] = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether distributions check their parameters and values."""
        if value not in (True, False):
            raise ArgumentError(f"set_default_validate_args takes True or False, not {value!r}")
        Distribution._validate_args = value

    def __init__(
        self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape: Shape = tuple(batch_shape)
        self._event_shape: Shape = tuple(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args  # type: ignore[misc]  # this one's alone
        if self._validate_args and not is_tracing():
            self._check_parameters()

    def _check_parameters(self) -> None:
        for name, constraint in self.arg_constraints.items():
            if constraints.is_dependent(constraint) or (
                name not in self.__dict__ and isinstance(getattr(type(self), name, None), computed)
            ):
                continue
            value = getattr(self, name)
            if not bool(constraint.check(value).all()):
                raise ArgumentError(
                    f"Expected parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to satisfy the constraint "
                    f"{constraint!r}, but found invalid values:\n{value!r}"
                )

    def _validate_sample(self, value: Any) -> None:
        """Raise `ArgumentError` unless a value can be drawn from this distribution."""
        if not self._validate_args or is_tracing():
            return
        if not isinstance(value, Tensor):
            raise ArgumentTypeError("The value argument to log_prob must be a Tensor")
        dims = len(value.shape) - len(self._event_shape)
        if value.shape[dims:] != self._event_shape:
            raise ArgumentError(
                "The right-most size of value must match event_shape: "
                f"{value.shape} vs {self._event_shape}."
            )
        for one, other in zip(value.shape[:dims][::-1], self._batch_shape[::-1], strict=False):
            if one != 1 and other != 1 and one != other:
                raise ArgumentError(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{value.shape} vs {self._batch_shape + self._event_shape}."
                )
        support = self.support
        if not constraints.is_dependent(support) and not bool(support.check(value).all()):
            raise ArgumentError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) of the distribution {self!r}, but found "
                f"invalid values:\n{value!r}"
            )

    @property
    def batch_shape(self) -> Shape:
        """The shape of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Shape:
        """The shape of one value."""
        return self._event_shape

    @property
    def support(self) -> Any:
        """The region of the values."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The value of highest density."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def expand(self, batch_shape: Any, _instance: Any = None) -> Self:
        """The distribution with its parameters broadcast to `batch_shape`."""
        raise NotImplementedError

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw values without gradients. Shapes: sample_shape + batch_shape + event_shape."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Draw values through which gradients flow to the parameters."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """`sample((n,))`, PyTorch's old name for it."""
        warnings.warn("sample_n(n) will be deprecated. Use .sample((n,)) instead", UserWarning,
                      stacklevel=2)  # fmt: skip
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density, or probability, of a value."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of at most `value`."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile: the value x such that P(X ≤ x) is `value`."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values, along a new first axis."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """The exponential of the entropy."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Any = ()) -> Shape:
        return tuple(sample_shape) + self._batch_shape + self._event_shape

    def __repr__(self) -> str:
        named = [name for name in self.arg_constraints if name in self.__dict__]
        parts = []
        for name in named:
            value = self.__dict__[name]
            is_number = value.numel() == 1
            parts.append(f"{name}: {value.item() if is_number else value.shape}")
        return f"{type(self).__name__}({', '.join(parts)})"


class Elementwise(Distribution):
    """A distribution of single values, whose parameters `NAMES` are broadcast together."""

    NAMES: ClassVar[tuple[str, ...]] = ()

    def _set(self, *values: Any, validate_args: bool | None = None) -> None:
        """Store the parameters under their names, broadcast to one shape."""
        for name, value in zip(self.NAMES, broadcast_all(*values), strict=True):
            self.__dict__[name] = value
        shape = self.__dict__[self.NAMES[0]].shape
        Distribution.__init__(self, shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Self:
        expanded = object.__new__(type(self))
        expanded.__dict__.update(self.__dict__)
        _expand_attributes(expanded, self._batch_shape, tuple(batch_shape))
        return expanded


def _expand_attributes(expanded: Any, before: Shape, after: Shape) -> None:
    for name, value in list(expanded.__dict__.items()):
        if isinstance(value, Tensor):
            rest = value.shape[len(before) :]
            expanded.__dict__[name] = value.expand(*after, *rest)
        elif isinstance(value, Distribution):
            expanded.__dict__[name] = value.expand(after + value.batch_shape[len(before) :])
    expanded._batch_shape = after


class ExponentialFamily(Distribution):
    """Distributions with densities exp(T(x)·η - A(η)). Each defines its own entropy."""
