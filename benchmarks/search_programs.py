"""Programs for `python -m benchmarks graphs`: what can be kept, or computed in another way.

Those of `ALGEBRA` are spelled as exporters and people do, over what all libraries share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from benchmarks.libraries.base import Operations
from benchmarks.threads import numbers

Keep = Callable[[Any, int], Any]
"""Called with a value that could be kept and its number; gives the value, or a kept one."""


class Program(NamedTuple):
    """A program with so many `values` that can be kept by hand."""

    values: int
    make: Callable[[Keep], Any]


def several(count: int, *shape: int) -> list[Any]:
    """So many tensors in memory, of different numbers."""
    return [(numbers(*shape) + number).realize() for number in range(count)]


def _slices(side: int, reach: int) -> Program:
    def make(keep: Keep) -> Any:
        a = keep(numbers(side, side).sin().exp().tanh(), 0)
        inner = side - 2 * reach
        parts = [
            a[i : i + inner, j : j + inner]
            for i in range(2 * reach + 1)
            for j in range(2 * reach + 1)
        ]
        return sum(parts[1:], parts[0])

    return Program(1, make)


def _stencil(function: str, side: int) -> Program:
    def make(keep: Keep) -> Any:
        a = keep(getattr((numbers(side, side) + 9).realize(), function)(), 0)
        edges = a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]
        return a[1:-1, 1:-1] + edges

    return Program(1, make)


def _transposed(side: int) -> Program:
    def make(keep: Keep) -> Any:
        a = numbers(side, side).tanh()
        return keep(a, 0) + keep(a, 1).T

    return Program(2, make)


def _two_sums(side: int) -> Program:
    def make(keep: Keep) -> Any:
        a = keep(numbers(side, side).exp(), 0)
        return a.sum(0) + a.sum(1)

    return Program(1, make)


def _read_twice(side: int) -> Program:
    def make(keep: Keep) -> Any:
        x, y, w = several(3, side, side)
        a = keep(x * y + w, 0)
        return a.T + a.sum(1)

    return Program(1, make)


def _two_products(side: int) -> Program:
    def make(keep: Keep) -> Any:
        a, b, c = several(3, side, side)
        return keep(a @ b, 0) + keep(a @ c, 1)

    return Program(2, make)


PLACEMENTS: dict[str, Program] = {
    "tanh(exp(sin)) read at 25 places, 512²": _slices(512, 2),
    "five taps of a sigmoid, 1024²": _stencil("sigmoid", 1024),
    "five taps of a square root, 1024²": _stencil("sqrt", 1024),
    "tanh + its transpose, 512²": _transposed(512),
    "tanh + its transpose, 1024²": _transposed(1024),
    "exp, summed along rows and columns, 256²": _two_sums(256),
    "x*y + w read by a transpose and a sum, 1024²": _read_twice(1024),
    "A @ B + A @ C, 512²": _two_products(512),
}


def updates(count: int = 2_000_000) -> list[Any]:
    """Two updates as Adam has them: new moments, and new weights from those."""
    made = []
    for _ in range(2):
        weight, gradient, first, second = several(4, count)
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second.abs() + 0.001 * gradient * gradient
        made += [first, second, weight - 0.001 * first / (second.sqrt() + 1e-8)]
    return made


def _chain(operations: Operations, a: Any, b: Any, v: Any) -> Any:
    return (a @ b) @ v


def _common(operations: Operations, a: Any, b: Any, c: Any) -> Any:
    return a @ b + a @ c


def _projections(operations: Operations, x: Any, q: Any, k: Any, v: Any) -> Any:
    x = operations.tanh(x)
    return operations.sigmoid(x @ q) * (x @ k) + (x @ v)


def _folded(operations: Operations, x: Any, w: Any, mean: Any, variance: Any) -> Any:
    """A convolution behind which a batch norm stands, as it infers."""
    convolved = operations.convolve(operations.relu(x), w)
    return operations.batch_norm(convolved, mean, variance * variance, mean, variance)


def _gelu(operations: Operations, x: Any) -> Any:
    """By a hyperbolic tangent and a power."""
    return 0.5 * x * (1.0 + operations.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def _layer_norm(operations: Operations, x: Any, gain: Any, bias: Any) -> Any:
    rows, columns = x.shape
    centred = x - (operations.sum(x, -1) / columns).reshape(rows, 1)
    variance = (operations.sum(centred**2, -1) / columns).reshape(rows, 1)
    return centred / (variance + 1e-5) ** 0.5 * gain + bias


def _rms_norm(operations: Operations, x: Any, gain: Any) -> Any:
    rows, columns = x.shape
    mean = (operations.sum(x**2, -1) / columns).reshape(rows, 1)
    return x / (mean + 1e-5) ** 0.5 * gain


def _softmax(operations: Operations, x: Any) -> Any:
    rows, _ = x.shape
    weights = operations.exp(x)
    return weights / operations.sum(weights, -1).reshape(rows, 1)


def _attention(operations: Operations, query: Any, key: Any, value: Any) -> Any:
    """The scale as a division, the softmax as exponentials, each weight divided."""
    heads, tokens, width = query.shape
    scores = query @ operations.permute(key, (0, 2, 1)) / width**0.5
    weights = operations.exp(scores)
    total = operations.sum(weights, -1).reshape(heads, tokens, 1)
    return (weights / total) @ value


ALGEBRA: dict[str, Sequence[Any]] = {
    "(A·B)·v, 512²": (_chain, (512, 512), (512, 512), (512, 1)),
    "A·B + A·C, 512²": (_common, (512, 512), (512, 512), (512, 512)),
    "x·q, x·k, x·v, 128×512": (_projections, (128, 512), (512, 512), (512, 512), (512, 512)),
    "conv 3×3 64→64 56², batch norm": (_folded, (1, 64, 56, 56), (64, 64, 3, 3), (64,), (64,)),
    "conv 1×1 256→64 56², batch norm": (_folded, (1, 256, 56, 56), (64, 256, 1, 1), (64,), (64,)),
    "gelu by a power, 512×3072": (_gelu, (512, 3072)),
    "layer norm by hand, 1024×768": (_layer_norm, (1024, 768), (768,), (768,)),
    "rms norm by hand, 1024×768": (_rms_norm, (1024, 768), (768,)),
    "softmax by hand, 1024×768": (_softmax, (1024, 768)),
    "attention by hand, 8×512×64": (_attention, (8, 512, 64), (8, 512, 64), (8, 512, 64)),
}
"""A function, and the shapes of what it is called with."""
