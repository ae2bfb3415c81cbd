"""Forms of losses between scores and classes.

All of them work on lines (entries, classes), whatever the axes of the entries are.
"""

from __future__ import annotations

from typing import Any

import numpy

from ogive.eager.forms import OutOfRange, Refused, form, gradient
from ogive.eager.layers.loss_forms import reduced, spread
from ogive.tensor.losses import classification

_INT64 = numpy.dtype("int64")
_WORD = numpy.dtype("uint64")
_total = numpy.add.reduce
_greatest = numpy.maximum.reduce


def _to_lines(x: Any) -> Any:
    """(batch, classes, ...) or (classes,) as (entries, classes)."""
    if x.ndim == 2:
        return x
    if x.ndim == 1:
        return x[None]
    count, classes = x.shape[:2]
    return x.reshape(count, classes, -1).swapaxes(1, 2).reshape(-1, classes)


def _from_lines(lines: Any, shape: tuple[int, ...]) -> Any:
    """The inverse of `_to_lines`."""
    if len(shape) == 2:
        return lines
    if len(shape) == 1:
        return lines[0]
    return lines.reshape(shape[0], -1, shape[1]).swapaxes(1, 2).reshape(shape)


def _log_softmax(lines: Any) -> Any:
    shifted = lines - _greatest(lines, 1, keepdims=True)
    shifted -= numpy.log(_total(numpy.exp(shifted), 1, keepdims=True))
    return shifted


class _Classes:
    """The classes of targets: their places in the lines, and the weight of each target.

    `counted` is None if all targets count.
    """

    __slots__ = ("counted", "counts", "places")

    def __init__(self, x: Any, target: Any, weight: Any, ignored: int) -> None:
        classes = x.shape[0 if x.ndim == 1 else 1]
        shape = x.shape[:1] + x.shape[2:] if x.ndim > 1 else ()
        if target.dtype != _INT64 or target.shape != shape:
            raise Refused
        chosen = target.reshape(-1)
        self.counted = None
        if not _are_classes(chosen, classes) or 0 <= ignored < classes:
            self.counted = chosen != ignored
            chosen = numpy.where(self.counted, chosen, 0)
            if not _are_classes(chosen, classes):
                raise OutOfRange
        self.places = (numpy.arange(len(chosen)), chosen)
        self.counts: Any = 1
        if weight is not None:
            if weight.shape != (classes,) or weight.dtype != x.dtype:
                raise Refused
            self.counts = weight[chosen]
        if self.counted is not None:
            self.counts = self.counts * self.counted.astype(x.dtype)

    def whole(self) -> Any:
        """The sum of the weights of all targets."""
        is_one = self.counts.__class__ is int
        return len(self.places[0]) if is_one else _total(self.counts)

    def reduce(self, losses: Any, reduction: str, shape: tuple[int, ...]) -> Any:
        """The losses of lines, reduced."""
        if reduction == "mean":
            return _total(losses) / self.whole()
        loss = reduced(losses, reduction)
        return loss.reshape(shape) if reduction == "none" else loss

    def spread(self, given: Any, reduction: str) -> Any:
        """The gradients of the lines' losses, as a column or a number."""
        if reduction == "mean":
            return given / self.whole()
        return given.reshape(-1, 1) if reduction == "none" else given


def _are_classes(chosen: Any, classes: int) -> bool:
    """Whether all integers are in [0, classes). Read as unsigned, negative ones are too large."""
    return bool(_greatest(chosen.view(_WORD)) < classes)


def _check(x: Any) -> None:
    if x.dtype.kind != "f" or not x.ndim or not x.size:
        raise Refused


@form(classification.nll_loss, reach=2)
def nll_loss(
    x: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean"
) -> Any:
    """-x of the target class."""
    _check(x)
    classes = _Classes(x, target, weight, ignore_index)
    losses = -_picked(_to_lines(x), classes)
    return classes.reduce(losses, reduction, target.shape)


