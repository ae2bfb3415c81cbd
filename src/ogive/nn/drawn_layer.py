"""Layers whose parameters have values of their own from the beginning, and can have them anew."""

from __future__ import annotations

import math
from typing import Any

from ogive.nn.init import ones_, uniform_, zeros_
from ogive.nn.module import Module
from ogive.nn.parameter import UninitializedParameter


class DrawnLayer(Module):
    """The base of layers that have `reset_parameters`.

    A layer is made with its values. Where a program's own class defines `reset_parameters`, that is
    called at the end of `__init__`, as PyTorch's layers do.

    >>> class Small(nn.Linear):
    ...     def reset_parameters(self):
    ...         nn.init.constant_(self.weight, 0.5)
    >>> Small(2, 1).weight.tolist()
    [[0.5, 0.5]]
    """

    def reset_parameters(self) -> None:
        """Give the parameters values as they have at the beginning: draws are drawn again."""
        if not any(isinstance(p, UninitializedParameter) for p in self.parameters(recurse=False)):
            self._set_values()

    def _set_values(self) -> None:
        raise NotImplementedError

    def _finish(self) -> None:
        """Call what a program's class has in place of `reset_parameters`."""
        if type(self).reset_parameters is not DrawnLayer.reset_parameters:
            self.reset_parameters()


class EvenlyDrawnLayer(DrawnLayer):
    """A layer whose parameters begin evenly within ±1/√inputs."""

    def _inputs(self) -> int:
        """How many values each result is made of."""
        raise NotImplementedError

    def _set_values(self) -> None:
        inputs = self._inputs()
        bound = 1 / math.sqrt(inputs) if inputs else 0.0
        for parameter in self.parameters(recurse=False):
            uniform_(parameter, -bound, bound)


class UnitLayer(DrawnLayer):
    """A normalization: its parameters begin as the factor 1 and the summand 0."""

    weight: Any
    bias: Any = None

    def _set_values(self) -> None:
        if self.weight is not None:
            ones_(self.weight)
        if self.bias is not None:
            zeros_(self.bias)
