"""Random programs over one or two variables, run by Ogive and by NumPy side by side.

What is chosen depends on the seed and on symbolic shapes alone, never on the variables' values, so
one seed is one program for all of them. Values are small integers: every result is exact.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ogive
from ogive import Tensor, Variable
from ogive.compiler.ir.symbolic.evaluate import evaluate
from ogive.errors import OgiveError

Array = NDArray[Any]
LARGEST = 20_000
"""The most elements of one value, at the variables' upper bounds."""


@dataclass(frozen=True)
class Pair:
    """The same value twice."""

    tensor: Tensor
    array: Array

    @property
    def rank(self) -> int:
        return self.tensor.ndim


class Program:
    """Builds the same random graph for any values of the variables."""

    def __init__(self, seed: int, variables: dict[str, Variable], values: dict[str, int]) -> None:
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.sizes = [(variables[name].bind(values[name]), values[name]) for name in variables]
        self.pairs: list[Pair] = []
        for _ in range(2):
            self.add_input()

    def add_input(self) -> None:
        rank = self.random.choice((1, 2, 2, 3))
        shape = [self.random.choice((3, 8, 17, 33)) for _ in range(rank)]
        dtype = self.random.choice(("float32", "float64", "int64", "float32"))
        array = self.numbers.integers(-3, 4, shape).astype(dtype)
        self.pairs.append(Pair(Tensor(array), array))

    def run(self, length: int) -> list[Pair]:
        for _ in range(length):
            self.step()
        return self.pairs

    def step(self) -> None:
        operation: Callable[[Program, Pair], Pair | None] = self.random.choice(OPERATIONS)
        pair = self.random.choice(self.pairs[-4:])
        try:
            made = operation(self, pair)
        except OgiveError:
            return  # not possible for every value, which the symbolic shape decides alone
        if made is None or upper_count(made.tensor) > LARGEST:
            return
        if self.random.random() < 0.3 and made.tensor.dtype is not ogive.bool:
            made = Pair(made.tensor.clamp(-5, 5), made.array.clip(-5, 5))
        if self.random.random() < 0.1:
            made = Pair(made.tensor.contiguous(), made.array)
        self.pairs.append(made)

    def size(self) -> tuple[Any, int]:
        """A symbolic position and its value."""
        size, value = self.random.choice(self.sizes)
        offset = self.random.choice((0, 0, 1, -1))
        return size + offset, value + offset


def upper_count(tensor: Tensor) -> int:
    count = tensor.numel()
    return count if isinstance(count, int) else int(count.vmax)


def _slice(program: Program, pair: Pair) -> Pair | None:
    if not pair.rank:
        return None
    axis = program.random.randrange(pair.rank)
    size, value = program.size()
    known = program.random.choice((None, 1, -1, 2))
    step = program.random.choice((None, None, None, -1, 2, -3))
    ours, theirs = program.random.choice(
        [
            (slice(None, size, step), slice(None, value, step)),
            (slice(size, None, step), slice(value, None, step)),
            (slice(known, size, step), slice(known, value, step)),
            (slice(size, known, step), slice(value, known, step)),
            (slice(size, size + 2), slice(value, value + 2)),
            (slice(None, None, step), slice(None, None, step)),
            (slice(known, None, step), slice(known, None, step)),
            (size, value),
        ]
    )
    return Pair(
        pair.tensor[(slice(None),) * axis + (ours,)], pair.array[(slice(None),) * axis + (theirs,)]
    )


def _merge(program: Program, pair: Pair) -> Pair | None:
    if pair.rank < 2:
        return Pair(pair.tensor.unsqueeze(0), pair.array[None]) if pair.rank else None
    axis = program.random.randrange(pair.rank - 1)
    shape = pair.array.shape
    joined = (*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :])
    return Pair(pair.tensor.flatten(axis, axis + 1), pair.array.reshape(joined))


def _divide(program: Program, pair: Pair) -> Pair | None:
    """Split an axis by a factor it has, symbolic or not."""
    if not pair.rank:
        return None
    axis = program.random.randrange(pair.rank)
    size, value = program.random.choice([*program.sizes, (3, 3), (2, 2)])
    made = pair.tensor.unflatten(axis, (size, -1))
    rest = made.shape[axis + 1]
    length = evaluate(rest)
    shape = (*pair.array.shape[:axis], value, length, *pair.array.shape[axis + 1 :])
    return Pair(made, pair.array.reshape(shape))


def _permute(program: Program, pair: Pair) -> Pair:
    order = list(range(pair.rank))
    program.random.shuffle(order)
    return Pair(pair.tensor.permute(*order), pair.array.transpose(order))


def _scale(program: Program, pair: Pair) -> Pair:
    number = program.random.choice((2, -1, 3))
    return Pair(pair.tensor * number + 1, (pair.array * number + 1).astype(pair.array.dtype))


