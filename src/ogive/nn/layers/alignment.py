"""Connectionist temporal classification: a loss over all ways to align labels with time.

With blanks between and around them, L labels make 2L + 1 states. α is the logarithm of the
probability to be in each state. From one time step to the next, an alignment stays, moves on by one
state, or skips the blank between two different labels:

    αₜ[s] = log(e^αₜ₋₁[s] + e^αₜ₋₁[s - 1] + (e^αₜ₋₁[s - 2] if allowed)) + log p[t, label of s]

The α of each step is kept. All steps are the same kernel at other positions, compiled once.

For the gradient, β is the same quantity from the end. e^(αₜ[s] + βₜ[s]) / p[t, label of s] is the
probability of all alignments that are in state s at time t. The gradient of a label is its
probability by the softmax minus its share of these alignments. Differentiating step by step would
take time that grows with the square of the length.
"""

from __future__ import annotations

import math
from typing import Any

from ogive.errors import ArgumentError, ShapeError
from ogive.named import NamedTuple
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.core import memory_device
from ogive.tensor.creation.constructors import arange, full_like, zeros_like
from ogive.tensor.gradients.known_gradients import with_gradient
from ogive.tensor.losses.regression import meet_floats, reduce_losses
from ogive.tensor.method_functions import created, open_to_eager
from ogive.tensor.movement.joining import stack, where
from ogive.tensor.tensor import Tensor

NEVER = -1e30
"""The logarithm of probability zero. It is finite, so that its differences are not NaN."""


@widened
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """The negative log-probability of the labels, summed over all alignments with the time steps.

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
    lengths = (input_lengths, target_lengths)
    times, counts = [
        (n if isinstance(n, Tensor) else created(Tensor, n, device=memory_device(x)))
        .reshape(-1)
        .long()
        for n in lengths
    ]
    if times.shape != (batch,) or counts.shape != (batch,):
        raise ShapeError(f"ctc_loss: there must be a length for each of {batch} examples")
    labels = _padded_targets(targets, counts, batch)
    losses = losses_of_alignments(x, labels, times, counts, blank)
    if zero_infinity:
        losses = where(losses == math.inf, 0.0, losses)
    if reduction == "mean":
        losses = losses / counts.clamp(min=1)
    total = reduce_losses(losses, reduction, "ctc_loss").cast(dtype)
    return total if batched or reduction != "none" else total.squeeze(0)


def _padded_targets(targets: Tensor, counts: Tensor, batch: int) -> Tensor:
    """The labels as (batch, most). Entries beyond the length of a row are arbitrary."""
    if targets.ndim == 2 or batch == 1:
        return targets.reshape(batch, -1).long()
    # The labels are concatenated: a row begins where the one before it ends.
    begin = counts.cumsum(0) - counts
    place = begin.unsqueeze(1) + created(arange, targets.shape[0], device=memory_device(targets))
    return targets.long()[place.clamp(max=targets.shape[0] - 1)]


class _States(NamedTuple):
    """The states of a batch: labels with blanks between them, and the allowed moves.

    `labels` (batch, states), `is_used` where they are states of the example, `can_skip` those that
    can be reached from the last but one; `times` and `counts` (batch,).
    """

    labels: Tensor
    is_used: Tensor
    can_skip: Tensor
    times: Tensor
    counts: Tensor


def _to_states(labels: Tensor, times: Tensor, counts: Tensor, blank: int) -> _States:
    states = 2 * labels.shape[1] + 1
    # Even states are blanks. So are the states past an example's labels, which are never reached.
    extended = stack([labels * 0 + blank, labels], -1).flatten(1).pad((0, 1), value=blank)
    number = created(arange, states, device=memory_device(labels))
    is_used = number < 2 * counts.unsqueeze(1) + 1
    extended = where(is_used, extended, blank)
    before = extended.pad((2, 0), value=blank)[:, :states]
    can_skip = (extended != blank) & (extended != before) & (number >= 2)
    return _States(extended, is_used, can_skip, times, counts)


@open_to_eager
def losses_of_alignments(
    x: Tensor, labels: Tensor, times: Tensor, counts: Tensor, blank: int
) -> Tensor:
    """The loss of each example. Shapes: (time, batch, classes), (batch, most), (batch,), (batch,) →
    (batch,)."""
    states = _to_states(labels, times, counts, blank)
    losses = _total(_forward(x.detach(), states)[-1], states).neg()
    is_possible = losses < -NEVER / 2

    def back(x: Tensor, upstream: Tensor) -> Tensor:
        share = x.softmax(-1) - _occupancy(x, states)
        is_running = _step_numbers(x) < times
        weight = where(is_running & is_possible, upstream, 0.0)
        return share * weight.unsqueeze(2)

    return with_gradient(where(is_possible, losses, math.inf), x, back)


def _state_numbers(states: _States) -> Tensor:
    """(states,): their positions."""
    labels = states.labels
    return created(arange, labels.shape[1], device=memory_device(labels))


def _step_numbers(x: Tensor) -> Tensor:
    """(time, 1): the positions of the steps."""
    return created(arange, x.shape[0], device=memory_device(x)).unsqueeze(1)


def _emitted(x: Tensor, states: _States) -> Tensor:
    """(time, batch, states): the logarithm of the probability of each state's label."""
    index = states.labels.unsqueeze(0).expand(x.shape[0], *states.labels.shape)
    # In memory, so that the kernels of the steps differ only in the position that they read.
    return x.gather(2, index).contiguous()


