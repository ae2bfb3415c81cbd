"""Parts of PyTorch's tracers and dispatcher that programs read: `torch._C` and `torch._dynamo`."""

from __future__ import annotations

import contextlib
import enum
from typing import Any

from ogive.torch.compilation.scripting import (
    allow_in_graph,
    assume_constant_result,
    disable,
    is_compiling,
    reset,
)

__all__ = [
    "DisableTorchFunctionSubclass", "DispatchKey", "DispatchKeySet", "_ExcludeDispatchKeyGuard",
    "_get_tracing_state", "_log_api_usage_once", "allow_in_graph", "assume_constant_result",
    "disable", "is_compile_supported", "is_compiling", "mark_dynamic", "mark_static",
    "mark_static_address", "maybe_mark_dynamic", "reset",
]  # fmt: skip


def _get_tracing_state() -> None:
    """Return None: TorchScript's tracer never runs."""
    return None


def _log_api_usage_once(event: str) -> None:
    """Do nothing: the use of functions is not logged."""


def is_compile_supported(device_type: Any) -> bool:
    """Return False: PyTorch's compiler supports no device here."""
    return False


def mark_dynamic(t: Any, index: Any, **options: Any) -> None:
    """Do nothing: the compiler finds by itself which sizes change."""


maybe_mark_dynamic = mark_static = mark_dynamic


def mark_static_address(t: Any, guard: bool = True) -> None:
    """Do nothing: captured functions read parameters where they are."""


class DisableTorchFunctionSubclass(contextlib.nullcontext[None]):
    """A context without the overrides of subclasses. It has no effect: there are none."""


class DispatchKey(enum.Enum):
    """The layers of PyTorch that a kernel can be registered for. There are no layers here."""

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
    """A set of dispatch keys."""

    def __new__(cls, key: Any) -> DispatchKeySet:
        return super().__new__(cls, (key,) if isinstance(key, DispatchKey) else key)


class _ExcludeDispatchKeyGuard(contextlib.nullcontext[None]):
    """A context without some layers. It has no effect: there are none."""
