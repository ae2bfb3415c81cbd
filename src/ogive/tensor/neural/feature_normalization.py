"""Normalization by the mean and standard deviation of a batch, a group or a row.

All compute half-width floats in float32 and return the dtype of the input.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.shape import Shape, element_count
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from ogive.named import NamedTuple
from ogive.tensor import build
from ogive.tensor.core import Core, same_device, to_integer, to_shape
from ogive.tensor.elementwise.pairwise import only_floats, only_inexact
from ogive.tensor.lengths import difference
from ogive.tensor.method_functions import open_to_eager
from ogive.tensor.outlined import outlined
from ogive.tensor.reduction.log_sum_exp import widen, widen_field

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def batch_norm(
    self: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: Any = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / √(variance + eps), times `weight`, plus `bias`, for each channel.

    Shapes: (batch, channels, ...), unchanged; everything else is (channels,). In training the
    statistics are those of the batch, and the running ones, if given, are assigned (1 -
    `momentum`) · running + `momentum` · batch; else they are the running ones. `momentum` may
    be a tensor, such as 1 / n for the mean of all n batches so far.

    >>> x = Tensor([[1.0], [3.0]])
    >>> x.batch_norm(training=True, eps=0.0).tolist()
    [[-1.0], [1.0]]
    >>> mean, variance = ogive.zeros(1), ogive.ones(1)
    >>> _ = x.batch_norm(mean, variance, training=True, momentum=0.5)
    >>> mean.tolist(), variance.tolist()
    ([1.0], [1.5])

    Raises `ShapeError` for a parameter of another shape and for a single value per channel
    in training, `ArgumentError` without running statistics out of training.
    """
    name = "batch_norm"
    running = {"running_mean": running_mean, "running_var": running_var}
    _check_channels(self, {**running, "weight": weight, "bias": bias}, name)
    if not training:
        if running_mean is None or running_var is None:
            raise ArgumentError(
                f"{name}: running_mean and running_var are needed unless training=True"
            )
        return normalize_by(self, running_mean, running_var, weight, bias, eps)
    number = element_count((self.shape[0], *self.shape[2:]))
    if number == 1:
        raise ShapeError(
            f"{name}: input has the shape {build.show(self.shape)}; training needs more than one "
            "value per channel"
        )
    normalized, mean, variance = normalize_batch(self, weight, bias, eps)
    _follow(running_mean, mean, momentum)
    _follow(running_var, variance, momentum)
    return normalized


class Normalized(NamedTuple):
    """A normalized batch, the means of its channels, and their unbiased variances."""

    result: Tensor
    mean: Tensor
    variance: Tensor


