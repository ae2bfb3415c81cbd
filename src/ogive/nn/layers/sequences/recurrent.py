"""Recurrent layers: RNN, LSTM and GRU, in several layers and both directions.

The gates are the sum of a product of the input and a product of the state. The first is computed
for all steps at once, so a step computes only the second.
"""

from __future__ import annotations

from typing import Any

import numpy

from ogive.errors import ArgumentError, ShapeError
from ogive.nn.drawn_layer import EvenlyDrawnLayer
from ogive.nn.init import default_parameter
from ogive.nn.packed import PackedSequence
from ogive.tensor.autocast_dtypes import lower
from ogive.tensor.eager_sizes import allowance
from ogive.tensor.method_functions import open_to_eager
from ogive.tensor.movement.joining import cat, stack, where
from ogive.tensor.tensor import Tensor

State = tuple[Tensor, ...]


def rnn_step(gates: Tensor, recurrent: Tensor, state: State, nonlinearity: str) -> State:
    """h' = f(gates from the input + gates from the state)."""
    total = gates + recurrent
    return (total.tanh() if nonlinearity == "tanh" else total.relu(),)


def lstm_step(gates: Tensor, recurrent: Tensor, state: State, nonlinearity: str) -> State:
    """c' = f·c + i·g and h' = o·tanh(c')."""
    i, f, g, o = (gates + recurrent).chunk(4, -1)
    c = f.sigmoid() * state[1] + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def gru_step(gates: Tensor, recurrent: Tensor, state: State, nonlinearity: str) -> State:
    """h' = (1 - z)·n + z·h, where n sees the state through the gate r."""
    input_r, input_z, input_n = gates.chunk(3, -1)
    state_r, state_z, state_n = recurrent.chunk(3, -1)
    r = (input_r + state_r).sigmoid()
    z = (input_z + state_z).sigmoid()
    n = (input_n + r * state_n).tanh()
    return ((state[0] - n) * z + n,)


Weights = tuple[Tensor | None, ...]
"""The weights of the input and of the state, their biases, and the projection of the output."""

_WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")

STEPS = {"RNN": (rnn_step, 1, 1), "LSTM": (lstm_step, 4, 2), "GRU": (gru_step, 3, 1)}
"""For each kind: the function of a step, the number of gates, and of tensors in its state."""


def run_steps(
    x: Tensor,
    state: State,
    weights: Weights,
    kind: str,
    nonlinearity: str = "tanh",
    reverse: bool = False,
    valid: Tensor | None = None,
) -> list[State]:
    """The states after all steps of one layer, in the order of the input (L, N, input).

    Where an entry is not `valid`, a sequence keeps its state.
    """
    weight_ih, weight_hh, bias_ih, bias_hh, weight_hr = weights
    assert weight_ih is not None and weight_hh is not None
    step = STEPS[kind][0]
    gates = x.linear(weight_ih, bias_ih)
    times = range(int(x.shape[0]))
    states = []
    for time in reversed(times) if reverse else times:
        before, recurrent = state, state[0].linear(weight_hh, bias_hh)
        state = step(gates[time], recurrent, state, nonlinearity)
        if weight_hr is not None:
            state = (state[0].linear(weight_hr), *state[1:])
        if valid is not None:
            goes_on = valid[time].unsqueeze(-1)
            state = tuple(
                [where(goes_on, new, old) for new, old in zip(state, before, strict=True)]
            )
        states.append(state)
    if reverse:
        states.reverse()
    return states


@open_to_eager
def histories(
    x: Tensor,
    state: State,
    weights: Weights,
    kind: str,
    nonlinearity: str = "tanh",
    reverse: bool = False,
) -> Tensor:
    """The states after all steps as one tensor; for eager tensors they are computed at once.

    Shapes: (L, N, input) → (parts of the state, L, N, hidden).
    """
    states = run_steps(x, state, weights, kind, nonlinearity, reverse)
    return stack([stack(parts) for parts in zip(*states, strict=True)])


def is_done_at_once(x: Tensor, weights: Weights, parts: int, rows: int) -> bool:
    """Whether all steps of a layer for `rows` entries are one operation over arrays."""
    weight_ih, weight_hh, _, _, weight_hr = weights
    if not x.is_eager or weight_hr is not None or weight_ih is None or weight_hh is None:
        return False
    size = max(weight_ih.numel(), weight_hh.numel(), parts * rows * int(weight_hh.shape[1]))
    return allowance.may_hold(size)


