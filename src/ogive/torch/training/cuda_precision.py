"""`torch.cuda.amp`: old names of mixed precision."""

from __future__ import annotations

from typing import Any

from ogive.torch.training.precision import GradScaler as GradScaler
from ogive.torch.training.precision import autocast as _autocast
from ogive.torch.training.precision import custom_bwd as custom_bwd
from ogive.torch.training.precision import custom_fwd as custom_fwd

__all__ = [
    "GradScaler", "autocast", "custom_bwd", "custom_fwd",
]  # fmt: skip


class autocast(_autocast):
    """`torch.autocast("cuda", …)`. Where there is no such device it casts nothing."""

    def __init__(
        self, enabled: bool = True, dtype: Any = None, cache_enabled: bool | None = None
    ) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)
