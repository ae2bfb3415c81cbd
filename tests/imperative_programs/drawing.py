"""Names, and what can be drawn for them. PyTorch runs along, so that shapes are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import torch

from tests.imperative_programs.running import noticed, torch_names

LENGTHS = (1, 2, 3, 4, 6)
LARGEST = 1e4
"""Programs in which a number grows beyond this are not made."""

Drawn = TypeVar("Drawn")


class Drawing:
    """A program in the making, with what PyTorch knows after its last statement.

    The first letter of a name says what it is: `t` a tensor, `r` one that is only read, `w` a leaf,
    `m` a module, `o` an optimizer, `f` a function, `s` a state of a module.
    """

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.program: list[str] = []
        self.known = torch_names()
        self.count = 0
        torch.manual_seed(seed)

    # Chance

    def draw(self, choices: Sequence[Drawn]) -> Drawn:
        return choices[int(self.random.integers(len(choices)))]

    def chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def seed(self) -> int:
        return int(self.random.integers(1000))

    # Names

    def names(self, letters: str, fits: Callable[[Any], bool] = lambda _: True) -> list[str]:
        """The names that begin with one of some letters and mean what fits."""
        return [
            name
            for name in self.known
            if name[0] in letters and name[1:].isdigit() and fits(self.known[name])
        ]

    def new_name(self, letter: str) -> str:
        """One that is not in use, or, now and then, one that means something else from now on."""
        taken = self.names(letter)
        if taken and letter in "tr" and self.chance(0.15):
            return self.draw(taken)
        self.count += 1
        return f"{letter}{self.count}"

    def any_tensor(self, dtype: torch.dtype | None = None) -> str:
        """A tensor to read, the latest more often."""
        found = self.names("trw", lambda x: dtype is None or x.dtype == dtype)
        if not found:
            return self.add_input("float64" if dtype is None else str(dtype)[6:])
        return self.draw(found[-3:]) if self.chance(0.5) else self.draw(found)

    def written_tensor(self) -> str:
        """A tensor to write to."""
        found = self.names("tw", lambda x: not is_overlapping(x))
        return self.draw(found) if found else self.add_input()

    # Statements

    def say(self, statement: str) -> bool:
        """Add a statement, unless PyTorch refuses it or numbers grow too large."""
        try:
            exec(noticed(statement), self.known)
            tensors = [self.known[name] for name in self.names("trw")]
            grads = [x.grad for x in tensors if x.is_leaf and x.grad is not None]
        except Exception:
            # Also where one only can no longer be looked at: a view that another was written past.
            return self.undo()
        if any(not is_moderate(tensor) for tensor in (*tensors, *grads)):
            return self.undo()
        self.program.append(statement)
        return True

    def undo(self) -> bool:
        """Let PyTorch know what it knew before the last statement."""
        self.known = torch_names()
        for statement in self.program:
            if not statement.startswith("check("):
                exec(noticed(statement), self.known)
        return False

    def add_input(self, dtype: str = "float64", shape: tuple[int, ...] | None = None) -> str:
        """A new tensor of random numbers."""
        name = f"t{self.count + 1}"
        self.count += 1
        if shape is None:
            shape = tuple([self.draw(LENGTHS) for _ in range(self.draw((0, 1, 2, 2, 2, 3, 3)))])
        self.say(f"{name} = data({shape}, {dtype!r}, {self.seed()})")
        return name


def is_moderate(tensor: torch.Tensor) -> bool:
    """Whether all numbers are finite, and none is large."""
    if not tensor.numel() or tensor.dtype == torch.bool:
        return bool(tensor.numel() <= 1000)
    return tensor.numel() <= 1000 and bool((tensor.detach().abs() < LARGEST).all())


def is_overlapping(tensor: torch.Tensor) -> bool:
    """Whether a tensor shows an element more than once."""
    places = np.zeros((1,), np.int64)
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        places = (places[:, None] + np.arange(size) * stride).reshape(-1)
    return len(np.unique(places)) != len(places)
