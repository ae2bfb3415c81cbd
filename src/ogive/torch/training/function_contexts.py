"""`torch.autograd.function`: names for annotations."""

from __future__ import annotations

from ogive.autograd.function import Context as FunctionCtx

__all__ = ["FunctionCtx"]
