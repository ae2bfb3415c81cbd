"""Elementary functions as LLVM IR: our own polynomials, for any number of lanes.

    exp = define("exp", "f32", 16)
    exp.symbol          # "@ogive.exp.f32.x16", of type <16 x float> (<16 x float>)
    for needed in definitions([exp, define("sin", "f32", 16)]):
        needed.text     # what to put into a module, dependencies first, nothing twice

The caller widens f16 and bf16 to f32. Results are within 1 ulp everywhere, mostly within 0.8
(docs/numerics.md has the table). NaN, infinities, signed zeros and subnormals are treated as in
C99.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module

from ogive.compiler.devices.llvm.definitions import Definition
from ogive.compiler.devices.llvm.ir_text import Text, Vectors
from ogive.compiler.devices.llvm.math.float_formats import ATTRIBUTES
from ogive.compiler.targets.target import Scaling

UNARY = {
    "exp": "exponential.exp",
    "exp2": "exponential.exp2",
    "expm1": "exponential.expm1",
    "sinh": "exponential.sinh",
    "cosh": "exponential.cosh",
    "tanh": "exponential.tanh",
    "log": "logarithm.log",
    "log2": "logarithm.log2",
    "log10": "logarithm.log10",
    "log1p": "logarithm.log1p",
    "asinh": "logarithm.asinh",
    "acosh": "logarithm.acosh",
    "atanh": "logarithm.atanh",
    "sin": "trigonometric.sin",
    "cos": "trigonometric.cos",
    "tan": "trigonometric.tan",
    "asin": "inverse.asin",
    "acos": "inverse.acos",
    "atan": "inverse.atan",
    "erf": "error.erf",
    "erfc": "error.erfc",
    "rsqrt": "power.rsqrt",
}
BINARY = {
    "atan2": "inverse.atan2",
    "pow": "power.pow_",
}
"""The functions of one operand and of two, each with the module that writes its body."""


@cache
def define(function: str, dtype: str, lanes: int, scalings: tuple[Scaling, ...] = ()) -> Definition:
    """The definition of one function.

    Args:
        function: a name in `UNARY` or `BINARY`.
        dtype: "f32" or "f64".
        lanes: elements in the vectors it maps; 1 for scalars.
        scalings: the target's instructions that multiply by powers of two. Results do not depend
            on them.
    """
    f = Text(scalings).vectors(dtype, lanes)
    arity = 1 if function in UNARY else 2
    body = _body({**UNARY, **BINARY}[function])
    result = body(f, *("%x", "%y")[:arity])
    requires = (_reduction(dtype, lanes),) if function in ("sin", "cos", "tan") else ()
    return _wrap(f"@ogive.{function}.{dtype}.x{lanes}", f, arity, result, requires)


@cache
def define_integer_power(bits: int, lanes: int, signed: bool = True) -> Definition:
    """base ** exponent of integers, modulo 2^bits; a negative exponent gives 0, 1 or -1."""
    f = Text().vectors(f"i{bits}", lanes)
    result = _body("power.integer_power")(f, signed)
    return _wrap(f"@ogive.pow.{'iu'[not signed]}{bits}.x{lanes}", f, 2, result)


@cache
def define_threefry(lanes: int) -> Definition:
    """64 random bits from a counter and a key, all of them 64-bit integers."""
    f = Text().vectors("i64", lanes)
    result = _body("threefry.threefry")(f, "%x", "%y")
    return _wrap(f"@ogive.threefry.x{lanes}", f, 2, result)


def _body(place: str) -> Callable[..., str]:
    """The function `module.function`. Most kernels need few of these modules, and each takes a
    third of a millisecond to load."""
    module, _, name = place.partition(".")
    body: Callable[..., str] = getattr(import_module(f"{__name__}.{module}"), name)
    return body


def _wrap(
    symbol: str, f: Vectors, arity: int, result: str, requires: tuple[Definition, ...] = ()
) -> Definition:
    parameters = ", ".join(f"{f.type} {name}" for name in ("%x", "%y")[:arity])
    head = f"define internal {f.type} {symbol}({parameters}) {ATTRIBUTES} {{"
    text = "\n".join([head, "entry:", *f.text.lines, f"  ret {f.type} {result}", "}\n"])
    return Definition(symbol, text, frozenset(f.text.declarations), requires)


@cache
def _reduction(dtype: str, lanes: int) -> Definition:
    from ogive.compiler.devices.llvm.math import trigonometric

    f = Text().vectors(dtype, lanes)
    symbol = trigonometric.reduction_symbol(f)
    text = trigonometric.reduction(f)
    return Definition(symbol, text, frozenset(f.text.declarations), (_table(),))


@cache
def _table() -> Definition:
    from ogive.compiler.devices.llvm.math import trigonometric

    return Definition(trigonometric.TABLE, trigonometric.table())
