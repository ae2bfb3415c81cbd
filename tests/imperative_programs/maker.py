"""Programs: statements drawn one after the other."""

from __future__ import annotations

from tests.imperative_programs.scenes import Scenes

DTYPES = ("float64", "float64", "float64", "int64", "int64", "bool")


class Maker(Scenes):
    """Draws statements of all kinds."""

    def make(self, length: int) -> list[str]:
        """A program of about `length` statements."""
        for _ in range(self.draw((1, 1, 2))):
            self.add_input(self.draw(DTYPES) if self.chance(0.5) else "float64")
        has_gradients = self.chance(0.6)
        if has_gradients:
            self.add_leaf()
        scenes = [self.draw(self.scenes()) for _ in range(self.draw((0, 0, 0, 1, 1, 2)))]
        weights = {
            self.add_view: 5.0, self.add_update: 7.0, self.add_value: 4.0, self.add_shown: 0.5,
            self.add_reading: 2.0, self.add_check: 0.7, self.add_drop: 0.8, self.add_branch: 0.5,
            self.add_loop: 0.5, self.add_function: 0.7, self.add_call: 1.2,
            self.add_backward: 2.0 if has_gradients else 0.0,
            self.add_step: 2.0 if has_gradients else 0.0,
            self.add_leaf: 0.3 if has_gradients else 0.0,
        }  # fmt: skip
        actions, total = list(weights), sum(weights.values())
        shares = [weight / total for weight in weights.values()]
        attempts = 0
        while len(self.program) < length and attempts < 4 * length:
            attempts += 1
            if scenes and self.chance(0.15):
                scenes.pop()()
            actions[int(self.random.choice(len(actions), p=shares))]()
        return self.program


def generate(seed: int, length: int = 14) -> list[str]:
    """The program of a seed."""
    return Maker(seed).make(length)
