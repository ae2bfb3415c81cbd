"""The functions of the array API standard, 2024.12, by chapter; `ogive` has them all by name.

A function here takes the arguments that the standard gives it, by the standard's names, and calls
the methods of `Tensor`, which follow PyTorch. Where the two mean different things, the function
does as the standard says: see `docs/array-api.md`. Chapters are loaded when they are asked for.
"""

from __future__ import annotations

import importlib
from typing import Any

CHAPTERS: dict[str, tuple[str, ...]] = {
    "constants": ("e", "inf", "nan", "newaxis", "pi"),
    "creation": ("asarray", "tril", "triu"),
    "data_types": ("astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"),
    "elementwise": (
        "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and",
        "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
        "ceil", "clip", "conj", "copysign", "cos", "cosh", "divide", "equal", "exp", "expm1",
        "floor", "floor_divide", "greater", "greater_equal", "hypot", "imag", "isfinite", "isinf",
        "isnan", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp",
        "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum",
        "multiply", "negative", "nextafter", "not_equal", "positive", "pow", "real", "reciprocal",
        "remainder", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square", "subtract",
        "tan", "tanh", "trunc",
    ),
    "indexing": ("take", "take_along_axis"),
    "inspection": ("__array_namespace_info__",),
    "linear_algebra": ("matmul", "matrix_transpose", "vecdot"),
    "manipulation": (
        "broadcast_arrays", "broadcast_to", "concat", "expand_dims", "flip", "moveaxis",
        "permute_dims", "repeat", "reshape", "roll", "squeeze", "tile", "unstack",
    ),
    "searching": ("argmax", "argmin", "count_nonzero", "nonzero"),
    "sets": ("unique_all", "unique_counts", "unique_inverse", "unique_values"),
    "sorting": ("argsort", "sort"),
    "statistical": (
        "cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum", "var",
    ),
    "utility": ("all", "any", "diff"),
}  # fmt: skip
"""The names of each chapter. Others of the standard's are where PyTorch's of the same name are."""

NAMES: dict[str, str] = {name: chapter for chapter, names in CHAPTERS.items() for name in names}


def find(name: str) -> Any:
    """What the standard calls `name`. Raises `KeyError` if it is in no chapter here."""
    return getattr(importlib.import_module(f"ogive.namespace.{NAMES[name]}"), name)
