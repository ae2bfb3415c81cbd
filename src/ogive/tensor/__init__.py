"""Capture: Python calls become a tensor graph. Nothing is computed here.

PyTorch has a function named `tensor`. So the package can be called as well:
`ogive.tensor([1.0, 2.0])` returns `Tensor([1.0, 2.0])`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Package(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from ogive.tensor.tensor import Tensor

        return Tensor(*args, **kwargs)


sys.modules[__name__].__class__ = _Package
