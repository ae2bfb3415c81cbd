"""`python -m benchmarks shapes`: the families of the table at sizes that nobody tuned.

A family draws its rows by number from a seed of its own, so that every process, and every later
run, means the same row by the same name.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks import rows
from benchmarks.libraries.base import Operations
from benchmarks.results import RowResult
from benchmarks.rows import Row, normal
from benchmarks.runner import Runner

COUNT = 200
TOLERANCE = 1e-4
MOST_PRODUCTS = 1 << 29
Generator = np.random.Generator


def elementwise(generator: Generator) -> Row:
    """A chain over two tensors, of which the second may be broadcast."""
    shape = draw_shape(generator, 1e2, 1e7)
    other = tuple(1 if generator.random() < 0.25 else size for size in shape)
    return Row(f"{times(shape)}, {times(other)}", normal(shape, other), rows.chain, TOLERANCE)


def row_programs(generator: Generator) -> Row:
    """Softmax or layer norm along the last axis."""
    count, width = draw(generator, 1, 8000), draw(generator, 2, 8000)
    if generator.random() < 0.5:
        return Row(f"softmax {count}×{width}", normal((count, width)), rows.softmax, TOLERANCE)
    inputs = normal((count, width), (width,), (width,))
    return Row(f"layer norm {count}×{width}", inputs, rows.layer_norm, TOLERANCE)


def reductions(generator: Generator) -> Row:
    """The sum along one axis of two or three."""
    shape = draw_shape(generator, 1e3, 1e7, axes=(2, 3))
    axis = int(generator.integers(len(shape)))
    name = f"{times(shape)} along {axis}"
    return Row(name, normal(shape), partial(sum_along, axis=axis), TOLERANCE)


def sum_along(operations: Operations, x: Any, axis: int) -> Any:
    """The sum along one axis."""
    return operations.sum(x, axis)


def transposes(generator: Generator) -> Row:
    """A tensor laid out anew with its axes in another order."""
    shape = tuple(max(size, 2) for size in draw_shape(generator, 1e3, 1e7, axes=(2, 3, 4)))
    order = tuple(range(len(shape)))
    while order == tuple(range(len(shape))):
        order = tuple(int(axis) for axis in generator.permutation(len(shape)))
    name = f"{times(shape)} as {order}"
    return Row(name, normal(shape), partial(laid_out, order=order), 0.0)


def laid_out(operations: Operations, x: Any, order: tuple[int, ...]) -> Any:
    """The axes in another order, in memory too."""
    return operations.contiguous(operations.permute(x, order))


def products(generator: Generator) -> Row:
    """`a @ b`, one of them transposed at times, or a batch of them."""
    while True:
        height, depth, width = (draw(generator, 1, 2000) for _ in range(3))
        batch = draw(generator, 2, 64) if generator.random() < 0.25 else 1
        if batch * height * depth * width < MOST_PRODUCTS:
            break
    name = f"{height}×{depth}×{width}"
    if batch > 1:
        inputs = normal((batch, height, depth), (batch, depth, width))
        return Row(f"{batch} × ({name})", inputs, rows.product, TOLERANCE)
    match int(generator.integers(4)):
        case 0:
            inputs = normal((depth, height), (depth, width))
            return Row(f"{name}, left transposed", inputs, rows.transposed_left, TOLERANCE)
        case 1:
            inputs = normal((height, depth), (width, depth))
            return Row(f"{name}, right transposed", inputs, rows.transposed_right, TOLERANCE)
        case _:
            return Row(name, normal((height, depth), (depth, width)), rows.product, TOLERANCE)


def convolutions(generator: Generator) -> Row:
    """Square images, odd windows, strides, now and then depthwise."""
    while True:
        batch = draw(generator, 1, 8)
        before, after = draw(generator, 1, 256), draw(generator, 1, 256)
        side, window = draw(generator, 7, 112), int(generator.choice([1, 3, 3, 5, 7]))
        stride, depthwise = int(generator.choice([1, 1, 2])), generator.random() < 0.2
        channels = (before, before) if depthwise else (before, after)
        groups = before if depthwise else 1
        per_pixel = channels[0] // groups * channels[1] * window**2
        if per_pixel * batch * (side // stride) ** 2 < MOST_PRODUCTS:
            break
    kind = "depthwise " if depthwise else ""
    name = f"{kind}{window}×{window} {channels[0]}→{channels[1]} {side}², batch {batch}"
    row = rows.convolution_row(name, batch, channels, side, window, stride, groups)
    name = f"{name}, stride {stride}" if stride > 1 else name
    return replace(row, name=name, tolerance=TOLERANCE, limit=None)


def attentions(generator: Generator) -> Row:
    """Heads of as many queries as keys."""
    heads, count = draw(generator, 1, 16), draw(generator, 8, 1500)
    width = int(generator.choice([16, 32, 40, 64, 80, 96, 128]))
    name = f"{heads}×{count}×{width}"
    return Row(name, normal(*[(heads, count, width)] * 3), rows.attention, TOLERANCE)


FAMILIES: dict[str, Callable[[Generator], Row]] = {
    "elementwise": elementwise,
    "row programs": row_programs,
    "reductions": reductions,
    "transposes": transposes,
    "products": products,
    "convolutions": convolutions,
    "attention": attentions,
}


def draw(generator: Generator, low: float, high: float) -> int:
    """A size between the two, small ones as likely as large ones."""
    return round(float(np.exp(generator.uniform(np.log(low), np.log(high)))))


def draw_shape(
    generator: Generator, low: float, high: float, axes: Sequence[int] = (1, 2, 3, 4)
) -> tuple[int, ...]:
    """A shape of so many axes, with a number of elements between the two."""
    count = int(generator.choice(axes))
    total = np.log(draw(generator, low, high))
    shares = generator.dirichlet(np.ones(count))
    return tuple(max(round(float(np.exp(total * share))), 1) for share in shares)


def times(shape: tuple[int, ...]) -> str:
    """As in `3×4`."""
    return "×".join(map(str, shape))


def row_of(family: str, number: int) -> Row:
    """The row of that number; its name begins with both."""
    row = FAMILIES[family](np.random.default_rng([zlib.crc32(family.encode()), number]))
    return replace(row, name=f"{family} {number}: {row.name}")


def find(name: str) -> Row:
    """The row of that name, drawn or declared; raises `KeyError`."""
    family, _, number = name.partition(":")[0].rpartition(" ")
    if ":" in name and family in FAMILIES:
        return row_of(family, int(number))
    return rows.find(name)


@dataclass(frozen=True)
class Spread:
    """How a family did: the best peer's time over Ogive's, row by row."""

    family: str
    count: int
    mean: float  # geometric
    worst: float
    worst_row: str
    behind: float  # the share of rows in which a peer was faster
    compile: float  # median seconds to the first result


def summarize(results: Sequence[RowResult]) -> Iterator[Spread]:
    """A line a family, of the rows that Ogive and a peer have right."""
    for family in FAMILIES:
        own = [row for row in results if row.name.startswith(f"{family} ")]
        judged = [(ratio, row) for row in own if (ratio := row.ratio()) is not None]
        if not judged:
            continue
        ratios = np.array([ratio for ratio, _ in judged])
        worst, slowest = min(judged, key=lambda pair: pair[0])
        firsts = [row.cells["ogive"].first or 0.0 for _, row in judged]
        yield Spread(
            family,
            len(judged),
            float(np.exp(np.log(ratios).mean())),
            worst,
            slowest.name.partition(": ")[2],
            float((ratios < 1).mean()),
            float(np.median(firsts)),
        )


def measure_shapes(
    runner: Runner, families: Sequence[str], count: int, tell: Callable[[str], None]
) -> list[RowResult]:
    """So many rows of each family, in every library."""
    return [
        runner.measure(row_of(family, number), tell)
        for family in families
        for number in range(count)
    ]
