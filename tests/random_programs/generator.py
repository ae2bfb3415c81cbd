"""Whole programs: steps and scenes in random order."""

from __future__ import annotations

from ogive import Config
from tests.random_programs.scenes import Scenes
from tests.random_programs.values import Program

_STEPS = (
    "unary", "unary", "cast", "binary", "binary", "binary", "binary", "scalar", "where", "reshape",
    "permute", "expand", "pad", "flip", "slice", "slice", "cat", "stack", "reduce", "reduce",
    "reduce", "choose", "softmax", "matmul", "assign", "setitem", "setitem", "realize", "check",
    "drop", "gather", "gather", "index", "index", "scan",
)  # fmt: skip
_SCENES = ("repeats", "recurrence", "shapes", "windows")


class Generator(Scenes):
    """Draws programs."""

    def generate(self, length: int) -> Program:
        """At least so many instructions."""
        for _ in range(int(self.random.integers(1, 4))):
            self.add_input(self.shape())
        while len(self.program) < length:
            if self.chance(0.06):
                getattr(self, "play_" + self.draw(_SCENES))()
            number = self.pick()
            getattr(self, "add_" + self.draw(_STEPS))(number, self.values[number])
        return self.program


def generate(seed: int, length: int = 14) -> Program:
    """A program of about that many instructions."""
    return Generator(seed).generate(length)


def config_for(seed: int) -> Config:
    """A configuration that goes with a seed: sometimes small kernels, scalar code, no cache."""
    return Config(
        kernel_node_limit=(512, 512, 512, 1, 3, 10)[seed % 6],
        vectorize=seed % 5 != 0,
        schedule_cache=seed % 7 != 0,
        threads=(1, 2, 7)[seed % 11 % 3],
        verify=True,
        poison=True,
    )
