"""Recurrent layers: RNN, GRU and LSTM.

What the inputs give to the gates is one product for all steps. What remains is gone through a step
at a time, in both directions at once: one that goes backward has its inputs in reverse order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.onnx.call import Call
from ogive.onnx.operators.shapes.movement import shape_of
from ogive.onnx.table import Value, operator
from ogive.tensor.movement.joining import stack
from ogive.tensor.tensor import Tensor

Activation = Callable[[Tensor], Tensor]
States = list[Tensor]
Step = Callable[[Tensor, States], States]
"""The states after a step, from what its input gives to the gates and the states before.

Shapes: (directions, batch, gates) and (directions, batch, hidden) → (directions, batch, hidden).
"""

_PLAIN: dict[str, Activation] = {
    "relu": Tensor.relu, "sigmoid": Tensor.sigmoid, "softplus": Tensor.softplus,
    "softsign": Tensor.softsign, "tanh": Tensor.tanh,
}  # fmt: skip


def _activations(c: Call, default: list[str]) -> list[Activation]:
    """The functions of a step in all directions."""
    given = [name.lower() for name in c.get("activations") or default * 2]
    for name in given:
        if name not in _PLAIN:
            raise c.refuse(f"the activation {name} is not there; known are {sorted(_PLAIN)}")
    clip = c.get("clip")
    by_direction = [
        given[begin : begin + len(default)] for begin in range(0, len(given), len(default))
    ]
    return [_clipped(_in_each(names), clip) for names in zip(*by_direction, strict=True)]


def _in_each(names: Sequence[str]) -> Activation:
    """The function of each direction."""
    functions = [_PLAIN[name] for name in names]
    if len(set(names)) == 1:
        return functions[0]
    return lambda x: stack([function(x[place]) for place, function in enumerate(functions)])


def _clipped(function: Activation, limit: float | None) -> Activation:
    return function if limit is None else lambda x: function(x.clamp(-limit, limit))


class _Layer:
    """The inputs all recurrent layers have, and the walk along the sequence."""

    def __init__(self, c: Call, gates: int, states: int) -> None:
        self.c = c
        x = c.tensor(0)
        self.batch_first = c.flag("layout")
        self.x = x.transpose(0, 1) if self.batch_first else x
        self.recurrent = c.tensor(2).transpose(1, 2)
        directions, self.hidden, _ = shape_of(self.recurrent)
        first = c.get("direction", "forward") == "reverse"
        self.backward = [first, True][:directions]
        self.gates, self.states = gates, states

    def inputs_part(self, *biases: Tensor | None) -> Tensor:
        """The part of the gates that follows from inputs and biases, for all steps, in the order in
        which each direction goes through them: (directions, steps, batch, gates)."""
        steps, batch, size = shape_of(self.x)
        x = stack([self.x.flip(0) if turned else self.x for turned in self.backward])
        rows = x.reshape(len(self.backward), steps * batch, size)
        total = rows @ self.c.tensor(1).transpose(1, 2)
        for bias in biases:
            total = total if bias is None else total + bias
        return total.reshape(len(self.backward), steps, batch, self.gates * self.hidden)

    def biases(self) -> tuple[Tensor | None, Tensor | None]:
        """The bias of the inputs, and that of the state: (directions, 1, gates)."""
        if not self.c.has(3):
            return None, None
        both = self.c.tensor(3).unsqueeze(1)
        half = self.gates * self.hidden
        return both[..., :half], both[..., half:]

    def start(self) -> States:
        """The states before the first step."""
        batch = shape_of(self.x)[1]
        states = []
        for index in (5, 6)[: self.states]:
            if self.c.has(index):
                given = self.c.tensor(index)
                states.append(given.transpose(0, 1) if self.batch_first else given)
            else:
                zeros = numpy.zeros((len(self.backward), batch, self.hidden), numpy.float32)
                states.append(Tensor.from_numpy(zeros).cast(self.x.dtype))
        return states

    def run(self, given: Tensor, step: Step) -> Value:
        """All outputs, then the last states, of every direction."""
        count = shape_of(self.x)[0]
        states, outputs = self.start(), []
        for place in range(count):
            after = step(given[:, place], states)
            shown = after[0]
            if self.c.has(4):  # a sequence that is over keeps its states, and shows zeros
                goes_on = self._goes_on(place, count)
                after = [new.where(goes_on, old) for new, old in zip(after, states, strict=True)]
                shown = shown.where(goes_on, 0.0)
            states = after
            outputs.append(shown)
        rows = []
        for direction, turned in enumerate(self.backward):
            own = [each[direction] for each in outputs]
            rows.append(stack(own[::-1] if turned else own))
        output = stack(rows, 1)
        if self.batch_first:
            output = output.permute(2, 0, 1, 3)
            states = [final.transpose(0, 1) for final in states]
        return output, *states

    def _goes_on(self, place: int, count: int) -> Tensor:
        """Whether sequences are not over where each direction is: (directions, batch, 1)."""
        places = [count - 1 - place if turned else place for turned in self.backward]
        lengths = self.c.tensor(4).cast(dtypes.int64)
        return Tensor(numpy.array(places)).reshape(-1, 1, 1) < lengths.reshape(1, -1, 1)


@operator("RNN")
def rnn(c: Call) -> Value:
    layer = _Layer(c, 1, 1)
    (activate,) = _activations(c, ["Tanh"])

    def step(given: Tensor, states: States) -> States:
        return [activate(given + states[0] @ layer.recurrent)]

    return layer.run(layer.inputs_part(*layer.biases()), step)


@operator("GRU")
def gru(c: Call) -> Value:
    layer = _Layer(c, 3, 1)
    gate, activate = _activations(c, ["Sigmoid", "Tanh"])
    size, after = layer.hidden, c.flag("linear_before_reset")
    of_inputs, of_state = layer.biases()

    def biased(product: Tensor, begin: int) -> Tensor:
        return product if of_state is None else product + of_state[..., begin:]

    def step(given: Tensor, states: States) -> States:
        (state,) = states
        kept = biased(state @ layer.recurrent, 0)
        update = gate(given[..., :size] + kept[..., :size])
        reset = gate(given[..., size : 2 * size] + kept[..., size : 2 * size])
        if after:
            inner = reset * kept[..., 2 * size :]
        else:
            inner = biased((reset * state) @ layer.recurrent[..., 2 * size :], 2 * size)
        new = activate(given[..., 2 * size :] + inner)
        return [(1 - update) * new + update * state]

    return layer.run(layer.inputs_part(of_inputs), step)


@operator("LSTM")
def lstm(c: Call) -> Value:
    layer = _Layer(c, 4, 2)
    gate, activate, show = _activations(c, ["Sigmoid", "Tanh", "Tanh"])
    size = layer.hidden
    peep = c.tensor(7).unsqueeze(1) if c.has(7) else None

    def peeped(part: Tensor, place: int, cell: Tensor) -> Tensor:
        return part if peep is None else part + peep[..., place * size : (place + 1) * size] * cell

    def step(given: Tensor, states: States) -> States:
        state, cell = states
        gates = given + state @ layer.recurrent
        enter, leave, forget, new = gates.chunk(4, -1)
        opened = gate(peeped(enter, 0, cell))
        kept = 1 - opened if c.flag("input_forget") else gate(peeped(forget, 2, cell))
        cell = kept * cell + opened * activate(new)
        return [gate(peeped(leave, 1, cell)) * show(cell), cell]

    return layer.run(layer.inputs_part(*layer.biases()), step)
