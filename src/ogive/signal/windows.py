"""Windows, by the names of `torch.signal.windows`.

All have M elements. They are symmetric; with `sym=False` they are periodic, for Fourier transforms:
the first M elements of a symmetric window of M + 1. They are computed in float64. The default dtype
is float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import to_dtype
from ogive.errors import ArgumentError, DtypeError
from ogive.tensor.core import to_integer
from ogive.tensor.creation.constructors import arange, ones
from ogive.tensor.method_functions import created
from ogive.tensor.tensor import Tensor


def general_cosine(
    M: int,
    *,
    a: Iterable[float],
    sym: bool = True,
    dtype: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """a₀ - a₁ cos(2πi/N) + a₂ cos(4πi/N) - ..., with N = M - 1, or M unless `sym`. Shapes: (M,).

    >>> general_cosine(3, a=[0.5, 0.5]).round().tolist()
    [0.0, 1.0, 0.0]
    """
    weights = [float(weight) for weight in a]

    def shape(place: Tensor, span: float) -> Tensor:
        total = place * 0 + weights[0]
        for k, weight in enumerate(weights[1:], 1):
            total = total + (place * (2 * math.pi * k / span)).cos() * (weight * (-1) ** k)
        return total

    if not weights:
        raise ArgumentError("general_cosine: a is empty; it needs at least one weight")
    return _window(M, shape, sym, dtype, device, requires_grad)


def _sum_of_cosines(name: str, a: tuple[float, ...], example: str) -> Callable[..., Tensor]:
    """Return the function of a window that is `general_cosine` with fixed weights."""

    def window(
        M: int,
        *,
        sym: bool = True,
        dtype: Any = None,
        device: str | None = None,
        requires_grad: bool = False,
    ) -> Tensor:
        return general_cosine(
            M, a=a, sym=sym, dtype=dtype, device=device, requires_grad=requires_grad
        )

    window.__name__ = window.__qualname__ = name
    window.__doc__ = (
        f"`general_cosine` with the weights {', '.join(map(str, a))}. Shapes: (M,).\n\n"
        f"    >>> {name}(3, dtype='float64').round(decimals=2).tolist()\n    {example}\n    "
    )
    return window


blackman = _sum_of_cosines("blackman", (0.42, 0.5, 0.08), "[-0.0, 1.0, -0.0]")
nuttall = _sum_of_cosines(
    "nuttall", (0.3635819, 0.4891775, 0.1365995, 0.0106411), "[0.0, 1.0, 0.0]"
)


def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """alpha - (1 - alpha) cos(2πi/N). Shapes: (M,).

    >>> general_hamming(3, alpha=0.5).round().tolist()
    [0.0, 1.0, 0.0]
    """
    weights = (alpha, 1 - alpha)
    return general_cosine(
        M, a=weights, sym=sym, dtype=dtype, device=device, requires_grad=requires_grad
    )


hamming = _sum_of_cosines("hamming", (0.54, 1 - 0.54), "[0.08, 1.0, 0.08]")
hann = _sum_of_cosines("hann", (0.5, 0.5), "[0.0, 1.0, 0.0]")


def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """1 - |2i/N - 1|, a triangle. Shapes: (M,).

    >>> bartlett(3).tolist()
    [0.0, 1.0, 0.0]
    """

    def shape(place: Tensor, span: float) -> Tensor:
        return 1 - (place * (2 / span) - 1).abs()

    return _window(M, shape, sym, dtype, device, requires_grad)


def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """sin(π (i + ½)/(N + 1)), half a wave. Shapes: (M,).

    >>> cosine(1).tolist()
    [1.0]
    """

    def shape(place: Tensor, span: float) -> Tensor:
        return ((place + 0.5) * (math.pi / (span + 1))).sin()

    return _window(M, shape, sym, dtype, device, requires_grad)


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """exp(-|i - center|/tau). `center` is N/2, or may be given if `sym` is False. Shapes: (M,).

    >>> exponential(3, tau=1e-3).tolist()
    [0.0, 1.0, 0.0]

    Raises `ArgumentError` unless tau is positive, and for a `center` of a symmetric window.
    """
    if not tau > 0:
        raise ArgumentError(f"exponential: tau is {tau}, and must be positive")
    if sym and center is not None:
        raise ArgumentError("exponential: a symmetric window has its centre in the middle")

    def shape(place: Tensor, span: float) -> Tensor:
        middle = span / 2 if center is None else center
        return ((place - middle).abs() * (-1 / tau)).exp()

    return _window(M, shape, sym, dtype, device, requires_grad)


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """exp(-½ ((i - N/2)/std)²). Shapes: (M,).

    >>> gaussian(3, std=1e-2).tolist()
    [0.0, 1.0, 0.0]

    Raises `ArgumentError` unless std is positive.
    """
    if not std > 0:
        raise ArgumentError(f"gaussian: std is {std}, and must be positive")

    def shape(place: Tensor, span: float) -> Tensor:
        return (((place - span / 2) * (1 / std)).square() * -0.5).exp()

    return _window(M, shape, sym, dtype, device, requires_grad)


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """I₀(beta √(1 - (2i/N - 1)²)) / I₀(beta). Shapes: (M,).

    >>> kaiser(3, beta=0.0).tolist()
    [1.0, 1.0, 1.0]

    Raises `ArgumentError` for a negative beta.
    """
    if beta < 0:
        raise ArgumentError(f"kaiser: beta is {beta}, and cannot be negative")

    def shape(place: Tensor, span: float) -> Tensor:
        height = (1 - (place * (2 / span) - 1).square()).clamp(min=0).sqrt()
        # Both are scaled by e⁻ᵝ, so that they do not overflow.
        argument = height * beta
        return argument.i0e() * (argument - beta).exp() / (place * 0 + beta).i0e()

    return _window(M, shape, sym, dtype, device, requires_grad)


def _window(
    M: int,
    shape: Callable[[Tensor, float], Tensor],
    sym: bool,
    dtype: Any,
    device: str | None,
    requires_grad: bool,
) -> Tensor:
    """Return the window of the values `shape(i, N)` for i from 0 to M - 1."""
    count = to_integer(M, "a window: M")
    kind = dtypes.default_float if dtype is None else to_dtype(dtype)
    if count < 0:
        raise ArgumentError(f"a window cannot have M={count} elements; M must not be negative")
    if not kind.is_float:
        raise DtypeError(f"a window must have a float dtype, not {kind.name}")
    if count < 2:
        window = ones(count, dtype=kind, device=device)
    else:
        place = created(arange, count, dtype=dtypes.float64, device=device)
        window = shape(place, float(count - 1 if sym else count)).cast(kind)
    return window.requires_grad_() if requires_grad else window
