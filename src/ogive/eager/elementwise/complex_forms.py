"""Forms of complex numbers, and a list of the other forms that take them.

The gradients here are in the convention of `gradients/complex_gradients.py`: ∂L/∂x + i·∂L/∂y.
"""

from __future__ import annotations

from typing import Any

import numpy

from ogive.eager.casts import pair, unbroadcast
from ogive.eager.forms import Refused, form, forms, gradient
from ogive.tensor.creation import constructors
from ogive.tensor.elementwise import (
    arithmetic,
    complex_numbers,
    pairwise,
    unary_compositions,
    unary_functions,
)
from ogive.tensor.indexing import scattering
from ogive.tensor.linear_algebra import einsum, inverses, matrix_product, named_products
from ogive.tensor.movement import basic_movements, diagonals, joining, padding, repeating
from ogive.tensor.reduction import basic_reductions, scanning
from ogive.tensor.values import conversion

_ndarray = numpy.ndarray
_WIDE = {numpy.dtype("float32"): "complex64", numpy.dtype("float64"): "complex128"}


@form(complex_numbers.complex)
def joined(real: Any, imag: Any) -> Any:
    """`real + i·imag`, with the bits of both parts unchanged."""
    if real.__class__ is not _ndarray or imag.__class__ is not _ndarray:
        raise Refused
    real, imag = pair(real, imag)
    numbers = numpy.empty(numpy.broadcast_shapes(real.shape, imag.shape), _WIDE[real.dtype])
    numbers.real, numbers.imag = real, imag
    return numbers


@gradient(joined)
def _joined(given: Any, out: Any, real: Any, imag: Any) -> Any:
    return unbroadcast(given.real, real), unbroadcast(given.imag, imag)


@form(complex_numbers.real, view=True)
def real(z: Any) -> Any:
    """The real part, as a view. Real numbers are returned themselves."""
    return z.real if z.dtype.kind == "c" else z


@gradient(real)
def _real(given: Any, out: Any, z: Any) -> Any:
    return (given.astype(z.dtype),)


@form(complex_numbers.imag, view=True)
def imag(z: Any) -> Any:
    """The imaginary part, as a view."""
    if z.dtype.kind != "c":
        raise Refused
    return z.imag


@gradient(imag)
def _imag(given: Any, out: Any, z: Any) -> Any:
    return (given * z.dtype.type(1j),)


@form(complex_numbers.conj)
def conj(z: Any) -> Any:
    """x - iy for x + iy."""
    if z.dtype.kind != "c":
        raise Refused
    return numpy.conj(z)


@gradient(conj)
def _conj(given: Any, out: Any, z: Any) -> Any:
    return (numpy.conj(given),)


@form(unary_compositions.angle)
def angle(z: Any) -> Any:
    """The angle to the positive real axis."""
    if z.dtype.kind != "c":
        raise Refused
    return numpy.arctan2(z.imag, z.real)


@gradient(angle)
def _angle(given: Any, out: Any, z: Any) -> Any:
    square = z.real * z.real + z.imag * z.imag
    turned = numpy.divide(z, square, out=numpy.zeros_like(z), where=square != 0)
    return (given * (turned * z.dtype.type(1j)),)


@form(complex_numbers.view_as_real, view=True)
def view_as_real(z: Any) -> Any:
    """The real and imaginary parts along a new last axis, as a view."""
    if z.dtype.kind != "c":
        raise Refused
    part = z.real.dtype
    return z.view(part).reshape((*z.shape, 2)) if z.ndim else z.reshape(1).view(part)


@gradient(view_as_real)
def _view_as_real(given: Any, out: Any, z: Any) -> Any:
    return (joined(given[..., 0], given[..., 1]),)


@form(complex_numbers.view_as_complex, view=True)
def view_as_complex(x: Any) -> Any:
    """Numbers from parts along the last axis, in their memory where it allows that."""
    if x.dtype not in _WIDE or not x.ndim or x.shape[-1] != 2:
        raise Refused
    if x.strides[-1] != x.itemsize or any(step % (2 * x.itemsize) for step in x.strides[:-1]):
        raise Refused
    return x.view(_WIDE[x.dtype])[..., 0]


@gradient(view_as_complex)
def _view_as_complex(given: Any, out: Any, x: Any) -> Any:
    return (numpy.stack([given.real, given.imag], -1),)


_TAKE_COMPLEX = (
    complex_numbers.real, complex_numbers.imag, complex_numbers.conj, unary_compositions.angle,
    complex_numbers.view_as_real, arithmetic.add, arithmetic.sub, arithmetic.reflected_sub,
    arithmetic.mul, arithmetic.div, arithmetic.reflected_div, arithmetic.pow, arithmetic.eq,
    arithmetic.is_equal, arithmetic.ne, arithmetic.is_unequal, pairwise.isclose, pairwise.where,
    pairwise.masked_fill, joining.where, unary_functions.square, unary_functions.neg,
    unary_functions.abs, unary_functions.exp, unary_functions.log, unary_functions.sin,
    unary_functions.cos, unary_functions.sqrt, unary_functions.reciprocal, unary_functions.isnan,
    unary_functions.isinf, unary_functions.isfinite, basic_movements.flip, inverses.inv,
    inverses.solve, inverses.det, named_products.dot, einsum.einsum, basic_reductions.sum,
    basic_reductions.mean, basic_reductions.prod, scanning.cumsum, scanning.cumprod,
    matrix_product.matmul, matrix_product.reflected_matmul, named_products.mm, named_products.bmm,
    named_products.mv, named_products.outer, joining.cat, joining.stack, repeating.repeat,
    repeating.roll, padding.pad, diagonals.diag, diagonals.diag_embed, diagonals.trace,
    diagonals.tril, diagonals.triu, scattering.gather, scattering.index_select,
    constructors.zeros_like, constructors.empty_like, constructors.ones_like,
    constructors.full_like, conversion.clone, conversion.cast,
)  # fmt: skip


_CONJUGATING = (
    complex_numbers.complex, complex_numbers.real, complex_numbers.imag, complex_numbers.conj,
    complex_numbers.view_as_real, complex_numbers.view_as_complex, unary_compositions.angle,
    unary_functions.abs,
)  # fmt: skip
"""Functions that have no complex derivative, or lead from real to complex numbers."""


def let_take_complex() -> None:
    """Mark the forms that take or give complex numbers: those listed here, and all views."""
    for function, own in forms.items():
        if own.is_view or function in _TAKE_COMPLEX or function in _CONJUGATING:
            own.takes_complex = True
        if function in _CONJUGATING:
            own.is_conjugating = True
