"""Elementwise functions composed of others, special functions among them."""

from __future__ import annotations

from typing import Any

import torch

from tests.tensor.table.case import (
    ALL,
    FLOATS,
    INTEGERS,
    NUMBERS,
    POSITIVE,
    SIGNED,
    WIDE,
    Case,
    both,
    method,
)


def special(name: str, **changes: Any) -> Case:
    """A method of ours that PyTorch has in `torch.special`."""
    return Case(name, lambda x, *r: getattr(x, name)(*r), getattr(torch.special, name), **changes)


CASES = [
    method("positive", dtypes=NUMBERS), method("frac"), method("sgn", dtypes=ALL),
    method("angle", dtypes=(*FLOATS, "int8")), method("signbit", dtypes=ALL),
    method("sinc", absolute=True, error=8),
    method("deg2rad"), method("rad2deg"),
    method("logit", domain=(0.01, 0.99), absolute=True, error=8),
    both("logit eps", lambda x: x.logit(0.1), domain=(-0.5, 1.5), absolute=True, error=8),
    both("nan_to_num", lambda x: x.nan_to_num(1.5, 2.5, -3.5), dtypes=(*FLOATS, "int8", "bool")),
    method("isposinf", dtypes=ALL), method("isneginf", dtypes=ALL), method("isreal", dtypes=ALL),
    both("round to decimals", lambda x: x.round(decimals=1), dtypes=("float64",)),
    both("round to tens", lambda x: (x * 30).round(decimals=-1), dtypes=("float64",)),
    both("clip", lambda x: x.clip(-1, 2), dtypes=("float32", "int32")),
    both("clamp_min", lambda x: x.clamp_min(1), dtypes=("float32", "int32")),
    both("clamp_max", lambda x: x.clamp_max(1), dtypes=("float32", "int32")),
    both("add alpha", lambda x: x.add(x, alpha=2), dtypes=("float32", "int32")),
    both("sub alpha", lambda x: x.sub(1, alpha=2), dtypes=("float32", "int32"), absolute=True),
    method("lgamma", dtypes=WIDE, domain=(0.01, 40), absolute=True, error=32),
    both("lgamma below 0", lambda x: x.lgamma(), dtypes=WIDE, domain=(-9, 0), absolute=True,
         error=1024),
    method("digamma", dtypes=WIDE, domain=(0.01, 40), absolute=True, error=32),
    both("digamma below 0", lambda x: x.digamma(), dtypes=WIDE, domain=(-4.9, -0.1), absolute=True,
         error=4096),
    Case("polygamma 1", lambda x: x.polygamma(1), lambda x: torch.special.zeta(2.0, x), dtypes=WIDE,
         domain=(0.1, 30), error=32, special=False),
    Case("polygamma 2", lambda x: x.polygamma(2), lambda x: -2 * torch.special.zeta(3.0, x),
         dtypes=WIDE, domain=(0.1, 30), error=32, special=False),
    both("mvlgamma", lambda x: x.mvlgamma(3), dtypes=WIDE, domain=(1.5, 30), absolute=True,
         error=64, special=False),
    method("erfinv", dtypes=WIDE, domain=(-0.999, 0.999), error=64),
    special("ndtr", dtypes=WIDE, domain=(-5, 5), absolute=True),
    special("ndtri", dtypes=WIDE, domain=(0.01, 0.99), absolute=True, error=64),
    method("i0", dtypes=WIDE, domain=(-40, 40), error=32, special=False),
    special("i0e", dtypes=WIDE, domain=(-40, 40), error=32),
    special("i1", dtypes=WIDE, domain=(-40, 40), error=32, special=False),
    special("i1e", dtypes=WIDE, domain=(-40, 40), error=32),
    # Two operands
    method("fmod", arity=2, dtypes=(*WIDE, *INTEGERS), nonzero=True, special=False, absolute=True),
    both("fmod of a number", lambda x: x.fmod(3), dtypes=(*WIDE, *SIGNED), absolute=True),
    method("float_power", arity=2, dtypes=("float64", "int32"), domain=(0.1, 3), error=16,
           nonzero=True, special=False),
    method("hypot", arity=2), method("logaddexp", arity=2, absolute=True, error=8),
    method("logaddexp2", arity=2, absolute=True, error=8),
    method("xlogy", arity=2, domain=POSITIVE, absolute=True),
    special("xlog1py", arity=2, domain=POSITIVE, absolute=True),
    both("ldexp", lambda a, b: a.ldexp(b.trunc()), arity=2, dtypes=WIDE),
    method("fmax", arity=2, dtypes=ALL), method("fmin", arity=2, dtypes=ALL),
    method("heaviside", arity=2, dtypes=NUMBERS),
    method("nextafter", arity=2, dtypes=("float64",)),
    Case("addcmul", lambda a, b: a.addcmul(a, b, value=3), lambda a, b: a.addcmul(a, b, value=3),
         arity=2, dtypes=("float32", "float64", "int32"), absolute=True, special=False, error=8),
    both("addcdiv", lambda a, b: a.addcdiv(a, b, value=0.5), arity=2, dtypes=WIDE, domain=POSITIVE,
         special=False, error=8),
    both("where method", lambda a, b: a.where(a < b, b), arity=2, dtypes=NUMBERS),
    both("masked_fill", lambda x: x.masked_fill(x > 1, 2), dtypes=ALL),
    both("isclose", lambda a, b: a.isclose(b, rtol=0.5, atol=0.25), arity=2, dtypes=("float64",)),
    both("isclose equal_nan", lambda x: x.isclose(x, equal_nan=True), dtypes=WIDE),
    both("minimum of max", lambda a, b: a.max(b), arity=2, dtypes=ALL),
]  # fmt: skip
