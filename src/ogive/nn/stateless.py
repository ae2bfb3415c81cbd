"""Modules as functions of their tensors, for the transforms of functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ogive.errors import ArgumentTypeError, StateError, nearest
from ogive.nn.module import AnyModule


def functional_call(
    module: AnyModule,
    state: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    args: Any = (),
    kwargs: Any = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call `module(*args, **kwargs)` with the tensors of `state` in place of its own.

    Names that `state` does not have keep their tensors, but for those that share one with a name
    that it has (`tie_weights`). It may be several dictionaries. With `strict` it has all names.
    With `ogive.grad` and `ogive.vmap`, this is how gradients of one example each are had:

    >>> layer = nn.Linear(2, 1)
    >>> def loss(state, x):
    ...     return nn.functional_call(layer, state, x).square().sum()
    >>> state = dict(layer.named_parameters())
    >>> each = ogive.vmap(ogive.grad(loss), in_axes=(None, 0))(state, ogive.ones(5, 2))
    >>> each["weight"].shape
    (5, 1, 2)

    Raises `StateError` for a name that the module does not have.
    """
    if isinstance(state, tuple | list):
        state = {name: value for part in state for name, value in part.items()}
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
    if strict and (missing := [name for name in known if name not in state]):
        raise StateError(f"functional_call: the state has no {missing[0]!r}, and is to have all")
    if tie_weights:
        state = {**_tied(known, state), **state}
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


def _tied(known: Mapping[str, tuple[Any, Any]], state: Mapping[str, Any]) -> dict[str, Any]:
    """Values for further names of tensors that `state` has values for."""
    values = {id(known[name][0][known[name][1]]): value for name, value in state.items()}
    own = {name: id(holder[key]) for name, (holder, key) in known.items()}
    return {name: values[number] for name, number in own.items() if number in values}
