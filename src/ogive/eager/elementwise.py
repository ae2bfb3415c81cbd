"""Forms of operations element by element."""

from __future__ import annotations

from typing import Any

import numpy

from ogive.eager.casts import meet, pair, sides
from ogive.eager.forms import form, gradient
from ogive.tensor.elementwise import arithmetic

_ndarray = numpy.ndarray


@form(arithmetic.add)
def add(x: Any, other: Any, *, alpha: Any = 1) -> Any:
    """`x + alpha * other`."""
    x, other = pair(x, other)
    if alpha != 1:
        other = numpy.multiply(*meet(other, alpha)) if isinstance(other, _ndarray) else other * alpha
    return x + other


@gradient(add)
def _add(given: Any, out: Any, x: Any, other: Any, *, alpha: Any = 1) -> Any:
    return sides(x, other, lambda: given, lambda: given if alpha == 1 else given * alpha)
