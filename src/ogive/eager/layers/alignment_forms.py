"""The form of the losses over all alignments of labels with time (`nn/layers/alignment.py`)."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ogive.eager.casts import check_size
from ogive.eager.forms import Refused, form, gradient
from ogive.nn.layers import alignment as plain

_NEVER = plain.NEVER
_log_sum = numpy.logaddexp
_take_off: Any = numpy.subtract.at


class _Alignment:
    """The states of a batch, and the probability of each one's label at each time.

    `labels` (batch, states); `emitted` (time, batch, states), as logarithms; `skips` is 0 for those
    that can be reached from the last but one, else `NEVER`; `goes_on` (time, batch, states) where
    an example has not ended, and the state is one of its own.
    """

    def __init__(self, x: Any, labels: Any, times: Any, counts: Any, blank: int) -> None:
        batch, most = labels.shape
        states = 2 * most + 1
        check_size((len(x), batch, states))
        number = numpy.arange(states)
        self.is_used = number < 2 * counts[:, None] + 1
        extended = numpy.full((batch, states), blank)
        extended[:, 1::2] = labels
        self.labels = numpy.where(self.is_used, extended, blank)
        if self.labels.min() < 0 or self.labels.max() >= x.shape[2]:
            raise Refused
        differs = self.labels[:, 2:] != self.labels[:, :-2]
        can_skip = numpy.zeros((batch, states), bool)
        can_skip[:, 2:] = differs & (self.labels[:, 2:] != blank)
        self.skips = numpy.where(can_skip, 0.0, _NEVER)
        self.places = (slice(None), numpy.arange(batch)[:, None], self.labels)
        self.emitted = x[self.places].astype(numpy.float64)
        self.left = times - numpy.arange(len(x))[:, None]
        self.is_end = (number >= 2 * counts[:, None] - 1) & self.is_used
        self.number = number

    def forward(self) -> Any:
        """α at each time. Shape: (time, batch, states)."""
        emitted = self.emitted
        goes_on = (self.left > 0)[:, :, None] & self.is_used
        alphas = numpy.empty_like(emitted)
        alphas[0] = numpy.where((self.number < 2) & self.is_used, emitted[0], _NEVER)
        wide = numpy.full((emitted.shape[1], emitted.shape[2] + 2), _NEVER)
        for step in range(1, len(emitted)):
            wide[:, 2:] = before = alphas[step - 1]
            forth = _log_sum(_log_sum(before, wide[:, 1:-1]), wide[:, :-2] + self.skips)
            alphas[step] = numpy.where(goes_on[step], forth + emitted[step], before)
        return alphas

    def backward(self) -> Any:
        """β at each time, from where each example ends."""
        emitted = self.emitted
        begins = (self.left == 1)[:, :, None] & self.is_end
        goes_on = (self.left > 1)[:, :, None] & self.is_used
        skips = numpy.full(self.skips.shape, _NEVER)
        skips[:, :-2] = self.skips[:, 2:]
        betas = numpy.empty_like(emitted)
        wide = numpy.full((emitted.shape[1], emitted.shape[2] + 2), _NEVER)
        for step in reversed(range(len(emitted))):
            back = _log_sum(_log_sum(wide[:, :-2], wide[:, 1:-1]), wide[:, 2:] + skips)
            kept = numpy.where(begins[step], emitted[step], _NEVER)
            betas[step] = numpy.where(goes_on[step], back + emitted[step], kept)
            wide[:, :-2] = betas[step]
        return betas

    def total(self, alphas: Any) -> Any:
        """The logarithm of the probability of all alignments. Shape: (batch,)."""
        return _log_sum.reduce(numpy.where(self.is_end, alphas[-1], _NEVER), 1)


def _check(x: Any, labels: Any, times: Any, counts: Any) -> None:
    if x.dtype.kind != "f" or not x.size or labels.dtype.kind != "i":
        raise Refused
    if counts.min() < 0 or counts.max() > labels.shape[1]:
        raise Refused
    if times.min() < 1 or times.max() > len(x):
        raise Refused


@form(plain.losses_of_alignments, reach=1)
def losses_of_alignments(x: Any, labels: Any, times: Any, counts: Any, blank: int) -> Any:
    """-log of the probability of the labels. Shape: (batch,)."""
    _check(x, labels, times, counts)
    states = _Alignment(x, labels, times, counts, blank)
    losses = -states.total(states.forward())
    return numpy.where(losses < -_NEVER / 2, losses, math.inf).astype(x.dtype)


@gradient(losses_of_alignments)
def _losses(
    given: Any, out: Any, x: Any, labels: Any, times: Any, counts: Any, blank: int
) -> Any:
    states = _Alignment(x, labels, times, counts, blank)
    alphas = states.forward()
    passing = alphas + states.backward() - states.emitted - states.total(alphas)[:, None]
    share = numpy.exp(x - numpy.maximum.reduce(x, 2, keepdims=True)).astype(numpy.float64)
    share /= numpy.add.reduce(share, 2, keepdims=True)
    _take_off(share, states.places, numpy.exp(passing))
    weight = numpy.where((states.left > 0) & numpy.isfinite(out), given, 0)
    return (share * weight[:, :, None]).astype(x.dtype), None, None, None