def _times_size(program: Program, pair: Pair) -> Pair:
    size, value = program.size()
    return Pair(pair.tensor + size, (pair.array + value).astype(pair.array.dtype))


def _add(program: Program, pair: Pair) -> Pair:
    other = program.random.choice(program.pairs)
    return Pair(pair.tensor + other.tensor, pair.array + other.array)


def _centre(program: Program, pair: Pair) -> Pair | None:
    if not pair.rank:
        return None
    axis = program.random.randrange(pair.rank)
    return Pair(
        pair.tensor - pair.tensor.sum(axis, keepdim=True),
        (pair.array - pair.array.sum(axis, keepdims=True)).astype(pair.array.dtype),
    )


def _sum(program: Program, pair: Pair) -> Pair | None:
    if not pair.rank:
        return None
    axis = program.random.choice([*range(pair.rank), None])
    return Pair(pair.tensor.sum(axis), np.asarray(pair.array.sum(axis)))


def _max(program: Program, pair: Pair) -> Pair | None:
    if not pair.rank:
        return None
    axis = program.random.randrange(pair.rank)
    return Pair(pair.tensor.amax(axis), pair.array.max(axis))


def _argmax(program: Program, pair: Pair) -> Pair | None:
    if not pair.rank:
        return None
    axis = program.random.randrange(pair.rank)
    return Pair(pair.tensor.argmax(axis), pair.array.argmax(axis))


def _pad(program: Program, pair: Pair) -> Pair | None:
    if not pair.rank:
        return None
    axis = program.random.randrange(pair.rank)
    size, value = program.size()
    ours: list[tuple[Any, Any]] = [(0, 0)] * pair.rank
    theirs = [(0, 0)] * pair.rank
    if program.random.random() < 0.5:
        ours[axis], theirs[axis] = (size, 1), (value, 1)
    else:
        ours[axis], theirs[axis] = (0, size), (0, value)
    fill = program.random.choice((0, 2))
    made = pair.tensor.pad(ours, value=fill)
    return Pair(made, np.pad(pair.array, theirs, constant_values=fill))


def _join(program: Program, pair: Pair) -> Pair | None:
    other = program.random.choice(program.pairs)
    if not pair.rank or other.rank != pair.rank:
        return None
    axis = program.random.randrange(pair.rank)
    order = program.random.choice(((pair, other), (other, pair), (pair, pair), (pair, other, pair)))
    made = ogive.cat([each.tensor for each in order], axis)
    return Pair(made, np.concatenate([each.array for each in order], axis))


def _product(program: Program, pair: Pair) -> Pair | None:
    if pair.rank < 2:
        return None
    tensor, array = pair.tensor.clamp(-2, 2), pair.array.clip(-2, 2)
    if program.random.random() < 0.5:
        return Pair(tensor @ tensor.transpose(), array @ array.swapaxes(-1, -2))
    return Pair(tensor.transpose() @ tensor, array.swapaxes(-1, -2) @ array)


def _expand(program: Program, pair: Pair) -> Pair:
    size, value = program.size()
    made = pair.tensor.unsqueeze(0).expand(size, *[-1] * pair.rank)
    return Pair(made, np.broadcast_to(pair.array[None], (value, *pair.array.shape)))


def _positions(program: Program, pair: Pair) -> Pair | None:
    """Add the position along an axis."""
    if not pair.rank:
        return None
    axis = program.random.randrange(pair.rank)
    line = (-1, *[1] * (pair.rank - axis - 1))
    ours = ogive.arange(pair.tensor.shape[axis]).reshape(line)
    theirs = np.arange(pair.array.shape[axis]).reshape((pair.array.shape[axis], *line[1:]))
    return Pair(pair.tensor + ours, (pair.array + theirs).astype(pair.array.dtype))


def _write(program: Program, pair: Pair) -> Pair | None:
    if not pair.rank:
        return None
    size, value = program.size()
    tensor, array = pair.tensor + 0, pair.array.copy()
    if program.random.random() < 0.7:
        tensor.realize()
    kind = program.random.randrange(3)
    if kind == 0:
        tensor[:size], array[:value] = 4, 4
    elif kind == 1:
        tensor[size:], array[value:] = tensor[size:] * 2, array[value:] * 2
    else:
        tensor[size] = tensor[0] + 1
        array[value] = array[0] + 1
    return Pair(tensor, array)


def _realize(program: Program, pair: Pair) -> None:
    pair.tensor.realize()


OPERATIONS: list[Any] = [
    _slice, _slice, _slice, _slice, _merge, _divide, _divide, _permute, _scale, _add, _add, _centre,
    _sum, _max, _argmax, _pad, _join, _product, _expand, _positions, _write, _times_size, _realize,
]  # fmt: skip
