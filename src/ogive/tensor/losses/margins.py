"""Losses with a margin between right and wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ogive.compat.methods.keywords import also
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentError, DtypeError, ShapeError
from ogive.tensor import build
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.core import Core, wrap
from ogive.tensor.elementwise.binary_operations import float_dtype, inexact_dtype
from ogive.tensor.losses.regression import check_same_shape, meet_floats, reduce_losses
from ogive.tensor.movement.joining import where
from ogive.tensor.reduction.distances import pairwise_distance

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

SMALL = 1e-12
"""Added to squared norms, so that a zero vector does not divide by 0."""


@widened
@also(input2="other")
def margin_ranking_loss(
    self: Tensor, other: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """max(0, margin - target · (x - other)): a target of 1 ranks x higher, one of -1 lower.

    Shapes: all broadcast → (), or theirs for "none".

    >>> Tensor([1.0]).margin_ranking_loss(Tensor([3.0]), Tensor([1.0])).item()
    2.0
    """
    name = "margin_ranking_loss"
    (x, y, t), dtype = meet_floats(name, float_dtype, input=self, other=other, target=target)
    losses = (t.neg() * (x - y) + margin).clamp(min=0)
    return reduce_losses(losses, reduction, name).cast(dtype)


@widened
def hinge_embedding_loss(
    self: Tensor, target: Tensor, margin: float = 1.0, reduction: str = "mean"
) -> Tensor:
    """x where the target is 1, max(0, margin - x) where it is -1.

    Shapes: both broadcast → (), or theirs for "none".

    >>> Tensor([0.5, 0.5]).hinge_embedding_loss(Tensor([1.0, -1.0]), 2.0, "none").tolist()
    [0.5, 1.5]
    """
    name = "hinge_embedding_loss"
    (x, t), dtype = meet_floats(name, input=self, target=target)
    losses = where(t != 1, (margin - x).clamp(min=0), 0.0) + where(t != -1, x, 0.0)
    return reduce_losses(losses, reduction, name).cast(dtype)


@widened
def soft_margin_loss(self: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """log(1 + e^(-target · x)), the target being 1 or -1.

    Shapes: both the same → (), or theirs for "none".

    >>> Tensor([0.0]).soft_margin_loss(Tensor([1.0])).item() == Tensor(2.0).log().item()
    True
    """
    name = "soft_margin_loss"
    (x, t), dtype = meet_floats(name, input=self, target=target)
    losses = (t.neg() * x).exp().log1p()
    return reduce_losses(losses, reduction, name).cast(dtype)


@widened
@also(input2="other")
def cosine_embedding_loss(
    self: Tensor, other: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """1 - cos(x, other) where the target is 1, max(0, cos - margin) where it is -1.

    Shapes: (batch, n) twice with target (batch,), or (n,) twice with () → (), or the target's
    for "none".

    >>> x = Tensor([[1.0, 0.0]])
    >>> x.cosine_embedding_loss(Tensor([[0.0, 1.0]]), Tensor([1.0])).item()
    1.0

    Raises `ShapeError` for any other shapes.
    """
    name = "cosine_embedding_loss"
    (x, y, t), dtype = meet_floats(name, float_dtype, input=self, other=other, target=target)
    if x.ndim not in (1, 2) or t.ndim != x.ndim - 1 or y.ndim != x.ndim:
        raise ShapeError(
            f"{name}: input, other and target have the shapes {build.show(x.shape)}, "
            f"{build.show(y.shape)} and {build.show(t.shape)}; expected (batch, n) twice and "
            "(batch,), or all without the batch"
        )
    norms = (x.square().sum(-1) + SMALL) * (y.square().sum(-1) + SMALL)
    cosine = (x * y).sum(-1) / norms.sqrt()
    losses = where(t == 1, 1 - cosine, 0.0)
    losses = losses + where(t == -1, (cosine - margin).clamp(min=0), 0.0)
    return reduce_losses(losses, reduction, name).cast(dtype)


@widened
def multi_margin_loss(
    self: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Σ max(0, margin - x[target] + x[i])ᵖ over all other classes i, over their number.

    Shapes: (batch, classes) with target (batch,), or (classes,) with () or (1,) → (), or (batch,)
    for "none"; `weight` is (classes,).

    >>> Tensor([[1.0, 0.5]]).multi_margin_loss(Tensor([0])).item()
    0.25

    Raises `ShapeError` for any other shapes, `ArgumentError` unless p is 1 or 2.
    """
    name = "multi_margin_loss"
    if p not in (1, 2):
        raise ArgumentError(f"{name}: p must be 1 or 2, got {p}")
    (x,), dtype = meet_floats(name, input=self)
    if x.ndim == 1 and isinstance(target, Core) and target.shape == (1,):
        target = target.reshape(())
    _check_classes(x, target, x.shape[:-1], name)
    is_target = _hot(target, x.shape[-1])
    right = where(is_target, x, 0.0).sum(-1, keepdim=True)
    losses = (margin - right + x).relu()
    losses = losses * losses if p == 2 else losses
    if weight is not None:
        factors = weight.cast(x.dtype)
        losses = losses * where(is_target, factors, 0.0).sum(-1, keepdim=True)
    losses = where(is_target, 0.0, losses).sum(-1) / x.shape[-1]
    return reduce_losses(losses, reduction, name).cast(dtype)


