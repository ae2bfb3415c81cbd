"""Programs: sizes, a chain of moves that suits any of them, and consumers of what it gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import ogive
from ogive import Tensor, Variable
from ogive.errors import OgiveError
from tests.movement_chains import moves
from tests.movement_chains.cases import EXACT, FLOATS, INTEGERS, SMOOTH
from tests.movement_chains.consumers import Context
from tests.movement_chains.drawing import Draw
from tests.movement_chains.running import FUNCTIONS, rounded
from tests.symbolic_chains.consumers import CONSUMERS, LONGEST

NAMES = "nmk"
BOUNDS = ((1, 9), (1, 17), (2, 12), (5, 20), (1, 33), (8, 16))
MOST_MOVES = 4
CONSUMERS_OF_ONE = 5
BINDINGS = 120

Move = moves.Move


def drop_first(x: Any, axis: int) -> Any:
    return x.narrow(axis, 1, x.shape[axis] - 1)


def first_half(x: Any, axis: int) -> Any:
    return x.narrow(axis, 0, (x.shape[axis] + 1) // 2)


def second_half(x: Any, axis: int) -> Any:
    half = x.shape[axis] // 2
    return x.narrow(axis, half, x.shape[axis] - half)


def cat_with_half(x: Any, axis: int, library: Any) -> Any:
    return library.cat([first_half(x, axis), x], axis)


def flatten(x: Any) -> Any:
    return x.reshape(-1)


OWN: dict[str, Callable[..., Any]] = {
    function.__name__: function for function in (drop_first, first_half, second_half, flatten)
}


def make_move(x: Any, move: Move, library: Any) -> Any:
    """A tensor of either library, moved."""
    name, arguments = move
    if name == "cat_with_half":
        return cat_with_half(x, arguments[0], library)
    if name in OWN:
        return OWN[name](x, *arguments)
    return moves.make_move(x, move, library)


def draw_move(draw: Draw, rank: int) -> Move:
    """A move for a tensor of some rank."""
    axis = draw.integer(0, rank - 1)
    first = draw.integer(0, max(rank - 2, 0))
    widths = [draw.one_of((0, 0, 1, 2, 3)) for _ in range(2 * draw.integer(1, min(rank, 2)))]
    choices: dict[str, tuple[Any, ...]] = {
        "merge": (first,),
        "split": (axis, draw.one_of((2, 2, 3, 4))),
        "repeat": (tuple([draw.one_of((1, 1, 2, 3)) for _ in range(rank)]),),
        "repeat_interleave": (draw.one_of((2, 2, 3, 4)), axis),
        "expand": (draw.integer(0, rank), draw.one_of((2, 3, 5))),
        "stack_with_negative": (draw.integer(0, rank),),
        "cat_with_flipped": (axis,),
        "cat_with_half": (axis,),
        "unfold": (axis, draw.integer(1, 5), draw.integer(1, 3)),
        "flip": (axis,),
        "pad": (tuple(widths), draw.one_of((0.0, 1.0))),
        "take": (axis, draw.integer(0, 1), draw.one_of((1, 2, 2, 3))),
        "permute": (draw.permutation(rank),),
        "lower_triangle": (draw.integer(-1, 2),),
        "drop_first": (axis,),
        "first_half": (axis,),
        "second_half": (axis,),
        "flatten": (),
    }
    name = draw.one_of((*choices, "merge", "merge", "permute", "repeat_interleave", "take"))
    return name, choices[name]


class Consumption(NamedTuple):
    """One consumer of a chain, and what it is given."""

    name: str
    arguments: tuple[Any, ...]


class Program(NamedTuple):
    """What is compiled once, and the sizes with which it is run."""

    seed: int
    dtype: str
    bounds: tuple[tuple[int, int], ...]
    array: NDArray[np.float64]
    before: str
    moves: tuple[Move, ...]
    consumptions: tuple[Consumption, ...]
    has_gradient: bool
    bindings: tuple[tuple[int, ...], ...]

    def __str__(self) -> str:
        chain = "".join([f".{name}{arguments}" for name, arguments in self.moves])
        consumed = ", ".join([f"{name}{arguments}" for name, arguments in self.consumptions])
        gradient = " and their gradient" if self.has_gradient else ""
        return (
            f"seed {self.seed}: {self.dtype}, sizes within {self.bounds}, {self.before}{chain}: "
            f"{consumed}{gradient}"
        )

    def variables(self) -> list[Variable]:
        return [
            Variable(name, *bound) for name, bound in zip(NAMES, self.bounds, strict=False)
        ]


def symbolic_input(program: Program) -> tuple[Tensor, Tensor]:
    """The whole tensor, and the part of it whose lengths are the variables."""
    whole = Tensor(rounded(program.array, program.dtype))
    if program.has_gradient:
        whole.requires_grad_()
    bound = [variable.bind(variable.high) for variable in program.variables()]
    return whole, whole[tuple([slice(0, size) for size in bound])]


def moved(program: Program, x: Any, library: Any) -> Any:
    """A tensor of either library after the chain."""
    value = FUNCTIONS[program.before](x)
    for move in program.moves:
        value = make_move(value, move, library)
    return value


def draw_program(seed: int) -> Program:
    """The program of a seed: moves and consumers are drawn until some are not refused."""
    draw = Draw(seed)
    dtype = draw.one_of(FLOATS) if draw.chance(0.8) else draw.one_of(INTEGERS)
    bounds = tuple([draw.one_of(BOUNDS) for _ in range(draw.one_of((1, 2, 2, 3)))])
    while np.prod([high for _, high in bounds]) > 1500:
        bounds = bounds[1:]
    array = draw.numbers(*[high for _, high in bounds])
    before = draw.one_of(tuple(SMOOTH if dtype in FLOATS else EXACT))
    if draw.chance(0.5):
        before = "none"
    has_gradient = dtype in ("float32", "float64") and draw.chance(0.35)
    bindings = _draw_bindings(draw, bounds)
    program = Program(seed, dtype, bounds, array, before, (), (), has_gradient, bindings)
    program = program._replace(moves=_draw_moves(draw, program))
    return program._replace(consumptions=_draw_consumptions(draw, program))


def _draw_bindings(draw: Draw, bounds: tuple[tuple[int, int], ...]) -> tuple[tuple[int, ...], ...]:
    """Sizes: the largest, the smallest, and others, none of them twice."""
    drawn = [tuple([draw.integer(*bound) for bound in bounds]) for _ in range(BINDINGS)]
    ends = [tuple([bound[end] for bound in bounds]) for end in (1, 0)]
    return tuple(dict.fromkeys([*ends, *drawn]))


def _draw_moves(draw: Draw, program: Program) -> tuple[Move, ...]:
    _, x = symbolic_input(program)
    found: list[Move] = []
    for _ in range(draw.integer(1, MOST_MOVES) * 2):
        if len(found) == MOST_MOVES or x.ndim > 4:
            break
        move = draw_move(draw, x.ndim)
        try:
            after = make_move(x, move, ogive)
        except OgiveError:
            continue
        if _most_elements(after) <= LONGEST and after.ndim:
            found.append(move)
            x = after
    return tuple(found)


def _most_elements(x: Tensor) -> int:
    """How many elements it has with the largest sizes, or more."""
    lengths = [length if isinstance(length, int) else length.vmax for length in x.shape]
    return int(np.prod(lengths))


def _draw_consumptions(draw: Draw, program: Program) -> tuple[Consumption, ...]:
    x = moved(program, symbolic_input(program)[1], ogive)
    at = Context(ogive, lambda array: Tensor(rounded(array, program.dtype)))
    found: list[Consumption] = []
    for _ in range(6 * CONSUMERS_OF_ONE):
        name = draw.one_of(tuple(CONSUMERS))
        kind = CONSUMERS[name]
        if kind.floats_only and program.dtype in INTEGERS:
            continue
        if name in [each.name for each in found]:
            continue
        if program.before != "none" and kind.is_exact:
            continue
        arguments = kind.draw(draw, x.ndim)
        try:
            result = kind.apply(x, at, *arguments)
        except OgiveError:
            continue
        if _most_elements(result) > 2 * LONGEST:
            continue
        found.append(Consumption(name, arguments))
        if len(found) == CONSUMERS_OF_ONE:
            break
    return tuple(found)
