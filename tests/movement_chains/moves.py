"""Movement: drawn for a shape, then done to a tensor of either library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.movement_chains.drawing import Draw

Shape = tuple[int, ...]
Move = tuple[str, tuple[Any, ...]]
"""The name of a move and what it is given beside the tensor."""

LARGEST = 3000
"""The most elements that a chain may give."""


def merge(x: Any, axis: int) -> Any:
    return x.flatten(axis, axis + 1)


def split(x: Any, axis: int, size: int) -> Any:
    return x.unflatten(axis, (x.shape[axis] // size, size))


def fold(x: Any, shape: Shape) -> Any:
    return x.reshape(shape)


def repeat(x: Any, counts: Shape) -> Any:
    return x.repeat(counts)


def repeat_interleave(x: Any, count: int, axis: int) -> Any:
    return x.repeat_interleave(count, axis)


def expand(x: Any, axis: int, count: int) -> Any:
    shape = [*x.shape[:axis], count, *x.shape[axis:]]
    return x.unsqueeze(axis).expand(shape)


def stack_with_negative(x: Any, axis: int, library: Any) -> Any:
    return library.stack([x, -x], axis)


def cat_with_flipped(x: Any, axis: int, library: Any) -> Any:
    return library.cat([x, x.flip(axis)], axis)


def cat_with_part(x: Any, axis: int, count: int, library: Any) -> Any:
    return library.cat([x.narrow(axis, 0, count), x], axis)


def unfold(x: Any, axis: int, size: int, step: int) -> Any:
    return x.unfold(axis, size, step)


def diagonal(x: Any, offset: int, first: int, second: int) -> Any:
    return x.diagonal(offset, first, second)


def flip(x: Any, axis: int) -> Any:
    return x.flip(axis)


def roll(x: Any, count: int, axis: int) -> Any:
    return x.roll(count, axis)


def pad(x: Any, widths: Shape, value: float, library: Any) -> Any:
    return library.nn.functional.pad(x, widths, value=value)


def take(x: Any, axis: int, start: int, step: int) -> Any:
    return x[(slice(None),) * axis + (slice(start, None, step),)]


def permute(x: Any, order: Shape) -> Any:
    return x.permute(order)


def lower_triangle(x: Any, diagonal: int) -> Any:
    return x.tril(diagonal)


def choose_rows(x: Any, axis: int, rows: Shape, library: Any) -> Any:
    return x.index_select(axis, library.tensor(rows, device=x.device))


MOVES: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        merge, split, fold, repeat, repeat_interleave, expand, stack_with_negative,
        cat_with_flipped, cat_with_part, unfold, diagonal, flip, roll, pad, take, permute,
        lower_triangle, choose_rows,
    )
}  # fmt: skip
_WITH_LIBRARY = {stack_with_negative, cat_with_flipped, cat_with_part, pad, choose_rows}


def make_move(x: Any, move: Move, library: Any) -> Any:
    """A tensor of PyTorch's or Ogive's, moved."""
    name, arguments = move
    function = MOVES[name]
    extra = {"library": library} if function in _WITH_LIBRARY else {}
    return function(x, *arguments, **extra)


def draw_move(draw: Draw, shape: Shape) -> Move | None:
    """A move for a tensor of a shape; None if the one that was drawn has no meaning there."""
    name = draw.one_of((*MOVES, "merge", "merge", "split", "repeat_interleave", "permute", "take"))
    rank = len(shape)
    axis = draw.integer(0, rank - 1)
    length = shape[axis]
    arguments: tuple[Any, ...] | None = None
    if name == "merge" and rank > 1:
        arguments = (draw.integer(0, rank - 2),)
    elif name == "split":
        divisors = [n for n in range(2, length) if length % n == 0]
        arguments = (axis, draw.one_of(divisors)) if divisors and rank < 5 else None
    elif name == "fold":
        arguments = (draw_fold(draw, shape),)
    elif name == "repeat":
        arguments = (tuple([draw.one_of((1, 1, 2, 3)) for _ in shape]),)
    elif name == "repeat_interleave":
        arguments = (draw.one_of((2, 2, 3, 4)), axis)
    elif name == "expand" and rank < 5:
        arguments = (draw.integer(0, rank), draw.one_of((2, 3, 5)))
    elif name in ("stack_with_negative",) and rank < 5:
        arguments = (draw.integer(0, rank),)
    elif name in ("cat_with_flipped", "flip"):
        arguments = (axis,)
    elif name == "cat_with_part":
        arguments = (axis, draw.integer(1, length))
    elif name == "unfold" and length > 1 and rank < 5:
        arguments = (axis, draw.integer(1, min(length, 5)), draw.integer(1, 3))
    elif name == "diagonal" and rank > 1:
        first = draw.integer(0, rank - 2)
        arguments = (draw.one_of((-1, 0, 0, 1)), first, draw.integer(first + 1, rank - 1))
    elif name == "roll":
        arguments = (draw.integer(-3, 5), axis)
    elif name == "pad":
        widths = [draw.one_of((0, 0, 1, 2, 3)) for _ in range(2 * draw.integer(1, min(rank, 2)))]
        arguments = (tuple(widths), draw.one_of((0.0, 0.0, 1.0)))
    elif name == "take" and length > 1:
        arguments = (axis, draw.integer(0, 1), draw.one_of((1, 2, 2, 3)))
    elif name == "permute":
        arguments = (draw.permutation(rank),)
    elif name == "lower_triangle" and rank > 1:
        arguments = (draw.integer(-1, 2),)
    elif name == "choose_rows":
        rows = [draw.integer(0, length - 1) for _ in range(draw.integer(1, 6))]
        arguments = (axis, tuple(rows))
    return None if arguments is None else (name, arguments)


def draw_fold(draw: Draw, shape: Shape) -> Shape:
    """Another shape of as many elements."""
    count = 1
    for length in shape:
        count *= length
    lengths = []
    for _ in range(draw.integer(0, 2)):
        divisors = [n for n in range(1, count + 1) if count % n == 0]
        lengths.append(draw.one_of(divisors))
        count //= lengths[-1]
    return (*lengths, count)