@widened
def multilabel_margin_loss(self: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Σ max(0, 1 - x[right] + x[wrong]) over all pairs of classes, over their number.

    Shapes: (batch, classes) twice, or both without the batch → (), or (batch,) for "none".
    A row of the target lists the right classes, up to its first -1.

    >>> Tensor([[1.0, 0.5]]).multilabel_margin_loss(Tensor([[0, -1]])).item()
    0.25

    Raises `ShapeError` when the shapes differ.
    """
    name = "multilabel_margin_loss"
    (x,), dtype = meet_floats(name, input=self)
    _check_classes(x, target, x.shape, name)
    classes = x.shape[-1]
    with graph_lock:
        square = wrap(build.filled(dtypes.bool_, True, (classes, classes)), x.device)
    ended = (target == -1).unsqueeze(-2) & square.tril()
    is_target = _hot(target, classes) & ~ended.any(-1).unsqueeze(-1)  # (..., entry, class)
    is_right = is_target.any(-2)
    right = where(is_target, x.unsqueeze(-2), 0.0).sum(-1, keepdim=True)
    counts = is_target.any(-1).unsqueeze(-1) & ~is_right.unsqueeze(-2)
    pairs = where(counts, (1 - right + x.unsqueeze(-2)).relu(), 0.0)
    losses = pairs.sum((-2, -1)) / classes
    return reduce_losses(losses, reduction, name).cast(dtype)


def multilabel_soft_margin_loss(
    self: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """`binary_cross_entropy_with_logits`, averaged over the classes on the last axis.

    Shapes: (..., classes) twice → (), or (...) for "none"; `weight` broadcasts.

    >>> x = Tensor([[0.0, 0.0]])
    >>> loss = x.multilabel_soft_margin_loss(Tensor([[1.0, 0.0]]))
    >>> loss.item() == Tensor(2.0).log().item()
    True
    """
    name = "multilabel_soft_margin_loss"
    (x, t), dtype = meet_floats(name, input=self, target=target)
    check_same_shape(name, "target", t, x)
    losses = (1 - t) * x - x.logsigmoid()
    if weight is not None:
        losses = losses * weight.cast(x.dtype)
    return reduce_losses(losses.mean(-1), reduction, name).cast(dtype)


@widened
def triplet_margin_loss(
    self: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """max(0, d(x, positive) - d(x, negative) + margin), d being the p-norm of the difference,
    to which `eps` is added; `swap` takes d(positive, negative) where that is less.

    Shapes: (batch, n) three times, or without the batch → (), or (batch,) for "none".

    >>> x = Tensor([[0.0]])
    >>> x.triplet_margin_loss(Tensor([[3.0]]), Tensor([[1.0]]), eps=0.0).item()
    3.0

    Raises `ShapeError` when the numbers of axes differ.
    """

    def distance(one: Tensor, other: Tensor) -> Tensor:
        return pairwise_distance(one, other, p, eps)

    return _triplet(
        "triplet_margin_loss", (self, positive, negative), distance, margin, swap, reduction
    )


def triplet_margin_with_distance_loss(
    self: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with a distance function of your own.

    Shapes: whatever `distance_function` takes → (), or what it gives for "none".

    >>> x = Tensor([[0.0]])
    >>> loss = x.triplet_margin_with_distance_loss(
    ...     Tensor([[3.0]]), Tensor([[1.0]]), distance_function=lambda a, b: (a - b).abs()
    ... )
    >>> loss.item()
    3.0
    """
    if distance_function is None:
        return triplet_margin_loss(self, positive, negative, margin, swap=swap, reduction=reduction)
    name = "triplet_margin_with_distance_loss"
    operands = (self, positive, negative)
    return _triplet(name, operands, distance_function, margin, swap, reduction)


def _triplet(
    name: str,
    operands: tuple[Core, Core, Core],
    distance: Callable[[Tensor, Tensor], Tensor],
    margin: float,
    swap: bool,
    reduction: str,
) -> Tensor:
    if margin <= 0:
        raise ArgumentError(f"{name}: margin must be positive, got {margin}")
    labels = dict(zip(("anchor", "positive", "negative"), operands, strict=True))
    (anchor, near, far), dtype = meet_floats(name, inexact_dtype, **labels)
    dtype = dtype.part if dtype.is_complex else dtype
    if not anchor.ndim == near.ndim == far.ndim:
        raise ShapeError(
            f"{name}: anchor, positive and negative have the shapes {build.show(anchor.shape)}, "
            f"{build.show(near.shape)} and {build.show(far.shape)}; expected as many axes"
        )
    apart = distance(anchor, far)
    if swap:
        apart = apart.minimum(distance(near, far))
    losses = (distance(anchor, near) - apart + margin).clamp(min=0)
    return reduce_losses(losses, reduction, name).cast(dtype)


def _check_classes(x: Core, target: Any, shape: Any, name: str) -> None:
    given = target.shape if isinstance(target, Core) else repr(target)
    if x.ndim not in (1, 2) or given != shape:
        raise ShapeError(
            f"{name}: input has the shape {build.show(x.shape)} and target {given}; expected "
            f"(batch, classes), or (classes,), and {build.show(shape)}"
        )
    if target.dtype is not dtypes.int64:
        raise DtypeError(f"{name}: target is {target.dtype.name}; class indices are int64")


def _hot(target: Tensor, classes: int) -> Tensor:
    """Whether the class, on a new last axis, is the target's."""
    with graph_lock:
        number = wrap(build.count(classes), target.device)
    return target.unsqueeze(-1) == number
