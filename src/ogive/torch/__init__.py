"""PyTorch's namespace over Ogive's tensors: `import ogive.torch as torch` is the line to change.

Names have PyTorch's meaning. A name that means the same in `ogive` is the same object.
docs/pytorch.md lists what is absent and what differs.

>>> import ogive.torch as torch
>>> torch.std(torch.tensor([1.0, 2.0, 3.0])).item()
1.0
>>> values, indices = torch.sort(torch.tensor([3, 1, 2]))
>>> indices.tolist()
[1, 2, 0]
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy.random  # noqa: F401  (PyTorch's first step has loaded it too: programs draw with it)

from ogive.torch import tree as _tree
from ogive.torch.names import EVERYDAY, METHODS, NUMBER_FIRST, OWN, SAME, TREE
from ogive.torch.texts.speaking import speak_pytorch
from ogive.torch.tree import install as install
from ogive.torch.tree import uninstall as uninstall

__version__ = "2.13.0+ogive"

_tree.add_finder()
speak_pytorch()

# Loaded now, as by PyTorch's import, so that no training loop waits for an import.
for _name in EVERYDAY:
    importlib.import_module(_name)


# A program reads each of its names once by way of `__getattr__`, so tables are not searched there.
_sources = {name: source for source, names in reversed(OWN.items()) for name in names}
_shared = frozenset((*SAME, *METHODS, *NUMBER_FIRST))


def __getattr__(name: str) -> Any:
    if name == "torch":  # PyTorch has this name too, and programs write `torch.torch.float32`
        return sys.modules[__name__]
    if name in TREE:
        return importlib.import_module(f"ogive.torch.{name}")
    if name == "__all__":  # what `from torch import *` gives
        return [each for each in __dir__() if not each.startswith("_") and each not in TREE]
    if not name.startswith("__"):
        if name in _sources:
            globals()[name] = found = getattr(importlib.import_module(_sources[name]), name)
            return found
        if name in _shared:
            from ogive.torch.tensors import functions

            globals()[name] = found = functions.find(name)
            return found
    message = f"module 'ogive.torch' has no attribute {name!r}; see docs/pytorch.md"
    raise AttributeError(message, name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    below = {name for name in TREE if "." not in name}
    return sorted({"install", "uninstall", *_sources, *below, *_shared})