@open_to_eager
def normalize_by(
    x: Tensor,
    mean: Tensor,
    variance: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> Tensor:
    """`batch_norm` by given statistics. Shapes: (batch, channels, ...), (channels,)."""
    wide, dtype = widen(x, "batch_norm")
    line = (-1, *(1,) * (x.ndim - 2))
    at = _at(mean, wide, line), _at(variance, wide, line)
    return _normalize(wide, *at, weight, bias, eps, dtype)


@open_to_eager
def normalize_batch(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> Normalized:
    """`batch_norm` by the statistics of the batch, which are returned too."""
    wide, dtype = widen(x, "batch_norm")
    axes = (0, *range(2, x.ndim))
    mean = wide.mean(axes, keepdim=True)
    variance = _variance(wide, mean, axes)
    number = element_count([x.shape[axis] for axis in axes])
    normalized = _normalize(wide, mean, variance, weight, bias, eps, dtype)
    return Normalized(normalized, mean.flatten(), _unbiased(variance, number).flatten())


@outlined
def _variance(x: Tensor, mean: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The variance around a mean; the axes stay, with length 1."""
    return (x - mean).square().mean(axes, keepdim=True)


@outlined
def _normalize(
    x: Tensor,
    mean: Tensor,
    variance: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    dtype: DType,
) -> Tensor:
    """`batch_norm` by the mean and variance of each channel, computed in a dtype."""
    line = (-1, *(1,) * (x.ndim - 2))
    return _finish(x - mean, variance, eps, (weight, bias), line, dtype)


def instance_norm(
    self: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: Any = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """`batch_norm` for each entry of the batch by itself.

    Shapes: (batch, channels, ...), unchanged; everything else is (channels,). The running
    statistics follow the means over the batch.

    >>> Tensor([[[1.0, 3.0]], [[5.0, 9.0]]]).instance_norm(eps=0.0).tolist()
    [[[-1.0, 1.0]], [[-1.0, 1.0]]]

    Raises `ShapeError` for a parameter of another shape and for a single value per channel.
    """
    name = "instance_norm"
    if not use_input_stats:
        return self.batch_norm(running_mean, running_var, weight, bias, False, 0.0, eps)
    running = {"running_mean": running_mean, "running_var": running_var}
    x, dtype = _prepare(self, {**running, "weight": weight, "bias": bias}, name)
    number = element_count(x.shape[2:])
    if number == 1:
        raise ShapeError(
            f"{name}: input has the shape {build.show(x.shape)}; expected more than one value "
            "per channel"
        )
    centred, mean, variance = _centre(x, tuple(range(2, x.ndim)))
    _follow(running_mean, mean.mean(0).flatten(), momentum)
    _follow(running_var, _unbiased(variance, number).mean(0).flatten(), momentum)
    line = (-1, *(1,) * (x.ndim - 2))
    return _finish(centred, variance, eps, (weight, bias), line, dtype)


@outlined
def group_norm(
    self: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / √(variance + eps), times `weight`, plus `bias`; the statistics are those of
    a group of channels of one entry of the batch.

    Shapes: (batch, channels, ...), unchanged; `weight` and `bias` are (channels,).

    >>> Tensor([[1.0, 3.0, 5.0, 9.0]]).group_norm(2, eps=0.0).tolist()
    [[-1.0, 1.0, -1.0, 1.0]]

    Raises `ShapeError` when `num_groups` does not divide the channels.
    """
    x, dtype = _prepare(self, {"weight": weight, "bias": bias}, "group_norm")
    groups = to_integer(num_groups, "group_norm: num_groups")
    batch, channels, *rest = x.shape
    if groups < 1 or channels % groups:
        raise ShapeError(
            f"group_norm: input {build.show(x.shape)} has {channels} channels, which "
            f"num_groups={groups} does not divide"
        )
    cut = x.reshape(batch, groups, channels // groups, *rest)
    centred, _, variance = _centre(cut, tuple(range(2, cut.ndim)))
    line = (groups, channels // groups, *(1,) * len(rest))
    return _finish(centred, variance, eps, (weight, bias), line, dtype).reshape(x.shape)


@outlined
def layer_norm(
    self: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / √(variance + eps) over the last axes, times `weight`, plus `bias`.

    Shapes: unchanged; `weight` and `bias` have the shape `normalized_shape`, which is how x's
    shape must end.

    >>> Tensor([[1.0, 3.0]]).layer_norm(2, eps=0.0).tolist()
    [[-1.0, 1.0]]

    Raises `ShapeError` when x does not end in `normalized_shape`.
    """
    shape = _ending(self, normalized_shape, {"weight": weight, "bias": bias}, "layer_norm")
    x, dtype = widen(self, "layer_norm")
    centred, _, variance = _centre(x, tuple(range(-len(shape), 0)))
    return _finish(centred, variance, eps, (weight, bias), shape, dtype)


@outlined
def rms_norm(
    self: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """x / √(mean of x² + eps) over the last axes, times `weight`; `eps` is by default the distance
    from 1 to the next number of the dtype.

    Shapes: unchanged; `weight` has the shape `normalized_shape`, which is how x's shape must
    end.

    >>> Tensor([3.0, -3.0]).rms_norm(2, eps=0.0).tolist()
    [1.0, -1.0]

    Raises `ShapeError` when x does not end in `normalized_shape`.
    """
    shape = _ending(self, normalized_shape, {"weight": weight}, "rms_norm")
    x, dtype = widen_field(self, "rms_norm")
    small = _resolution(x.dtype) if eps is None else eps
    mean = x.square().mean(tuple(range(-len(shape), 0)), keepdim=True)
    return _finish(x, mean, small, (weight, None), shape, dtype)


def local_response_norm(
    self: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """x / (k + alpha · mean of x² over `size` neighbouring channels)^beta.

    Shapes: (batch, channels, ...), unchanged.

    >>> Tensor([[[2.0]]]).local_response_norm(1, alpha=1.0, beta=0.5, k=0.0).tolist()
    [[[1.0]]]

    Raises `ShapeError` for less than three axes.
    """
    number = to_integer(size, "local_response_norm: size")
    if self.ndim < 3:
        raise ShapeError(
            f"local_response_norm: input has the shape {build.show(self.shape)}; expected "
            "(batch, channels, ...) of at least three axes"
        )
    x, dtype = widen(self, "local_response_norm")
    batch, channels, *_ = x.shape
    inner = element_count(x.shape[2:])
    line = x.square().reshape(batch, 1, channels, inner).transpose(2, 3)
    # An average over `size` channels, even if some of them are outside.
    mean = line.pad((number // 2, (number - 1) // 2)).avg_pool2d((1, number), stride=1)
    scale = (mean * alpha + k).pow(beta)
    return (x / scale.transpose(2, 3).reshape(x.shape)).cast(dtype)


# Shared parts


def _centre(x: Tensor, axes: tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor]:
    """x minus its mean, the mean, and the variance; the axes stay, with length 1."""
    mean = x.mean(axes, keepdim=True)
    centred = x - mean
    return centred, mean, centred.square().mean(axes, keepdim=True)


def _finish(
    centred: Tensor,
    variance: Tensor,
    eps: float,
    affine: tuple[Tensor | None, Tensor | None],
    line: Shape,
    dtype: DType,
) -> Tensor:
    """Scale by the variance, then by the parameters, reshaped to `line`."""
    result = centred * (variance + eps).rsqrt()
    weight, bias = affine
    if weight is not None:
        result = result * _at(weight, result, line)
    if bias is not None:
        result = result + _at(bias, result, line)
    return result.cast(dtype)


def _at(parameter: Tensor, x: Tensor, line: Shape) -> Tensor:
    return parameter.cast(x.dtype).reshape(line)


def _unbiased(variance: Tensor, number: Any) -> Tensor:
    return variance * (number / (number - 1)) if number else variance


def _follow(running: Tensor | None, latest: Tensor, momentum: Any) -> None:
    """Move a running statistic towards the latest one."""
    if running is not None:
        move_towards(running, latest, momentum)


@open_to_eager
def move_towards(running: Tensor, latest: Tensor, momentum: Any) -> None:
    """Assign to a tensor its values moved towards others, by a share of the distance."""
    running.assign(_moved(running, latest.detach(), momentum))


@outlined
def _moved(running: Tensor, latest: Tensor, momentum: Any) -> Tensor:
    old = running.cast(latest.dtype)
    moved: Tensor = old + (latest - old) * momentum
    return moved


def _resolution(dtype: DType) -> float:
    """The distance from 1 to the next number."""
    return math.ldexp(1.0, -52 if dtype.part.bits == 64 else -23)


# Checks of the arguments


def _prepare(x: Tensor, parameters: dict[str, Any], name: str) -> tuple[Tensor, DType]:
    """The input in the dtype to compute in, after a check that parameters are one per channel."""
    _check_channels(x, parameters, name)
    return widen(x, name)


def _check_channels(x: Core, parameters: dict[str, Any], name: str) -> None:
    if x.ndim < 2:
        raise ShapeError(
            f"{name}: input has the shape {build.show(x.shape)}; expected (batch, channels, ...)"
        )
    _check_parameters(x, parameters, (x.shape[1],), name)


def _ending(x: Core, given: Any, parameters: dict[str, Any], name: str) -> Shape:
    """The normalized shape, checked to be the end of x's shape and the shape of the parameters."""
    shape = to_shape((given,), name)
    if not shape or x.shape[-len(shape) :] != shape:
        raise ShapeError(
            f"{name}: shape {build.show(x.shape)} does not end in the normalized shape "
            f"{build.show(shape)}{difference(x.shape, shape)}"
        )
    _check_parameters(x, parameters, shape, name)
    return shape


def _check_parameters(x: Core, parameters: dict[str, Any], shape: Shape, name: str) -> None:
    (only_inexact if name == "rms_norm" else only_floats)(x.dtype, name)
    for label, parameter in parameters.items():
        if parameter is None:
            continue
        if not isinstance(parameter, Core):
            raise ArgumentTypeError(f"{name}: {label} must be a tensor, got {parameter!r}")
        if parameter.shape != shape:
            raise ShapeError(
                f"{name}: {label} has the shape {build.show(parameter.shape)}; expected "
                f"{build.show(shape)}{difference(parameter.shape, shape)}"
            )
        if parameter.dtype is not x.dtype and x.dtype not in build.WIDENED:
            raise DtypeError(
                f"{name}: {label} is {parameter.dtype.name} and the input {x.dtype.name}; they "
                "must be equal, cast one of them"
            )
        same_device([x, parameter], name)
