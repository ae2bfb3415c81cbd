"""Whoever reads what a chain of moves gives: one function for both libraries each.

A consumer is given the tensor, the library, and `operand`, which makes tensors of arrays in the
dtype of the case; its other arguments are drawn for the shape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tests.movement_chains.drawing import Draw
from tests.movement_chains.moves import Shape


class Context(NamedTuple):
    """A library, and how an array becomes an operand of it."""

    library: Any
    operand: Callable[[Any], Any]

    @property
    def functions(self) -> Any:
        return self.library.nn.functional


class Consumer(NamedTuple):
    """What is done, what it is given beside the tensor, and of which tensors it can be done.

    `draw` gives None where the shape does not suit. `is_exact` says that it jumps from one result
    to another: what it reads must be the same numbers, not about the same.
    """

    apply: Callable[..., Any]
    draw: Callable[[Draw, Shape], tuple[Any, ...] | None]
    floats_only: bool = True
    is_exact: bool = False
    has_gradient: bool = True


CONSUMERS: dict[str, Consumer] = {}


def consumer(
    draw: Callable[[Draw, Shape], tuple[Any, ...] | None], **facts: bool
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Puts a function into the table of consumers, under its name."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        CONSUMERS[function.__name__] = Consumer(function, draw, **facts)
        return function

    return register


def an_axis(draw: Draw, shape: Shape) -> tuple[Any, ...]:
    return (draw.integer(0, len(shape) - 1) if draw.chance(0.5) else len(shape) - 1,)


def some_axes(draw: Draw, shape: Shape) -> tuple[Any, ...]:
    axes = tuple([axis for axis in range(len(shape)) if draw.chance(0.6)])
    return axes or (len(shape) - 1,), draw.chance(0.3)


def nothing(draw: Draw, shape: Shape) -> tuple[Any, ...]:
    return ()


# Element by element


@consumer(nothing, floats_only=False)
def keep(x: Any, at: Context) -> Any:
    return x * 1


@consumer(lambda draw, shape: (draw.numbers(*shape[-1:]),), floats_only=False)
def scale(x: Any, at: Context, by: Any) -> Any:
    return x * at.operand(by) + x


# Reductions


@consumer(some_axes, floats_only=False)
def total(x: Any, at: Context, axes: Shape, keep: bool) -> Any:
    return x.sum(axes, keepdim=keep)


@consumer(some_axes)
def average(x: Any, at: Context, axes: Shape, keep: bool) -> Any:
    return x.mean(axes, keepdim=keep)


@consumer(some_axes, floats_only=False)
def greatest(x: Any, at: Context, axes: Shape, keep: bool) -> Any:
    return x.amax(axes, keepdim=keep)


@consumer(some_axes, floats_only=False)
def span(x: Any, at: Context, axes: Shape, keep: bool) -> Any:
    return x.amax(axes, keepdim=True) - x - x.amin(axes, keepdim=True)


@consumer(an_axis)
def multiplied(x: Any, at: Context, axis: int) -> Any:
    return (x * 0.5 + 1).prod(axis)


@consumer(some_axes)
def variance(x: Any, at: Context, axes: Shape, keep: bool) -> Any:
    return x.var(axes, correction=0, keepdim=keep)


@consumer(some_axes)
def norm(x: Any, at: Context, axes: Shape, keep: bool) -> Any:
    return (x * x + 0.5).sum(axes, keepdim=keep).sqrt()


@consumer(an_axis)
def logsumexp(x: Any, at: Context, axis: int) -> Any:
    return x.logsumexp(axis)


@consumer(an_axis, floats_only=False, is_exact=True, has_gradient=False)
def argmax(x: Any, at: Context, axis: int) -> Any:
    return x.argmax(axis)


@consumer(an_axis, floats_only=False)
def centred(x: Any, at: Context, axis: int) -> Any:
    return x * x.shape[axis] - x.sum(axis, keepdim=True)


# Scans


@consumer(an_axis, floats_only=False)
def cumsum(x: Any, at: Context, axis: int) -> Any:
    return x.cumsum(axis)


@consumer(an_axis)
def cumprod(x: Any, at: Context, axis: int) -> Any:
    return (x * 0.25 + 1).cumprod(axis)


@consumer(an_axis)
def logcumsumexp(x: Any, at: Context, axis: int) -> Any:
    return x.logcumsumexp(axis)


@consumer(an_axis, floats_only=False)
def cummax(x: Any, at: Context, axis: int) -> Any:
    return x.cummax(axis)[0]


@consumer(an_axis)
def normalized_cumsum(x: Any, at: Context, axis: int) -> Any:
    return x.softmax(axis).cumsum(axis)


# Sorts


@consumer(an_axis, floats_only=False)
def sort(x: Any, at: Context, axis: int) -> Any:
    return x.sort(dim=axis, stable=True)[0]


@consumer(an_axis, floats_only=False, is_exact=True, has_gradient=False)
def argsort(x: Any, at: Context, axis: int) -> Any:
    return x.argsort(dim=axis, stable=True)


def draw_topk(draw: Draw, shape: Shape) -> tuple[Any, ...]:
    (axis,) = an_axis(draw, shape)
    return draw.integer(1, shape[axis]), axis


# Of equal elements any may be chosen: the gradients of these are not one.
@consumer(draw_topk, floats_only=False, has_gradient=False)
def topk(x: Any, at: Context, count: int, axis: int) -> Any:
    return x.topk(count, axis)[0]


@consumer(draw_topk, floats_only=False, has_gradient=False)
def kthvalue(x: Any, at: Context, which: int, axis: int) -> Any:
    return x.kthvalue(which, axis)[0]


# Rows


@consumer(an_axis)
def softmax(x: Any, at: Context, axis: int) -> Any:
    return x.softmax(axis)


@consumer(an_axis)
def log_softmax(x: Any, at: Context, axis: int) -> Any:
    return x.log_softmax(axis)


@consumer(lambda draw, shape: (draw.numbers(shape[-1], draw.integer(1, 9)),))
def softmax_product(x: Any, at: Context, values: Any) -> Any:
    return x.softmax(-1) @ at.operand(values)


@consumer(lambda draw, shape: (draw.numbers(shape[-1]), draw.numbers(shape[-1])))
def layer_norm(x: Any, at: Context, weight: Any, bias: Any) -> Any:
    scales = at.operand(weight), at.operand(bias)
    return at.functions.layer_norm(x, x.shape[-1:], *scales, eps=0.1)


def draw_batch(draw: Draw, shape: Shape) -> tuple[Any, ...] | None:
    many = len(shape) > 1 and shape[0] * int(np.prod(shape[2:])) > 1
    return (draw.numbers(shape[1]),) if many else None


@consumer(draw_batch)
def batch_norm(x: Any, at: Context, weight: Any) -> Any:
    norm = at.functions.batch_norm
    return norm(x, None, None, at.operand(weight), None, training=True, eps=0.1)


def draw_groups(draw: Draw, shape: Shape) -> tuple[Any, ...] | None:
    if len(shape) < 2 or int(np.prod(shape[2:])) < 2:
        return None
    return (draw.one_of([n for n in range(1, shape[1] + 1) if shape[1] % n == 0]),)


@consumer(draw_groups)
def group_norm(x: Any, at: Context, groups: int) -> Any:
    return at.functions.group_norm(x, groups, eps=0.1)


# Products


@consumer(lambda draw, shape: (draw.numbers(shape[-1], draw.one_of((1, 2, 3, 8, 16, 33))),))
def product(x: Any, at: Context, right: Any) -> Any:
    return x @ at.operand(right)


def draw_left(draw: Draw, shape: Shape) -> tuple[Any, ...] | None:
    return (draw.numbers(draw.integer(1, 9), shape[-2]),) if len(shape) > 1 else None


@consumer(draw_left)
def product_from_left(x: Any, at: Context, left: Any) -> Any:
    return at.operand(left) @ x


@consumer(lambda draw, shape: () if len(shape) > 1 else None, floats_only=False)
def gram(x: Any, at: Context) -> Any:
    return x @ x.transpose(-1, -2)


def draw_attention(draw: Draw, shape: Shape) -> tuple[Any, ...] | None:
    return (draw.numbers(*shape), draw.numbers(*shape)) if len(shape) > 1 else None


@consumer(draw_attention)
def attention(x: Any, at: Context, keys: Any, values: Any) -> Any:
    scores = x @ at.operand(keys).transpose(-1, -2)
    return scores.softmax(-1) @ at.operand(values)


def draw_conv1d(draw: Draw, shape: Shape) -> tuple[Any, ...] | None:
    if len(shape) != 3:
        return None
    channels, length = shape[1:]
    groups = draw.one_of([n for n in (1, 1, channels, 2) if channels % n == 0])
    size, padding = draw.one_of((1, 2, 3, 5)), draw.integer(0, 2)
    if size > length + 2 * padding:
        return None
    outputs = groups * draw.integer(1, 4)
    weight = draw.numbers(outputs, channels // groups, size)
    return weight, draw.integer(1, 3), padding, 1, groups


@consumer(draw_conv1d)
def conv1d(x: Any, at: Context, weight: Any, *options: int) -> Any:
    return at.functions.conv1d(x, at.operand(weight), None, *options)


def as_image(shape: Shape) -> Shape | None:
    """The same elements as images: those of other ranks have axes merged, or added."""
    if len(shape) < 2:
        return None
    if len(shape) < 4:
        return (*(1,) * (4 - len(shape)), *shape)
    return (int(np.prod(shape[:-3])), *shape[-3:])


def draw_conv2d(draw: Draw, shape: Shape) -> tuple[Any, ...] | None:
    image = as_image(shape)
    if image is None:
        return None
    channels, height, width = image[1:]
    groups = draw.one_of([n for n in (1, 1, channels, 2) if channels % n == 0])
    size, padding = draw.one_of((1, 2, 3, 3)), draw.integer(0, 1)
    dilation = draw.one_of((1, 1, 1, 2))
    if dilation * (size - 1) >= min(height, width) + 2 * padding:
        return None
    outputs = groups * draw.one_of((1, 2, 3, 4, 8, 16))
    weight = draw.numbers(outputs, channels // groups, size, size)
    return image, weight, draw.one_of((1, 2, 2, 3)), padding, dilation, groups


@consumer(draw_conv2d)
def conv2d(x: Any, at: Context, image: Shape, weight: Any, *options: int) -> Any:
    return at.functions.conv2d(x.reshape(image), at.operand(weight), None, *options)


@consumer(draw_conv2d)
def normed_conv2d(x: Any, at: Context, image: Shape, weight: Any, *options: int) -> Any:
    y = at.functions.conv2d(x.reshape(image), at.operand(weight), None, *options)
    variance = y.var((0, 2, 3), correction=0, keepdim=True)
    return ((y - y.mean((0, 2, 3), keepdim=True)) / (variance + 0.1).sqrt()).tanh()


def draw_conv_transpose2d(draw: Draw, shape: Shape) -> tuple[Any, ...] | None:
    image = as_image(shape)
    if image is None or np.prod(image) > 1000:
        return None
    weight = draw.numbers(image[1], draw.integer(1, 4), 3, 3)
    return image, weight, draw.integer(1, 2), 1


@consumer(draw_conv_transpose2d)
def conv_transpose2d(x: Any, at: Context, image: Shape, weight: Any, *options: int) -> Any:
    return at.functions.conv_transpose2d(x.reshape(image), at.operand(weight), None, *options)


# Windows


def draw_pool(draw: Draw, shape: Shape) -> tuple[Any, ...] | None:
    image = as_image(shape)
    if image is None:
        return None
    size = draw.one_of((2, 3))
    padding = draw.integer(0, 1)
    if min(image[2:]) + 2 * padding < size:
        return None
    return image, size, draw.integer(1, 3), padding, draw.chance(0.4)


@consumer(draw_pool)
def max_pool2d(
    x: Any, at: Context, image: Shape, size: int, step: int, padding: int, whole: bool
) -> Any:
    return at.functions.max_pool2d(x.reshape(image), size, step, padding, ceil_mode=whole)


@consumer(draw_pool)
def avg_pool2d(
    x: Any, at: Context, image: Shape, size: int, step: int, padding: int, whole: bool
) -> Any:
    return at.functions.avg_pool2d(x.reshape(image), size, step, padding, whole)


@consumer(draw_pool)
def pooled_conv2d(
    x: Any, at: Context, image: Shape, size: int, step: int, padding: int, whole: bool
) -> Any:
    weight = at.operand(np.linspace(-2, 2, 2 * image[1]).reshape(2, image[1], 1, 1).round(2))
    pooled = at.functions.max_pool2d(x.reshape(image), size, step, padding, ceil_mode=whole)
    return at.functions.conv2d(pooled, weight)


# Positions that are data


def draw_gather(draw: Draw, shape: Shape) -> tuple[Any, ...]:
    (axis,) = an_axis(draw, shape)
    picked = [*shape]
    picked[axis] = draw.integer(1, 6)
    return axis, draw.indices(shape[axis], *picked)


@consumer(draw_gather, floats_only=False)
def gather(x: Any, at: Context, axis: int, where: Any) -> Any:
    return x.gather(axis, at.library.tensor(where, device=x.device))


@consumer(draw_gather, floats_only=False)
def scatter_add(x: Any, at: Context, axis: int, where: Any) -> Any:
    values = x.narrow(axis, 0, min(where.shape[axis], x.shape[axis]))
    where = at.library.tensor(where, device=x.device).narrow(axis, 0, values.shape[axis])
    return (x * 2).scatter_add(axis, where, values)


def draw_index_add(draw: Draw, shape: Shape) -> tuple[Any, ...]:
    (axis,) = an_axis(draw, shape)
    return axis, draw.indices(4, shape[axis])


@consumer(draw_index_add, floats_only=False)
def index_add(x: Any, at: Context, axis: int, where: Any) -> Any:
    target = x.narrow(axis, 0, 1).repeat_interleave(4, axis) * 0
    return target.index_add(axis, at.library.tensor(where, device=x.device), x)


def draw_store(draw: Draw, shape: Shape) -> tuple[Any, ...]:
    return draw.one_of((2, 3)), draw.numbers(*shape[:-1], 3 * shape[-1])


@consumer(draw_store, has_gradient=False, floats_only=False)
def store(x: Any, at: Context, step: int, target: Any) -> Any:
    y = at.operand(target) * 1
    y[..., : step * x.shape[-1] : step] = x
    return y


@consumer(lambda draw, shape: (draw.numbers(*shape[:-1], 3 * shape[-1]),), has_gradient=False)
def add_to_softmax(x: Any, at: Context, target: Any) -> Any:
    y = at.operand(target).softmax(-1)
    y[..., ::3] += x.softmax(-1)
    return y * y
