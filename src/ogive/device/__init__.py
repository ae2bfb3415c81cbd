"""What kernels run on: targets, memory, and LLVM as the assembler of text into object code.

The package has the name of PyTorch's devices, and is their function as well: `ogive.device("cpu")`
is the name of that device, as tensors have it.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Package(ModuleType):
    def __call__(self, name: Any) -> str:
        from ogive.tensor.core import to_device

        return to_device(name)


sys.modules[__name__].__class__ = _Package