class RNNBase(EvenlyDrawnLayer):
    """The base of recurrent layers."""

    kind: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: str | None = None,
        dtype: Any = None,
        nonlinearity: str = "tanh",
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ArgumentError(f"nonlinearity must be 'tanh' or 'relu', not {nonlinearity!r}")
        if proj_size and self.kind != "LSTM":
            raise ArgumentError(f"proj_size is for LSTM only, not for {self.kind}")
        if not 0 <= proj_size < hidden_size:
            raise ArgumentError(f"proj_size={proj_size} must lie below hidden_size={hidden_size}")
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = dropout
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self.nonlinearity = nonlinearity
        gates = STEPS[self.kind][1] * hidden_size
        for layer in range(num_layers):
            width = self._output_size * self._directions if layer else input_size
            for suffix in self._suffixes(layer):
                shapes: dict[str, tuple[int, ...]] = {
                    "weight_ih": (gates, width),
                    "weight_hh": (gates, self._output_size),
                }
                if bias:
                    shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                for name, shape in shapes.items():
                    parameter = default_parameter(shape, hidden_size, device, dtype)
                    setattr(self, f"{name}_{suffix}", parameter)
        self._finish()

    def _inputs(self) -> int:
        return self.hidden_size

    @property
    def all_weights(self) -> list[list[Tensor]]:
        """The parameters of each layer and direction."""
        return [
            [
                getattr(self, f"{name}_{suffix}")
                for name in _WEIGHTS
                if hasattr(self, f"{name}_{suffix}")
            ]
            for layer in range(self.num_layers)
            for suffix in self._suffixes(layer)
        ]

    def flatten_parameters(self) -> None:
        """Do nothing: the compiler decides how weights are laid out in memory."""

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def _output_size(self) -> int:
        return self.proj_size or self.hidden_size

    def _suffixes(self, layer: int) -> list[str]:
        return [f"l{layer}", f"l{layer}_reverse"][: self._directions]

    def forward(self, x: Any, state: Any = None) -> tuple[Any, Any]:
        """`x` is a tensor, or a `PackedSequence`, and so is the first result."""
        if isinstance(x, PackedSequence):
            self._check(x.padded, (3,))
            output, last = self._layers(x.padded, self._initial(x.padded, state), x.valid)
            return x.with_padded(output), _state(last)
        self._check(x, (2, 3))
        batched = x.ndim == 3
        if not batched:
            x = x.unsqueeze(1)
        elif self.batch_first:
            x = x.transpose(0, 1)
        if x.shape[0] == 0:
            raise ShapeError(f"a sequence must have at least one step, got {x.shape}")
        output, last = self._layers(x, self._initial(x, state, batched), None)
        if not batched:
            return output.squeeze(1), _state([part.squeeze(1) for part in last])
        return output.transpose(0, 1) if self.batch_first else output, _state(last)

    def _check(self, x: Tensor, ranks: tuple[int, ...]) -> None:
        if x.ndim not in ranks or x.shape[-1] != self.input_size:
            axes = " or ".join(map(str, ranks))
            raise ShapeError(
                f"expected {axes} axes, the last of length {self.input_size}, got {x.shape}"
            )

    def _layers(
        self, x: Tensor, states: State, valid: Tensor | None
    ) -> tuple[Tensor, list[Tensor]]:
        """Run all layers. Shapes: (L, N, input) → (L, N, hidden), and the states.

        Where an entry is not `valid`, a sequence keeps its state.
        """
        finals: list[State] = []
        for layer in range(self.num_layers):
            outputs = []
            for direction, suffix in enumerate(self._suffixes(layer)):
                start = tuple([part[layer * self._directions + direction] for part in states])
                output, final = self._run(x, start, suffix, direction == 1, valid)
                outputs.append(output)
                finals.append(final)
            x = outputs[0] if len(outputs) == 1 else cat(outputs, -1)
            if self.dropout and layer < self.num_layers - 1:
                x = x.dropout(self.dropout, self.training)
        return x, [stack(parts) for parts in zip(*finals, strict=True)]

    def _initial(self, x: Tensor, state: Any, batched: bool = True) -> State:
        parts = STEPS[self.kind][2]
        widths = (self._output_size, self.hidden_size)[:parts]
        count = self.num_layers * self._directions
        if state is None:
            return tuple([x.new_zeros(count, x.shape[1], width) for width in widths])
        given = state if parts > 1 else (state,)
        for part, width in zip(given, widths, strict=True):
            wanted = (count, x.shape[1], width) if batched else (count, width)
            if part.shape != wanted:
                raise ShapeError(f"state: expected {wanted}, got {part.shape}")
        return tuple([part if batched else part.unsqueeze(1) for part in given])

    def _run(
        self, x: Tensor, state: State, suffix: str, reverse: bool, valid: Tensor | None
    ) -> tuple[Tensor, State]:
        """Run all steps of one layer in one direction."""
        weights: Weights = tuple([getattr(self, f"{name}_{suffix}", None) for name in _WEIGHTS])
        last = 0 if reverse else -1
        if is_done_at_once(x, weights, len(state), x.shape[0] * x.shape[1]):
            if valid is not None:
                return self._run_packed(x, state, weights, reverse, valid)
            steps = histories(x, state, weights, self.kind, self.nonlinearity, reverse)
            return steps[0], tuple([steps[part, last] for part in range(len(state))])
        states = run_steps(x, state, weights, self.kind, self.nonlinearity, reverse, valid)
        return stack([each[0] for each in states]), states[last]

    def _run_packed(
        self, x: Tensor, state: State, weights: Weights, reverse: bool, valid: Tensor
    ) -> tuple[Tensor, State]:
        """Run all steps for sequences of different lengths, as operations over arrays.

        Entries after a sequence's end do not change the states before it. So all steps run for all
        sequences, and each state is read where its sequence ends. For the backward direction, each
        sequence is reversed first:

            a b c          c b a
            d e .    →     e d .
        """
        lengths = valid.numpy().sum(0)
        columns = numpy.arange(len(lengths))
        if reverse:
            steps = numpy.arange(x.shape[0])[:, None]
            turned = numpy.where(steps < lengths, lengths - 1 - steps, steps)
            by_part = histories(x[turned, columns], state, weights, self.kind, self.nonlinearity)
            output = by_part[0][turned, columns]
        else:
            by_part = histories(x, state, weights, self.kind, self.nonlinearity)
            output = by_part[0]
        ends = [by_part[part][lengths - 1, columns] for part in range(len(state))]
        return output, tuple(ends)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        defaults = {
            "proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0,
            "bidirectional": False,
        }  # fmt: skip
        for name, default in defaults.items():
            if getattr(self, name) != default:
                text += f", {name}={getattr(self, name)}"
        return text


