"""`torch.compile`, by our capture."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import ogive
from ogive.errors import ArgumentTypeError, TraceError
from ogive.nn.module import AnyModule
from ogive.tensor.tensor import Tensor

__all__ = [
    "Compiled", "compile",
]  # fmt: skip


class Compiled:
    """A function or module that is captured if its results need no gradient.

    The first call in each mode runs without capture, and shows whether the result needs gradients.
    If it does, later calls also run without capture: they build a graph for `backward`, which is
    compiled with the rest. Otherwise the second call and later ones are captured. A function that
    cannot be captured, because it reads values, runs without capture unless `must_capture` is set.
    """

    def __init__(self, function: Callable[..., Any], disable: bool, must_capture: bool) -> None:
        self._orig_mod = function
        self._captured: Any = ogive.jit(function)
        self._must_capture = must_capture
        self._can_capture: dict[bool, bool] = {True: False, False: False} if disable else {}
        if not isinstance(function, AnyModule):
            functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        mode = ogive.is_grad_enabled()
        if mode and any(tensor.requires_grad for tensor in _tensors((args, kwargs))):
            return self._orig_mod(*args, **kwargs)
        if self._can_capture.get(mode):
            try:
                return self._captured(*args, **kwargs)
            except TraceError:  # the effects of the attempt are undone
                if self._must_capture:
                    raise
                self._can_capture[mode] = False
        result = self._orig_mod(*args, **kwargs)
        if mode not in self._can_capture:
            needed = any(tensor.requires_grad for tensor in _tensors(result))
            self._can_capture[mode] = not needed
        return result

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._orig_mod, name)


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: Any = None,
    disable: bool = False,
) -> Any:
    """Capture a function or a module: it runs once, and is replayed from then on.

    >>> @ogive.torch.compile
    ... def double(x):
    ...     return x * 2
    >>> [double(Tensor([n])).item() for n in range(3)]
    [0, 2, 4]

    A function that cannot be captured runs without capture; with `fullgraph`, it raises
    `TraceError`. `dynamic`, `backend`, `mode` and `options` have no effect: there is one compiler.
    """
    if model is None:
        return lambda function: compile(function, disable=disable, fullgraph=fullgraph)
    if not callable(model):
        raise ArgumentTypeError(f"compile takes a function or a module, not {model!r}")
    return Compiled(model, disable, fullgraph)


def _tensors(value: Any) -> Iterator[Tensor]:
    """The tensors in nested tuples, lists and dictionaries."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Tensor):
            yield each
        elif isinstance(each, dict):
            waiting.extend(each.values())
        elif isinstance(each, tuple | list):
            waiting.extend(each)
