"""Backward hooks: functions that a module calls when a backward pass goes through it.

The arguments and the results each pass a *gate*. In the backward pass, the gate gets all of their
gradients at once:

    x, y   →   the values of x and y; backward, the gate's function of cat([gₓ, gᵧ])

A backward pass only builds the graph of the gradients, so hooks get lazy tensors. A gate is added
if the module has hooks when it is called, and if a gradient flows to one of the gate's values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ogive.errors import ArgumentTypeError, ShapeError
from ogive.tensor.gradients.known_gradients import with_gradient
from ogive.tensor.movement.joining import cat
from ogive.tensor.tensor import Tensor

if TYPE_CHECKING:
    from ogive.nn.module import AnyModule

Gradients = tuple[Any, ...]


class BackwardCall:
    """The hooks of one call of a module.

    The hooks in `before` get the gradients of the results; those in `after` also get the gradients
    of the arguments.
    """

    def __init__(
        self,
        module: AnyModule,
        before: Sequence[Callable[..., Any]],
        after: Sequence[Callable[..., Any]],
    ) -> None:
        self._module = module
        self._before, self._after = before, after
        self._outputs: Gradients = ()
        self._arguments = 0
        self._is_reached = False

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Pass the arguments through a gate."""
        self._arguments = len(args)
        passed, self._is_reached = _pass_gate(args, self._call_after)
        return passed

    def leave(self, result: Any) -> Any:
        """Pass the result, a tensor or a tuple, through a gate."""
        if isinstance(result, Tensor):
            return _pass_gate((result,), self._call_before)[0][0]
        if type(result) in (tuple, list):
            return type(result)(_pass_gate(tuple(result), self._call_before)[0])
        raise ArgumentTypeError(
            f"a module with backward hooks must return a tensor or a tuple of tensors, but "
            f"{type(self._module).__name__} returned {type(result).__name__}"
        )

    def _call_before(self, given: Gradients) -> Gradients:
        for hook in self._before:
            given = _changed(hook(self._module, given), given, "pre-hook")
        self._outputs = given
        if not self._is_reached:  # no gradient goes on to the arguments
            self._call_after((None,) * self._arguments)
        return given

    def _call_after(self, given: Gradients) -> Gradients:
        for hook in self._after:
            given = _changed(hook(self._module, given, self._outputs), given, "hook")
        return given


def _pass_gate(
    values: tuple[Any, ...], call: Callable[[Gradients], Gradients]
) -> tuple[tuple[Any, ...], bool]:
    """The values, behind a gate if a gradient flows to any of them; and whether there is a gate."""
    places = [
        number
        for number, value in enumerate(values)
        if isinstance(value, Tensor) and value.requires_grad
    ]
    if not places:
        return values, False
    passing = [values[number] for number in places]
    sizes = [math.prod([int(size) for size in tensor.shape]) for tensor in passing]

    def back(_: Tensor, upstream: Tensor) -> Tensor:
        given: list[Any] = [None] * len(values)
        for number, tensor, part in zip(places, passing, upstream.split(sizes), strict=True):
            given[number] = part.reshape(tensor.shape).cast(tensor.dtype)
        changed = call(tuple(given))
        return cat([changed[number].reshape(-1) for number in places]).cast(upstream.dtype)

    flat = cat([tensor.reshape(-1) for tensor in passing])
    gate = with_gradient(flat, flat, back)
    gated = list(values)
    for number, tensor, part in zip(places, passing, gate.split(sizes), strict=True):
        own = part.reshape(tensor.shape).cast(tensor.dtype)
        gated[number] = with_gradient(tensor, own, lambda _, upstream: upstream)
    return tuple(gated), True


def _changed(returned: Any, given: Gradients, kind: str) -> Gradients:
    """The gradients after a hook. A hook that returned None changes nothing."""
    if returned is None:
        return given
    parts = returned if isinstance(returned, tuple | list) else (returned,)
    if len(parts) != len(given):
        raise ArgumentTypeError(
            f"a backward {kind} returned {len(parts)} gradients for {len(given)}; it must return "
            "as many, or None to change nothing"
        )
    for part, old in zip(parts, given, strict=True):
        if old is not None and (not isinstance(part, Tensor) or part.shape != old.shape):
            description = f"shape {part.shape}" if isinstance(part, Tensor) else type(part).__name__
            raise ShapeError(
                f"a backward {kind} returned {description} for a gradient of shape {old.shape}"
            )
    return tuple(parts)
