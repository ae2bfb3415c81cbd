"""`torch.autograd.function`: what programs name for annotations."""

from __future__ import annotations

from ogive.autograd.function import Context as FunctionCtx

__all__ = ["FunctionCtx"]
