"""Chains of moves over tensors of many sizes, each by the graph that serves all of them.

A program is a chain of moves, consumers of what it gives, and the gradient of all of them. It is
run with one size after the other, as a loop of the user's would: the second size makes the general
graph, which the others run as. A part of the programs are captured by `ogive.jit`. What each size
gives is compared with PyTorch in float64. An input ends where a page begins that nobody may read.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

import ogive
from ogive import Tensor
from ogive.errors import CaptureWarning
from ogive.nn import functional
from tests.movement_chains.cases import EXACT, FLOATS, INTEGERS, SMOOTH
from tests.movement_chains.consumers import Context
from tests.movement_chains.drawing import Draw
from tests.movement_chains.running import FUNCTIONS, TOLERANCES, compare, rounded
from tests.symbolic_chains.consumers import CONSUMERS, LONGEST, Consumer, a_seed, numbers
from tests.symbolic_chains.programs import Consumption, Move, draw_move, make_move
from tests.unreadable import before_an_unreadable_page

Array = NDArray[Any]
SIZES = 40
MOST_MOVES = 3
CONSUMERS_OF_ONE = 4
GREATEST = 1e9
"""The greatest result that a gradient is taken of."""


def image(x: Any) -> Any:
    """The last two axes as those of images with one channel."""
    return x.reshape(-1, 1, x.shape[-2] if x.ndim > 1 else 1, x.shape[-1])


def filtered(x: Any, at: Context, taps: int, stride: int, padding: int, seed: int) -> Any:
    weight = numbers(at, 2 * taps * taps, seed).reshape(2, 1, taps, taps)
    return at.functions.conv2d(image(x), weight, None, stride, padding)


def largest(x: Any, at: Context, taps: int, stride: int) -> Any:
    return at.functions.max_pool2d(image(x), taps, stride)


def averaged(x: Any, at: Context, taps: int, stride: int) -> Any:
    return at.functions.avg_pool2d(image(x), taps, stride)


def resized(x: Any, at: Context, mode: str) -> Any:
    return at.functions.interpolate(image(x), scale_factor=2, mode=mode)


def attended(x: Any, at: Context) -> Any:
    rows = x.reshape(1, -1, x.shape[-1])
    return at.functions.scaled_dot_product_attention(rows, rows, rows)


def normalized(x: Any, at: Context, seed: int) -> Any:
    if at.library is ogive:
        return functional.layer_norm(x, x.shape[-1:])
    spread, greatest = x.var(-1, correction=0), x.abs().amax(-1)
    if x.shape[-1] > 1 and bool(((spread < 1e-6 * greatest**2) & (greatest > 0)).any()):
        raise ValueError("numbers that are nearly equal: rounding decides what comes of them")
    return torch.nn.functional.layer_norm(x, x.shape[-1:])


OWN: dict[str, Consumer] = {
    "filtered": Consumer(
        filtered,
        lambda draw, rank: (
            draw.integer(1, 5), draw.integer(1, 3), draw.integer(0, 2), draw.integer(0, 9)
        ),
    ),
    "largest": Consumer(largest, lambda draw, rank: (draw.integer(2, 3), draw.integer(1, 3))),
    "averaged": Consumer(averaged, lambda draw, rank: (draw.integer(2, 3), draw.integer(1, 3))),
    "resized": Consumer(resized, lambda draw, rank: (draw.one_of(("nearest", "bilinear")),)),
    "attended": Consumer(attended, lambda draw, rank: ()),
    "normalized": Consumer(normalized, a_seed),
}  # fmt: skip
_OF_ONE_LENGTH = {"sort", "argsort"}
"""What keeps a graph from serving several lengths."""

ALL = {name: kind for name, kind in (CONSUMERS | OWN).items() if name not in _OF_ONE_LENGTH}


class Program(NamedTuple):
    """What is done with a tensor, and the shapes of those it is done with."""

    seed: int
    dtype: str
    before: str
    moves: tuple[Move, ...]
    consumptions: tuple[Consumption, ...]
    has_gradient: bool
    shapes: tuple[tuple[int, ...], ...]
    is_captured: bool

    def __str__(self) -> str:
        chain = "".join([f".{name}{arguments}" for name, arguments in self.moves])
        consumed = ", ".join([f"{name}{arguments}" for name, arguments in self.consumptions])
        gradient = " and their gradient" if self.has_gradient else ""
        captured = ", captured" if self.is_captured else ""
        what = f"{self.before}{chain}: {consumed}{gradient}{captured}"
        return f"seed {self.seed}: {self.dtype}, {what}"


class Outcome(NamedTuple):
    """How many results were compared, and what the first difference is, if there is one."""

    cases: int
    words: str | None


def draw_program(seed: int) -> Program:
    """The program of a seed, as far as PyTorch can do it with the first shape."""
    draw = Draw(seed)
    dtype = draw.one_of(FLOATS) if draw.chance(0.8) else draw.one_of(INTEGERS)
    before = draw.one_of(tuple(SMOOTH if dtype in FLOATS else EXACT))
    before = "none" if draw.chance(0.5) else before
    shapes = _draw_shapes(draw)
    has_gradient = dtype in ("float32", "float64") and draw.chance(0.4)
    x = FUNCTIONS[before](torch.zeros(shapes[0], dtype=torch.float64))
    moves: list[Move] = []
    for _ in range(draw.integer(0, MOST_MOVES)):
        move = draw_move(draw, x.ndim)
        after = _attempt(lambda x=x, move=move: make_move(x, move, torch))
        if after is not None and 1 <= after.ndim < 5 and 0 < after.numel() <= LONGEST:
            moves.append(move)
            x = after
    consumptions = _draw_consumptions(draw, x, dtype, before)
    is_captured = draw.chance(0.5)
    return Program(
        seed, dtype, before, tuple(moves), consumptions, has_gradient, shapes, is_captured
    )


def _attempt(function: Any) -> Any:
    try:
        return function()
    except (RuntimeError, IndexError, ValueError, TypeError):
        return None


def _draw_shapes(draw: Draw) -> tuple[tuple[int, ...], ...]:
    """Shapes with one, two or three lengths that vary, apart or together, and others that stay."""
    rank = draw.one_of((1, 2, 2, 3))
    longest = {1: 200, 2: 40, 3: 14}[rank]
    fixed = [draw.integer(2, 8) if draw.chance(0.25) else None for _ in range(rank)]
    offset = draw.one_of((None, None, 0, 1, 7))
    shapes: dict[tuple[int, ...], None] = {}
    for _ in range(SIZES):
        lengths = [draw.integer(2, longest) for _ in range(rank)]
        if offset is not None:
            lengths = [lengths[0]] + [lengths[0] + offset] * (rank - 1)
        free = zip(lengths, fixed, strict=True)
        shapes[tuple([length if kept is None else kept for length, kept in free])] = None
    return tuple([shape for shape in shapes if np.prod(shape) <= LONGEST])


def _draw_consumptions(draw: Draw, x: Any, dtype: str, before: str) -> tuple[Consumption, ...]:
    at = Context(torch, torch.tensor)
    found: list[Consumption] = []
    for _ in range(4 * CONSUMERS_OF_ONE):
        name = draw.one_of(tuple(ALL))
        kind = ALL[name]
        if (kind.floats_only and dtype in INTEGERS) or (kind.is_exact and before != "none"):
            continue
        arguments = kind.draw(draw, x.ndim)
        result = _attempt(lambda kind=kind, arguments=arguments: kind.apply(x, at, *arguments))
        if result is not None and result.numel() <= 4 * LONGEST:
            found.append(Consumption(name, arguments))
        if len(found) == CONSUMERS_OF_ONE:
            break
    return tuple(found)


def run_program(program: Program) -> Outcome:
    """Run a program with all its sizes, one after the other."""
    cases = 0
    compute = _by_ogive(program)
    for shape in program.shapes:
        values = rounded(Draw(program.seed + sum(shape)).numbers(*shape), program.dtype)
        wanted = _attempt(lambda values=values: _by_torch(program, values))
        if wanted is None:
            continue  # a size without a meaning
        greatest = max([float(np.abs(each).max(initial=0)) for each in wanted], default=0.0)
        if program.has_gradient and not greatest < GREATEST:
            continue  # its square, which the weights of the gradient have, may be infinite
        try:
            given = compute(values)
        except Exception as error:
            return Outcome(cases, f"shape {shape}: {type(error).__name__}: {error}")
        for place, (result, right) in enumerate(zip(given, wanted, strict=True)):
            words = compare(result, right, program.dtype, TOLERANCES)
            if words is not None:
                return Outcome(cases, f"result {place} of shape {shape}: {words}")
            cases += 1
    return Outcome(cases, None)


def _compute(program: Program, x: Any, at: Context) -> list[Any]:
    """All results of a program, and last the gradient, if it has one."""
    value = FUNCTIONS[program.before](x)
    for move in program.moves:
        value = make_move(value, move, at.library)
    results, total = [], None
    for name, arguments in program.consumptions:
        result = ALL[name].apply(value, at, *arguments)
        results.append(result)
        if program.has_gradient and ALL[name].has_gradient:
            weighted = (result / (result.detach().square() + 1)).sum()
            total = weighted if total is None else total + weighted
    if total is not None:
        results.extend(at.library.autograd.grad(total, [x]))
    return results


def _by_ogive(program: Program) -> Callable[[Array], list[Array]]:
    """What computes a program with one size after the other."""
    at = Context(ogive, lambda array: Tensor(rounded(array, program.dtype)))

    def function(x: Tensor) -> tuple[Tensor, ...]:
        if program.has_gradient:
            x = x.detach().requires_grad_()
        return tuple([result.detach() for result in _compute(program, x, at)])

    call = ogive.jit(function) if program.is_captured else function

    def compute(values: Array) -> list[Array]:
        with warnings.catch_warnings():  # operands are drawn alike at each call
            warnings.simplefilter("ignore", CaptureWarning)
            results = list(call(Tensor.from_numpy(before_an_unreadable_page(values))))
        Tensor.realize_batch(results)
        return [result.numpy() for result in results]

    return compute


def _by_torch(program: Program, values: Array) -> list[Array]:
    wide = program.dtype if program.dtype in INTEGERS else "float64"

    def operand(array: Array) -> Any:
        return torch.tensor(rounded(array, program.dtype).astype(wide))

    x = operand(values)
    if program.has_gradient:
        x.requires_grad_()
    results = _compute(program, x, Context(torch, operand))
    return [np.asarray(result.detach().numpy()) for result in results]
