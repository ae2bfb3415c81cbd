"""The form of recurrent layers: all steps of one layer, and their backward pass.

The result holds the states after all steps. So the backward pass recomputes the gates of all steps
from it, by one product.
"""

from __future__ import annotations

from typing import Any

import numpy

from ogive.eager.forms import Refused, form, gradient
from ogive.eager.products.product_forms import check_work
from ogive.nn.layers.sequences import recurrent as plain

_matmul = numpy.matmul
_GATES = {kind: entry[1] for kind, entry in plain.STEPS.items()}


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + numpy.exp(-x))


def _check(x: Any, state: Any, weights: Any, kind: str) -> None:
    arrays = [each for each in (x, *state, *weights) if each is not None]
    if x.ndim != 3 or not x.size or any(each.dtype != x.dtype for each in arrays):
        raise Refused
    weight_ih, weight_hh, bias_ih, bias_hh, weight_hr = weights
    hidden = weight_hh.shape[1]
    rows = (_GATES[kind] * hidden,)
    fits = x.dtype.kind == "f" and weight_hr is None and hidden > 0
    fits = fits and weight_ih.shape == (*rows, x.shape[2]) and weight_hh.shape == (*rows, hidden)
    fits = fits and all(bias is None or bias.shape == rows for bias in (bias_ih, bias_hh))
    fits = fits and all(part.shape == (x.shape[1], hidden) for part in state)
    if not fits or x.dtype.kind != "f":
        raise Refused
    check_work(weight_hh.size * x.shape[1], len(state) * x.shape[0] * x.shape[1] * hidden)


def _gates(x: Any, weight: Any, bias: Any) -> Any:
    """The input's part of the gates, for all steps. Shapes: (L, N, input) → (L, N, gates)."""
    gates = _matmul(x.reshape(-1, x.shape[2]), weight.T)
    if bias is not None:
        gates += bias
    return gates.reshape(x.shape[0], x.shape[1], len(weight))


@form(plain.histories)
def histories(
    x: Any,
    state: Any,
    weights: Any,
    kind: str,
    nonlinearity: str = "tanh",
    reverse: bool = False,
) -> Any:
    """The states after all steps. Shapes: (L, N, input) → (parts, L, N, hidden)."""
    _check(x, state, weights, kind)
    weight_ih, weight_hh, bias_ih, bias_hh, _ = weights
    gates = _gates(x, weight_ih, bias_ih)
    if bias_hh is not None and kind != "GRU":
        gates += bias_hh
    states = numpy.empty((len(state), x.shape[0], x.shape[1], weight_hh.shape[1]), x.dtype)
    times = range(len(x))
    turned = weight_hh.T
    run = _RUNS[kind]
    steps = reversed(times) if reverse else times
    run(gates, state, turned, states, steps, (nonlinearity, bias_hh))
    return states


def _run_rnn(gates: Any, state: Any, turned: Any, parts: Any, times: Any, options: Any) -> None:
    h = state[0]
    is_tanh = options[0] == "tanh"
    states = parts[0]
    for time in times:
        total = gates[time]
        total += _matmul(h, turned)
        h = states[time]
        if is_tanh:
            numpy.tanh(total, out=h)
        else:
            numpy.maximum(total, 0, out=h)


def _run_lstm(gates: Any, state: Any, turned: Any, parts: Any, times: Any, options: Any) -> None:
    h, c = state
    width = parts.shape[3]
    for time in times:
        total = gates[time]
        total += _matmul(h, turned)
        opened = _sigmoid(total)
        new = opened[:, width : 2 * width] * c
        new += opened[:, :width] * numpy.tanh(total[:, 2 * width : 3 * width])
        h, c = parts[0, time], parts[1, time]
        c[...] = new
        numpy.multiply(opened[:, 3 * width :], numpy.tanh(new), out=h)


def _run_gru(gates: Any, state: Any, turned: Any, parts: Any, times: Any, options: Any) -> None:
    h = state[0]
    bias = options[1]
    width = parts.shape[3]
    for time in times:
        total = gates[time]
        own = _matmul(h, turned)
        if bias is not None:
            own += bias
        opened = _sigmoid(total[:, : 2 * width] + own[:, : 2 * width])
        n = numpy.tanh(total[:, 2 * width :] + opened[:, :width] * own[:, 2 * width :])
        new = (h - n) * opened[:, width:] + n
        h = parts[0, time]
        h[...] = new


_RUNS = {"RNN": _run_rnn, "LSTM": _run_lstm, "GRU": _run_gru}


# The backward pass


