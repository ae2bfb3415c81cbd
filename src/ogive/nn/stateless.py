"""Modules as functions of their tensors, for the transforms of functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ogive.errors import ArgumentTypeError, StateError, nearest
from ogive.nn.module import AnyModule


def functional_call(
    module: AnyModule, state: Mapping[str, Any], args: Any = (), kwargs: Any = None
) -> Any:
    """Call `module(*args, **kwargs)` with the tensors of `state` in place of its own.

    Names that are not in `state` keep their tensors. With `ogive.grad` and `ogive.vmap`, it
    computes a gradient per example:

    >>> layer = nn.Linear(2, 1)
    >>> def loss(state, x):
    ...     return nn.functional_call(layer, state, x).square().sum()
    >>> state = dict(layer.named_parameters())
    >>> each = ogive.vmap(ogive.grad(loss), in_axes=(None, 0))(state, ogive.ones(5, 2))
    >>> each["weight"].shape
    (5, 1, 2)

    Raises `StateError` for a name that the module does not have.
    """
    if not isinstance(state, Mapping):
        raise ArgumentTypeError(
            f"functional_call takes a mapping from names to tensors, not {type(state).__name__}"
        )
    known = dict(module._places())
    for name in state:
        if name not in known:
            raise StateError(
                f"functional_call: {type(module).__name__} has no tensor {name!r}"
                f"{nearest(name, known)}"
            )
    given = args if isinstance(args, tuple) else (args,)
    before = [(holder, key, holder[key]) for holder, key in known.values()]
    try:
        for name, value in state.items():
            holder, key = known[name]
            holder[key] = value
        return module(*given, **(kwargs or {}))
    finally:
        for holder, key, value in before:
            holder[key] = value
