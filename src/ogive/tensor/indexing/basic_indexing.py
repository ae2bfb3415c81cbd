"""Basic indices: integers, slices with steps, None and Ellipsis.

An index becomes a list of movements from the tensor to what it selects:

    x[1:8:3]  of length 10   →   SHRINK (1, 10) · RESHAPE (3, 3) · SHRINK (0, 1) · RESHAPE (3,)

A step reads one column of blocks of that size. A last block that is not whole is completed with
elements before or after the slice, and padded only if there are none.

Bounds may depend on variables; they are clipped to the axis as in Python:

    x[n:]     of length 10   →   SHRINK (n, 10), where n <= 10
"""

from __future__ import annotations

import functools
from typing import Any

from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Dim, Shape, as_length, greatest, least
from ogive.errors import ArgumentError, IndexRangeError
from ogive.named import NamedTuple
from ogive.tensor import build, lengths
from ogive.tensor.core import to_dim, to_integer
from ogive.tensor.memory.movement_chains import View

WHOLE = slice(None)


class Part(NamedTuple):
    """The part of one axis that an index takes: a window, reversed or not, in blocks or not."""

    window: tuple[Dim, Dim]  # the bounds to cut
    length: Dim  # the number of elements of the result
    flipped: bool = False
    stride: int = 1  # the length of the blocks, from each of which one element is taken
    missing: Dim = 0  # the elements to append so that the last block is whole
    pick: int = 0  # the element to take from each block


def to_view(shape: Shape, index: Any) -> View:
    """The view that `index` selects from a tensor of `shape`."""
    entries = index if isinstance(index, tuple) else (index,)
    plain = _plain_entries(entries)
    if plain is None or not all(size.__class__ is int for size in shape):
        return _make_view(shape, entries)
    return _known_view(shape, plain)


