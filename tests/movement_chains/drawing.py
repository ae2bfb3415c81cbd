"""Draws that a seed decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Draw:
    """What a seed says, one draw after the other."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def one_of(self, options: Sequence[Any]) -> Any:
        return options[int(self.random.integers(len(options)))]

    def integer(self, least: int, most: int) -> int:
        return int(self.random.integers(least, most + 1))

    def chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def permutation(self, count: int) -> tuple[int, ...]:
        return tuple([int(number) for number in self.random.permutation(count)])

    def numbers(self, *shape: int) -> NDArray[np.float64]:
        """Some of about 1, in parts that every float dtype holds."""
        return np.clip(np.round(self.random.standard_normal(shape) * 64) / 64, -3, 3)

    def indices(self, limit: int, *shape: int) -> NDArray[np.int64]:
        return self.random.integers(0, limit, shape)
