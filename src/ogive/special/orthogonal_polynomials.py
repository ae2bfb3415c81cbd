"""Orthogonal polynomials, by their three-term recurrences.

The degree is an integer, or a tensor of degrees that broadcasts. The number of steps must be known
to build the graph, so a tensor of degrees is computed at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import result_type
from ogive.errors import ArgumentTypeError
from ogive.special.fits import wide
from ogive.tensor.core import to_tensor
from ogive.tensor.movement.joining import where
from ogive.tensor.tensor import Tensor

Step = Callable[[int, Tensor, Any, Any], Tensor]
"""A function from k, x, and the polynomials of degrees k and k - 1 to that of degree k + 1."""


def _polynomial(
    name: str, text: str, first: Callable[[Tensor], Tensor], step: Step, example: str
) -> Callable[..., Tensor]:
    """Return the function of a family, given its polynomial of degree 1 and its recurrence."""

    def family(x: Any, n: Any) -> Tensor:
        if not isinstance(x, Tensor) and not isinstance(n, Tensor):
            raise ArgumentTypeError(f"{name} takes a tensor, got {x!r} and {n!r}")
        device = x.device if isinstance(x, Tensor) else n.device
        degrees = n if isinstance(n, Tensor) else to_tensor(n, device)
        point, dtype = wide(x if isinstance(x, Tensor) else to_tensor(x, device), name)
        if isinstance(n, Tensor) and isinstance(x, Tensor):
            both = result_type([(x.dtype, x.ndim), (n.dtype, n.ndim)])
            dtype = both if both.is_float else dtype
        whole = degrees.trunc() if degrees.dtype.is_float else degrees
        highest = int(whole.max().item()) if degrees.numel() else 0
        degree = whole.cast(dtypes.int64)
        before: Any = point * 0 + 1
        current: Any = first(point)
        result = where(degree >= 1, current, before)
        for k in range(1, highest):
            before, current = current, step(k, point, current, before)
            result = where(degree > k, current, result)
        return where(degree < 0, 0.0, result).cast(dtype)

    family.__name__ = family.__qualname__ = name
    family.__doc__ = (
        f"{text} 0 for a negative degree.\n\n    Shapes: those of x and n, broadcast.\n\n"
        f"    >>> ogive.special.{name}(Tensor([2.0]), 3).tolist()\n    [{example}]\n    "
    )
    return family


def _chebyshev(k: int, x: Tensor, current: Any, before: Any) -> Tensor:
    return x * 2 * current - before  # type: ignore[no-any-return]


def _shifted(kind: str, name: str, first: Callable[[Tensor], Tensor], example: str) -> Any:
    return _polynomial(
        f"shifted_chebyshev_polynomial_{kind}", f"{name}ₙ(2x - 1), for x between 0 and 1.",
        lambda x: first(x * 2 - 1), lambda k, x, p, q: _chebyshev(k, x * 2 - 1, p, q), example,
    )  # fmt: skip


_FIRST: dict[str, Callable[[Tensor], Tensor]] = {
    "t": lambda x: x, "u": lambda x: x * 2, "v": lambda x: x * 2 - 1, "w": lambda x: x * 2 + 1,
}  # fmt: skip

chebyshev_polynomial_t = _polynomial(
    "chebyshev_polynomial_t", "Tₙ(x) = cos(n·arccos x), of the first kind.", _FIRST["t"],
    _chebyshev, "26.0",
)  # fmt: skip
chebyshev_polynomial_u = _polynomial(
    "chebyshev_polynomial_u", "Uₙ(x), of the second kind.", _FIRST["u"], _chebyshev, "56.0"
)
chebyshev_polynomial_v = _polynomial(
    "chebyshev_polynomial_v", "Vₙ(x), of the third kind.", _FIRST["v"], _chebyshev, "41.0"
)
chebyshev_polynomial_w = _polynomial(
    "chebyshev_polynomial_w", "Wₙ(x), of the fourth kind.", _FIRST["w"], _chebyshev, "71.0"
)
shifted_chebyshev_polynomial_t = _shifted("t", "T", _FIRST["t"], "99.0")
shifted_chebyshev_polynomial_u = _shifted("u", "U", _FIRST["u"], "204.0")
shifted_chebyshev_polynomial_v = _shifted("v", "V", _FIRST["v"], "169.0")
shifted_chebyshev_polynomial_w = _shifted("w", "W", _FIRST["w"], "239.0")
hermite_polynomial_h = _polynomial(
    "hermite_polynomial_h", "Hₙ(x), Hermite's for the weight exp(-x²).", lambda x: x * 2,
    lambda k, x, p, q: x * 2 * p - q * (2 * k), "40.0",
)  # fmt: skip
hermite_polynomial_he = _polynomial(
    "hermite_polynomial_he", "Heₙ(x), Hermite's for the weight exp(-x²/2).", lambda x: x,
    lambda k, x, p, q: x * p - q * k, "2.0",
)  # fmt: skip
laguerre_polynomial_l = _polynomial(
    "laguerre_polynomial_l", "Lₙ(x), Laguerre's.", lambda x: 1 - x,
    lambda k, x, p, q: ((2 * k + 1 - x) * p - q * k) * (1 / (k + 1)), "-0.3333333432674408",
)  # fmt: skip
legendre_polynomial_p = _polynomial(
    "legendre_polynomial_p", "Pₙ(x), Legendre's.", lambda x: x,
    lambda k, x, p, q: (x * p * (2 * k + 1) - q * k) * (1 / (k + 1)), "17.0",
)  # fmt: skip
