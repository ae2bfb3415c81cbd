"""Load state dictionaries. One error lists everything that does not fit; then nothing changes."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy

from ogive.errors import ArgumentTypeError, StateError
from ogive.named import NamedTuple
from ogive.nn.parameter import UninitializedParameter
from ogive.tensor.core import to_tensor
from ogive.tensor.memory.data_attribute import replace_value
from ogive.tensor.memory.sharing import from_dlpack
from ogive.tensor.tensor import Tensor

SHOWN = 20
"""The most problems that an error lists."""


class IncompatibleKeys(NamedTuple):
    """The keys that a state lacked, and the keys that it should not have."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


def check_state(
    name: str, own: Mapping[str, Tensor], given: Mapping[str, Any], strict: bool
) -> None:
    """Raise `StateError` if `given` does not fit the tensors of a module."""
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(
            f"load_state_dict takes a mapping from names to tensors, not {type(given).__name__}"
        )
    complaints: list[str] = []
    if strict:
        missing = [key for key in own if key not in given]
        unexpected = [key for key in given if key not in own]
        complaints += [_complaint("missing", key, unexpected) for key in missing]
        complaints += [_complaint("unexpected", key, missing) for key in unexpected]
    for key, tensor in own.items():
        if key in given and isinstance(tensor, UninitializedParameter):
            complaints.append(f"{key} has no shape yet: call the module once with an input before")
        elif key in given and tuple(given[key].shape) != tensor.shape:
            complaints.append(
                f"{key}: expected the shape {tuple(tensor.shape)}, got {tuple(given[key].shape)}"
            )
    if complaints:
        more = len(complaints) - SHOWN
        listed = complaints[:SHOWN] + ([f"... and {more} more"] if more > 0 else [])
        raise StateError(f"the state does not fit {name}:\n  " + "\n  ".join(listed))


def _complaint(kind: str, key: str, candidates: Sequence[str]) -> str:
    close = difflib.get_close_matches(key, candidates, n=1, cutoff=0.6)
    return f"{kind} key {key!r}" + (f" (there is {close[0]!r})" if close else "")


def load_tensors(pairs: Iterable[tuple[Tensor, Any]], with_dtypes: bool = False) -> None:
    """Assign to each tensor the values paired with it. All are read before the first is changed."""
    read = [(tensor, _beside(tensor, _to_values(value))) for tensor, value in pairs]
    Tensor.realize_batch([value for _, value in read if not value.is_eager])
    for tensor, value in read:
        fits = with_dtypes or value.dtype is tensor.dtype
        replace_value(tensor, value if fits else value.cast(tensor.dtype))
    # Computed now: the tensors may be views, and others may write to the memory that is read.
    Tensor.realize_batch([tensor for tensor, _ in read if not tensor.is_eager])


def _beside(tensor: Tensor, value: Tensor) -> Tensor:
    """The values, on the devices of a tensor. Eager values are copied: they may change later."""
    if value.is_eager and tensor.device == value.device:
        return value.detach().clone()
    return value.to(tensor.device).shard_like(tensor)


def _to_values(value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if hasattr(value, "detach"):
        value = value.detach()  # PyTorch exports nothing that requires a gradient
    if hasattr(value, "__dlpack__") and not isinstance(value, numpy.ndarray):
        return from_dlpack(value)
    return to_tensor(value)


def clear_gradients(parameters: Iterable[Tensor], set_to_none: bool) -> None:
    """Drop gradients; or without `set_to_none`, write zeros to them, which other readers see.

    Gradients are dropped without reading them, so a captured step does not depend on them.
    """
    for parameter in parameters:
        if set_to_none:
            parameter.grad = None
        elif (gradient := parameter.grad) is not None:
            if gradient.requires_grad:
                gradient.detach_()
            gradient.zero_()
