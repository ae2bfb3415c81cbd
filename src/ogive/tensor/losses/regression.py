"""Regression losses: squares, distances, likelihoods.

`reduction` is "mean", "sum", or "none" for a loss per element. Half-width floats are computed in
float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType, result_type
from ogive.errors import ArgumentError, ArgumentTypeError, ShapeError
from ogive.tensor import build
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.core import Core, same_device, to_tensor
from ogive.tensor.elementwise.binary_operations import float_dtype
from ogive.tensor.elementwise.pairwise import only_floats, only_inexact
from ogive.tensor.lengths import difference
from ogive.tensor.movement.joining import where
from ogive.tensor.outlined import outlined

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

Pointwise = Callable[..., "Tensor"]


@outlined
@widened
def mse_loss(
    self: Tensor, target: Tensor, reduction: str = "mean", weight: Tensor | None = None
) -> Tensor:
    """(x - target)². Shapes: both broadcast → (), or theirs for "none".

    >>> Tensor([1.0, 2.0]).mse_loss(Tensor([1.0, 4.0])).item()
    2.0
    """
    return _distance(self, target, reduction, weight, "mse_loss", lambda z: z * z)


@outlined
@widened
def l1_loss(
    self: Tensor, target: Tensor, reduction: str = "mean", weight: Tensor | None = None
) -> Tensor:
    """|x - target|. Shapes: both broadcast → (), or theirs for "none".

    >>> Tensor([1.0, 2.0]).l1_loss(Tensor([1.0, 4.0])).item()
    1.0
    """
    return _distance(self, target, reduction, weight, "l1_loss", abs)


@outlined
@widened
def smooth_l1_loss(
    self: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """z² / (2 · beta) for z = |x - target| below `beta`, z - beta / 2 from there on.

    Shapes: both broadcast → (), or theirs for "none".

    >>> Tensor([0.0, 0.0]).smooth_l1_loss(Tensor([1.0, 2.0]), "none").tolist()
    [0.5, 1.5]

    Raises `ArgumentError` for a negative `beta`.
    """
    if beta < 0:
        raise ArgumentError(f"smooth_l1_loss: beta must not be negative, got {beta}")
    if beta == 0:
        return _distance(self, target, reduction, None, "smooth_l1_loss", abs)

    def point(z: Tensor) -> Tensor:
        size = z.abs()
        return where(size < beta, z * z * (0.5 / beta), size - 0.5 * beta)

    return _distance(self, target, reduction, None, "smooth_l1_loss", point)


@outlined
@widened
def huber_loss(
    self: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """z² / 2 for z = |x - target| below `delta`, delta · (z - delta / 2) from there on.

    Shapes: both broadcast → (), or theirs for "none".

    >>> Tensor([0.0, 0.0]).huber_loss(Tensor([1.0, 3.0]), "none", delta=2.0).tolist()
    [0.5, 4.0]

    Raises `ArgumentError` unless `delta` is positive.
    """
    if delta <= 0:
        raise ArgumentError(f"huber_loss: delta must be positive, got {delta}")

    def point(z: Tensor) -> Tensor:
        size = z.abs()
        return where(size < delta, z * z * 0.5, (size - 0.5 * delta) * delta)

    return _distance(self, target, reduction, weight, "huber_loss", point)


@outlined
@widened
def kl_div(
    self: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False
) -> Tensor:
    """target · (log target - x): x holds logarithms, and so does `target` with `log_target`.

    Shapes: both broadcast → (), or theirs for "none". The reduction "batchmean" divides the
    sum by the length of the first axis.

    >>> Tensor([0.0]).kl_div(Tensor([1.0])).item()
    0.0
    """
    (x, y), dtype = meet_floats("kl_div", input=self, target=target)
    losses = y.exp() * (y - x) if log_target else y.xlogy(y) - y * x
    if reduction == "batchmean":
        batch = x.shape[0] if x.ndim else 1
        return (losses.sum() / batch).cast(dtype)
    return reduce_losses(losses, reduction, "kl_div", ", 'batchmean'").cast(dtype)


@widened
def poisson_nll_loss(
    self: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Tensor:
    """eˣ - target · x; or x - target · log(x + eps) if x is no logarithm. `full` adds
    Stirling's approximation of log(target!).

    Shapes: both broadcast → (), or theirs for "none".

    >>> Tensor([0.0]).poisson_nll_loss(Tensor([3.0])).item()
    1.0
    """
    (x, y), dtype = meet_floats("poisson_nll_loss", float_dtype, input=self, target=target)
    losses = x.exp() - y * x if log_input else x - y * (x + eps).log()
    if full:
        stirling = y * y.log() - y + (y * (2 * math.pi)).log() * 0.5
        losses = losses + where(y > 1, stirling, 0.0)
    return reduce_losses(losses, reduction, "poisson_nll_loss").cast(dtype)


def gaussian_nll_loss(
    self: Tensor,
    target: Tensor,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """(log v + (x - target)² / v) / 2 for the variance v, `var` but at least `eps`; `full`
    adds log(2π) / 2.

    Shapes: both broadcast → (), or theirs for "none"; `var` has the shape of x, with the last
    axis of length 1 or without it, or is a number.

    >>> Tensor([1.0]).gaussian_nll_loss(Tensor([3.0]), Tensor([1.0])).item()
    2.0

    Raises `ShapeError` for any other shape of `var`.
    """
    name = "gaussian_nll_loss"
    given = var if isinstance(var, Core) else to_tensor(float(var)).expand(self.shape)
    (x, y, variance), dtype = meet_floats(name, input=self, target=target, var=given)
    if variance.shape == x.shape[:-1]:
        variance = variance.unsqueeze(-1)
    elif variance.shape not in (x.shape, (*x.shape[:-1], 1)):
        raise ShapeError(
            f"{name}: var has the shape {build.show(variance.shape)}; expected that of the "
            f"input {build.show(x.shape)}, or the last axis of length 1 or left out"
            f"{difference(variance.shape, x.shape)}"
        )
    # No gradient where eps replaces the variance, as in PyTorch.
    variance = variance + (variance.maximum(eps) - variance).detach()
    losses = (variance.log() + (x - y).square() / variance) * 0.5
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return reduce_losses(losses, reduction, name).cast(dtype)


def _distance(
    x: Core, target: Any, reduction: str, weight: Any, name: str, point: Pointwise
) -> Tensor:
    """A function of x - target, squares of which are smooth at 0, and of |x - target| are not."""
    adapt = only_inexact if point is abs else only_floats
    (one, other), dtype = meet_floats(name, adapt, input=x, target=target)
    losses = point(one - other)
    dtype = dtype.part if dtype.is_complex else dtype
    if weight is None:
        return reduce_losses(losses, reduction, name).cast(dtype)
    check_same_shape(name, "weight", weight, losses)
    factors: Tensor = weight.cast(losses.dtype)
    if reduction == "mean" and name != "huber_loss":  # which PyTorch averages over the elements
        return ((losses * factors).sum() / factors.sum()).cast(dtype)
    return reduce_losses(losses * factors, reduction, name).cast(dtype)


# Common parts


def reduce_losses(losses: Tensor, reduction: str, name: str, others: str = "") -> Tensor:
    """The losses after the reduction: their mean, their sum, or all of them."""
    if reduction == "mean":
        return losses.mean()
    if reduction == "sum":
        return losses.sum()
    if reduction != "none":
        raise ArgumentError(
            f"{name}: reduction must be 'mean', 'sum', 'none'{others}; got {reduction!r}"
        )
    return losses


def meet_floats(
    name: str, adapt: Callable[[DType, str], DType] = only_floats, **operands: Any
) -> tuple[list[Tensor], DType]:
    """The operands in the dtype of the computation, and their common dtype: a float one, or what
    `adapt` makes of it."""
    for label, operand in operands.items():
        if not isinstance(operand, Core):
            raise ArgumentTypeError(f"{name}: {label} must be a tensor, got {operand!r}")
    given = list(operands.values())
    same_device(given, name)
    dtype = adapt(result_type([(x.dtype, x.ndim) for x in given]), name)
    compute = dtypes.float32 if dtype in build.WIDENED else dtype
    return [x.cast(compute) for x in given], dtype


def check_same_shape(name: str, label: str, given: Core, expected: Core) -> None:
    """Raise `ShapeError` unless an argument has the shape of the input."""
    if given.shape != expected.shape:
        raise ShapeError(
            f"{name}: {label} has the shape {build.show(given.shape)}; expected "
            f"{build.show(expected.shape)} as the input{difference(given.shape, expected.shape)}"
        )
