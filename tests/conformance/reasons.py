"""What differs from PyTorch on purpose, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RANDOM = "The numbers come from another generator; shapes and dtypes are compared."
_MEMORY = "The values are whatever memory held; shapes and dtypes are compared."

UNDETERMINED: dict[str, str] = {
    **dict.fromkeys(
        (
            "bernoulli", "multinomial", "normal (in_place)", "nn.functional.alpha_dropout", "nn.functional.dropout",
            "nn.functional.dropout2d", "nn.functional.dropout3d", "nn.functional.rrelu", "normal",
            "normal (number_mean)", "rand_like", "randint", "randint_like", "randn", "randn_like",
        ),
        _RANDOM,
    ),
    **dict.fromkeys(("empty", "empty_like", "new_empty"), _MEMORY),
}  # fmt: skip
"""Operators whose values nobody can foretell."""


@dataclass(frozen=True)
class Failure:
    """A sample that does not give what PyTorch gives."""

    operator: str
    dtype: str
    is_gradient: bool
    text: str

    def __str__(self) -> str:
        part = "gradient" if self.is_gradient else "forward"
        return f"{self.operator} {part} {self.dtype}: {self.text}"


@dataclass(frozen=True)
class Difference:
    """Failures that are meant: those of the operators that say `text`, a regular expression."""

    reason: str
    operators: tuple[str, ...]
    text: str
    dtypes: tuple[str, ...] = ()

    def explains(self, failure: Failure) -> bool:
        """Whether a failure is one of these."""
        return (
            failure.operator in self.operators
            and (not self.dtypes or failure.dtype in self.dtypes)
            and re.search(self.text, failure.text) is not None
        )


DIFFERENCES: tuple[Difference, ...] = ()


def reason_for(failure: Failure) -> str | None:
    """Why a failure is meant, or None."""
    for difference in DIFFERENCES:
        if difference.explains(failure):
            return difference.reason
    return None
