"""What programs ask of PyTorch's tracers and dispatcher: `torch._C` and `torch._dynamo`."""

from __future__ import annotations

import contextlib
import enum
from typing import Any

from ogive.torch.compilation.scripting import allow_in_graph, disable, is_compiling, reset

__all__ = [
    "DisableTorchFunctionSubclass", "DispatchKey", "DispatchKeySet", "_ExcludeDispatchKeyGuard",
    "_get_tracing_state", "_log_api_usage_once", "allow_in_graph", "disable",
    "is_compile_supported", "is_compiling", "mark_dynamic", "reset",
]  # fmt: skip


def _get_tracing_state() -> None:
    """The state of TorchScript's tracer: it never traces."""
    return None


def _log_api_usage_once(event: str) -> None:
    """Nothing is logged."""


def is_compile_supported(device_type: Any) -> bool:
    """Whether PyTorch's compiler is there for a device: no."""
    return False


def mark_dynamic(t: Any, index: Any, **options: Any) -> None:
    """Nothing to mark: which sizes change is found, not declared."""


class DisableTorchFunctionSubclass(contextlib.nullcontext[None]):
    """Without overrides of subclasses inside: there are none."""


class DispatchKey(enum.Enum):
    """Which layer of PyTorch a kernel is registered for; there are no layers here."""

    CPU = enum.auto()
    CUDA = enum.auto()
    Meta = enum.auto()
    Autograd = enum.auto()
    AutocastCPU = enum.auto()
    AutocastCUDA = enum.auto()
    AutocastXPU = enum.auto()
    CompositeImplicitAutograd = enum.auto()
    CompositeExplicitAutograd = enum.auto()


class DispatchKeySet(frozenset[DispatchKey]):
    """Several of them."""

    def __new__(cls, key: Any) -> DispatchKeySet:
        return super().__new__(cls, (key,) if isinstance(key, DispatchKey) else key)


class _ExcludeDispatchKeyGuard(contextlib.nullcontext[None]):
    """Without some layers inside: there are none."""
