"""Shared by all functions: attributes, the two float formats, constants split over floats."""

from __future__ import annotations

import struct
from fractions import Fraction
from functools import cache

from ogive.named import NamedTuple

LN2 = Fraction("0.69314718055994530941723212145817656807550013436025525412068000949")
LOG2_E = Fraction("1.44269504088896340735992468100189213742664595415298593413544940693")
LOG10_2 = Fraction("0.30102999566398119521373889472449302676818988146210854131042746113")
LOG10_E = Fraction("0.43429448190325182765112891891660508229439700580366656611445378317")
PI = Fraction("3.14159265358979323846264338327950288419716939937510582097494459231")


class Format(NamedTuple):
    """A binary float format.

    `shifter` is 1.5 times a power of two, so large that adding it rounds a number to an integer and
    leaves that integer in the low bits of the sum.
    """

    mantissa: int
    bias: int
    shifter: float

    @property
    def smallest_normal(self) -> float:
        return 2.0 ** (1 - self.bias)

    @property
    def exponent_mask(self) -> int:
        return (2 * self.bias + 1) << self.mantissa

    @property
    def mantissa_mask(self) -> int:
        return (1 << self.mantissa) - 1


FORMATS = {"f32": Format(23, 127, 1.5 * 2**23), "f64": Format(52, 1023, 1.5 * 2**52)}

# Whether to inline is decided at each call. Group 0 is that of all functions of a module: the width
# of vectors is part of how they are passed, so caller and callee must agree on it.
ATTRIBUTES = "willreturn memory(none) #0"

INFINITY = float("inf")
NAN = float("nan")


def nearest(value: Fraction, dtype: str) -> float:
    """The float of the format nearest to an exact number."""
    number = float(value)
    return number if dtype == "f64" else float(struct.unpack("<f", struct.pack("<f", number))[0])


@cache
def split(value: Fraction, dtype: str, parts: int) -> tuple[float, ...]:
    """Floats whose exact sum is `value` to about `parts` times the precision of the format."""
    result = []
    for _ in range(parts):
        result.append(nearest(value, dtype))
        value -= Fraction(result[-1])
    return tuple(result)


def bits_of(value: float, dtype: str) -> int:
    """The bit pattern of a float as an integer."""
    pack, unpack = ("<f", "<I") if dtype == "f32" else ("<d", "<Q")
    return int(struct.unpack(unpack, struct.pack(pack, value))[0])
