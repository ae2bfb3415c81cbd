"""Padding in all its modes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir.dtype import Scalar
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.shape import Dim, Shape, as_length, greatest, least
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentError, ArgumentTypeError, ShapeError
from ogive.tensor import build, lengths
from ogive.tensor.autocast_dtypes import widen
from ogive.tensor.core import to_dim, wrap
from ogive.tensor.movement.basic_movements import to_pairs
from ogive.tensor.movement.joining import join

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

MODES = ("constant", "reflect", "replicate", "circular")


def pad(
    self: Tensor,
    pad: Sequence[Any],
    mode: str = "constant",
    value: Scalar | None = None,
) -> Tensor:
    """Add elements at the ends of axes; a negative number removes elements.

    `pad` is flat, as in PyTorch, with two numbers per axis from the last axis back: (before, after)
    or (before, after, before of the last axis but one, ...). Or it is a pair (before, after) for
    each axis from the first to the last, as in NumPy.

    `mode` chooses the new elements: "constant" `value` (0 by default), "reflect" the elements
    mirrored at the last one, "replicate" the last one, "circular" those at the other end.
    Shapes: (a, b) → (before₀ + a + after₀, before₁ + b + after₁).

    >>> Tensor([1, 2, 3]).pad((1, 2), value=7).tolist()
    [7, 1, 2, 3, 7, 7]
    >>> Tensor([1, 2, 3]).pad((2, 1), "reflect").tolist()
    [3, 2, 1, 2, 3, 2]
    >>> Tensor([[1, 2], [3, 4]]).pad(((0, 1), (2, 0))).shape
    (3, 4)

    Raises `ShapeError` for too many numbers, or more elements than there are to mirror or
    repeat, `ArgumentError` for an unknown mode.
    """
    if mode not in MODES:
        raise ArgumentError(f"pad: mode must be one of {', '.join(MODES)}; got {mode!r}")
    if mode != "constant" and value:
        raise ArgumentError(f"pad: value={value} goes with mode 'constant', not {mode!r}")
    source = widen(self) if mode in ("reflect", "replicate") else self
    with graph_lock:
        node = source.node
        pairs = _to_pairs(pad, node.shape)
        _check_pairs(pairs, node.shape)
        added = tuple([(_added(before), _added(after)) for before, after in pairs])
        if mode == "constant":
            node = build.pad(_cut(node, pairs), added, 0 if value is None else value)
        else:
            # Elements that are cut off still show in a mirror, but not in a circle.
            node = _cut(node, pairs) if mode == "circular" else node
            for axis, pair in enumerate(added):
                node = _extend(node, axis, pair, mode)
            node = node if mode == "circular" else _cut(node, pairs)
        return wrap(node, self.device)


def _to_pairs(given: Any, shape: Shape) -> build.Pairs:
    """One pair per axis of `shape`."""
    if not isinstance(given, tuple | list):
        raise ArgumentTypeError(
            f"pad takes numbers from the last axis on, or one pair per axis, got {given!r}"
        )
    if any(isinstance(entry, tuple | list) for entry in given):
        return to_pairs(given, shape, "pad")
    numbers = [to_dim(entry, "pad: a length") for entry in given]
    if len(numbers) % 2 or len(numbers) > 2 * len(shape):
        raise ShapeError(
            f"pad: {len(numbers)} numbers were given for the {len(shape)} axes of shape "
            f"{build.show(shape)}; expected two for each axis that is padded"
        )
    pairs = [(numbers[i], numbers[i + 1]) for i in range(0, len(numbers), 2)]
    return (*[(0, 0)] * (len(shape) - len(pairs)), *reversed(pairs))


def _check_pairs(pairs: build.Pairs, shape: Shape) -> None:
    for axis, (pair, size) in enumerate(zip(pairs, shape, strict=True)):
        for number in pair:
            if least(number) < 0 < greatest(number):
                raise ArgumentError(
                    f"pad: the length {number}{lengths.span(number)} for axis {axis} may or may "
                    "not be negative, and so add elements or cut them off"
                )
        cut = as_length(-sum([number for number in pair if least(number) < 0]))
        if not lengths.at_most(cut, size):
            raise ShapeError(
                f"pad: {pair} cuts {cut} elements off axis {axis} of shape {build.show(shape)}"
            )


def _added(number: Dim) -> Dim:
    return number if least(number) >= 0 else 0


def _cut(node: UOp, pairs: build.Pairs) -> UOp:
    """Remove as many elements as the negative lengths say."""
    windows = [
        (
            as_length(-before) if least(before) < 0 else 0,
            as_length(size + after) if least(after) < 0 else size,
        )
        for size, (before, after) in zip(node.shape, pairs, strict=True)
    ]
    return build.shrink(node, tuple(windows))


def _extend(node: UOp, axis: int, pair: tuple[Dim, Dim], mode: str) -> UOp:
    """Extend one axis with elements of its own."""
    size = node.shape[axis]
    before, after = pair
    if pair == (0, 0):
        return node
    most = {"reflect": size - 1, "replicate": None, "circular": size}[mode]
    for count in pair:
        if size == 0 or (most is not None and not lengths.at_most(count, most)):
            raise ShapeError(
                f"pad: mode {mode!r} has {0 if size == 0 else most} elements of axis {axis} of "
                f"shape {build.show(node.shape)} to add, and {count} are asked for"
            )

    def part(begin: Dim, end: Dim) -> UOp:
        window = [(0, length) for length in node.shape]
        window[axis] = (as_length(begin), as_length(end))
        return build.shrink(node, tuple(window))

    if mode == "reflect":
        front = build.flip(part(1, before + 1), (axis,))
        back = build.flip(part(size - 1 - after, size - 1), (axis,))
    elif mode == "circular":
        front, back = part(size - before, size), part(0, after)
    else:
        front, back = [
            build.expand(edge, (*edge.shape[:axis], count, *edge.shape[axis + 1 :]))
            for edge, count in ((part(0, 1), before), (part(size - 1, size), after))
        ]
    return join([front, node, back], axis)
