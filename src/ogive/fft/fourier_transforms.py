"""The Fourier transforms: arguments, norms, and the symmetry of transforms of real numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ogive.compat.methods.keywords import also
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from ogive.fft.product_stages import transform
from ogive.tensor.core import to_axis, to_entries, to_integer
from ogive.tensor.elementwise.complex_numbers import complex, parts_of
from ogive.tensor.method_functions import open_to_eager
from ogive.tensor.movement.joining import cat, stack
from ogive.tensor.tensor import Tensor

FORWARD, INVERSE = -1, 1
NORMS = ("backward", "ortho", "forward")


@also(dim="axis")
def fft(x: Tensor, /, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The discrete Fourier transform along an axis, which is cut or zero-padded to the length `n`.

    Shapes: (..., n). float64 and complex128 give complex128, others complex64. `norm` says which
    direction has the factor 1/n: "backward" (the default) the inverse, "forward" this one, and
    "ortho" both, with 1/√n.

    >>> ogive.fft.fft(Tensor([1.0, 0.0, 0.0, 0.0])).tolist()
    [(1+0j), (1+0j), (1+0j), (1+0j)]

    Raises `ShapeError` for an empty axis, and `ArgumentError` for an unknown `norm`.
    """
    return _along(x, n, axis, norm, FORWARD, "fft")


