"""Functions that both libraries write the same way, for comparing their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray


class Case(NamedTuple):
    """A function of tensors, which draw of inputs it takes, and their shapes."""

    name: str
    function: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...] = ((3, 4),)
    low: float = -2.0
    high: float = 2.0

    def inputs(self, seed: int) -> list[NDArray[Any]]:
        """Random inputs of float64 within the bounds."""
        random = numpy.random.default_rng(seed)
        return [random.uniform(self.low, self.high, shape) for shape in self.shapes]


UNARY = [
    *[
        Case(name, lambda x, name=name: getattr(x, name)())
        for name in (
            "neg", "abs", "exp", "exp2", "expm1", "sin", "cos", "sinh", "cosh", "tanh", "atan",
            "asinh", "erf", "erfc", "square", "sigmoid", "relu", "floor", "ceil", "round", "trunc",
        )
    ],
    *[
        Case(name, lambda x, name=name: getattr(x, name)(), low=0.5, high=3.0)
        for name in ("sqrt", "rsqrt", "reciprocal", "log", "log2", "log10", "log1p")
    ],
    *[
        Case(name, lambda x, name=name: getattr(x, name)(), low=-0.9, high=0.9)
        for name in ("asin", "acos", "atanh", "tan")
    ],
    Case("acosh", lambda x: x.acosh(), low=1.2, high=4.0),
]  # fmt: skip

PAIR = ((3, 4), (3, 4))
BINARY = [
    Case("add", lambda x, y: x + y, ((3, 4), (4,))),
    Case("sub", lambda x, y: x - y, ((3, 1), (2, 1, 4))),
    Case("mul", lambda x, y: x * y, ((3, 4), ())),
    Case("div", lambda x, y: x / y, PAIR, 0.5, 2.0),
    Case("pow", lambda x, y: x**y, PAIR, 0.5, 2.0),
    Case("pow number", lambda x: x**2.5, PAIR[:1], 0.5, 2.0),
    Case("cube", lambda x: x**3),
    Case("number to the power", lambda x: 2.0**x),
    Case("maximum", lambda x, y: x.maximum(y), PAIR),
    Case("minimum", lambda x, y: x.minimum(y), PAIR),
    Case("remainder", lambda x, y: x % y, PAIR, 0.3, 5.0),
    Case("atan2", lambda x, y: x.atan2(y), PAIR),
    Case("copysign", lambda x, y: x.copysign(y), PAIR),
    Case("clamp", lambda x: x.clamp(-1, 1)),
    Case("lerp", lambda x, y: x.lerp(y, 0.3), PAIR),
]

MOVEMENT = [
    Case("reshape", lambda x: x.reshape(2, 6) ** 2),
    Case("permute", lambda x: x.permute(2, 0, 1) ** 2, ((2, 3, 4),)),
    Case("flip", lambda x: x.flip(1) ** 2),
    Case("expand", lambda x: x.expand(5, 3, 4) ** 2),
    Case("slice", lambda x: x[1:, ::2] ** 2),
    Case("row", lambda x: x[1] ** 2),
    Case("transpose", lambda x: x.T @ x),
]

OVER_AXES = [
    Case("sum", lambda x: x.sum(1) ** 2),
    Case("mean", lambda x: x.mean(0) ** 2),
    Case("prod", lambda x: x.prod(1)),
    Case("prod of all", lambda x: x.prod()),
    Case("amax", lambda x: x.max()),
    Case("var", lambda x: x.var(1)),
    Case("softmax", lambda x: x.softmax(-1) ** 2),
    Case("matmul", lambda x, y: x @ y, ((3, 4), (4, 2))),
    Case("batched matmul", lambda x, y: x @ y, ((2, 3, 4), (4, 2))),
    Case("vector matmul", lambda x, y: x @ y, ((4,), (4, 2))),
]

CASES = [*UNARY, *BINARY, *MOVEMENT, *OVER_AXES]
