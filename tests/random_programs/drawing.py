"""What all draws of instructions need: numbers, shapes, inputs, partners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.random_programs.kinds import ASSIGNMENTS
from tests.random_programs.running import EFFECTS, apply
from tests.random_programs.values import (
    DTYPES,
    LARGEST,
    SIZES,
    Instruction,
    Program,
    Unsuitable,
    Value,
)


class Drawing:
    """A program that grows; what the reference cannot vouch for is left out."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.program: Program = []
        self.values: dict[int, Value] = {}
        self.count = 0

    def draw(self, options: Sequence[Any]) -> Any:
        return options[int(self.random.integers(len(options)))]

    def chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def shape(self) -> tuple[int, ...]:
        rank = self.draw((0, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5))
        if self.chance(0.02):
            return tuple([self.draw((1, 1, 2)) if axis < 7 else 3 for axis in range(10)])
        shape: list[int] = []
        for _ in range(rank):
            size = 0 if self.chance(0.02) else self.draw(SIZES)
            if int(np.prod([*shape, size])) > LARGEST:
                size = 1
            shape.append(size)
        return tuple(shape)

    def add(self, kind: str, inputs: tuple[int, ...], *arguments: Any) -> int | None:
        """Append an instruction, unless its result is unsuitable."""
        instruction = Instruction(kind, inputs, self.count, arguments)
        if kind not in EFFECTS or kind in ASSIGNMENTS:
            try:
                value = apply(instruction, [self.values[number] for number in inputs])
            except Unsuitable:
                return None
            if inputs and value.data.size > 4 * LARGEST:
                return None
            self.values[inputs[0] if kind in ASSIGNMENTS else self.count] = value
        self.program.append(instruction)
        self.count += 1
        return instruction.out

    def add_input(self, shape: tuple[int, ...], dtype: str | None = None) -> int:
        dtype = dtype or self.draw(DTYPES)
        seed = int(self.random.integers(1 << 30))
        if self.chance(0.1):
            made = self.add("full", (), dtype, shape, int(self.random.integers(2)))
        elif len(shape) == 1 and self.chance(0.1):
            made = self.add("arange", (), shape[0])
        elif dtype in ("float32", "int64") and self.chance(0.15):
            name = "rand" if dtype == "float32" else "randint"
            made = self.add("draw", (), name, shape, seed)
        else:
            made = self.add("input", (), dtype, shape, seed, self.chance(0.2))
        assert made is not None
        return made

    def pick(self) -> int:
        numbers = list(self.values)
        # Late values more often, so that programs grow deep; early ones too, so that they share.
        return int(self.draw(numbers if self.chance(0.4) else numbers[-3:]))

    def partner(self, number: int) -> int:
        """A value that broadcasts with another."""
        shape = self.values[number].shape
        fitting = [
            other
            for other, value in self.values.items()
            if broadcasts(value.shape, shape) and self.chance(0.8)
        ]
        if fitting and self.chance(0.7):
            return int(self.draw(fitting))
        cut = list(shape[int(self.random.integers(len(shape) + 1)) :])
        for axis in range(len(cut)):
            if self.chance(0.25):
                cut[axis] = 1
        dtype = self.values[number].dtype if self.chance(0.8) else None
        return self.add_input(tuple(cut), dtype)


def broadcasts(left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    """Whether two shapes broadcast."""
    return all(a == b or 1 in (a, b) for a, b in zip(left[::-1], right[::-1], strict=False))