def _plain_entries(entries: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """An index of integers and slices of integers as a cache key; None for others."""
    plain: list[Any] = []
    for entry in entries:
        if entry.__class__ is int:
            plain.append(entry)
        elif entry.__class__ is slice:
            bounds = (entry.start, entry.stop, entry.step)
            if not all(bound is None or bound.__class__ is int for bound in bounds):
                return None
            plain.append(bounds)
        else:
            return None
    return tuple(plain)


@functools.lru_cache(maxsize=4096)
def _known_view(shape: Shape, plain: tuple[Any, ...]) -> View:
    """The view of an index of constants, cached since loops use the same index again."""
    entries = [slice(*entry) if isinstance(entry, tuple) else entry for entry in plain]
    return _make_view(shape, tuple(entries))


def _make_view(shape: Shape, index: tuple[Any, ...]) -> View:
    entries = _complete(shape, index)
    parts: list[Part] = []
    result: list[Dim] = []
    for entry in entries:
        if entry is None:
            result.append(1)
            continue
        axis = len(parts)
        if isinstance(entry, slice):
            parts.append(_slice(entry, shape[axis], axis))
            result.append(parts[-1].length)
        else:
            position = _position(entry, shape[axis], axis, shape)
            parts.append(Part((position, as_length(position + 1)), 1))
    view = View(shape)
    windows = tuple([part.window for part in parts])
    view.add(Op.SHRINK, windows, tuple([as_length(high - low) for low, high in windows]))
    view.add(Op.FLIP, tuple([axis for axis, part in enumerate(parts) if part.flipped]), view.shape)
    missing = tuple([(0, part.missing) for part in parts])
    whole = [as_length(size + after) for size, (_, after) in zip(view.shape, missing, strict=True)]
    view.add(Op.PAD, missing, tuple(whole))
    if any(part.stride > 1 for part in parts):
        blocks = tuple([size for part in parts for size in (part.length, part.stride)])
        picks = [((0, part.length), (part.pick, part.pick + 1)) for part in parts]
        view.add(Op.RESHAPE, blocks, blocks)
        chosen = tuple([size for part in parts for size in (part.length, 1)])
        view.add(Op.SHRINK, tuple([pair for pairs in picks for pair in pairs]), chosen)
    view.add(Op.RESHAPE, tuple(result), tuple(result))
    return view


def _complete(shape: Shape, index: tuple[Any, ...]) -> list[Any]:
    """The index with one entry per axis, and None for each new axis."""
    consumed = sum([entry is not None and entry is not Ellipsis for entry in index])
    if consumed > len(shape):
        raise IndexRangeError(
            f"too many indices: {consumed} for the {len(shape)} axes of shape {build.show(shape)}"
        )
    ellipses = [place for place, entry in enumerate(index) if entry is Ellipsis]
    if len(ellipses) > 1:
        raise ArgumentError("an index may hold only one Ellipsis (...)")
    place = ellipses[0] if ellipses else len(index)
    omitted = [WHOLE] * (len(shape) - consumed)
    return [*index[:place], *omitted, *index[place + 1 :]]


def _slice(entry: slice, size: Dim, axis: int) -> Part:
    if entry == WHOLE:
        return Part((0, size), size)
    step = 1 if entry.step is None else to_integer(entry.step, "the step of a slice")
    if step == 0:
        raise ArgumentError(f"the slice of axis {axis} has the step 0")
    start, stop = [
        None if bound is None else to_dim(bound, "a bound of a slice")
        for bound in (entry.start, entry.stop)
    ]
    if lengths.is_symbolic(start, stop, size):
        return _symbolic_part(start, stop, step, size, axis)
    first, end, step = slice(start, stop, step).indices(size)
    return _known_part(first, step, len(range(first, end, step)), size)


def _known_part(first: int, step: int, length: int, size: int) -> Part:
    """The part of a slice with constant bounds. A last block that is not whole is completed with
    elements around the slice, if there are any."""
    if length == 0:
        return Part((0, 0), 0)
    stride = abs(step) if length > 1 else 1
    last = first + (length - 1) * step
    low, high = min(first, last), max(first, last) + 1
    behind = min(size - high, stride - 1)
    ahead = min(low, stride - 1 - behind)
    flipped = step < 0 and length > 1
    return Part(
        window=(low - ahead, high + behind),
        length=length,
        flipped=flipped,
        stride=stride,
        missing=stride - 1 - behind - ahead,
        pick=behind if flipped else ahead,
    )


def _symbolic_part(start: Dim | None, stop: Dim | None, step: int, size: Dim, axis: int) -> Part:
    """The part of a slice whose bounds or axis depend on variables."""
    if step > 0:
        low = 0 if start is None else _from_front(start, 0, size, axis)
        high = size if stop is None else _from_front(stop, 0, size, axis)
    else:
        low = 0 if stop is None else _from_front(stop, 1, size, axis)
        high = size if start is None else _from_front(start, 1, size, axis)
    window = lengths.larger(as_length(high - low), 0)
    stride = abs(step)
    count = as_length((window + (stride - 1)) // stride)
    missing = as_length(count * stride - window)
    return Part((low, as_length(low + window)), count, step < 0, stride, missing)


def _from_front(bound: Dim, after: int, size: Dim, axis: int) -> Dim:
    """A bound of a slice plus `after`, counted from the front and clipped to the axis."""
    if least(bound) >= 0:
        return lengths.smaller(as_length(bound + after), size)
    if greatest(bound) < 0:
        return lengths.larger(as_length(bound + size + after), 0)
    raise IndexRangeError(
        f"the bound {bound}{lengths.span(bound)} of the slice of axis {axis} may or may not be "
        "negative, and so count from the front or from the back"
    )


def _position(entry: Any, size: Dim, axis: int, shape: Shape) -> Dim:
    given = position = to_dim(entry, "an index")
    if greatest(position) < 0:
        position = as_length(position + size)
    if not (lengths.at_most(0, position) and lengths.at_most(as_length(position + 1), size)):
        is_known = not lengths.is_symbolic(given, size)
        raise IndexRangeError(
            f"index {given}{lengths.span(given)} {'is' if is_known else 'may be'} out of range for "
            f"axis {axis} of length {size}{lengths.span(size)} of shape {build.show(shape)}"
        )
    return position
