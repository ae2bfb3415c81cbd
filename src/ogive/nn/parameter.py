"""`Parameter`: a tensor that a module owns and an optimizer changes."""

from __future__ import annotations

from typing import Any

from ogive.tensor.tensor import Tensor


class Parameter(Tensor):
    """A tensor that counts as a parameter of the module it is an attribute of.

    >>> nn.Parameter([1.0, 2.0]).requires_grad
    True

    Raises `GradientError` for a dtype that has no gradient, unless `requires_grad` is False.
    """

    __slots__ = ()

    def __init__(self, data: Any, requires_grad: bool = True) -> None:
        super().__init__(data, requires_grad=requires_grad)
