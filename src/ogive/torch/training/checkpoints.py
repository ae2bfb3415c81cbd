"""`torch.utils.checkpoint`: recompute the inner values of a function in the backward pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ogive.autograd import checkpoint as _checkpoint
from ogive.eager.forms import is_captured
from ogive.tensor.tensor import Tensor

__all__ = [
    "checkpoint", "checkpoint_sequential", "get_device_states", "set_device_states",
]  # fmt: skip


def checkpoint(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call `function(*args)`. Its inner values are recomputed where the gradient needs them, unless
    the arguments are small tensors: theirs are kept."""
    for name in ("use_reentrant", "preserve_rng_state", "determinism_check", "debug", "context_fn"):
        kwargs.pop(name, None)
    tensors = [value for value in args if isinstance(value, Tensor)]
    if tensors and all(tensor.is_eager for tensor in tensors) and not is_captured():
        return function(*args, **kwargs)
    return _checkpoint(function)(*args, **kwargs)


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """The states of random draws on the devices of the tensors: none, since all draws are the
    CPU's."""
    return [], []


def set_device_states(devices: Any, states: Any, *, device_type: str | None = None) -> None:
    """Do nothing: no device has a state of its own."""


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Apply layers one after the other, in `segments` parts, each of which is recomputed."""
    layers: Sequence[Any] = list(functions)
    size = max(1, len(layers) // segments)
    starts = list(range(0, size * segments, size))[:segments]
    for number, start in enumerate(starts):
        is_last = number == len(starts) - 1
        part = layers[start:] if is_last else layers[start : start + size]

        def run(value: Any, part: Sequence[Any] = part) -> Any:
            for layer in part:
                value = layer(value)
            return value

        input = run(input) if is_last else checkpoint(run, input)
    return input
