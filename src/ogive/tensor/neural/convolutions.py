"""Convolutions and their transposes: the functions for users and the checks of their arguments.

The products are in `convolution_products.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from ogive.tensor import build
from ogive.tensor.autocast_dtypes import lowered
from ogive.tensor.core import Core, same_device, to_integer, wrap
from ogive.tensor.elementwise.binary_operations import addable_dtype
from ogive.tensor.movement.sliding_windows import (
    Numbers,
    batched,
    per_axis,
    place_count,
    spatial_lengths,
)
from ogive.tensor.outlined import outlined

if TYPE_CHECKING:
    from ogive.tensor.neural.convolution_products import Method
    from ogive.tensor.tensor import Tensor


@outlined
@lowered
def conv1d(
    self: Tensor,
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


@outlined
@lowered
def conv2d(
    self: Tensor,
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


@outlined
@lowered
def conv3d(
    self: Tensor,
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


@outlined
@lowered
def conv_transpose1d(
    self: Tensor,
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


@outlined
@lowered
def conv_transpose2d(
    self: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """`weight` times each element of the input, added up where they overlap, plus `bias`: the
    transpose of `conv2d`, which its gradients use.

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


@lowered
def conv_transpose3d(
    self: Tensor,
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
    if x.dtype.is_complex:
        def of_parts(one: Tensor, other: Tensor) -> Tensor:
            return _convolve(one, other, None, options, axes)

        return _of_complex(of_parts, x, weight, bias, axes)
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
        method = _method(tuple(pads), strides, dilations, groups)
        return _finish(method.convolve(node, filters), x, bias, axes, dtype, device)


def _of_complex(
    convolve: Callable[[Tensor, Tensor], Tensor], x: Core, weight: Core, bias: Any, axes: int
) -> Tensor:
    """A convolution of complex numbers, from three of their parts.

    (a + ib)·(c + id) = ac - bd + i·((a + b)·(c + d) - ac - bd).
    """
    from ogive.tensor.elementwise.complex_numbers import complex, parts_of

    (a, b), (c, d) = parts_of(x), parts_of(weight)
    real, imaginary = convolve(a, c), convolve(b, d)
    total = complex(real - imaginary, convolve(a + b, c + d) - real - imaginary)
    return total if bias is None else total + bias.reshape(-1, *(1,) * axes)


def _method(
    pads: tuple[tuple[int, int], ...], strides: Numbers, dilations: Numbers, groups: int
) -> Method:
    # Imported here, since few processes use convolutions.
    from ogive.tensor.neural import convolution_products

    return convolution_products.Method(pads, strides, dilations, groups)


def _finish(total: UOp, x: Core, bias: Any, axes: int, dtype: DType, device: str) -> Tensor:
    """Add the bias, cast back, and remove the batch axis if the input had none."""
    if bias is not None:
        line = build.reshape(_widen(bias.node), (bias.node.shape[0], *(1,) * axes))
        total = make(Op.ADD, total.dtype, (total, build.expand_to(line, total.shape)))
    if x.ndim == axes + 1:
        total = build.reshape(total, total.shape[1:])
    return wrap(build.cast(total, dtype), device)


def _convolve_transposed(
    x: Core, weight: Any, bias: Any, options: tuple[Any, Any, Any, Any, Any], axes: int
) -> Tensor:
    name = f"conv_transpose{axes}d"
    device = _check_operands(x, weight, bias, axes, name)
    if x.dtype.is_complex:
        def of_parts(one: Tensor, other: Tensor) -> Tensor:
            return _convolve_transposed(one, other, None, options, axes)

        return _of_complex(of_parts, x, weight, bias, axes)
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
        lengths = spatial_lengths(node.shape, axes, name)
        places = tuple(
            [
                (length - 1) * stride - 2 * pad + dilation * (taps - 1) + 1 + extra
                for length, stride, pad, dilation, taps, extra in zip(
                    lengths, strides, pads, dilations, filters.shape[2:], extras, strict=True
                )
            ]
        )
        if min(places) < 1:
            raise ShapeError(
                f"{name}: input {build.show(node.shape)} with padding={pads} gives the lengths "
                f"{build.show(places)}; each must be at least 1"
            )
        around = tuple([(pad, pad - extra) for pad, extra in zip(pads, extras, strict=True)])
        method = _method(around, strides, dilations, groups)
        total = method.transpose(_widen(batched(node, axes)), _widen(filters), places)
        return _finish(total, x, bias, axes, dtype, device)


# Checks of the arguments


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
    addable_dtype(x.dtype, name)
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
