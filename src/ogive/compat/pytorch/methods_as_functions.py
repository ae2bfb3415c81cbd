"""Functions made from the methods of `Tensor`, each when it is first read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.tensor.method_functions import as_function
from ogive.tensor.tensor import Tensor


def __getattr__(name: str) -> Callable[..., Any]:
    globals()[name] = function = as_function(getattr(Tensor, name))
    return function
