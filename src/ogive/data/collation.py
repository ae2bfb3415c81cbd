"""Items of a data set become tensors of a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.errors import ArgumentError, ArgumentTypeError, ShapeError
from ogive.tensor.method_functions import created
from ogive.tensor.movement.joining import stack
from ogive.tensor.tensor import Tensor


def collate(items: Sequence[Any]) -> Any:
    """A batch of items: numbers, arrays and tensors of one shape are stacked into a tensor.

    Python's floats become float64. Tuples, lists and dictionaries are collated entry by entry,
    tuples to a list, as in PyTorch; named tuples keep their type. Texts stay as they are. Shapes:
    (...) → (len(items), ...).

    >>> x, y = collate([(numpy.zeros(4), 7), (numpy.ones(4), 8)])
    >>> x.shape, y.tolist()
    ((2, 4), [7, 8])

    Raises `ShapeError` for arrays of different shapes, `ArgumentTypeError` for other things.
    """
    if not items:
        raise ArgumentError("collate: a batch without items has no shape")
    first = items[0]
    if isinstance(first, str | bytes):
        return items
    if isinstance(first, Mapping):
        return {name: collate([item[name] for item in items]) for name in first}
    if isinstance(first, tuple | list):
        entries = [collate(entry) for entry in _entries(items)]
        if hasattr(first, "_fields"):
            return type(first)(*entries)
        return entries
    return _stacked(items)


def convert(value: Any) -> Any:
    """An item with tensors for its arrays; tuples, which become lists, lists and dictionaries are
    gone through.

    >>> ogive.data.default_convert((numpy.zeros(2), "two"))
    [Tensor([0., 0.], shape=(2,), dtype=float64, device=CPU), 'two']
    """
    if isinstance(value, numpy.ndarray | numpy.generic) and value.dtype.kind not in "OSU":
        return created(Tensor, value)
    if isinstance(value, Mapping):
        return {name: convert(entry) for name, entry in value.items()}
    if isinstance(value, tuple | list):
        entries = [convert(entry) for entry in value]
        if hasattr(value, "_fields"):
            return type(value)(*entries)
        return entries
    return value


def _entries(items: Sequence[Any]) -> list[Any]:
    for at, item in enumerate(items):
        if len(item) != len(items[0]):
            raise ShapeError(
                f"collate: item {at} of the batch has {len(item)} entries, and item 0 has "
                f"{len(items[0])}"
            )
    return list(zip(*items, strict=True))


def _to_array(item: Any) -> Any:
    return item.value if isinstance(item, Tensor) and item.is_eager else numpy.asarray(item)


def _stacked(items: Sequence[Any]) -> Tensor:
    first = items[0]
    if isinstance(first, bool | int | float) and not isinstance(first, numpy.generic):
        kind = dtypes.float64 if isinstance(first, float) else None
        numbers: Tensor = created(Tensor, list(items), kind)
        return numbers
    if not isinstance(first, Tensor | numpy.ndarray | numpy.generic):
        raise ArgumentTypeError(
            f"collate: cannot make a tensor of {type(first).__name__}; give numbers, arrays or "
            "tensors, or a collate function of your own"
        )
    if isinstance(first, Tensor) and any(item.requires_grad for item in items):
        return stack(items)
    arrays = [_to_array(item) for item in items]
    for at, array in enumerate(arrays):
        if array.shape != arrays[0].shape:
            raise ShapeError(
                f"collate: item {at} of the batch has the shape {array.shape}, and item 0 has "
                f"{arrays[0].shape}; make them equal, or give a collate function of your own"
            )
    stacked: Tensor = created(Tensor, numpy.stack(arrays))
    return stacked
