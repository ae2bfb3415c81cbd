"""Repeat steps without building their graphs: run an earlier step's graph over the current memory.

`engine/repeated_assignments.py` describes how and when.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from ogive.tensor.tensor import Tensor
from ogive.tensor.values.evaluation import Repeatable, carry_out_noting

_MOST_REPEATED = 8
"""The most kinds of steps that are kept. Kinds differ in settings, or in the parameters that step.
"""


class RepeatedSteps:
    """The steps of an optimizer that can be repeated, by kind."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Repeatable] = {}

    def carry_out(
        self,
        kind: Callable[[], Hashable],
        operands: Sequence[Tensor],
        assign: Callable[[], list[Tensor]],
    ) -> None:
        """Carry out a step over `operands`: repeat an earlier one of its kind, or build it.

        `kind` gives everything besides tensors that the step depends on. It is asked again after
        the step, since new state may change it. `assign` builds the step, and gives the tensors
        that it reads or changes.
        """
        known = self._known.get(kind())
        if known is not None and known.carry_out(operands):
            return
        noted = carry_out_noting(assign(), operands)
        if noted is not None:
            if len(self._known) == _MOST_REPEATED:
                self._known.clear()
            self._known[kind()] = noted


def is_plain(value: Any) -> bool:
    """Whether a setting is a plain value, so that equal settings mean equal steps."""
    if type(value) is tuple:
        return all(map(is_plain, value))
    return type(value) in (bool, int, float, str, type(None))
