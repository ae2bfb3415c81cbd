"""`torch.nn.Module`: the base that programs derive from, which registers what PyTorch's does."""

from __future__ import annotations

import abc
from typing import Any

from ogive.nn.module import Module as _Module
from ogive.torch.compilation.capture import compile as _compile

__all__ = ["Module"]


class _CountsAll(abc.ABCMeta):
    """`isinstance(x, torch.nn.Module)` is true of all modules: the layers are the same here."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is Module:
            return isinstance(instance, _Module)
        return super().__instancecheck__(instance)

    def __subclasscheck__(cls, given: type) -> bool:
        return issubclass(given, _Module) if cls is Module else super().__subclasscheck__(given)


class Module(_Module, metaclass=_CountsAll):
    """The base of modules. Lists, tuples and dictionaries of modules are not registered: a
    `ModuleList` and a `ModuleDict` are.

    >>> class Net(ogive.torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.unseen = [ogive.torch.nn.Linear(2, 2)]
    ...         self.layer = ogive.torch.nn.Linear(2, 2)
    >>> list(Net().state_dict())
    ['layer.weight', 'layer.bias']
    """

    _sees_containers = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Nothing to do: a module is one from when it is made."""

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Capture calls from now on, as `torch.compile` does."""
        object.__setattr__(self, "forward", _compile(self.forward, **kwargs))
