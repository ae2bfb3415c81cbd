"""Recurrent layers: RNN, GRU and LSTM, a step at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy

from ogive.ir import dtype as dtypes
from ogive.onnx.call import Call, index_tensor
from ogive.onnx.operators.movement import shape_of
from ogive.onnx.table import Value, operator
from ogive.tensor.movement.joining import stack
from ogive.tensor.tensor import Tensor

Activation = Callable[[Tensor], Tensor]
States = list[Tensor]
Step = Callable[[Tensor, States], States]

_PLAIN: dict[str, Activation] = {
    "relu": Tensor.relu, "sigmoid": Tensor.sigmoid, "softplus": Tensor.softplus,
    "softsign": Tensor.softsign, "tanh": Tensor.tanh,
}  # fmt: skip


def _activations(c: Call, default: list[str], direction: int) -> list[Activation]:
    """The functions of one direction."""
    given = c.get("activations") or default * 2
    chosen = given[direction * len(default) : (direction + 1) * len(default)]
    for name in chosen:
        if name.lower() not in _PLAIN:
            raise c.refuse(f"the activation {name} is not there; known are {sorted(_PLAIN)}")
    clip = c.get("clip")
    return [_clipped(_PLAIN[name.lower()], clip) for name in chosen]


def _clipped(function: Activation, limit: float | None) -> Activation:
    return function if limit is None else lambda x: function(x.clamp(-limit, limit))


class _Layer:
    """The inputs all recurrent layers have, and the walk along the sequence."""

    def __init__(self, c: Call, gates: int, states: int) -> None:
        self.c = c
        x = c.tensor(0)
        self.batch_first = c.flag("layout")
        self.x = x.transpose(0, 1) if self.batch_first else x
        self.weight, self.recurrent = c.tensor(1), c.tensor(2)
        self.directions, _, self.hidden = shape_of(self.recurrent)
        self.gates, self.states = gates, states

    def biases(self, direction: int) -> tuple[Tensor | float, Tensor | float]:
        """The bias of the inputs, and that of the state."""
        if not self.c.has(3):
            return 0.0, 0.0
        both = self.c.tensor(3)[direction]
        half = self.gates * self.hidden
        return both[:half], both[half:]

    def start(self, direction: int) -> States:
        """The states before the first step."""
        batch = shape_of(self.x)[1]
        made = []
        for index in (5, 6)[: self.states]:
            if self.c.has(index):
                given = self.c.tensor(index)
                given = given.transpose(0, 1) if self.batch_first else given
                made.append(given[direction])
            else:
                zeros = numpy.zeros((batch, self.hidden), numpy.float32)
                made.append(Tensor.from_numpy(zeros).cast(self.x.dtype))
        return made

    def run(self, make_step: Callable[[int], Step]) -> Value:
        """All outputs, then the last states, of every direction."""
        lengths = self.c.tensor(4).cast(dtypes.int64) if self.c.has(4) else None
        kind = self.c.get("direction", "forward")
        rows, lasts = [], []
        for direction in range(self.directions):
            backward = kind == "reverse" or direction == 1
            made, states = self._along(make_step(direction), direction, backward, lengths)
            rows.append(made)
            lasts.append(states)
        output = stack(rows, 1)
        finals = [stack([each[place] for each in lasts], 0) for place in range(self.states)]
        if self.batch_first:
            output = output.permute(2, 0, 1, 3)
            finals = [final.transpose(0, 1) for final in finals]
        return output, *finals

    def _along(
        self, step: Step, direction: int, backward: bool, lengths: Tensor | None
    ) -> tuple[Tensor, States]:
        count = shape_of(self.x)[0]
        states, made = self.start(direction), []
        for place in reversed(range(count)) if backward else range(count):
            after = step(self.x[place], states)
            shown = after[0]
            if lengths is not None:  # a sequence that is over keeps its states, and shows zeros
                goes_on = (index_tensor(place) < lengths).reshape(-1, 1)
                after = [new.where(goes_on, old) for new, old in zip(after, states, strict=True)]
                shown = shown.where(goes_on, shown * 0)
            states = after
            made.append(shown)
        return stack(made[::-1] if backward else made, 0), states


@operator("RNN")
def rnn(c: Call) -> Value:
    layer = _Layer(c, 1, 1)

    def make(direction: int) -> Step:
        (activate,) = _activations(c, ["Tanh"], direction)
        weight, recurrent = layer.weight[direction].T, layer.recurrent[direction].T
        first, second = layer.biases(direction)
        return lambda x, states: [activate(x @ weight + states[0] @ recurrent + first + second)]

    return layer.run(make)


@operator("GRU")
def gru(c: Call) -> Value:
    layer = _Layer(c, 3, 1)
    size, after = layer.hidden, c.flag("linear_before_reset")

    def make(direction: int) -> Step:
        gate, activate = _activations(c, ["Sigmoid", "Tanh"], direction)
        weight, recurrent = layer.weight[direction].T, layer.recurrent[direction].T
        first, second = layer.biases(direction)

        def step(x: Tensor, states: States) -> States:
            (state,) = states
            given = x @ weight + first
            kept = state @ recurrent + second
            update = gate(given[:, :size] + kept[:, :size])
            reset = gate(given[:, size : 2 * size] + kept[:, size : 2 * size])
            if after:
                inner = reset * kept[:, 2 * size :]
            else:
                own = second[2 * size :] if isinstance(second, Tensor) else second
                inner = (reset * state) @ recurrent[:, 2 * size :] + own
            new = activate(given[:, 2 * size :] + inner)
            return [(1 - update) * new + update * state]

        return step

    return layer.run(make)


@operator("LSTM")
def lstm(c: Call) -> Value:
    layer = _Layer(c, 4, 2)
    size = layer.hidden

    def make(direction: int) -> Step:
        gate, activate, show = _activations(c, ["Sigmoid", "Tanh", "Tanh"], direction)
        weight, recurrent = layer.weight[direction].T, layer.recurrent[direction].T
        first, second = layer.biases(direction)
        peep = c.tensor(7)[direction] if c.has(7) else None

        def peeped(place: int, cell: Tensor) -> Tensor | float:
            return 0.0 if peep is None else peep[place * size : (place + 1) * size] * cell

        def step(x: Tensor, states: States) -> States:
            state, cell = states
            gates = x @ weight + state @ recurrent + first + second
            enter, leave, forget, new = (
                gates[:, place * size : (place + 1) * size] for place in range(4)
            )
            opened = gate(enter + peeped(0, cell))
            kept = 1 - opened if c.flag("input_forget") else gate(forget + peeped(2, cell))
            cell = kept * cell + opened * activate(new)
            return [gate(leave + peeped(1, cell)) * show(cell), cell]

        return step

    return layer.run(make)
