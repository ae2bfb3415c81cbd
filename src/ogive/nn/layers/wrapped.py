"""Modules that hold the arguments of a function: `GELU("tanh")(x)` is `gelu(x, "tanh")`.

A family is a table; an entry is the function's name in `nn.functional` and the arguments with their
defaults, in order. `REQUIRED` stands for an argument that has none.
"""

from __future__ import annotations

import sys
from typing import Any

from ogive.errors import ArgumentTypeError, nearest
from ogive.nn import functional
from ogive.nn.module import Module
from ogive.nn.old_averages import with_reduction

REQUIRED = object()


class Wrapped(Module):
    """A module that calls a function of a tensor, with the other arguments given in advance."""

    function: str
    defaults: dict[str, Any]
    order: tuple[str, ...] = ()
    """PyTorch's order of arguments, where it has more of them than are kept."""
    shown: tuple[str, ...] = ()
    """The arguments that `repr` shows, as in PyTorch: `inplace` only if it is True."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        name = type(self).__name__
        if self.order:  # that of PyTorch's losses, with the words from before `reduction`
            kwargs = with_reduction({**dict(zip(self.order, args, strict=False)), **kwargs})
            args = args[len(self.order) :]
        if len(args) > len(self.defaults):
            most = len(self.defaults)
            noun = "argument" if most == 1 else "arguments"
            raise ArgumentTypeError(f"{name} takes at most {most} {noun}, got {len(args)}")
        given = dict(zip(self.defaults, args, strict=False))
        for key, value in kwargs.items():
            if key not in self.defaults or key in given:
                problem = "is given twice" if key in given else "is not an argument"
                advice = "" if key in given else nearest(key, self.defaults)
                raise ArgumentTypeError(f"{name}: {key!r} {problem}{advice}")
            given[key] = value
        for key, default in self.defaults.items():
            value = given.get(key, default)
            if value is REQUIRED:
                raise ArgumentTypeError(f"{name} needs the argument {key!r}")
            setattr(self, key, value)

    def settings(self) -> dict[str, Any]:
        """The present arguments, by name."""
        return {key: getattr(self, key) for key in self.defaults}

    def forward(self, x: Any, *others: Any) -> Any:
        return getattr(functional, self.function)(x, *others, **self.settings())

    def extra_repr(self) -> str:
        parts = [
            f"{key}={getattr(self, key)!r}"
            for key in self.shown
            if key != "inplace" or getattr(self, key)
        ]
        return ", ".join(parts)


def wrap_function(
    name: str, function: str, description: str, shown: str = "", order: str = "", **defaults: Any
) -> type[Wrapped]:
    """A module class around `function` of `nn.functional`; `shown` and `order` have names, with
    spaces."""
    module = sys._getframe(1).f_globals["__name__"]  # where pickle finds the class by its name
    members = {
        "__doc__": description, "__module__": module, "function": function, "defaults": defaults,
        "shown": tuple(shown.split()), "order": tuple(order.split()),
    }  # fmt: skip
    return type(name, (Wrapped,), members)
