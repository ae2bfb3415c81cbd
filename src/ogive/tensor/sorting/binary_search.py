"""Binary search in sorted sequences, and membership tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ogive.compat.methods.keywords import also
from ogive.errors import ArgumentError, ArgumentTypeError, ShapeError
from ogive.ir import dtype as dtypes
from ogive.ir.dtype import result_type
from ogive.live.registry import graph_lock
from ogive.tensor import build
from ogive.tensor.core import Core, same_device, to_integer, to_tensor, wrap
from ogive.tensor.method_functions import open_to_eager
from ogive.tensor.movement.joining import where

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

FEW = 32
"""Up to how many elements `isin` compares one by one. More are sorted and searched."""


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
    """Return the positions at which values would be inserted into ascending sequences, as int64.

    They are before equal elements, or after them with `right` or a `side` of "right". An unsorted
    sequence needs a `sorter`, the positions that sort it (`argsort`).

    Shapes: (n,) with (...) → (...); (..., n) with (..., m) → (..., m), with equal axes in front.

    >>> ogive.searchsorted(Tensor([1, 3, 5]), Tensor([3, 6])).tolist()
    [1, 3]
    >>> ogive.searchsorted(Tensor([1, 3, 5]), 3, right=True).item()
    2

    Raises `ShapeError` if the axes in front differ, and `ArgumentError` for another `side`.
    """
    if side not in (None, "left", "right") or (side == "left" and right):
        raise ArgumentError(f"searchsorted: side={side!r} contradicts right={right}")
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
    """Return the number of the bucket of each element between ascending boundaries.

    See `searchsorted`.

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
    """Whether each element is among `test_elements`, as bool; with `invert`, whether it is not.

    Shapes: that of `elements`. `assume_unique` has no effect.

    >>> ogive.isin(Tensor([1, 2, 3]), Tensor([3, 1])).tolist()
    [True, False, True]
    """
    if not isinstance(elements, Core) and not isinstance(test_elements, Core):
        raise ArgumentTypeError("isin takes two tensors, or a tensor and a number")
    these, those = to_tensor(elements), to_tensor(test_elements)
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
    """Return how many elements of a sequence come before each value.

    The count is found from its highest bit down: bit k is set if element count + 2ᵏ - 1 comes
    before the value. NaN comes after all numbers.
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
    """Return the elements at `places` of the sequence of each value."""
    return sequence.take(places) if sequence.ndim == 1 else sequence.gather(-1, places)
