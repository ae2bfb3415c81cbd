"""Mixed precision for programs that name CUDA. It is off where there is no such device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.amp import GradScaler as _GradScaler
from ogive.amp import autocast as _autocast
from ogive.cuda import is_available
from ogive.errors import DeviceError
from ogive.torch.training.autocast_switches import get_autocast_dtype

__all__ = [
    "GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available",
]  # fmt: skip


class autocast(_autocast):
    """`ogive.autocast`, which also accepts "cuda" where there is none; it casts nothing then.

    >>> with ogive.torch.autocast("cuda", enabled=False):
    ...     (ogive.torch.ones(2, 2) @ ogive.torch.ones(2, 2)).dtype
    torch.float32
    """

    def __init__(
        self,
        device_type: str = "cpu",
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        kind = str(device_type).lower().partition(":")[0]
        if kind not in ("cpu", "cuda", "mps", "xpu"):
            raise DeviceError(f"autocast: unknown device {device_type!r}")
        # Without such a device, PyTorch warns and casts nothing, and so do we.
        is_here = kind == "cpu" or (kind == "cuda" and is_available())
        given = is_here and dtype is not None
        wanted = dtype if given else get_autocast_dtype(kind if is_here else "cpu")
        super().__init__("cpu", wanted, enabled and is_here)


class GradScaler(_GradScaler):
    """`ogive.amp.GradScaler`, whose first argument may be the device, as in PyTorch."""

    def __init__(self, device: Any = "cuda", *args: Any, **kwargs: Any) -> None:
        if not isinstance(device, str):
            args = (device, *args)
        kwargs.pop("device", None)
        super().__init__(*args, **kwargs)


def custom_fwd(fwd: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Return the `forward` of a custom function unchanged: each operation casts by itself."""
    return fwd if fwd is not None else (lambda function: function)


def custom_bwd(bwd: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Return the `backward` of a custom function unchanged."""
    return bwd if bwd is not None else (lambda function: function)


def is_autocast_available(device_type: str) -> bool:
    """Whether a device has mixed precision: only the CPU has."""
    return str(device_type).lower() == "cpu"
