"""Gradients where complex numbers are involved, in PyTorch's convention: ∂L/∂x + i·∂L/∂y.

    y = f(z)      dz = dy · conj(f'(z))      f of one complex variable, as products, exp, sums are

The gradients of forms multiply by f'(z). So they are given conj(dy), and conj of what they give is
the gradient; for a real operand it is the real part. Functions that are not of that kind, such as
`abs`, have gradients of their own (`elementwise/complex_forms.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy

Gradient = Callable[..., Any]

_ndarray = numpy.ndarray


def arrays_among(values: Any) -> Iterator[Any]:
    """The arrays among arguments, those in lists too, in order."""
    for value in values:
        if value.__class__ is _ndarray:
            yield value
        elif value.__class__ in (list, tuple):
            yield from arrays_among(value)


def is_complex(out: Any, values: Any) -> bool:
    """Whether a result or an operand is complex."""
    if out.dtype.kind == "c":
        return True
    return any(array.dtype.kind == "c" for array in arrays_among(values))


def complex_gradient(gradient: Gradient, is_conjugating: bool) -> Gradient:
    """The gradient of a form for complex numbers. One that is `conjugating` has this convention
    already."""
    return _fitting(gradient) if is_conjugating else _conjugated(gradient)


def _conjugated(gradient: Gradient) -> Gradient:
    """The gradient of a function of complex variables, from one that multiplies by derivatives."""
    inner = _fitting(gradient)

    def conjugated(given: Any, out: Any, *args: Any, **kwargs: Any) -> Any:
        return [
            None if part is None else numpy.conj(part)
            for part in inner(numpy.conj(given), out, *args, **kwargs)
        ]

    return conjugated


def _fitting(gradient: Gradient) -> Gradient:
    """A gradient that gives real parts to real operands."""

    def fitting(given: Any, out: Any, *args: Any, **kwargs: Any) -> Any:
        found = gradient(given, out, *args, **kwargs)
        operands = arrays_among((*args, *kwargs.values()))
        return [_fitted(part, array) for part, array in zip(found, operands, strict=True)]

    return fitting


def _fitted(part: Any, operand: Any) -> Any:
    if part.__class__ is FunctionType:
        part = part()
    if part is None or part.dtype.kind != "c" or operand.dtype.kind == "c":
        return part
    return part.real.astype(operand.dtype, copy=False)
