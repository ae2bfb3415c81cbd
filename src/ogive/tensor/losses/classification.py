"""Losses between scores and classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.shape import Shape
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from ogive.tensor import build
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.core import Core, same_device, wrap
from ogive.tensor.elementwise.binary_operations import NE, combine
from ogive.tensor.elementwise.pairwise import only_floats
from ogive.tensor.gradients.known_gradients import with_gradient
from ogive.tensor.lengths import difference
from ogive.tensor.losses.regression import check_same_shape, meet_floats, reduce_losses
from ogive.tensor.movement.joining import where
from ogive.tensor.neural.table_lookup import checked
from ogive.tensor.outlined import outlined
from ogive.tensor.reduction.log_sum_exp import widen

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


@outlined
@widened
def cross_entropy(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """-log softmax(x) at the target class, with the classes on axis 1.

    Shapes: (batch, classes, ...) with target (batch, ...) of int64, or without the batch in
    both → (), or (batch, ...) for "none". A float target of the shape of x holds a
    probability for each class. `weight` (classes,) counts classes differently; the mean is
    then over the weights of the targets. Targets of `ignore_index` do not count.
    `label_smoothing` takes that share of the target and spreads it over all classes.

    >>> Tensor([[0.0, 0.0]]).cross_entropy(Tensor([1])).item() == Tensor(2.0).log().item()
    True

    Raises `ShapeError` when target or weight do not fit, `DtypeError` for class indices that
    are not int64 or uint8; `IndexRangeError` for a class out of range, when computed.
    """
    name = "cross_entropy"
    axis = _class_axis(self, weight, name)
    if not 0.0 <= label_smoothing <= 1.0:
        raise ArgumentError(
            f"{name}: label_smoothing must be between 0 and 1, got {label_smoothing}"
        )
    x, dtype = widen(self, name)
    likelihoods = x.log_softmax(axis)
    if isinstance(target, Core) and target.dtype.is_float and target.shape == x.shape:
        goal = target.cast(x.dtype)
        goal = goal * (1 - label_smoothing) + label_smoothing / x.shape[axis]
        losses = -(likelihoods * goal * _weights(weight, likelihoods, axis)).sum(axis)
        return reduce_losses(losses, reduction, name).cast(dtype)
    wanted, counts = _targets(likelihoods, target, weight, ignore_index, axis, name)
    losses = -where(wanted, likelihoods * _weights(weight, likelihoods, axis), 0.0).sum(axis)
    if label_smoothing:
        spread = (likelihoods * _weights(weight, likelihoods, axis)).sum(axis)
        spread = where(wanted.any(axis), spread, 0.0)
        share = label_smoothing / x.shape[axis]
        losses = losses * (1 - label_smoothing) - spread * share
    return _reduce_counted(losses, counts, reduction, name).cast(dtype)


@outlined
@widened
def nll_loss(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """-x at the target class: `cross_entropy` for x that are log probabilities already.

    Shapes: (batch, classes, ...) with target (batch, ...) of int64, or without the batch in
    both → (), or (batch, ...) for "none".

    >>> Tensor([[1.0, 2.0], [3.0, 4.0]]).nll_loss(Tensor([1, 0]), reduction="none").tolist()
    [-2.0, -3.0]

    Raises as `cross_entropy` does.
    """
    name = "nll_loss"
    axis = _class_axis(self, weight, name)
    x, dtype = widen(self, name)
    wanted, counts = _targets(x, target, weight, ignore_index, axis, name)
    losses = -where(wanted, x * _weights(weight, x, axis), 0.0).sum(axis)
    return _reduce_counted(losses, counts, reduction, name).cast(dtype)


@outlined
@widened
def binary_cross_entropy(
    self: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """-target · log x - (1 - target) · log(1 - x), logarithms counting as at least -100.

    Shapes: both the same → (), or theirs for "none"; `weight` broadcasts to it.

    >>> Tensor([1.0, 0.0]).binary_cross_entropy(Tensor([1.0, 1.0]), reduction="none").tolist()
    [-0.0, 100.0]

    Raises `ShapeError` when the shapes differ.
    """
    name = "binary_cross_entropy"
    (x, y), dtype = meet_floats(name, input=self, target=target)
    check_same_shape(name, "target", y, x)
    yes = with_gradient(x.log().maximum(-100), x, _log_back, is_fixed=True)
    no = with_gradient(x.neg().log1p().maximum(-100), x, _log_of_rest_back, is_fixed=True)
    losses = (y - 1) * no - y * yes
    return _weighted(losses, weight, reduction, name, dtype)


@outlined
@widened
def binary_cross_entropy_with_logits(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """`binary_cross_entropy` of sigmoid(x), for any x: (1 - target) · x + log(1 + e⁻ˣ), where
    `pos_weight` multiplies what a target of 1 counts.

    Shapes: both the same → (), or theirs for "none"; the weights broadcast to it.

    >>> loss = Tensor([0.0]).binary_cross_entropy_with_logits(Tensor([1.0]))
    >>> loss.item() == Tensor(2.0).log().item()
    True

    Raises `ShapeError` when the shapes differ.
    """
    name = "binary_cross_entropy_with_logits"
    (x, y), dtype = meet_floats(name, input=self, target=target)
    check_same_shape(name, "target", y, x)
    softplus = -x.logsigmoid()
    if pos_weight is not None:
        softplus = softplus * ((pos_weight.cast(x.dtype) - 1) * y + 1)
    losses = (1 - y) * x + softplus
    return _weighted(losses, weight, reduction, name, dtype)


def _log_back(x: Tensor, upstream: Tensor) -> Tensor:
    """1 / x, kept finite at 0, so that its product with the zero gradient of a saturated sigmoid is
    0."""
    return upstream * (1 - x) / _spread(x)


def _log_of_rest_back(x: Tensor, upstream: Tensor) -> Tensor:
    """-1 / (1 - x), kept finite at 1."""
    return upstream * -x / _spread(x)


def _spread(x: Tensor) -> Tensor:
    """x · (1 - x), the divisor of both logarithms' gradients, with PyTorch's lower limit."""
    return (x * (1 - x)).clamp(min=1e-12)


def _class_axis(x: Core, weight: Any, name: str) -> int:
    """The axis of the classes, the weights checked to be one per class."""
    only_floats(x.dtype, name)
    if not x.shape:
        raise ShapeError(f"{name}: input is a scalar; expected (batch, classes, ...)")
    axis = 0 if x.ndim == 1 else 1
    classes = x.shape[axis]
    if weight is not None and (not isinstance(weight, Core) or weight.shape != (classes,)):
        given = build.show(weight.shape) if isinstance(weight, Core) else repr(weight)
        raise ShapeError(f"{name}: weight is {given}; expected ({classes},), one for each class")
    return axis


def _weights(weight: Tensor | None, x: Tensor, axis: int) -> Any:
    """The weights of the classes, along their axis."""
    if weight is None:
        return 1
    return weight.cast(x.dtype).reshape(-1, *(1,) * (x.ndim - axis - 1))


def _targets(
    x: Tensor, target: Any, weight: Tensor | None, ignored: int, axis: int, name: str
) -> tuple[Tensor, Tensor]:
    """A mask of the target classes, in the shape of x, and the weight of each target."""
    shape: Shape = (*x.shape[:axis], *x.shape[axis + 1 :])
    if not isinstance(target, Core):
        raise ArgumentTypeError(f"{name}: target must be a tensor, got {target!r}")
    if target.shape != shape:
        raise ShapeError(
            f"{name}: target has the shape {build.show(target.shape)}; expected "
            f"{build.show(shape)} for classes on axis {axis} of the input {build.show(x.shape)}"
            f"{difference(target.shape, shape)}"
        )
    if target.dtype not in (dtypes.int64, dtypes.uint8):
        raise DtypeError(
            f"{name}: target is {target.dtype.name}; class indices are int64 or uint8, and "
            "probabilities are floats in the shape of the input"
        )
    same_device([x, target], name)
    counted = combine(NE, target, ignored)
    classes = checked(where(counted, target, 0), x.shape[axis]).unsqueeze(axis)
    with graph_lock:
        number = wrap(build.count_along(axis, x.node.shape), x.device)
    is_target = (number == classes) & counted.unsqueeze(axis)
    if weight is None:
        return is_target, counted.cast(x.dtype)
    return is_target, where(is_target, _weights(weight, x, axis), 0.0).sum(axis)


def _reduce_counted(losses: Tensor, counts: Tensor, reduction: str, name: str) -> Tensor:
    if reduction == "mean":
        return losses.sum() / counts.sum()
    return reduce_losses(losses, reduction, name)


def _weighted(losses: Tensor, weight: Any, reduction: str, name: str, dtype: DType) -> Tensor:
    if weight is not None:
        losses = losses * weight.cast(losses.dtype)
    return reduce_losses(losses, reduction, name).cast(dtype)
