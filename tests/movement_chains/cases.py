"""Cases: a dtype, a chain of moves, a consumer, and whether it is differentiated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from tests.movement_chains.consumers import CONSUMERS
from tests.movement_chains.drawing import Draw
from tests.movement_chains.moves import LARGEST, Move, Shape, draw_move, make_move

FLOATS = ("float32", "float32", "float32", "float64", "float16", "bfloat16")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8")
LENGTHS = (1, 2, 3, 4, 4, 5, 6, 7, 8, 8, 9, 12, 16, 17)
MOST_MOVES = 4

EXACT: dict[str, Callable[[Any], Any]] = {
    "none": lambda x: x,
    "negative": lambda x: -x,
    "twice": lambda x: x * 2,
}
SMOOTH: dict[str, Callable[[Any], Any]] = {
    "none": lambda x: x,
    "exp": lambda x: (x * 0.25).exp(),
    "tanh": lambda x: x.tanh(),
    "square": lambda x: x * x,
    "sigmoid": lambda x: x.sigmoid(),
    "shifted root": lambda x: (x * x + 1).sqrt(),
    "elu": lambda x: (x > 0) * x + (x < 0) * ((x < 0) * x).expm1(),
}
BOUNDED = ("none", "tanh", "sigmoid", "shifted root", "elu")


class Case(NamedTuple):
    """What one case computes; all of it can be printed and run again."""

    seed: int
    dtype: str
    array: NDArray[np.float64]
    before: str
    moves: tuple[Move, ...]
    between: str
    consumer: str
    arguments: tuple[Any, ...]
    after: str
    has_gradient: bool

    def __str__(self) -> str:
        moves = "".join([f".{name}{arguments}" for name, arguments in self.moves])
        given = [a if isinstance(a, int | tuple) else a.shape for a in self.arguments]
        gradient = "gradient of " if self.has_gradient else ""
        return (
            f"seed {self.seed}: {gradient}{self.dtype}{self.array.shape} {self.before}{moves} "
            f"{self.between} {self.consumer}{given} {self.after}"
        )


def draw_case(seed: int, consumer: str | None = None) -> Case:
    """The case of a seed: the first that it draws which has a meaning; of a consumer, if one is
    given."""
    draw = Draw(seed)
    while True:
        name = consumer or draw.one_of(tuple(CONSUMERS))
        case = _draw(draw, seed, name)
        if case is not None:
            return case


def _draw(draw: Draw, seed: int, name: str) -> Case | None:
    kind = CONSUMERS[name]
    dtype = draw.one_of(FLOATS)
    if not kind.floats_only and draw.chance(0.25):
        dtype = draw.one_of(INTEGERS)
    shape = _draw_shape(draw)
    moves, moved = _draw_chain(draw, shape)
    arguments = kind.draw(draw, moved)
    if arguments is None:
        return None
    is_smooth = dtype in FLOATS and not kind.is_exact
    functions = tuple(SMOOTH if is_smooth else EXACT)
    bounded = BOUNDED if is_smooth else functions
    wide = dtype in ("float32", "float64")
    return Case(
        seed,
        dtype,
        draw.numbers(*shape),
        draw.one_of(functions) if draw.chance(0.6) else "none",
        moves,
        draw.one_of(functions) if draw.chance(0.3) else "none",
        name,
        arguments,
        draw.one_of(bounded) if draw.chance(0.3) else "none",
        kind.has_gradient and wide and draw.chance(0.35),
    )


def _draw_shape(draw: Draw) -> Shape:
    shape: list[int] = []
    for _ in range(draw.one_of((1, 2, 2, 3, 3, 4))):
        length = draw.one_of(LENGTHS)
        if length * int(np.prod(shape)) <= LARGEST // 2:
            shape.append(length)
    return tuple(shape)


def _draw_chain(draw: Draw, shape: Shape) -> tuple[tuple[Move, ...], Shape]:
    """Moves, and the shape that they lead to."""
    moves: list[Move] = []
    tensor = torch.empty(shape)
    for _ in range(draw.integer(1, MOST_MOVES)):
        move = draw_move(draw, tuple(tensor.shape))
        if move is None:
            continue
        moved = make_move(tensor, move, torch)
        if 0 < moved.numel() <= LARGEST and moved.ndim > 0:
            moves.append(move)
            tensor = moved
    return tuple(moves), tuple(tensor.shape)
