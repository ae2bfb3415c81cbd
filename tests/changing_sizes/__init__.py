"""Random programs that do not care how many rows there are, run with many numbers of rows.

Each takes a matrix of n rows and changes it step by step; some steps draw a number of their own at
each run, so that constants change too. What they give with one compiled graph for all sizes is
compared with what they give with one for each.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy
from numpy.typing import NDArray

import ogive
from ogive import Tensor
from ogive.nn import functional
from tests.unreadable import before_an_unreadable_page

Step = Callable[[Tensor, float], Tensor]
"""A matrix of some rows and a number that is another at each run, to another matrix."""

WIDTH = 8
SIZES = (5, 8, 3, 16, 2, 11, 1, 40, 7)
RESULTS = 3
"""What each run of a program gives: a matrix, and two sums over it."""


def _weights(*shape: int) -> Tensor:
    values = numpy.random.default_rng(sum(shape)).standard_normal(shape)
    return Tensor(values.astype(numpy.float32)).realize()


SQUARE = _weights(WIDTH, WIDTH)
ROW = _weights(WIDTH)
TABLE = _weights(20, WIDTH)


def _places(x: Tensor) -> Tensor:
    return (x[:, 0].abs() * 7).long().clip(0, 19)


def _write(x: Tensor, number: float) -> Tensor:
    y = x.clone()
    y[0] = number
    y[1:] *= 0.5
    return y


def _write_column(x: Tensor, number: float) -> Tensor:
    y = x.clone()
    y[:, 1] += number
    return y


def _differentiate(x: Tensor, number: float) -> Tensor:
    leaf = x.detach().clone().requires_grad_()
    ((leaf @ SQUARE).tanh() * number).square().mean().backward()
    assert leaf.grad is not None
    return leaf.grad * 10


STEPS: dict[str, Step] = {
    "scale": lambda x, number: x * number,
    "shift": lambda x, number: x + number,
    "tanh": lambda x, number: x.tanh(),
    "clip": lambda x, number: x.clip(-abs(number), 1.0),
    "softmax": lambda x, number: x.softmax(-1),
    "softmax_down": lambda x, number: x.softmax(0),
    "layer_norm": lambda x, number: functional.layer_norm(x, (WIDTH,), ROW, ROW),
    "center": lambda x, number: x - x.mean(0),
    "standardize": lambda x, number: x / (x.square().mean(0) + 0.1).sqrt(),
    "product": lambda x, number: x @ SQUARE,
    "product_turned": lambda x, number: x @ SQUARE.T,
    "gram": lambda x, number: x @ (x.T @ x) * 0.1,
    "attention": lambda x, number: (x @ x.T).softmax(-1) @ x,
    "drop_first": lambda x, number: ogive.cat((x[1:], x[:1])),
    "flip": lambda x, number: x.flip(0),
    "roll": lambda x, number: x.roll(1, 0) + x.roll(2, 1),
    "join": lambda x, number: ogive.cat((x, x * 2)),
    "every_other": lambda x, number: x[::2],
    "pad": lambda x, number: functional.pad(x, (0, 0, 1, 2)),
    "repeat": lambda x, number: x.repeat_interleave(2, 0),
    "tile": lambda x, number: x.repeat(2, 1),
    "cumsum": lambda x, number: x.cumsum(0) * 0.1,
    "cumsum_rows": lambda x, number: x.cumsum(1) * 0.3,
    "sort_rows": lambda x, number: x.sort(1)[0],
    "sort_columns": lambda x, number: x.sort(0)[0],
    "lookup": lambda x, number: TABLE[_places(x)] + x,
    "scatter": lambda x, number: (ogive.zeros(20, WIDTH).index_add(0, _places(x), x))[_places(x)],
    "threshold": lambda x, number: ogive.where(x > number, x, x * 0.1),
    "positions": lambda x, number: x + ogive.arange(x.shape[0]).reshape(-1, 1) * 0.1,
    "heads": lambda x, number: x.reshape(-1, 2, 4).permute(1, 0, 2).reshape(2, -1, 4)
    .permute(1, 0, 2).reshape(-1, WIDTH),
    "narrow": lambda x, number: x.half().float(),
    "extremes": lambda x, number: x / (x.abs().amax(0) + 1),
    "causal": lambda x, number: (x @ x.T).tril() @ x * 0.1,
    "write": _write,
    "write_column": _write_column,
    "gradient": _differentiate,
    "keep": lambda x, number: x.realize(),
}  # fmt: skip


def draw_program(seed: int, length: int = 5) -> list[str]:
    """The names of the steps of a program."""
    return random.Random(seed).choices(list(STEPS), k=length)


def run_program(program: Sequence[str], values: NDArray[numpy.float32], number: float) -> list[
    NDArray[numpy.float32]
]:  # fmt: skip
    """What a program gives: a matrix, and sums over it. A read behind its argument is the end."""
    x = Tensor.from_numpy(before_an_unreadable_page(values))
    for name in program:
        x = STEPS[name](x, number)
    results = [x, x.sum(), x.mean(0)]
    Tensor.realize_batch(results)
    return [result.numpy() for result in results]


def differences(program: Sequence[str], seed: int) -> list[str]:
    """Where one graph for all sizes gives something else than one for each, beyond rounding."""
    source = numpy.random.default_rng(seed)
    found = []
    for rows in SIZES:
        values = source.standard_normal((rows, WIDTH)).astype(numpy.float32)
        number = float(source.standard_normal())
        given = []
        for general in (False, True):
            ogive.configure(generalize=general)
            given.append(run_program(program, values, number))
        for expected, got in zip(*given, strict=True):
            scale = float(numpy.abs(expected).max(initial=1.0))
            if got.shape != expected.shape or not numpy.allclose(
                got, expected, rtol=1e-4, atol=2e-5 * scale, equal_nan=True
            ):
                found.append(f"{list(program)}, {rows} rows: {got} instead of {expected}")
    return found
