"""What differs from PyTorch on purpose, and why."""

from __future__ import annotations

_RANDOM = "the numbers come from another generator: shapes and dtypes are compared"
_MEMORY = "the values are whatever memory held: shapes and dtypes are compared"

UNDETERMINED: dict[str, str] = {
    **dict.fromkeys(
        (
            "bernoulli", "multinomial", "normal", "normal (in_place)", "normal (number_mean)",
            "nn.functional.alpha_dropout", "nn.functional.dropout", "nn.functional.dropout2d",
            "nn.functional.dropout3d", "nn.functional.rrelu", "rand_like", "randint",
            "randint_like", "randn", "randn_like", "uniform", "exponential", "cauchy", "geometric",
            "log_normal", "nn.functional.feature_alpha_dropout (with_train)",
        ),
        _RANDOM,
    ),
    **dict.fromkeys(("empty", "empty_like", "new_empty"), _MEMORY),
}  # fmt: skip
"""Operators whose values nobody can foretell."""