@gradient(histories)
def _histories(
    given: Any,
    out: Any,
    x: Any,
    state: Any,
    weights: Any,
    kind: str,
    nonlinearity: str = "tanh",
    reverse: bool = False,
) -> Any:
    weight_ih, weight_hh, bias_ih, bias_hh, _ = weights
    if reverse:
        x, out, given = x[::-1], out[:, ::-1], given[:, ::-1]
    before = numpy.concatenate([numpy.stack(state)[:, None], out[:, :-1]], 1)
    gates = _gates(x, weight_ih, bias_ih)
    own = _gates(before[0], weight_hh, bias_hh)
    return_ = _RETURNS[kind]
    to_gates, to_own, to_state = return_(given, out, before, gates, own, weight_hh, nonlinearity)
    rows, own_rows = [each.reshape(-1, len(weight_hh)) for each in (to_gates, to_own)]

    def to_x() -> Any:
        gradient = _matmul(rows, weight_ih).reshape(x.shape)
        return gradient[::-1] if reverse else gradient

    gradients = [to_x, *to_state, _matmul(rows.T, x.reshape(len(rows), -1))]
    gradients.append(_matmul(own_rows.T, before[0].reshape(len(rows), -1)))
    if bias_ih is not None:
        gradients.append(numpy.add.reduce(rows, 0))
    if bias_hh is not None:
        gradients.append(numpy.add.reduce(own_rows, 0))
    return gradients


def _return_rnn(
    given: Any, out: Any, before: Any, gates: Any, own: Any, weight: Any, nonlinearity: str
) -> Any:
    h = out[0]
    slopes = 1 - h * h if nonlinearity == "tanh" else (h > 0).astype(h.dtype)
    below = numpy.empty_like(gates)
    to_h = numpy.zeros_like(h[0])
    for time in reversed(range(len(h))):
        numpy.multiply(given[0, time] + to_h, slopes[time], out=below[time])
        to_h = _matmul(below[time], weight)
    return below, below, (to_h,)


def _return_lstm(
    given: Any, out: Any, before: Any, gates: Any, own: Any, weight: Any, nonlinearity: str
) -> Any:
    gates += own
    i, f, _, o = numpy.split(_sigmoid(gates), 4, -1)
    width = i.shape[-1]
    g = numpy.tanh(gates[..., 2 * width : 3 * width])
    c = numpy.tanh(out[1])
    # The factors of each gate's gradient, for all steps.
    inner = numpy.concatenate([g * i * (1 - i), before[1] * f * (1 - f), i * (1 - g * g)], -1)
    outer, through = c * o * (1 - o), o * (1 - c * c)
    below = numpy.empty_like(gates)
    to_h = to_c = numpy.zeros_like(c[0])
    for time in reversed(range(len(c))):
        to_h = given[0, time] + to_h
        to_c = given[1, time] + to_c + to_h * through[time]
        part = below[time]
        part[:, : 3 * width] = numpy.tile(to_c, 3)
        part[:, : 3 * width] *= inner[time]
        numpy.multiply(to_h, outer[time], out=part[:, 3 * width :])
        to_c = to_c * f[time]
        to_h = _matmul(part, weight)
    return below, below, (to_h, to_c)


def _return_gru(
    given: Any, out: Any, before: Any, gates: Any, own: Any, weight: Any, nonlinearity: str
) -> Any:
    width = own.shape[-1] // 3
    opened = _sigmoid(gates[..., : 2 * width] + own[..., : 2 * width])
    r, z = opened[..., :width], opened[..., width:]
    fresh = own[..., 2 * width :]
    n = numpy.tanh(gates[..., 2 * width :] + r * fresh)
    to_n = (1 - z) * (1 - n * n)
    to_r, to_z = to_n * fresh * r * (1 - r), (before[0] - n) * z * (1 - z)
    below, to_own = numpy.empty_like(gates), numpy.empty_like(gates)
    slopes = numpy.concatenate([to_r, to_z, to_n * r], -1)
    to_h = numpy.zeros_like(n[0])
    for time in reversed(range(len(n))):
        to_h = given[0, time] + to_h
        part = to_own[time]
        part[...] = numpy.tile(to_h, 3)
        part *= slopes[time]
        numpy.multiply(to_h, to_n[time], out=below[time, :, 2 * width :])
        to_h = to_h * z[time] + _matmul(part, weight)
    below[..., : 2 * width] = to_own[..., : 2 * width]
    return below, to_own, (to_h,)


_RETURNS = {"RNN": _return_rnn, "LSTM": _return_lstm, "GRU": _return_gru}
