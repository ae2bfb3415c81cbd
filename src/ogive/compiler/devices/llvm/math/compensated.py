"""Compensated operations, which give the rounding error beside the rounded result."""

from __future__ import annotations

from ogive.compiler.devices.llvm.ir_text import Operand, Vectors
from ogive.compiler.devices.llvm.math.float_formats import FORMATS

Parts = tuple[str, str]
"""A number as a sum of two floats; the second is small compared with the first."""


def multiply_add(f: Vectors, left: str, right: Operand, addend: str) -> Parts:
    """`left * right + addend` and its error.

    The addend is greater in magnitude than the product, or the product is exact.
    """
    total = f.fma(left, right, addend)
    return total, f.fma(left, right, f.fsub(addend, total))


def add(f: Vectors, larger: str, smaller: str) -> Parts:
    """`larger + smaller` and its error, which is exact if the magnitudes are in this order."""
    total = f.fadd(larger, smaller)
    return total, f.fsub(smaller, f.fsub(total, larger))


def square_root(f: Vectors, square: str, square_low: str | None = None) -> Parts:
    """The square root of a number, which may have a low part, and its approximate error."""
    root = f.sqrt(square)
    residual = f.fma(f.fneg(root), root, square)
    if square_low is not None:
        residual = f.fadd(residual, square_low)
    # The root of zero is exact; it must not be divided by.
    divisor = f.at_least(root, FORMATS[f.code].smallest_normal)
    return root, f.fmul(residual, f.fdiv(0.5, divisor))


def divide(f: Vectors, dividend: Parts, divisor: Parts) -> Parts:
    """A quotient and its approximate error. Dividend and divisor are sums of two floats."""
    reciprocal = f.fdiv(1.0, divisor[0])
    quotient = f.fmul(dividend[0], reciprocal)
    minus = f.fneg(quotient)
    residual = f.fma(minus, divisor[1], dividend[1])
    residual = f.fadd(f.fma(minus, divisor[0], dividend[0]), residual)
    return quotient, f.fmul(residual, reciprocal)
