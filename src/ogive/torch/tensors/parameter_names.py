"""What PyTorch calls the parameters of functions that take them by their places alone.

Keywords under further names are `also`'s (`compat/methods/keywords.py`).
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
    """A function whose first parameters may be given by these names.

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