def _state(parts: list[Tensor]) -> Any:
    """A state as the user sees it: a tensor, or a tuple of several."""
    return tuple(parts) if len(parts) > 1 else parts[0]


class RNN(RNNBase):
    """h' = tanh(x·Wᵀ + h·Vᵀ + b). Shapes: (L, N, input) → (L, N, hidden) and (layers, N, hidden).

    >>> output, state = nn.RNN(3, 4)(ogive.ones(5, 2, 3))
    >>> output.shape, state.shape
    ((5, 2, 4), (1, 2, 4))
    """

    kind = "RNN"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            device=device, dtype=dtype, nonlinearity=nonlinearity,
        )  # fmt: skip


class LSTM(RNNBase):
    """Long short-term memory. Shapes: (L, N, input) → (L, N, hidden) and the state (h, c).

    >>> output, (h, c) = nn.LSTM(3, 4, num_layers=2)(ogive.ones(5, 2, 3))
    >>> output.shape, h.shape, c.shape
    ((5, 2, 4), (2, 2, 4), (2, 2, 4))
    """

    kind = "LSTM"

    def _initial(self, x: Tensor, state: Any, batched: bool = True) -> State:
        initial: State = lower(super()._initial(x, state, batched))
        return initial


class GRU(RNNBase):
    """Gated recurrent units. Shapes: (L, N, input) → (L, N, hidden) and (layers, N, hidden).

    >>> output, state = nn.GRU(3, 4, bidirectional=True)(ogive.ones(5, 2, 3))
    >>> output.shape, state.shape
    ((5, 2, 8), (2, 2, 4))
    """

    kind = "GRU"
