"""What differs from PyTorch on purpose, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RANDOM = "The numbers come from another generator; shapes and dtypes are compared."
_MEMORY = "The values are whatever memory held; shapes and dtypes are compared."

UNDETERMINED: dict[str, str] = {
    **dict.fromkeys(
        (
            "bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial",
            "nn.functional.alpha_dropout",
            "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d",
            "nn.functional.feature_alpha_dropout (with_train)",
            "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d",
            "nn.functional.rrelu", "normal", "normal (in_place)", "normal (number_mean)",
            "rand_like", "randint", "randint_like", "randn", "randn_like", "uniform",
        ),
        _RANDOM,
    ),
    **dict.fromkeys(
        ("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty"), _MEMORY
    ),
}  # fmt: skip
"""Operators whose values nobody can foretell."""

TORCH_ALONE = {
    "as_strided (partial_views)", "as_strided_scatter", "empty_permuted", "empty_strided",
}  # fmt: skip
"""Operators that only `ogive.torch` has."""

FREE_SIGNS = {
    "linalg.eig", "linalg.eigh", "linalg.svd", "pca_lowrank", "svd", "svd_lowrank",
}  # fmt: skip
"""Decompositions that are not unique: what PyTorch's own tests look at is compared."""


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


_INTEGERS = ("int64", "bool")

DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        "Among equal elements, PyTorch may return the position of any.",
        ("kthvalue", "mode", "topk"),
        "Not equal to tolerance",
        _INTEGERS,
    ),
    Difference(
        "Dropout draws random numbers.",
        ("nn.functional.scaled_dot_product_attention",),
        r"dropout_p=0\.[1-9]",
    ),
    Difference(
        "Dropout draws random numbers.",
        ("nn.functional.multi_head_attention_forward",),
        r", 0\.5, tensor.*training=True",
    ),
    Difference(
        "The exponential of float32 matrices is computed in float64 and rounded once.",
        ("matrix_exp",),
        "Not equal to tolerance",
        ("float32",),
    ),
    Difference(
        "If a position is written twice, only the value that remains has a gradient.",
        ("nn.functional.max_unpool1d", "nn.functional.max_unpool2d", "nn.functional.max_unpool3d"),
        "Not equal to tolerance rtol=1e-06",
        ("float64",),
    ),
    Difference(
        "Of hermitian matrices only the lower triangle is read, and only it has a gradient.",
        ("linalg.pinv (hermitian)",),
        "Not equal to tolerance",
    ),
    Difference(
        "PyTorch's own error is above 10⁻⁷ between 5 and 25; ours is below 10⁻¹³.",
        ("special.bessel_j0", "special.bessel_y1"),
        "Not equal to tolerance",
        ("float64",),
    ),
    Difference(
        "Residuals, rank and singular values are returned for every driver; `ogive.torch` returns "
        "PyTorch's.",
        ("linalg.lstsq",),
        "AssertionError: shape|ShapeError: mul",
    ),
    Difference(
        "An input has an axis of channels; PyTorch's check overlooks an empty one without.",
        ("nn.functional.batch_norm",),
        r"\(tensor\(0,\), .*ShapeError",
    ),
    Difference(
        "PyTorch gives elements that were overwritten the gradient of what replaced them.",
        ("as_strided_scatter",),
        "Not equal to tolerance",
        ("float64",),
    ),
    Difference(
        "The samples read memory around the views that they give; what is compared holds copies.",
        ("as_strided (partial_views)",),
        "but the storage has",
    ),
    Difference(
        "The bounds of an integer range are not truncated to integers before the numbers are made.",
        ("arange", "linspace", "logspace"),
        "Not equal to tolerance|AssertionError: shape",
        ("int64",),
    ),
    Difference(
        "Weights of float32 are not rounded once more when they are normalized.",
        ("cov",),
        "aweights=tensor.* Not equal to tolerance",
    ),
    Difference(
        "An input must have an axis of classes.",
        ("nn.functional.multilabel_margin_loss",),
        r"\(tensor\(\), .*ShapeError",
    ),
    Difference(
        "A logarithm of complex numbers is known up to 2πi.",
        ("logcumsumexp",),
        "Not equal to tolerance",
        ("complex128",),
    ),
    Difference(
        "Only the triangle that is read has a gradient.",
        ("cholesky_inverse", "cholesky_solve"),
        "Not equal to tolerance",
        ("float64",),
    ),
    Difference(
        "A matrix of higher rank is approximated with random directions.",
        ("svd_lowrank",),
        "M=tensor.*Not equal to tolerance",
    ),
)  # fmt: skip


def reason_for(failure: Failure) -> str | None:
    """Why a failure is meant, or None."""
    for difference in DIFFERENCES:
        if difference.explains(failure):
            return difference.reason
    return None
