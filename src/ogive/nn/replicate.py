"""Copies of modules with parameters of their own."""

from __future__ import annotations

from typing import Any

from ogive.nn.module import Module
from ogive.nn.parameter import Parameter
from ogive.tensor.tensor import Tensor


def replicate(module: Module) -> Any:
    """A copy of a module, with copies of its tensors and of the modules below it.

    What is shared inside the module (a tied weight) is shared inside the copy too.

    >>> first = nn.Linear(2, 2); second = nn.replicate(first)
    >>> second.weight is first.weight, second.weight.tolist() == first.weight.tolist()
    (False, True)
    """
    return _copy(module, {})


def _copy(value: Any, done: dict[int, Any]) -> Any:
    if id(value) in done:
        return done[id(value)]
    made: Any = value
    if isinstance(value, Parameter):
        made = Parameter(value.detach(), value.requires_grad)
    elif isinstance(value, Tensor):
        made = value.detach().contiguous()
    elif isinstance(value, Module):
        made = type(value).__new__(type(value))
        done[id(value)] = made
        for name, entry in vars(value).items():
            made.__dict__[name] = _copy(entry, done)
    elif isinstance(value, list | tuple):
        made = type(value)([_copy(entry, done) for entry in value])
    elif isinstance(value, dict):
        made = {key: _copy(entry, done) for key, entry in value.items()}
    done[id(value)] = made
    return made
