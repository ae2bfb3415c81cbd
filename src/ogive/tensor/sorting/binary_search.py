"""Searches in sorted sequences, and tests of membership."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ogive.compat.methods.keywords import also
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import result_type
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentError, ArgumentTypeError, ShapeError
from ogive.tensor import build
from ogive.tensor.core import Core, memory_device, same_device, to_integer, to_tensor, wrap
from ogive.tensor.method_functions import open_to_eager
from ogive.tensor.movement.joining import where

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

FEW = 32
"""The most elements that are compared one by one rather than sorted and searched."""


@open_to_eager
@also(input="values")
def searchsorted(
    sorted_sequence: Tensor,
    values: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Where values belong in ascending sequences: before equal elements, or with `right` (or `side`
    "right") after them, as int64.

    Shapes: (n,) with (...) → (...); (..., n) with (..., m) → (..., m), equal in front. `sorter`
    holds the positions that sort an unsorted sequence. One kernel does a binary search.

    >>> ogive.searchsorted(Tensor([1, 3, 5]), Tensor([3, 6])).tolist()
    [1, 3]
    >>> ogive.searchsorted(Tensor([1, 3, 5]), 3, right=True).item()
    2

    Raises `ShapeError` when the axes in front differ, `ArgumentError` for another side.
    """
    if side not in (None, "left", "right") or (side == "left" and right):
        raise ArgumentError(f"searchsorted: side={side!r} with right={right}; left or right?")
    if not isinstance(sorted_sequence, Core) or not sorted_sequence.ndim:
        raise ArgumentTypeError("searchsorted: the sequence must be a tensor with an axis")
    sought = to_tensor(values)
    same_device([sorted_sequence, sought], "searchsorted")
    sequence = sorted_sequence if sorter is None else sorted_sequence.gather(-1, sorter)
    if sequence.ndim > 1 and sequence.shape[:-1] != sought.shape[:-1]:
        raise ShapeError(
            f"searchsorted: sequences of shape {build.show(sequence.shape)} and values of "
            f"{build.show(sought.shape)} differ before the last axis"
        )
    dtype = result_type([(sequence.dtype, sequence.ndim), (sought.dtype, sought.ndim)])
    places = _search(sequence.cast(dtype), sought.cast(dtype), right or side == "right")
    return places.cast(dtypes.int32) if out_int32 else places


@open_to_eager
def bucketize(
    input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """The bucket of each element between ascending boundaries, by `searchsorted`.

    Shapes: (...) with (n,) → (...).

    >>> ogive.bucketize(Tensor([0, 4, 9]), Tensor([1, 5])).tolist()
    [0, 1, 2]

    Raises `ShapeError` unless the boundaries have one axis.
    """
    if not isinstance(boundaries, Core) or boundaries.ndim != 1:
        shape = getattr(boundaries, "shape", boundaries)
        raise ShapeError(f"bucketize: the boundaries must be a tensor of one axis, got {shape}")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


@open_to_eager
def isin(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Whether each element is among others, as bool; with `invert`, whether it is not.

    Shapes: that of `elements`. `assume_unique` changes nothing.

    >>> ogive.isin(Tensor([1, 2, 3]), Tensor([3, 1])).tolist()
    [True, False, True]
    """
    if not isinstance(elements, Core) and not isinstance(test_elements, Core):
        raise ArgumentTypeError("isin takes a tensor, and a tensor or a number beside it")
    device = memory_device(elements if isinstance(elements, Core) else test_elements)
    these, those = [
        to_tensor(each, None if isinstance(each, Core) else device)
        for each in (elements, test_elements)
    ]
    dtype = result_type([(these.dtype, these.ndim), (those.dtype, those.ndim)])
    these, those = these.cast(dtype), those.cast(dtype).ravel()
    count = to_integer(those.shape[0], "isin: the number of test elements")
    if count <= FEW:
        is_among = (these.unsqueeze(-1) == those).any(-1)
    else:
        ordered = those.sort().values
        place = searchsorted(ordered, these).minimum(count - 1)
        is_among = ordered.take(place) == these
    return is_among.logical_not() if invert else is_among


def _search(sequence: Tensor, sought: Tensor, right: bool) -> Tensor:
    """The number of elements of a sequence before each value, found from the highest bit down.

    count + 2ᵏ of them do if the last of those does; NaN comes after all.
    """
    length = to_integer(sequence.shape[-1], "searchsorted: the length of the sequence")
    with graph_lock:
        count = wrap(build.filled(dtypes.int64, 0, sought.node.shape), sought.device)
    step = 1 << length.bit_length() >> 1
    while step:
        more = count + step
        last = _at(sequence, more.minimum(length) - 1)
        comes_after = last > sought if right else last >= sought
        count = where((more <= length) & comes_after.logical_not(), more, count)
        step >>= 1
    return count


def _at(sequence: Tensor, places: Tensor) -> Tensor:
    """The elements at `places` of the sequence of each value."""
    return sequence.take(places) if sequence.ndim == 1 else sequence.gather(-1, places)
