"""PyTorch's parameter names for functions of ours that take positional arguments only.

`also` adds further names of keywords (`compat/methods/keywords.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

PARAMETERS = {
    "permute": ("input", "dims"),
    "reshape": ("input", "shape"),
    "tile": ("input", "dims"),
    "view_as_complex": ("input",),
    "view_as_real": ("input",),
}
"""The parameters of functions of the namespace, in order."""


def by_names(function: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    """Let a function take its first parameters by these names.

    >>> by_names(ogive.fft.fftfreq, ("n",))(n=2).tolist()
    [0.0, -0.5]
    """

    @functools.wraps(function)
    def named(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            for name in names[len(args) :]:
                if name not in kwargs:
                    break
                args = (*args, kwargs.pop(name))
        return function(*args, **kwargs)

    return named
