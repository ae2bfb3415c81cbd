"""Basic indices: integers, slices with steps, None and Ellipsis.

An index becomes a list of movements from the tensor to what it selects:

    x[1:8:3]  of length 10   →   SHRINK (1, 10) · RESHAPE (3, 3) · SHRINK (0, 1) · RESHAPE (3,)

A step cuts the axis into blocks of that size, and takes one column of them. An incomplete last
block is filled up with elements before or behind the slice, and padded only where there are none.

Bounds may depend on variables. They are clipped to the axis as Python's are:

    x[n:]     of length 10   →   SHRINK (n, 10), where n <= 10
"""

from __future__ import annotations

import functools
from typing import Any

from ogive.errors import ArgumentError, IndexRangeError
from ogive.ir.ops import Op
from ogive.ir.shape import Dim, Shape, as_length, greatest, least
from ogive.named import NamedTuple
from ogive.tensor import build, lengths
from ogive.tensor.core import to_dim, to_integer
from ogive.tensor.memory.movement_chains import View

WHOLE = slice(None)


class Part(NamedTuple):
    """The part of one axis that an index selects: a window, maybe reversed, maybe in blocks."""

    window: tuple[Dim, Dim]  # the bounds to cut out
    length: Dim  # how many elements the result has
    flipped: bool = False
    stride: int = 1  # the length of the blocks, each of which gives one element
    missing: Dim = 0  # how many elements to append to complete the last block
    pick: int = 0  # the position of that element in its block


def to_view(shape: Shape, index: Any) -> View:
    """Return the view that `index` selects from a tensor of `shape`."""
    entries = index if isinstance(index, tuple) else (index,)
    plain = _plain_entries(entries)
    if plain is None or not all(size.__class__ is int for size in shape):
        return _make_view(shape, entries)
    return _known_view(shape, plain)


def _plain_entries(entries: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Return an index of integers and slices as a hashable key; None for another index."""
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
    """Return the view of a static index, cached for loops that use it again."""
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
    """Return the index with one entry per axis, and None for each new axis."""
    indexed = sum([entry is not None and entry is not Ellipsis for entry in index])
    if indexed > len(shape):
        raise IndexRangeError(
            f"too many indices: {indexed} for the {len(shape)} axes of shape {build.show(shape)}"
        )
    ellipses = [number for number, entry in enumerate(index) if entry is Ellipsis]
    if len(ellipses) > 1:
        raise ArgumentError("an index may hold only one Ellipsis (...)")
    number = ellipses[0] if ellipses else len(index)
    whole = [WHOLE] * (len(shape) - indexed)
    return [*index[:number], *whole, *index[number + 1 :]]


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
    """Return the part of a slice with known bounds.

    An incomplete last block is filled up with elements around the slice, if there are any.
    """
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
    """Return the part of a slice where a bound or the length of the axis is symbolic."""
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
    """Return a bound of a slice plus `after`, counted from the front and clipped to the axis.

    Raises `IndexRangeError` unless the sign of the bound is the same for every value.
    """
    if least(bound) >= 0:
        return lengths.smaller(as_length(bound + after), size)
    if greatest(bound) < 0:
        return lengths.larger(as_length(bound + size + after), 0)
    raise IndexRangeError(
        f"the bound {bound}{lengths.span(bound)} of the slice of axis {axis} may or may not be "
        "negative, so it is not known whether it counts from the front or from the back"
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
