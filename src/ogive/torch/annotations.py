"""`torch.types`: names for annotations."""

from __future__ import annotations

from typing import Any

import ogive

__all__ = [
    "Device", "Number", "Tensor",
]  # fmt: skip

Number = int | float | bool
Device = Any
Tensor = ogive.Tensor
