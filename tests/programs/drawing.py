"""Data and weights that are the same in both libraries, and what a program shows at its end."""

from __future__ import annotations

from typing import Any

import numpy


class Draws:
    """Numbers drawn by NumPy, as tensors of whichever `torch` is imported."""

    def __init__(self, seed: int = 7) -> None:
        self._random = numpy.random.default_rng(seed)

    def normal(self, *shape: int) -> Any:
        """Normal numbers."""
        import torch

        return torch.from_numpy(self._random.normal(size=shape).astype("float32"))

    def uniform(self, *shape: int) -> Any:
        """Numbers between 0 and 1."""
        import torch

        return torch.from_numpy(self._random.random(size=shape).astype("float32"))

    def integers(self, high: int, *shape: int) -> Any:
        """Integers from 0 to below `high`."""
        import torch

        return torch.from_numpy(self._random.integers(0, high, shape))

    def fill(self, model: Any, scale: float = 0.3) -> Any:
        """Give a model's parameters normal values. Returns the model."""
        import torch

        with torch.no_grad():
            for parameter in model.parameters():
                values = self._random.normal(size=tuple(parameter.shape)) * scale
                parameter.copy_(torch.tensor(values, dtype=parameter.dtype))
        return model


def as_arrays(found: dict[str, Any]) -> dict[str, Any]:
    """What a program gives, as NumPy's arrays; text as it is."""
    return {name: _as_array(value) for name, value in found.items()}


def _as_array(value: Any) -> Any:
    if isinstance(value, str):
        return value
    return numpy.asarray(value.detach() if hasattr(value, "detach") else value)


def show(found: dict[str, Any]) -> None:
    """Print what a program gives."""
    for name, value in as_arrays(found).items():
        print(f"{name}: {value}")
