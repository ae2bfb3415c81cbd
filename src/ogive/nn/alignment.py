"""Connectionist temporal classification: a loss over all ways to align labels with time.

With blanks between and around them, L labels are 2L + 1 states. α, the logarithm of the probability
to be in each of them, goes from step to step of time: stay, go on by one, or skip the blank between
two different labels.

    αₜ[s] = log(e^αₜ₋₁[s] + e^αₜ₋₁[s - 1] + (e^αₜ₋₁[s - 2] if allowed)) + log p[t, label of s]

Each step is kept; steps are equal kernels at other positions, compiled once.
"""

from __future__ import annotations

import math
from typing import Any

from ogive.errors import ArgumentError, ShapeError
from ogive.tensor.core import to_tensor
from ogive.tensor.creation import arange
from ogive.tensor.joining import stack, where
from ogive.tensor.losses import meet_floats, reduce_losses
from ogive.tensor.tensor import Tensor

NEVER = -1e30
"""The logarithm of no probability: finite, so that differences of it are numbers."""


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """-log of the probability of the labels, over all alignments with the steps of time.

    Shapes: log_probs (time, batch, classes), logarithms of probabilities; targets (batch, most) or
    all of them in one line; lengths (batch,) → () or, for the reduction "none", (batch,); without a
    batch (time, classes). "mean" divides each loss by its number of labels. `zero_infinity` gives
    0, and no gradient, where there are too few steps for the labels.

    The gradient is that for probabilities that add up to 1 at each step, as in PyTorch.

    >>> even = Tensor([[[0.5, 0.5]], [[0.5, 0.5]]]).log()
    >>> loss = ctc_loss(even, Tensor([[1]]), Tensor([2]), Tensor([1]), reduction="sum")
    >>> round(loss.neg().exp().item(), 4)
    0.75

    Raises `ShapeError` when the arguments do not fit, `ArgumentError` for another reduction.
    """
    batched = log_probs.ndim == 3
    if log_probs.ndim not in (2, 3):
        raise ShapeError(
            f"ctc_loss: log_probs have the shape {log_probs.shape}; expected (time, batch, "
            "classes), or (time, classes)"
        )
    (given,), dtype = meet_floats("ctc_loss", log_probs=log_probs)
    x = given if batched else given.unsqueeze(1)
    batch, classes = x.shape[1:]
    if not 0 <= blank < classes:
        raise ArgumentError(f"ctc_loss: blank={blank} is not among the {classes} classes")
    times, counts = [to_tensor(n).reshape(-1).long() for n in (input_lengths, target_lengths)]
    if times.shape != (batch,) or counts.shape != (batch,):
        raise ShapeError(f"ctc_loss: there must be a length for each of {batch} examples")
    labels = _padded_targets(targets, counts, batch)
    losses = _losses(_normalized_gradient(x), labels, times, counts, blank)
    if zero_infinity:
        losses = where(losses == math.inf, 0.0, losses)
    if reduction == "mean":
        losses = losses / counts.clamp(min=1)
    total = reduce_losses(losses, reduction, "ctc_loss").cast(dtype)
    return total if batched or reduction != "none" else total.squeeze(0)


def _padded_targets(targets: Tensor, counts: Tensor, batch: int) -> Tensor:
    """(batch, most) labels; what is beyond the length of a row means nothing."""
    if targets.ndim == 2 or batch == 1:
        return targets.reshape(batch, -1).long()
    # All in one line: a row begins where the ones before it end.
    begin = counts.cumsum(0) - counts
    place = begin.unsqueeze(1) + arange(targets.shape[0])
    return targets.long()[place.clamp(max=targets.shape[0] - 1)]


def _normalized_gradient(x: Tensor) -> Tensor:
    """The same values; to the gradient they are logarithms of a softmax."""
    total = x.logsumexp(-1, keepdim=True)
    return x - (total - total.detach())


def _losses(x: Tensor, labels: Tensor, times: Tensor, counts: Tensor, blank: int) -> Tensor:
    steps, batch, _ = x.shape
    states = 2 * labels.shape[1] + 1
    # Blanks at even states. Labels are read where there are some; others are never reached.
    extended = stack([labels * 0 + blank, labels], -1).flatten(1).pad((0, 1), value=blank)
    number = arange(states)
    is_used = number < 2 * counts.unsqueeze(1) + 1
    extended = where(is_used, extended, blank)
    # Kept, like what says whether an example goes on: so steps differ by where they read only.
    emitted = x.gather(2, extended.unsqueeze(0).expand(steps, batch, states)).contiguous()
    goes_on = ((arange(steps).unsqueeze(1) < times).unsqueeze(2) & is_used).contiguous()
    before = extended.pad((2, 0), value=blank)[:, :states]
    can_skip = (extended != blank) & (extended != before) & (number >= 2)
    alpha = where((number < 2) & is_used, emitted[0], NEVER).contiguous()
    for step in range(1, steps):
        skipping = where(can_skip, _delayed(alpha, 2), NEVER)
        forth = _log_sum(alpha, _delayed(alpha, 1), skipping) + emitted[step]
        alpha = where(goes_on[step], forth, alpha).contiguous()
    last = where(number >= 2 * counts.unsqueeze(1) - 1, alpha, NEVER)
    losses = last.logsumexp(1).neg()
    return where(losses > -NEVER / 2, math.inf, losses)


def _delayed(alpha: Tensor, states: int) -> Tensor:
    """What comes from some states before."""
    return alpha.pad((states, 0), value=NEVER)[:, : alpha.shape[1]]


def _log_sum(*terms: Tensor) -> Tensor:
    top = terms[0].maximum(terms[1]).maximum(terms[2]).detach()
    first, second, third = [(term - top).exp() for term in terms]
    return (first + second + third).log() + top
