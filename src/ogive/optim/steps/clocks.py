"""Count the steps of each parameter.

The numbers are data, in tensors. Parameters that have taken all steps together share one tensor, so
a step over all of them advances one number. A parameter without a gradient takes no step, and has
its own number from then on.

    a, b, c: 5     step of a and b     a, b: 6    c: 5
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.optim.steps.fixed import Fixed
from ogive.tensor.tensor import Tensor


class Clocks:
    """The number of steps of each parameter.

    `splits` counts the changes of which parameters share a number; captured functions watch it.
    """

    def __init__(self) -> None:
        self._numbers: dict[int, Tensor] = Fixed()
        self._leaders: dict[int, int] = {}
        self.splits = 0

    def add(self, parameters: Sequence[Tensor]) -> None:
        """Add parameters that have taken no step. Each gets a number for the case of a split."""
        numbers = {id(parameter): _zero(parameter) for parameter in parameters}
        self._numbers = Fixed({**self._numbers, **numbers})
        self._leaders.update(dict.fromkeys(numbers, id(parameters[0]) if parameters else 0))

    def of(self, parameter: Tensor) -> Tensor:
        """The number of steps of a parameter, in float64."""
        return self._numbers[self._leaders[id(parameter)]]

    def advance(
        self, moving: Iterable[Tensor], resting: Iterable[Tensor], skipped: Tensor | None = None
    ) -> list[Tensor]:
        """Count a step of the parameters `moving`, unless the scalar `skipped` is true.

        The parameters `resting` take no step. Returns the numbers that have changed.
        """
        left = _together(resting, self._leaders)
        changed = []
        for leader, movers in _together(moving, self._leaders).items():
            if leader in left:
                apart = left[leader] if leader in movers else movers
                changed.append(self._split(leader, apart))
            number = self._numbers[self._leaders[movers[0]]]
            number.assign(number + (1 if skipped is None else skipped.logical_not()))
            changed.append(number)
        return changed

    def _split(self, leader: int, apart: Sequence[int]) -> Tensor:
        """Give the parameters `apart`, which share the number of `leader`, a number of their own.
        """
        number = self._numbers[apart[0]]
        number.assign(self._numbers[leader])
        self._leaders.update(dict.fromkeys(apart, apart[0]))
        self.splits += 1
        return number

    def load(self, steps: Mapping[int, float]) -> None:
        """Continue from other numbers of steps, given by the ids of parameters."""
        leaders: dict[tuple[int, float], int] = {}
        for parameter, count in steps.items():
            leader = leaders.setdefault((self._leaders[parameter], count), parameter)
            self._leaders[parameter] = leader
            self._numbers[leader].assign(count)
        self.splits += 1
        numbers = [self._numbers[leader] for leader in leaders.values()]
        Tensor.realize_batch([number for number in numbers if not number.is_eager])


def _zero(parameter: Tensor) -> Tensor:
    if parameter.is_eager:
        return parameter.new_zeros((), dtype=dtypes.float64)
    return Tensor(numpy.zeros(()))


def _together(parameters: Iterable[Tensor], leaders: Mapping[int, int]) -> dict[int, list[int]]:
    together: dict[int, list[int]] = {}
    for parameter in parameters:
        together.setdefault(leaders[id(parameter)], []).append(id(parameter))
    return together