def _forward(x: Tensor, states: _States) -> list[Tensor]:
    """α at each step. After the end of an example it stays constant."""
    emitted, number = _emitted(x, states), _state_numbers(states)
    is_running = _step_numbers(x) < states.times
    goes_on = (is_running.unsqueeze(2) & states.is_used).contiguous()
    alphas = [where((number < 2) & states.is_used, emitted[0], NEVER).contiguous()]
    for step in range(1, int(x.shape[0])):
        alpha = alphas[-1]
        skipping = where(states.can_skip, _shifted(alpha, 2), NEVER)
        forth = _log_sum(alpha, _shifted(alpha, 1), skipping) + emitted[step]
        alphas.append(where(goes_on[step], forth, alpha).contiguous())
    return alphas


def _backward(x: Tensor, states: _States) -> list[Tensor]:
    """β at each step, from where each example ends."""
    emitted, number = _emitted(x, states), _state_numbers(states)
    is_end = (number >= 2 * states.counts.unsqueeze(1) - 1) & states.is_used
    left = (states.times - _step_numbers(x)).unsqueeze(2)
    begins = ((left == 1) & is_end).contiguous()
    goes_on = ((left > 1) & states.is_used).contiguous()
    can_skip = states.can_skip.int().pad((0, 2))[:, 2:].bool()
    betas: list[Tensor] = []
    beta = full_like(emitted[0], NEVER)
    for step in reversed(range(int(x.shape[0]))):
        skipping = where(can_skip, _shifted(beta, -2), NEVER)
        back = _log_sum(beta, _shifted(beta, -1), skipping) + emitted[step]
        kept = where(begins[step], emitted[step], NEVER)
        beta = where(goes_on[step], back, kept).contiguous()
        betas.append(beta)
    return betas[::-1]


def _occupancy(x: Tensor, states: _States) -> Tensor:
    """(time, batch, classes): the probability that an alignment is at a label at a time."""
    alphas = _forward(x, states)
    total = _total(alphas[-1], states).unsqueeze(1)
    betas = _backward(x, states)
    passing = stack(alphas) + stack(betas) - _emitted(x, states)
    index = states.labels.unsqueeze(0).expand(passing.shape)
    return zeros_like(x).scatter_add(2, index, (passing - total).exp())


def _total(alpha: Tensor, states: _States) -> Tensor:
    """The logarithm of the probability to end in one of the last two states."""
    number = _state_numbers(states)
    is_end = number >= 2 * states.counts.unsqueeze(1) - 1
    return where(is_end, alpha, NEVER).logsumexp(1)


def _shifted(values: Tensor, states: int) -> Tensor:
    """The values shifted by `states`: those of earlier states, or of later ones if negative."""
    count = values.shape[1]
    if states > 0:
        return values.pad((states, 0), value=NEVER)[:, :count]
    return values.pad((0, -states), value=NEVER)[:, -states:]


def _log_sum(*terms: Tensor) -> Tensor:
    top = terms[0].maximum(terms[1]).maximum(terms[2]).detach()
    first, second, third = [(term - top).exp() for term in terms]
    return (first + second + third).log() + top
