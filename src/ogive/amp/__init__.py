"""Mixed precision: products in 16 bits, sums and losses in 32; see docs/training.md.

>>> x = ogive.ones(2, 3)
>>> with ogive.amp.autocast("cpu", dtype=ogive.bfloat16):
...     y = x @ x.T
>>> y.dtype
ogive.bfloat16
"""

from __future__ import annotations

from ogive.amp.autocast import autocast, get_autocast_dtype, is_autocast_enabled
from ogive.amp.scaler import GradScaler

__all__ = ["GradScaler", "autocast", "get_autocast_dtype", "is_autocast_enabled"]
