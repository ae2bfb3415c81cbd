"""The programs: each has `main(torch, random)` and the difference that counts as none."""

from __future__ import annotations

from typing import Any


def fill(torch: Any, model: Any, random: Any, scale: float = 0.3) -> Any:
    """Give a model's parameters drawn values, the same in each library. Returns the model."""
    with torch.no_grad():
        for parameter in model.parameters():
            values = random.normal(size=tuple(parameter.shape)) * scale
            parameter.copy_(torch.tensor(values, dtype=parameter.dtype))
    return model


def draw(torch: Any, random: Any, *shape: int) -> Any:
    """A tensor of normal numbers, the same in each library."""
    return torch.from_numpy(random.normal(size=shape).astype("float32"))
