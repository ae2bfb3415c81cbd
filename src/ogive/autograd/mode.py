"""Whether gradients flow through what is computed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from typing import Any, Self, TypeVar, overload

from ogive.ir import history

Function = TypeVar("Function", bound=Callable[..., Any])


class _Mode(ContextDecorator):
    """A part of a program, for the thread that runs it; also a decorator, called or not."""

    recording: bool
    _before: list[bool]

    @overload
    def __new__(cls) -> Self: ...
    @overload
    def __new__(cls, function: Function) -> Function: ...  # type: ignore[misc]  # no instance
    def __new__(cls, function: Any = None) -> Any:
        made = super().__new__(cls)
        made._before = []
        return made if function is None else made(function)

    def __enter__(self) -> None:
        self._before.append(history.set_recording(self.recording))

    def __exit__(self, *_: Any) -> None:
        history.set_recording(self._before.pop())


class no_grad(_Mode):
    """Let no gradient flow through what is computed inside, and leaves be assigned to.

    >>> w = Tensor([1.0], requires_grad=True)
    >>> with ogive.no_grad():
    ...     y = w * 2
    >>> y.requires_grad
    False
    """

    recording = False


class enable_grad(_Mode):
    """Let gradients flow again inside a `no_grad`.

    >>> w = Tensor([1.0], requires_grad=True)
    >>> with ogive.no_grad(), ogive.enable_grad():
    ...     y = w * 2
    >>> y.requires_grad
    True
    """

    recording = True


def grad_enabled() -> bool:
    """Whether gradients flow through what this thread computes now.

    >>> ogive.grad_enabled()
    True
    """
    return history.is_recording()
