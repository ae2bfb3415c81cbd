"""Gradient modes: whether the operations of a thread are recorded for gradients."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from threading import get_ident
from typing import Any, Self, TypeVar, overload

from ogive.live import history

Function = TypeVar("Function", bound=Callable[..., Any])


class _Mode(ContextDecorator):
    """A context manager that sets the mode of its thread; also a decorator, called or not."""

    recording: bool
    _before: dict[int, list[bool]]
    """For each thread, the modes before the contexts that it is in, the outermost first. Several
    threads may be in one object: a decorated function has one for all its calls."""

    @overload
    def __new__(cls) -> Self: ...
    @overload
    def __new__(cls, function: Function) -> Function: ...  # type: ignore[misc]  # no instance
    def __new__(cls, function: Any = None) -> Any:
        mode = super().__new__(cls)
        mode._before = {}
        return mode if function is None else mode(function)

    def __enter__(self) -> None:
        modes = self._before.setdefault(get_ident(), [])
        modes.append(history.set_recording(self.recording))

    def __exit__(self, *_: Any) -> None:
        thread = get_ident()
        modes = self._before[thread]
        history.set_recording(modes.pop())
        if not modes:
            del self._before[thread]


class no_grad(_Mode):
    """Record no operations for gradients inside, and allow assignment to leaves.

    >>> w = Tensor([1.0], requires_grad=True)
    >>> with ogive.no_grad():
    ...     y = w * 2
    >>> y.requires_grad
    False
    """

    recording = False


class enable_grad(_Mode):
    """Record operations for gradients again, inside a `no_grad`.

    >>> w = Tensor([1.0], requires_grad=True)
    >>> with ogive.no_grad(), ogive.enable_grad():
    ...     y = w * 2
    >>> y.requires_grad
    True
    """

    recording = True


@overload
def inference_mode(mode: bool = True) -> no_grad | enable_grad: ...
@overload
def inference_mode(mode: Function) -> Function: ...
def inference_mode(mode: Any = True) -> Any:
    """Return `no_grad()`, or `enable_grad()` for False. Tensors made inside are ordinary ones.

    >>> w = Tensor([1.0], requires_grad=True)
    >>> with ogive.inference_mode():
    ...     y = w * 2
    >>> y.requires_grad
    False
    """
    if callable(mode):
        return no_grad(mode)
    return no_grad() if mode else enable_grad()


class set_grad_enabled:
    """Set whether operations are recorded for gradients, from now on, or inside a `with` block.

    It is also a decorator.

    >>> w = Tensor([1.0], requires_grad=True)
    >>> with ogive.set_grad_enabled(False):
    ...     y = w * 2
    >>> y.requires_grad, ogive.is_grad_enabled()
    (False, True)
    """

    def __init__(self, mode: bool) -> None:
        self._mode = mode
        self._before = history.set_recording(mode)

    def __call__(self, function: Function) -> Function:
        history.set_recording(self._before)
        return inference_mode(not self._mode)(function)

    def __enter__(self) -> None:
        history.set_recording(self._mode)

    def __exit__(self, *_: Any) -> None:
        history.set_recording(self._before)


def is_grad_enabled() -> bool:
    """Whether the operations of this thread are recorded for gradients.

    >>> ogive.is_grad_enabled()
    True
    """
    return history.is_recording()
