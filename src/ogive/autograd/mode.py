"""Contexts that turn the recording of gradients on and off."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from threading import get_ident
from typing import Any, Self, TypeVar, overload

from ogive.compiler.live import history

Function = TypeVar("Function", bound=Callable[..., Any])


class _Mode(ContextDecorator):
    """A context for the thread that enters it; also a decorator, with or without parentheses."""

    recording: bool
    _before: dict[int, list[bool]]
    """For each thread, the settings before each entry, outermost first. Several threads may be in a
    decorated function."""

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
    """Turn gradients off inside, where leaves may also be assigned to.

    >>> w = Tensor([1.0], requires_grad=True)
    >>> with ogive.no_grad():
    ...     y = w * 2
    >>> y.requires_grad
    False
    """

    recording = False


class enable_grad(_Mode):
    """Turn gradients on again inside a `no_grad`.

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
    """`no_grad`, or `enable_grad` for False. Tensors made inside are like any other.

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
    """Turn gradients on or off from now on; as a context or a decorator, only inside.

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
    """Whether this thread records gradients now.

    >>> ogive.is_grad_enabled()
    True
    """
    return history.is_recording()
