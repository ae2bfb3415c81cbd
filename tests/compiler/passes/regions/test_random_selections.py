"""Gathers, scatters and scans of each other, moved around at random, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ogive import Config, Tensor
from ogive.compiler.ir.ops import Op
from tests.compiler.passes.regions.selection import count_along, gather, scan, scatter

Array = NDArray[Any]
Pair = tuple[Tensor, Array]
"""The same value here and there."""

UFUNCS: dict[Op, Any] = {Op.ADD: np.add, Op.MAXIMUM: np.maximum, Op.MINIMUM: np.minimum}
LARGEST = 2000


class Program:
    """Values made of each other; all are integers, so that they are exact."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.values = [self.leaf() for _ in range(3)]

    def leaf(self) -> Pair:
        array = self.random.integers(-4, 5, self.shape())
        return Tensor(array), array

    def shape(self) -> tuple[int, ...]:
        return tuple(self.random.integers(1, 6, int(self.random.integers(1, 4))).tolist())

    def pick(self, count: int) -> int:
        return int(self.random.integers(count))

    def index(self, length: int, shape: tuple[int, ...]) -> Pair:
        """Positions along an axis of that length: counted, spread along one axis, or any."""
        axis = self.pick(len(shape))
        line = [size if i == axis else 1 for i, size in enumerate(shape)]
        kind = self.pick(3)
        if kind == 0 and shape[axis] <= length:
            numbers = np.arange(shape[axis]).reshape(line)
            return count_along(axis, shape), np.broadcast_to(numbers, shape)
        if kind == 1:
            numbers = self.random.integers(0, length, line)
            return Tensor(numbers).expand(*shape), np.broadcast_to(numbers, shape)
        anything = self.random.integers(-50, 50, shape)
        return Tensor(anything) % length, anything % length

    def indices(self, shape: tuple[int, ...]) -> tuple[list[Tensor], tuple[Array, ...]]:
        wanted = self.shape()
        pairs = [self.index(length, wanted) for length in shape]
        return [tensor for tensor, _ in pairs], tuple([array for _, array in pairs])

    def gather(self, x: Tensor, a: Array) -> Pair:
        tensors, arrays = self.indices(a.shape)
        return gather(x, *tensors), a[arrays]

    def scatter(self, x: Tensor, a: Array) -> Pair:
        tensors, arrays = self.indices(a.shape)
        value = self.random.integers(-4, 5, arrays[0].shape)
        op = [None, *UFUNCS][self.pick(4)]
        result = a.copy()
        for position in np.ndindex(value.shape):
            at = tuple(index[position] for index in arrays)
            new = value[position] * 2
            result[at] = new if op is None else UFUNCS[op](result[at], new)
        return scatter(x, Tensor(value) * 2, *tensors, op=op), result

    def scan(self, x: Tensor, a: Array) -> Pair:
        axis, op = self.pick(a.ndim), list(UFUNCS)[self.pick(3)]
        return scan(x, op, axis), UFUNCS[op].accumulate(a, axis)

    def move(self, x: Tensor, a: Array) -> Pair:
        kind = self.pick(4)
        if kind == 0:
            order = self.random.permutation(a.ndim).tolist()
            return x.permute(*order), a.transpose(order)
        if kind == 1:
            return x.reshape(-1), a.reshape(-1)
        if kind == 2:
            return x.flip(0), a[::-1]
        pads = [(self.pick(2), self.pick(2)) for _ in a.shape]
        return x.pad(pads, value=2), np.pad(a, pads, constant_values=2)

    def compute(self, x: Tensor, a: Array) -> Pair:
        if self.pick(2):
            return x * x % 7 + 1, a * a % 7 + 1
        axis = self.pick(a.ndim)
        return x.sum(axis, keepdim=True), a.sum(axis, keepdims=True)

    def grow(self) -> None:
        steps: list[Callable[[Tensor, Array], Pair]] = [
            self.gather, self.gather, self.scatter, self.scan, self.scan, self.move, self.compute,
        ]  # fmt: skip
        made = steps[self.pick(len(steps))](*self.values[self.pick(len(self.values))])
        if made[1].size <= LARGEST:
            self.values.append(made)


@pytest.mark.parametrize("seed", range(60))
def test_selections_of_selections_are_those_of_numpy(seed: int) -> None:
    program = Program(seed)
    for _ in range(10):
        program.grow()
    together = [program.values[program.pick(len(program.values))][0] for _ in range(3)]
    Tensor.realize_batch(together, Config(verify=True))
    for tensor, array in reversed(program.values):
        np.testing.assert_array_equal(tensor.numpy(), array)
