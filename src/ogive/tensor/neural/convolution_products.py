"""Convolutions as products: windows of the input times filters, summed over channels and taps.

    x (batch, groups, 1, channels, taps₀, places₀, taps₁, places₁)
    w (1, groups, features, channels, taps₀, 1, taps₁, 1)      →   Σ over channels, taps₀, taps₁

The windows are movements (`sliding_windows.py`), so the loops of the product read the input itself.
Only a padded or strided input is materialized, in the order in which the product reads it.

All functions here work on nodes and are called with `graph_lock` held.
"""

from __future__ import annotations

import itertools
import math

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import history
from ogive.compiler.live.registry import make
from ogive.named import NamedTuple, record
from ogive.tensor import build
from ogive.tensor.movement.joining import join
from ogive.tensor.movement.sliding_windows import (
    Numbers,
    keep,
    lay_out,
    on_axis,
    pad_axis,
    pad_last,
    slide_last,
    split_axis,
)


@record(frozen=True)
class Method:
    """The windows and groups of a convolution, and the rule for its gradients.

    The gradient of the input is the transposed convolution of the upstream gradient.
    Differentiating op by op would materialize the product for every tap and then add them up.
    """

    pads: tuple[tuple[int, int], ...]
    strides: Numbers
    dilations: Numbers
    groups: int
    is_fixed = True

    def convolve(self, node: UOp, filters: UOp) -> UOp:
        """(batch, channels, ...), (features, channels / groups, ...) → (batch, features, ...)."""
        total = _product(self._windows(node, filters), filters, self.groups)
        if not node.dtype.is_float or not history.is_tracking():
            return total
        return make(Op.GRADIENT, total.dtype, (total, node, filters), self)

    def transpose(self, node: UOp, filters: UOp, lengths: Numbers) -> UOp:
        """The transpose: (batch, features, ...), (features, channels / groups, ...) →
        (batch, channels, *lengths)."""
        total = _transposed(self, node, filters, lengths)
        if not node.dtype.is_float or not history.is_tracking():
            return total
        return make(Op.GRADIENT, total.dtype, (total, node, filters), _Transpose(self))

    def gradients(self, node: UOp, upstream: UOp) -> tuple[UOp, UOp]:
        """The gradients of the input and the filters."""
        _, x, filters = node.src
        lengths = x.shape[2:]
        return self.transpose(upstream, filters, lengths), self.of_filters(x, filters, upstream)

    def of_filters(self, x: UOp, filters: UOp, upstream: UOp) -> UOp:
        """The gradient of the filters: windows times upstream, summed over batch and places."""
        view = self._windows(x, filters)
        batch, _, *pairs = view.shape
        features, channels, *_ = filters.shape
        each = features // self.groups
        full = (batch, self.groups, each, channels, *pairs)
        view = build.expand(build.reshape(view, (batch, self.groups, 1, channels, *pairs)), full)
        spread: list[int] = [length for count in pairs[1::2] for length in (1, count)]
        given = build.reshape(upstream, (batch, self.groups, each, 1, *spread))
        products = make(Op.MUL, x.dtype, (build.expand(given, full), view), None, full)
        total = build.reduce(products, Op.ADD, (0, *range(5, len(full), 2)))
        return build.reshape(total, filters.shape)

    def _windows(self, node: UOp, filters: UOp) -> UOp:
        node = pad_last(node, self.pads)
        return _windows(node, filters.shape[2:], self.strides, self.dilations)


@record(frozen=True)
class _Transpose:
    """The rule for the gradients of a transposed convolution."""

    method: Method
    is_fixed = True

    def gradients(self, node: UOp, upstream: UOp) -> tuple[UOp, UOp]:
        """The gradients of the input and the filters."""
        _, x, filters = node.src
        of_filters = self.method.of_filters(upstream, filters, x)
        return self.method.convolve(upstream, filters), of_filters


def _windows(node: UOp, taps: Numbers, strides: Numbers, dilations: Numbers) -> UOp:
    """The windows of an input, which is first laid out in memory if it is padded or strided."""
    if max(taps) == 1:
        view = slide_last(node, taps, strides, dilations)
        return keep(view) if max(strides) > 1 else view
    if strides[-1] > 1 or node.op is Op.PAD:
        node = lay_out(node, strides[-1])
    return slide_last(node, taps, strides, dilations)


def _product(view: UOp, filters: UOp, groups: int) -> UOp:
    """The product of windows (batch, channels, taps, places, ...) and filters (features, channels,
    taps, ...), summed over channels and taps."""
    batch, _, *pairs = view.shape
    features, channels, *taps = filters.shape
    each = features // groups
    spread: list[int] = [length for count in taps for length in (count, 1)]
    full = (batch, groups, each, channels, *pairs)
    view = build.expand(build.reshape(view, (batch, groups, 1, channels, *pairs)), full)
    filters = build.expand(build.reshape(filters, (1, groups, each, channels, *spread)), full)
    products = make(Op.MUL, view.dtype, (view, filters), None, full)
    total = build.reduce(products, Op.ADD, (3, *range(4, len(full), 2)))
    return build.reshape(total, (batch, features, *pairs[1::2]))


# Transposes


class _Remainders(NamedTuple):
    """Adjacent remainders (of places by the stride, along an axis) that get equally many taps of
    the same elements.

    Place p = stride·q + r gets element q + offset - t·dilation' times tap phase + t·stride', for
    t < taps, where stride' and dilation' are divided by their common divisor. `phase` is that of
    the first remainder and increases by 1 for each further one. This holds for q < `reached`, with
    the input padded by `pads`; places beyond get nothing.
    """

    number: int
    phase: int
    taps: int
    offset: int
    reached: int
    pads: tuple[int, int]


