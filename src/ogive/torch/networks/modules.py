"""`torch.nn.Module`: the base that programs derive from, which registers what PyTorch's does."""

from __future__ import annotations

from typing import Any

from ogive.nn.module import AnyModule as Module

__all__ = ["Module"]

# It is printed, and pickled, by the name that programs know it by.
Module.__name__ = Module.__qualname__ = "Module"
Module.__module__ = __name__


def compile_in_place(self: Module, *args: Any, **kwargs: Any) -> None:
    """Capture calls from now on, as `torch.compile` does. It is `module.compile()`."""
    from ogive.torch.compilation.capture import compile as captured

    object.__setattr__(self, "forward", captured(self.forward, **kwargs))
