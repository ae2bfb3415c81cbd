"""Steps that are repeated, not built: as they were carried out before, over the memory of now.

`engine/repeated_assignments.py` says how and when.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from ogive.tensor.tensor import Tensor
from ogive.tensor.values.evaluation import Repeatable, carry_out_noting

_MOST_REPEATED = 8
"""How many kinds of steps are known: with other parameters that rest, or other settings."""


class RepeatedSteps:
    """The kinds of steps of an optimizer that are known."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Repeatable] = {}

    def carry_out(
        self,
        kind: Callable[[], Hashable],
        operands: Sequence[Tensor],
        assign: Callable[[], list[Tensor]],
    ) -> None:
        """Carry out a step of a `kind` over the `operands`, as before where that is known.

        `kind` tells all that the step follows from but tensors; it may be another one afterwards,
        where state has grown. `assign` builds the step otherwise, and gives the tensors that are
        concerned.
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
    """Whether a setting is what it looks like, so that equal ones mean equal steps."""
    if type(value) is tuple:
        return all(map(is_plain, value))
    return type(value) in (bool, int, float, str, type(None))
