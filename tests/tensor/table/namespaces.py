"""Functions that are no methods: of `ogive.special`, of `ogive.masked`, and of the package."""

from __future__ import annotations

from typing import Any

from tests.tensor.table.case import SIGNED, WIDE, Case, both, library

FLOAT64 = ("float64",)


def special(name: str, *arguments: Any, **changes: Any) -> Case:
    """A function of `special` in both libraries."""
    return both(name, lambda *x: getattr(library(x[0]).special, name)(*x, *arguments), **changes)


def masked(name: str, *arguments: Any, **changes: Any) -> Case:
    """A function of `masked` in both libraries, over the elements above 0."""
    return both(
        f"masked.{name}",
        lambda x: getattr(library(x).masked, name)(x, *arguments, mask=x > 0),
        **{"dtypes": FLOAT64, "absolute": True, "error": 32, "special": False, **changes},
    )


CASES = [
    special("entr", dtypes=WIDE, absolute=True),
    special("erfcx", dtypes=WIDE, domain=(-5, 40), error=64),
    special("log_ndtr", dtypes=WIDE, domain=(-30, 6), absolute=True, error=32),
    special("modified_bessel_k0", dtypes=FLOAT64, domain=(0.05, 40), error=64),
    special("scaled_modified_bessel_k1", dtypes=FLOAT64, domain=(0.05, 40), error=64),
    special("spherical_bessel_j0", dtypes=WIDE, absolute=True),
    special("legendre_polynomial_p", 5, dtypes=WIDE, domain=(-1, 1), absolute=True, error=32,
            special=False),
    special("hermite_polynomial_h", 4, dtypes=WIDE, absolute=True, error=64, special=False),
    special("zeta", arity=2, dtypes=WIDE, domain=(1.1, 20), error=32, special=False),
    masked("sum"), masked("amax", dtypes=(*WIDE, *SIGNED[-2:])), masked("mean"), masked("var"),
    masked("softmax", -1), masked("cumsum", 0),
    both("rsub", lambda a, b: library(a).rsub(a, b, alpha=2), arity=2,
         dtypes=("float64", "int32"), absolute=True, special=False),
    both("nonzero_static", lambda x: library(x).nonzero_static(x > 0, size=5), dtypes=WIDE),
    both("constant_pad_nd", lambda x: library(x).constant_pad_nd(x, (1, 2), 1.5), dtypes=WIDE),
    both("vander", lambda x: library(x).linalg.vander(x, N=3), dtypes=("float64", "int64"),
         special=False),
]  # fmt: skip