def _picked(lines: Any, classes: _Classes) -> Any:
    """The entries of the target classes, times their weights; 0 for targets that do not count."""
    entries = lines[classes.places]
    if classes.counted is not None:
        entries = numpy.where(classes.counted, entries, 0)
    return entries if classes.counts.__class__ is int else entries * classes.counts


@gradient(nll_loss)
def _nll_loss(
    given: Any,
    out: Any,
    x: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Any:
    classes = _Classes(x, target, weight, ignore_index)
    lines = numpy.zeros_like(_to_lines(x))
    lines[classes.places] = -classes.counts * classes.spread(given, reduction).reshape(-1)
    gradients = (_from_lines(lines, x.shape), None)
    return gradients if weight is None else (*gradients, None)


@form(classification.cross_entropy, reach=2)
def cross_entropy(
    x: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """-log softmax(x) of the target class."""
    _check(x)
    if not 0 <= label_smoothing <= 1:
        raise Refused
    likelihoods = _log_softmax(_to_lines(x))
    if target.dtype.kind == "f":
        goals = _goals(x, target, weight, label_smoothing)
        losses = -_total(likelihoods * goals, 1)
        loss = reduced(losses, reduction)
        return loss.reshape(_entries(x)) if reduction == "none" else loss
    classes = _Classes(x, target, weight, ignore_index)
    losses = -_picked(likelihoods, classes)
    if label_smoothing:
        others = likelihoods if weight is None else likelihoods * weight
        spread_out = _total(others, 1)
        if classes.counted is not None:
            spread_out = numpy.where(classes.counted, spread_out, 0)
        losses = losses * (1 - label_smoothing)
        losses -= spread_out * (label_smoothing / likelihoods.shape[1])
    return classes.reduce(losses, reduction, target.shape)


def _entries(x: Any) -> tuple[int, ...]:
    """The shape of x without the axis of classes."""
    shape: tuple[int, ...] = x.shape
    return (shape[0], *shape[2:]) if len(shape) > 1 else ()


def _goals(x: Any, target: Any, weight: Any, smoothing: float) -> Any:
    """The probability of each class, times its weight, as lines."""
    if target.shape != x.shape or target.dtype != x.dtype:
        raise Refused
    goals = _to_lines(target)
    if smoothing:
        goals = goals * (1 - smoothing) + smoothing / goals.shape[1]
    if weight is not None:
        if weight.shape != goals.shape[1:] or weight.dtype != x.dtype:
            raise Refused
        goals = goals * weight
    return goals


@gradient(cross_entropy)
def _cross_entropy(
    given: Any,
    out: Any,
    x: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    likelihoods = _log_softmax(_to_lines(x))
    shares = numpy.exp(likelihoods)
    to_target = None
    if target.dtype.kind == "f":
        goals = _goals(x, target, weight, label_smoothing)
        below = spread(given, len(goals), reduction)
        below = below.reshape(-1, 1) if reduction == "none" else below
        lines = (shares * _total(goals, 1, keepdims=True) - goals) * below
        to_target = likelihoods * (below * (label_smoothing - 1))
        if weight is not None:
            to_target *= weight
        to_target = _from_lines(to_target, x.shape)
    else:
        classes = _Classes(x, target, weight, ignore_index)
        below = classes.spread(given, reduction)
        if label_smoothing:
            goals = _smoothed(shares, classes, weight, label_smoothing)
            lines = (shares * _total(goals, 1, keepdims=True) - goals) * below
        else:
            lines = shares
            lines[classes.places] -= 1
            lines *= below
            if classes.counts.__class__ is not int:
                lines *= classes.counts[:, None]
    gradients = (_from_lines(lines, x.shape), to_target)
    return gradients if weight is None else (*gradients, None)


def _smoothed(shares: Any, classes: _Classes, weight: Any, smoothing: float) -> Any:
    """The weight of each class for each target, with a share spread evenly over all classes."""
    goals = numpy.full_like(shares, smoothing / shares.shape[1])
    if weight is not None:
        goals *= weight
    if classes.counted is not None:
        goals[~classes.counted] = 0
    goals[classes.places] += (1 - smoothing) * classes.counts
    return goals