def _remainders(
    method: Method, axis: int, taps: int, places: int, length: int
) -> list[_Remainders]:
    """All remainders of an axis, for its taps and places and the length of the result."""
    stride, dilation = method.strides[axis], method.dilations[axis]
    step, distance = _coprime(stride, dilation)
    remainders: list[_Remainders] = []
    for remainder in range(stride):
        base = remainder + method.pads[axis][0]
        phase = base * step // stride * pow(distance, -1, step) % step
        offset, beside = divmod(base - phase * dilation, stride)
        own = 0 if beside else max(-(-(taps - phase) // step), 0)
        reach = distance * (own - 1)
        reached = max(min(-(-length // stride), places + reach - offset), 0) if own else 0
        pads = (reach - offset, reached + offset - places)
        each = _Remainders(1, phase, own, offset, reached, pads)
        last = remainders[-1] if remainders else None
        if last and last[2:] == each[2:] and last.phase + last.number == phase:
            remainders[-1] = last._replace(number=last.number + 1)
        else:
            remainders.append(each)
    return remainders


def _coprime(stride: int, dilation: int) -> tuple[int, int]:
    common = math.gcd(stride, dilation)
    return stride // common, dilation // common


def _transposed(method: Method, node: UOp, filters: UOp, lengths: Numbers) -> UOp:
    """A transposed convolution, as convolutions whose results are interleaved.

    The places whose remainders by the stride get equally many taps of the same elements are a
    convolution of the input with those taps, with windows read backwards.

        w (features, channels, t·stride + r)   →   (channels·r, features, t)
    """
    strides, axes = method.strides, len(lengths)
    choices = [
        _remainders(method, axis, *sizes)
        for axis, sizes in enumerate(zip(filters.shape[2:], node.shape[2:], lengths, strict=True))
    ]
    counts = tuple([-(-length // stride) for length, stride in zip(lengths, strides, strict=True)])
    padded = _Padded(node, choices)
    parts = [_part(method, padded, filters, each, counts) for each in itertools.product(*choices)]
    for axis in reversed(range(axes)):
        size = len(choices[axis])
        parts = [
            join(parts[first : first + size], 2 + axis) for first in range(0, len(parts), size)
        ]
    (total,) = parts
    if max(strides) > 1:
        order = [axis for each in range(axes) for axis in (2 + axes + each, 2 + each)]
        total = build.permute(total, (0, 1, *order))
    joined = [count * stride for count, stride in zip(counts, strides, strict=True)]
    total = build.reshape(total, (*total.shape[:2], *joined))
    ends = [(0, length - full) for length, full in zip(lengths, joined, strict=True)]
    return pad_last(total, ends)


class _Padded:
    """An input that is materialized once, with the most padding that any part needs."""

    def __init__(self, node: UOp, choices: list[list[_Remainders]]) -> None:
        self.node = node
        self._widest = [
            (max(0, *[each.pads[0] for each in axis]), max(0, *[each.pads[1] for each in axis]))
            for axis in choices
        ]
        self._kept = keep(pad_last(node, self._widest)) if any(map(any, self._widest)) else node

    def by(self, pads: list[tuple[int, int]]) -> UOp:
        """The input padded by `pads`; a negative length cuts."""
        if max(map(max, pads)) <= 0:
            return pad_last(self.node, pads)
        rest = [
            (before - most_before, after - most_after)
            for (before, after), (most_before, most_after) in zip(pads, self._widest, strict=True)
        ]
        return pad_last(self._kept, rest)


def _part(
    method: Method, padded: _Padded, filters: UOp, chosen: tuple[_Remainders, ...], counts: Numbers
) -> UOp:
    """The places of some remainders, (batch, channels, remainders..., counts...)."""
    batch, channels = padded.node.shape[0], filters.shape[1] * method.groups
    shape = (batch, channels, *[each.number for each in chosen])
    if not all(each.reached for each in chosen):
        return build.filled(padded.node.dtype, 0, (*shape, *counts))
    steps, distances = zip(*map(_coprime, method.strides, method.dilations), strict=True)
    own = _own_filters(filters, chosen, steps, method.groups)
    view = padded.by([each.pads for each in chosen])
    view = slide_last(view, own.shape[2:], (1,) * len(counts), distances)
    view = build.flip(view, tuple(range(2, len(view.shape), 2)))
    total = _product(view, own, method.groups)
    if max(method.strides) > 1:
        total = keep(total)  # else the interleaving kernel would compute it for all places
    ends = [(0, count - each.reached) for each, count in zip(chosen, counts, strict=True)]
    return pad_last(build.reshape(total, (*shape, *total.shape[2:])), ends)


def _own_filters(filters: UOp, chosen: tuple[_Remainders, ...], steps: Numbers, groups: int) -> UOp:
    """(features, channels, ...) → (groups·channels·remainders..., features / groups, taps...)."""
    features, channels, *_ = filters.shape
    for axis, (each, step) in enumerate(zip(chosen, steps, strict=True)):
        place = 2 + 2 * axis
        end = each.phase + each.taps * step - filters.shape[place]
        filters = pad_axis(filters, place, -each.phase, end)
        filters = split_axis(filters, place, (each.taps, step))
        filters = build.shrink(filters, on_axis(filters.shape, place + 1, (0, each.number)))
    filters = split_axis(filters, 0, (groups, features // groups))
    rank = len(filters.shape)
    filters = build.permute(filters, (0, 2, *range(4, rank, 2), 1, *range(3, rank, 2)))
    remainders = math.prod(each.number for each in chosen)
    if remainders > 1 < channels:
        filters = keep(filters)  # else their rows would not be contiguous for the product
    taps = [each.taps for each in chosen]
    return build.reshape(filters, (groups * channels * remainders, features // groups, *taps))
