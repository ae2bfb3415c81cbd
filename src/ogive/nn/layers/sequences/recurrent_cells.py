"""One step of recurrent layers, as modules: `RNNCell`, `LSTMCell`, `GRUCell`."""

from __future__ import annotations

from typing import Any

from ogive.errors import ShapeError
from ogive.nn.drawn_layer import EvenlyDrawnLayer
from ogive.nn.init import default_parameter
from ogive.nn.layers.sequences.recurrent import STEPS, State, histories, is_done_at_once
from ogive.tensor.tensor import Tensor


class RNNCellBase(EvenlyDrawnLayer):
    """One step of a recurrent layer."""

    kind: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: str | None = None,
        dtype: Any = None,
    ) -> None:
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.nonlinearity = nonlinearity
        gates = STEPS[self.kind][1] * hidden_size
        kind = (hidden_size, device, dtype)
        self.weight_ih = default_parameter((gates, input_size), *kind)
        self.weight_hh = default_parameter((gates, hidden_size), *kind)
        self.bias_ih = default_parameter((gates,), *kind) if bias else None
        self.bias_hh = default_parameter((gates,), *kind) if bias else None
        self._finish()

    def _inputs(self) -> int:
        return self.hidden_size

    def forward(self, x: Tensor, state: Any = None) -> Any:
        if x.ndim not in (1, 2) or x.shape[-1] != self.input_size:
            raise ShapeError(
                f"expected 1 or 2 axes, the last of length {self.input_size}, got {x.shape}"
            )
        step, _, parts = STEPS[self.kind]
        if state is None:
            state = (x.new_zeros(*x.shape[:-1], self.hidden_size),) * parts
        state = tuple(state) if parts > 1 else (state if isinstance(state, tuple) else (state,))
        weights = (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh, None)
        if x.ndim == 2 and is_done_at_once(x, weights, parts, x.shape[0]):
            history = histories(x.unsqueeze(0), state, weights, self.kind, self.nonlinearity)
            after: State = tuple([history[part, 0] for part in range(parts)])
        else:
            gates = x.linear(self.weight_ih, self.bias_ih)
            recurrent = state[0].linear(self.weight_hh, self.bias_hh)
            after = step(gates, recurrent, state, self.nonlinearity)
        return after if parts > 1 else after[0]

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias_ih is None:
            text += ", bias=False"
        return text if self.nonlinearity == "tanh" else f"{text}, nonlinearity={self.nonlinearity}"


class RNNCell(RNNCellBase):
    """One step of `RNN`. Shapes: (N, input) and (N, hidden) → (N, hidden).

    >>> nn.RNNCell(3, 4)(ogive.ones(2, 3)).shape
    (2, 4)
    """

    kind = "RNN"


class LSTMCell(RNNCellBase):
    """One step of `LSTM`. Shapes: (N, input) and the state (h, c) → the new state.

    >>> [part.shape for part in nn.LSTMCell(3, 4)(ogive.ones(2, 3))]
    [(2, 4), (2, 4)]
    """

    kind = "LSTM"


class GRUCell(RNNCellBase):
    """One step of `GRU`. Shapes: (N, input) and (N, hidden) → (N, hidden).

    >>> nn.GRUCell(3, 4)(ogive.ones(2, 3)).shape
    (2, 4)
    """

    kind = "GRU"
