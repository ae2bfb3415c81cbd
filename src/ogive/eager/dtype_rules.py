"""How functions treat operands whose dtypes are special: in half precision, and under `autocast`.
Without a rule, float operands are of one dtype, and so is the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.eager.elementwise import (
    arithmetic_forms,
    choice_forms,
    comparison_forms,
    quotient_forms,
)
from ogive.eager.forms import forms
from ogive.eager.layers import (
    column_forms,
    grid_forms,
    normalization_forms,
    recurrence_forms,
    resize_forms,
)
from ogive.eager.products import (
    contraction_forms,
    matrix_forms,
    product_forms,
    transform_forms,
)
from ogive.eager.training import new_tensors
from ogive.tensor.elementwise import arithmetic
from ogive.tensor.movement import joining
from ogive.tensor.values import conversion

_MEETING = {arithmetic_forms, choice_forms, comparison_forms, quotient_forms}
"""Forms of operands of several dtypes, which meet as in sums."""
_MEET = {joining.cat, joining.stack}
_DO_NOT_MEET = {arithmetic.lerp}

_KEEPING = {new_tensors}
"""Forms that compute nothing with the elements: half precision is as good as any dtype."""
_KEEP = {conversion.clone, conversion.cast}

_COMPOSED = {
    product_forms, contraction_forms, matrix_forms, transform_forms, recurrence_forms, grid_forms,
    resize_forms, column_forms,
}  # fmt: skip
"""Forms of functions that are made of others, which `autocast` may know. It has the function itself
called, if it does not know that."""


def declare_rules() -> None:
    """Mark the forms that have such rules."""
    for function, own in forms.items():
        if _is_of(_MEETING, own.compute) or function in _MEET:
            own.mixes = "" if function in _DO_NOT_MEET else "all"
        if _is_of({normalization_forms}, own.compute):
            own.mixes = "first"  # the parameters may be in float32
        own.keeps_dtypes = function in _KEEP or _is_of(_KEEPING, own.compute)
        own.is_composed = _is_of(_COMPOSED, own.compute)


def _is_of(modules: set[Any], compute: Callable[..., Any]) -> bool:
    return compute.__module__ in {module.__name__ for module in modules}
