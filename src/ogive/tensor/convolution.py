"""Convolutions as products: windows of the input times the weights, summed over channels and taps.

    x (batch, groups, 1, channels, taps₀, places₀, taps₁, places₁)
    w (1, groups, features, channels, taps₀, 1, taps₁, 1)      →   Σ over channels, taps₀, taps₁

The windows are movement (`windows.py`), so the loops of the product read the input itself. Padding
is the only thing that is put into memory, in the order in which the product reads it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from ogive.ir import dtype as dtypes
from ogive.ir import history
from ogive.ir.dtype import DType
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.registry import graph_lock, make
from ogive.ir.shape import Shape
from ogive.tensor import build
from ogive.tensor.arithmetic import number_dtype
from ogive.tensor.core import Core, same_device, to_integer, wrap
from ogive.tensor.windows import (
    Numbers,
    batched,
    join_axes,
    keep,
    lay_out,
    pad_axis,
    pad_last,
    per_axis,
    place_count,
    slide_last,
    spatial_lengths,
    split_axis,
)

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


class Convolution(Core):
    """Convolutions along one, two and three axes, and their transposes."""

    __slots__ = ()

    def conv1d(
        self,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        """Each window of the input times `weight`, summed, plus `bias`; see `conv2d`.

        Shapes: (batch, channels, length) with weight (features, channels / groups, taps) →
        (batch, features, places).

        >>> Tensor([[[1.0, 2.0, 3.0]]]).conv1d(Tensor([[[1.0, 10.0]]])).tolist()
        [[[21.0, 32.0]]]
        """
        return _convolve(self, weight, bias, (stride, padding, dilation, groups), 1)

    def conv2d(
        self,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        """Each window of the input times `weight`, summed over channels and taps, plus `bias`.

        Shapes: (batch, channels, h, w) with weight (features, channels / groups, taps, taps) and
        bias (features,) → (batch, features, places, places), the batch being optional. There are
        ⌊(length + 2·padding - dilation·(taps - 1) - 1) / stride⌋ + 1 places along an axis.
        `stride`, `padding` and `dilation` are integers or one for each axis; `padding` may be
        "valid" (none) or "same" (as many places as the input is long). In float16 and bfloat16
        sums are made in float32.

        >>> image = ogive.ones(1, 3, 8, 8)
        >>> image.conv2d(ogive.ones(4, 3, 3, 3), stride=2, padding=1).shape
        (1, 4, 4, 4)

        Raises `ShapeError` for channels that do not fit or a window longer than the input,
        `DtypeError` unless all dtypes are the same.
        """
        return _convolve(self, weight, bias, (stride, padding, dilation, groups), 2)

    def conv3d(
        self,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        """Each window of the input times `weight`, summed, plus `bias`; see `conv2d`.

        Shapes: (batch, channels, d, h, w) with weight (features, channels / groups, three times
        taps) → (batch, features, three times places).

        >>> ogive.ones(1, 2, 4, 4, 4).conv3d(ogive.ones(5, 2, 3, 3, 3), padding="same").shape
        (1, 5, 4, 4, 4)
        """
        return _convolve(self, weight, bias, (stride, padding, dilation, groups), 3)

    def conv_transpose1d(
        self,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Tensor:
        """`weight` times each element of the input, added up where they overlap; see
        `conv_transpose2d`.

        Shapes: (batch, channels, length) with weight (channels, features / groups, taps) →
        (batch, features, places).

        >>> Tensor([[[1.0, 2.0]]]).conv_transpose1d(Tensor([[[1.0, 10.0]]])).tolist()
        [[[1.0, 12.0, 20.0]]]
        """
        options = (stride, padding, output_padding, groups, dilation)
        return _convolve_transposed(self, weight, bias, options, 1)

    def conv_transpose2d(
        self,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Tensor:
        """`weight` times each element of the input, added up where they overlap, plus `bias`: what
        carries gradients back through `conv2d`.

        Shapes: (batch, channels, h, w) with weight (channels, features / groups, taps, taps) and
        bias (features,) → (batch, features, places, places). There are (length - 1)·stride -
        2·padding + dilation·(taps - 1) + output_padding + 1 places along an axis.

        >>> image = ogive.ones(1, 4, 4, 4)
        >>> image.conv_transpose2d(ogive.ones(4, 3, 2, 2), stride=2).shape
        (1, 3, 8, 8)

        Raises `ShapeError` for channels that do not fit or a result without elements,
        `ArgumentError` for an `output_padding` that is neither less than the stride nor the
        dilation, `DtypeError` unless all dtypes are the same.
        """
        options = (stride, padding, output_padding, groups, dilation)
        return _convolve_transposed(self, weight, bias, options, 2)

    def conv_transpose3d(
        self,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Tensor:
        """`weight` times each element of the input, added up where they overlap; see
        `conv_transpose2d`.

        Shapes: (batch, channels, d, h, w) with weight (channels, features / groups, three times
        taps) → (batch, features, three times places).

        >>> ogive.ones(1, 2, 2, 2, 2).conv_transpose3d(ogive.ones(2, 1, 3, 3, 3)).shape
        (1, 1, 4, 4, 4)
        """
        options = (stride, padding, output_padding, groups, dilation)
        return _convolve_transposed(self, weight, bias, options, 3)


def _convolve(
    x: Core, weight: Any, bias: Any, options: tuple[Any, Any, Any, Any], axes: int
) -> Tensor:
    name = f"conv{axes}d"
    device = _check_operands(x, weight, bias, axes, name)
    strides = per_axis(options[0], axes, f"{name}: stride")
    dilations = per_axis(options[2], axes, f"{name}: dilation")
    groups = _to_groups(options[3], name)
    with graph_lock:
        node, filters = x.node, weight.node
        features, channels, *taps = filters.shape
        own = node.shape[len(node.shape) - axes - 1]
        if own != channels * groups:
            raise ShapeError(
                f"{name}: input {build.show(node.shape)} has {own} channels, and weight "
                f"{build.show(filters.shape)} with groups={groups} takes {channels * groups}"
            )
        _check_features(features, groups, bias, name)
        pads = _to_pads(options[1], tuple(taps), strides, dilations, name)
        _check_room(node.shape, pads, tuple(taps), dilations, name)
        dtype = node.dtype
        node, filters = _widen(batched(node, axes)), _widen(filters)
        method = _Method(tuple(pads), strides, dilations, groups)
        return _finish(method.convolve(node, filters), x, bias, axes, dtype, device)


@dataclass(frozen=True)
class _Method:
    """How windows are taken and channels grouped; the rule for gradients of such a convolution.

    The gradient of the input is a convolution itself, of the upstream with the filters backwards:

        x[p + t - pad] · w[t] → y[p]    gives back    y[q + pad - t] · w[t] → x[q]

    Differentiating op by op would put the product into memory for every tap and then add it up.
    """

    pads: tuple[tuple[int, int], ...]
    strides: Numbers
    dilations: Numbers
    groups: int

    def convolve(self, node: UOp, filters: UOp) -> UOp:
        """(batch, channels, ...), (features, channels / groups, ...) → (batch, features, ...)."""
        total = _product(self.windows(node, filters), filters, self.groups, len(self.strides))
        if max(self.strides) > 1 or not node.dtype.is_float or not history.is_tracking():
            return total
        return make(Op.GRADIENT, total.dtype, (total, node, filters), self)

    def windows(self, node: UOp, filters: UOp) -> UOp:
        taps = filters.shape[2:]
        return _windows(pad_last(node, self.pads), taps, self.strides, self.dilations)

    def gradients(self, node: UOp, upstream: UOp) -> tuple[UOp, UOp]:
        """What the input and the filters get."""
        _, x, filters = node.src
        groups = self.groups
        features, channels, *taps = filters.shape
        reaches = [d * (count - 1) for d, count in zip(self.dilations, taps, strict=True)]
        around = [
            (reach - before, reach - after)
            for reach, (before, after) in zip(reaches, self.pads, strict=True)
        ]
        turned = build.reshape(filters, (groups, features // groups, channels, *taps))
        rank = len(turned.shape)
        turned = build.permute(turned, (0, 2, 1, *range(3, rank)))
        turned = build.flip(turned, tuple(range(3, rank)))
        turned = build.reshape(turned, (groups * channels, features // groups, *taps))
        back = _Method(tuple(around), self.strides, self.dilations, groups)
        return back.convolve(upstream, turned), self._of_filters(x, filters, upstream)

    def _of_filters(self, x: UOp, filters: UOp, upstream: UOp) -> UOp:
        """The windows times the upstream, summed over the batch and all places."""
        view = self.windows(x, filters)
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


def _windows(node: UOp, taps: Numbers, strides: Numbers, dilations: Numbers) -> UOp:
    """The windows, and in memory whatever of them is not where the input is."""
    if max(taps) == 1:
        view = slide_last(node, taps, strides, dilations)
        return keep(view) if max(strides) > 1 else view
    if strides[-1] > 1 or node.op is Op.PAD:
        node = lay_out(node, strides[-1])
    return slide_last(node, taps, strides, dilations)


def _product(view: UOp, filters: UOp, groups: int, axes: int) -> UOp:
    """(batch, channels, taps, places, ...) and (features, channels, taps, ...), summed."""
    batch, _, *pairs = view.shape
    features, channels, *taps = filters.shape
    each = features // groups
    spread: list[int] = [length for count in taps for length in (count, 1)]
    full = (batch, groups, each, channels, *pairs)
    view = build.expand(build.reshape(view, (batch, groups, 1, channels, *pairs)), full)
    filters = build.expand(build.reshape(filters, (1, groups, each, channels, *spread)), full)
    products = make(Op.MUL, view.dtype, (view, filters), None, full)
    total = build.reduce(products, Op.ADD, (3, *range(4, 4 + 2 * axes, 2)))
    return build.reshape(total, (batch, features, *pairs[1::2]))


def _finish(total: UOp, x: Core, bias: Any, axes: int, dtype: DType, device: str) -> Tensor:
    """Bias added, converted back, without the batch axis if there was none."""
    if bias is not None:
        line = build.reshape(_widen(bias.node), (bias.node.shape[0], *(1,) * axes))
        total = make(Op.ADD, total.dtype, (total, build.expand_to(line, total.shape)))
    if x.ndim == axes + 1:
        total = build.reshape(total, total.shape[1:])
    return wrap(build.cast(total, dtype), device)


def _convolve_transposed(
    x: Core, weight: Any, bias: Any, options: tuple[Any, Any, Any, Any, Any], axes: int
) -> Tensor:
    """Place p = stride·q + r gets taps t·stride + r of the input at q - t: for each remainder r a
    convolution of its own, all of them in one product.

        w (channels, features, t·stride + r)   →   (features·r, channels, t), t backwards
    """
    name = f"conv_transpose{axes}d"
    device = _check_operands(x, weight, bias, axes, name)
    strides = per_axis(options[0], axes, f"{name}: stride")
    pads = per_axis(options[1], axes, f"{name}: padding", 0)
    extras = per_axis(options[2], axes, f"{name}: output_padding", 0)
    groups = _to_groups(options[3], name)
    dilations = per_axis(options[4], axes, f"{name}: dilation")
    with graph_lock:
        node, filters = x.node, weight.node
        channels, each = filters.shape[:2]
        own = node.shape[len(node.shape) - axes - 1]
        if own != channels or channels % groups:
            raise ShapeError(
                f"{name}: input {build.show(node.shape)} has {own} channels, and weight "
                f"{build.show(filters.shape)} takes {channels}, in groups={groups} of equal size"
            )
        _check_features(each * groups, groups, bias, name)
        _check_extras(extras, strides, dilations, name)
        dtype = node.dtype
        filters = _dilate(_widen(filters), dilations)
        reach = filters.shape[2:]
        lengths = spatial_lengths(node.shape, axes, name)
        places = tuple(
            [
                (length - 1) * stride - 2 * pad + taps + extra
                for length, stride, pad, taps, extra in zip(
                    lengths, strides, pads, reach, extras, strict=True
                )
            ]
        )
        if min(places) < 1:
            raise ShapeError(
                f"{name}: input {build.show(node.shape)} with padding={pads} gives the lengths "
                f"{build.show(places)}; each must be at least 1"
            )
        filters = _phases(filters, strides, groups)
        taps = filters.shape[2:]
        around = [(count - 1, count - 1) for count in taps]
        view = pad_last(_widen(batched(node, axes)), around)
        view = _windows(view, taps, (1,) * axes, (1,) * axes)
        total = _interleave(_product(view, filters, groups, axes), each * groups, strides)
        cuts = [
            (-pad, length + pad - full)
            for pad, length, full in zip(pads, places, total.shape[2:], strict=True)
        ]
        return _finish(pad_last(total, cuts), x, bias, axes, dtype, device)


def _dilate(filters: UOp, dilations: Numbers) -> UOp:
    """Zeros between the taps."""
    for axis, dilation in enumerate(dilations, 2):
        if dilation > 1:
            filters = split_axis(filters, axis, (filters.shape[axis], 1))
            filters = join_axes(pad_axis(filters, axis + 1, 0, dilation - 1), axis)
            filters = pad_axis(filters, axis, 0, 1 - dilation)
    return filters


def _phases(filters: UOp, strides: Numbers, groups: int) -> UOp:
    """(channels, each, taps, ...) → (groups·each·strides..., channels / groups, t, ...)."""
    channels, each, *taps = filters.shape
    counts = [-(-count // stride) for count, stride in zip(taps, strides, strict=True)]
    ends = [(0, t * s - count) for t, s, count in zip(counts, strides, taps, strict=True)]
    filters = pad_last(filters, ends)
    pairs = [length for pair in zip(counts, strides, strict=True) for length in pair]
    filters = build.reshape(filters, (groups, channels // groups, each, *pairs))
    rank = len(filters.shape)
    order = (0, 2, *range(4, rank, 2), 1, *range(3, rank, 2))
    filters = build.permute(filters, order)
    filters = build.flip(filters, tuple(range(rank - len(counts), rank)))
    if max(strides) > 1:
        filters = keep(filters)  # else the product would find no rows in them
    features = groups * each * math.prod(strides)
    return build.reshape(filters, (features, channels // groups, *counts))


def _interleave(total: UOp, features: int, strides: Numbers) -> UOp:
    """(batch, features·r₀·r₁, q₀, q₁) → (batch, features, q₀·r₀, q₁·r₁)."""
    if max(strides) == 1:
        return total
    batch, _, *places = total.shape
    axes = len(strides)
    total = build.reshape(keep(total), (batch, features, *strides, *places))
    order = [axis for each in range(axes) for axis in (2 + axes + each, 2 + each)]
    total = build.permute(total, (0, 1, *order))
    joined = [length * stride for length, stride in zip(places, strides, strict=True)]
    return build.reshape(total, (batch, features, *joined))


# What is asked of the arguments


def _widen(node: UOp) -> UOp:
    return build.cast(node, dtypes.float32) if node.dtype in build.WIDENED else node


def _check_operands(x: Core, weight: Any, bias: Any, axes: int, name: str) -> str:
    operands = {"weight": weight} if bias is None else {"weight": weight, "bias": bias}
    for label, operand in operands.items():
        if not isinstance(operand, Core):
            raise ArgumentTypeError(f"{name}: {label} must be a tensor, got {operand!r}")
        if operand.dtype is not x.dtype:
            raise DtypeError(
                f"{name}: {label} is {operand.dtype.name} and the input {x.dtype.name}; they must "
                "be equal, cast one of them"
            )
    number_dtype(x.dtype, name)
    spatial_lengths(x.shape, axes, name)
    if weight.ndim != axes + 2:
        raise ShapeError(
            f"{name}: weight has the shape {build.show(weight.shape)}; expected {axes + 2} axes, "
            f"two of channels and {axes} of taps"
        )
    return same_device([x, *operands.values()], name)


def _to_groups(value: Any, name: str) -> int:
    groups = to_integer(value, f"{name}: groups")
    if groups < 1:
        raise ArgumentError(f"{name}: groups must be at least 1, got {groups}")
    return groups


def _check_features(features: int, groups: int, bias: Any, name: str) -> None:
    if features % groups:
        raise ShapeError(
            f"{name}: weight has {features} features, which groups={groups} does not divide"
        )
    if bias is not None and bias.shape != (features,):
        raise ShapeError(
            f"{name}: bias has the shape {build.show(bias.shape)}; expected ({features},), one "
            "for each feature of weight"
        )


def _to_pads(
    given: Any, taps: Numbers, strides: Numbers, dilations: Numbers, name: str
) -> list[tuple[int, int]]:
    if not isinstance(given, str):
        pads = per_axis(given, len(taps), f"{name}: padding", 0)
        return [(pad, pad) for pad in pads]
    if given not in ("same", "valid"):
        raise ArgumentError(
            f"{name}: padding must be 'same', 'valid', an integer or one for each axis, got "
            f"{given!r}"
        )
    if given == "valid":
        return [(0, 0)] * len(taps)
    if max(strides) > 1:
        raise ArgumentError(f"{name}: padding='same' goes with a stride of 1, got {strides}")
    totals = [dilation * (count - 1) for count, dilation in zip(taps, dilations, strict=True)]
    return [(total // 2, total - total // 2) for total in totals]


def _check_room(
    shape: Shape, pads: list[tuple[int, int]], taps: Numbers, dilations: Numbers, name: str
) -> None:
    lengths = spatial_lengths(shape, len(taps), name)
    padded = tuple([size + sum(pad) for size, pad in zip(lengths, pads, strict=True)])
    for length, count, dilation in zip(padded, taps, dilations, strict=True):
        if count < 1 or place_count(length, count, 1, dilation) < 1:
            raise ShapeError(
                f"{name}: the padded input has the lengths {build.show(padded)}, and weight the "
                f"taps {build.show(taps)} with dilation={dilations}: there must be taps, and room "
                "for them"
            )


def _check_extras(extras: Numbers, strides: Numbers, dilations: Numbers, name: str) -> None:
    for extra, stride, dilation in zip(extras, strides, dilations, strict=True):
        if extra >= max(stride, dilation):
            raise ArgumentError(
                f"{name}: output_padding={extras} must be less than the stride {strides} or the "
                f"dilation {dilations}"
            )