@also(dim="axis")
def ifft(x: Tensor, /, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `fft`, with the same arguments.

    >>> ogive.fft.ifft(Tensor([4.0, 0.0, 0.0, 0.0])).real.tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    return _along(x, n, axis, norm, INVERSE, "ifft")


@also(dim="axis")
@open_to_eager
def rfft(x: Tensor, /, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The first half of `fft` of real numbers. The other half is its complex conjugate, mirrored.

    Shapes: (..., n) → (..., n // 2 + 1).

    >>> ogive.fft.rfft(Tensor([1.0, 2.0, 3.0, 4.0])).real.tolist()
    [10.0, -2.0, -2.0]

    Raises `DtypeError` for complex numbers.
    """
    _refuse_complex(x, "rfft")
    full = _along(x, n, axis, norm, FORWARD, "rfft")
    return full.narrow(axis, 0, full.shape[axis] // 2 + 1)


@also(dim="axis")
@open_to_eager
def irfft(x: Tensor, /, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `rfft`: `n` real numbers, an even number by default.

    Shapes: (..., m) → (..., n), n = 2·(m - 1) by default.

    >>> ogive.fft.irfft(Tensor([10.0 + 0j, -2 + 2j, -2 + 0j])).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    place = to_axis(axis, _to_input(x, "irfft").ndim, "irfft")
    size = _to_length(2 * (x.shape[place] - 1) if n is None else n, "irfft")
    half = _resized(x, size // 2 + 1, place)
    return _along(_mirrored(half, size, place), size, place, norm, INVERSE, "irfft").real


@also(dim="axis")
def hfft(x: Tensor, /, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The real transform of numbers with conjugate symmetry, of which the first half is given.

    Shapes: (..., m) → (..., n), n = 2·(m - 1) by default.

    >>> ogive.fft.hfft(Tensor([1.0, 2.0, 3.0]) + 0j).tolist()
    [8.0, -2.0, 0.0, -2.0]
    """
    place = to_axis(axis, _to_input(x, "hfft").ndim, "hfft")
    size = _to_length(2 * (x.shape[place] - 1) if n is None else n, "hfft")
    return irfft(x.conj(), size, place, _opposite(norm))


@also(dim="axis")
def ihfft(x: Tensor, /, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `hfft`. Shapes: (..., n) → (..., n // 2 + 1).

    >>> ogive.fft.ihfft(Tensor([8.0, -2.0, 0.0, -2.0])).real.tolist()
    [1.0, 2.0, 3.0]

    Raises `DtypeError` for complex numbers.
    """
    return rfft(x, n, axis, _opposite(norm)).conj()


Lengths = Sequence[int] | None


@also(dim="axes")
def fftn(x: Tensor, /, s: Lengths = None, axes: Lengths = None, norm: str | None = None) -> Tensor:
    """`fft` along several axes: `axes`, or the last `len(s)` axes, or all.

    Shapes: the axes get the lengths `s`.

    >>> ogive.fft.fftn(Tensor([[1.0, 0.0], [0.0, 0.0]])).real.tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    for size, axis in _sized_axes(x, s, axes, "fftn"):
        x = _along(x, size, axis, norm, FORWARD, "fftn")
    return x


@also(dim="axes")
def ifftn(x: Tensor, /, s: Lengths = None, axes: Lengths = None, norm: str | None = None) -> Tensor:
    """The inverse of `fftn`, with the same arguments.

    >>> ogive.fft.ifftn(Tensor([[4.0, 0.0], [0.0, 0.0]])).real.tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    for size, axis in _sized_axes(x, s, axes, "ifftn"):
        x = _along(x, size, axis, norm, INVERSE, "ifftn")
    return x


@also(dim="axes")
def rfftn(x: Tensor, /, s: Lengths = None, axes: Lengths = None, norm: str | None = None) -> Tensor:
    """`rfft` along the last of several axes, `fft` along the others.

    >>> ogive.fft.rfftn(Tensor([[1.0, 0.0], [0.0, 0.0]])).shape
    (2, 2)
    """
    *others, (size, last) = _sized_axes(x, s, axes, "rfftn")
    x = rfft(x, size, last, norm)
    for length, axis in others:
        x = _along(x, length, axis, norm, FORWARD, "rfftn")
    return x


@also(dim="axes")
def irfftn(
    x: Tensor, /, s: Lengths = None, axes: Lengths = None, norm: str | None = None
) -> Tensor:
    """The inverse of `rfftn`. The last axis gets an even length unless `s` is given.

    >>> ogive.fft.irfftn(Tensor([[4.0, 0.0], [0.0, 0.0]])).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    *others, (size, last) = _sized_axes(x, s, axes, "irfftn")
    for length, axis in others:
        x = _along(x, length, axis, norm, INVERSE, "irfftn")
    return irfft(x, None if s is None else size, last, norm)


@also(dim="axes")
def hfftn(x: Tensor, /, s: Lengths = None, axes: Lengths = None, norm: str | None = None) -> Tensor:
    """`hfft` along the last of several axes, `fft` along the others.

    >>> ogive.fft.hfftn(Tensor([[1.0, 0.0], [0.0, 0.0]])).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    *others, (size, last) = _sized_axes(x, s, axes, "hfftn")
    for length, axis in others:
        x = _along(x, length, axis, norm, FORWARD, "hfftn")
    return hfft(x, None if s is None else size, last, norm)


@also(dim="axes")
def ihfftn(
    x: Tensor, /, s: Lengths = None, axes: Lengths = None, norm: str | None = None
) -> Tensor:
    """The inverse of `hfftn`: `ihfft` along the last of several axes, `ifft` along the others.

    >>> ogive.fft.ihfftn(Tensor([[4.0, 0.0], [0.0, 0.0]])).shape
    (2, 2)
    """
    *others, (size, last) = _sized_axes(x, s, axes, "ihfftn")
    x = ihfft(x, size, last, norm)
    for length, axis in others:
        x = _along(x, length, axis, norm, INVERSE, "ihfftn")
    return x


# Arguments


def _to_input(x: Any, name: str) -> Tensor:
    if not isinstance(x, Tensor):
        raise ArgumentTypeError(f"{name} takes a tensor, not {type(x).__name__}")
    return x


def _refuse_complex(x: Any, name: str) -> None:
    if _to_input(x, name).dtype.is_complex:
        raise DtypeError(f"{name} takes real numbers, not {x.dtype.name}; use fft, or take real")


def _to_length(n: Any, name: str) -> int:
    size = to_integer(n, f"{name}: the length of an axis")
    if size < 1:
        raise ShapeError(f"{name}: an axis must have at least 1 element, not {size}")
    return size


def _sized_axes(x: Any, s: Lengths, axes: Lengths, name: str) -> list[tuple[int | None, int]]:
    """Return the axes to transform, with the lengths that they get."""
    rank = _to_input(x, name).ndim
    if axes is None:
        axes = tuple(range(0 if s is None else rank - len(to_entries(s)), rank))
    places = [to_axis(axis, rank, name) for axis in to_entries(axes)]
    sizes: Sequence[int | None] = [None] * len(places) if s is None else to_entries(s)
    if len(sizes) != len(places):
        raise ArgumentError(f"{name}: {len(sizes)} lengths are given for {len(places)} axes")
    if not places:
        raise ArgumentError(f"{name}: there is no axis to transform")
    return list(zip(sizes, places, strict=True))


def _opposite(norm: str | None) -> str:
    """Return the norm with the factors of both directions exchanged."""
    _scale(norm, 1, FORWARD, "hfft")
    return {"forward": "backward", "ortho": "ortho"}.get(norm or "backward", "forward")


def _scale(norm: str | None, n: int, sign: int, name: str) -> float:
    if norm is not None and norm not in NORMS:
        raise ArgumentError(f"{name}: norm is one of {', '.join(NORMS)}, not {norm!r}")
    if norm == "ortho":
        return 1 / math.sqrt(n)
    scaled = FORWARD if norm == "forward" else INVERSE
    return 1 / n if sign == scaled else 1.0


# Values


@open_to_eager
def _along(
    x: Any, n: int | None, axis: int, norm: str | None, sign: int, name: str
) -> Tensor:
    """Transform along one axis."""
    place = to_axis(axis, _to_input(x, name).ndim, name)
    size = _to_length(x.shape[place] if n is None else n, name)
    scale = _scale(norm, size, sign, name)
    line = _resized(x, size, place).movedim(place, -1)
    result = transform(_as_parts(line), sign)
    if scale != 1:
        result = result * scale
    return complex(result[..., 0, :], result[..., 1, :]).movedim(-1, place)


def _as_parts(x: Tensor) -> Tensor:
    """Split numbers into their parts: (..., n) → (..., 1 or 2, n), in the dtype to compute in."""
    part = _part(x.dtype)
    if not x.dtype.is_complex:
        return x.cast(part).unsqueeze(-2)
    return stack(parts_of(x), -2).contiguous()


def _part(dtype: DType) -> DType:
    if dtype.is_storage_only:
        raise DtypeError(f"fft does not take {dtype.name}; cast to a wider float first")
    return dtypes.float64 if dtype.part is dtypes.float64 else dtypes.float32


def _resized(x: Tensor, size: int, axis: int) -> Tensor:
    """Cut an axis, or pad it with zeros, to `size` elements."""
    own = x.shape[axis]
    if own == size:
        return x
    if own > size:
        return x.narrow(axis, 0, size)
    pads = [0] * (2 * (x.ndim - axis))
    pads[-1] = size - own
    return x.pad(tuple(pads))


def _mirrored(half: Tensor, size: int, axis: int) -> Tensor:
    """Return all `size` elements of a sequence with conjugate symmetry, given its first half.

    The first element and, of an even number, the middle one are their own conjugates: real.
    """
    behind = size - half.shape[axis]
    if behind <= 0:
        return half
    return cat([half, half.narrow(axis, 1, behind).flip(axis).conj()], axis)
