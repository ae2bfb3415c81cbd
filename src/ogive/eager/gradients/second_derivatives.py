"""Compute gradients as eager tensors, which can be differentiated again.

`autograd.grad(..., create_graph=True)` goes back through the same records as `backward()`, but with
tensors in the place of arrays. Its rules are operations of tensors:

    y = x * x                  the record of y: `mul`, x and x
    (g,) = grad(y.sum(), x)    g = ones * x + ones * x, with records of its own

If a function has no rule here, the gradient is left to the graph.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from ogive.compiler.live import history
from ogive.eager.forms import Refused
from ogive.eager.from_plain import take_up
from ogive.eager.gradients import affine_rules
from ogive.eager.gradients.records import Record, Source, records_under
from ogive.eager.tensors import give
from ogive.tensor.core import Core
from ogive.tensor.elementwise import arithmetic, pairwise, unary_functions
from ogive.tensor.linear_algebra import matrix_product, named_products
from ogive.tensor.method_functions import plain_functions
from ogive.tensor.movement import basic_movements, derived_movements, joining
from ogive.tensor.neural import activations
from ogive.tensor.reduction import basic_reductions, log_sum_exp
from ogive.tensor.tensor import Tensor
from ogive.tensor.values import conversion

Rule = Callable[..., Any]
"""Takes the gradient of the result, the result and the arguments, all of them tensors. Gives, for
each tensor among the arguments, a function that computes its gradient."""

_rules: dict[Callable[..., Any], Rule] = {}


def gradients(root: Record, upstream: Tensor, wanted: list[Source]) -> dict[int, Tensor]:
    """The gradients of records and leaves as tensors, by their ids.

    Raises `Refused` if a rule is missing, or if a leaf has changed.
    """
    records = records_under(root)
    leading = _leading_to(records, {id(source) for source in wanted})
    found = {id(root): upstream}
    recording = history.set_recording(True)
    try:
        for record in sorted(records, key=lambda each: each.number, reverse=True):
            given = found.get(id(record))
            if given is None or id(record) not in leading:
                continue
            for source, part in zip(record.sources, _parts(record, given), strict=True):
                if source is not None and id(source) in leading:
                    known, made = found.get(id(source)), part()
                    found[id(source)] = made if known is None else known + made
    finally:
        history.set_recording(recording)
    if any(not made.is_eager for made in found.values()):
        raise Refused
    return found


def upstream(tensor: Tensor, gradient: Any) -> Tensor:
    """The gradient with which a pass begins, as a tensor. Raises `Refused`."""
    if gradient is None:
        if tensor.value.size != 1:
            raise Refused
        return give(numpy.ones_like(tensor.value))
    if not isinstance(gradient, Core) or not (gradient.is_eager or take_up(gradient)):
        raise Refused
    fits = gradient.value.shape == tensor.value.shape and gradient.value.dtype == tensor.value.dtype
    if not fits:
        raise Refused
    return gradient  # type: ignore[return-value]


def _leading_to(records: list[Record], wanted: set[int]) -> set[int]:
    """The ids of the records and leaves on the paths of gradients to those in `wanted`."""
    leading = set(wanted)
    for record in sorted(records, key=lambda each: each.number):
        if any(source is not None and id(source) in leading for source in record.sources):
            leading.add(id(record))
    return leading


def _parts(record: Record, given: Tensor) -> Any:
    found = _rules.get(record.form.function) or _rules.get(record.form.compute)
    if record.form.is_complex:
        raise Refused  # the rules are those of real numbers
    if found is None and record.form.is_affine:
        return affine_rules.parts(record, given)
    if found is None:
        raise Refused
    sources = iter(record.sources)
    args = [_as_tensor(value, sources) for value in record.args]
    kwargs = {name: _as_tensor(value, sources) for name, value in record.kwargs.items()}
    out = record.out
    if isinstance(out, tuple):
        return found(given, tuple(give(array) for array in out), *args, **kwargs)
    return found(given, give(out, record), *args, **kwargs)


def _as_tensor(value: Any, sources: Iterator[Source]) -> Any:
    if value.__class__ is numpy.ndarray:
        source = next(sources)
        if source is None or not source.is_leaf:
            return give(value, source)
        leaf = source.tensor()
        if leaf is None:
            raise Refused
        # The program has the memory of some leaves (`numpy()`): copies are recorded of those.
        if leaf.value is not value and not numpy.array_equal(leaf.value, value, equal_nan=True):
            raise Refused
        return leaf
    if value.__class__ in (list, tuple):
        return value.__class__([_as_tensor(entry, sources) for entry in value])
    return value


# Rules


def rule(*functions: Callable[..., Any]) -> Callable[[Rule], Rule]:
    """Declare the rule of functions."""

    def declare(made: Rule) -> Rule:
        for function in functions:
            _rules[plain_functions.get(function, function)] = made
        return made

    return declare


def composed(*functions: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Declare that the rule of functions is that of an expression of tensors."""

    def declare(made: Callable[..., Any]) -> Callable[..., Any]:
        rule(*functions)(functools.partial(_by_expression, made))
        return made

    return declare


def _by_expression(
    made: Callable[..., Any], given: Any, out: Any, *args: Any, **kwargs: Any
) -> list[Any]:
    """The gradients of `made`, whose way back ends at copies of the arguments."""
    ends: list[Any] = []

    def copied(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        ends.append(value if value.record is None else value.clone())
        return ends[-1]

    places = [copied(value) for value in args]
    result = made(*places, **{name: copied(value) for name, value in kwargs.items()})
    sources = [end.record for end in ends if end.record is not None]
    found = gradients(result.record, given, sources)

    def part(end: Any) -> Tensor:
        known = found.get(id(end.record))
        return give(numpy.zeros_like(end.value)) if known is None else known

    return [functools.partial(part, end) for end in ends]


def fit(part: Any, operand: Any) -> Any:
    """The gradient of a broadcast or cast operand, in its shape and dtype."""
    shape = operand.value.shape
    if part.value.shape != shape:
        extra = part.value.ndim - len(shape)
        pairs = enumerate(shape, extra)
        axes = [axis for axis, length in pairs if length == 1 != part.value.shape[axis]]
        axes += range(extra)
        part = part.sum(axes, keepdim=True).reshape(shape)
    return part if part.value.dtype == operand.value.dtype else part.to(operand.dtype)


def sides(x: Any, y: Any, to_x: Callable[[], Any], to_y: Callable[[], Any]) -> list[Any]:
    found = []
    if isinstance(x, Core):
        found.append(lambda: fit(to_x(), x))
    if isinstance(y, Core):
        found.append(lambda: fit(to_y(), y))
    return found


@rule(arithmetic.add)
def _add(given: Any, out: Any, x: Any, other: Any, *, alpha: Any = 1) -> Any:
    return sides(x, other, lambda: given, lambda: given if alpha == 1 else given * alpha)


@rule(arithmetic.sub)
def _sub(given: Any, out: Any, x: Any, other: Any, *, alpha: Any = 1) -> Any:
    return sides(x, other, lambda: given, lambda: given * -alpha)


@rule(arithmetic.reflected_sub)
def _reflected_sub(given: Any, out: Any, x: Any, other: Any) -> Any:
    return sides(x, other, lambda: -given, lambda: given)


@rule(arithmetic.mul)
def _mul(given: Any, out: Any, x: Any, other: Any) -> Any:
    return sides(x, other, lambda: given * other, lambda: given * x)


@rule(arithmetic.div)
def _div(given: Any, out: Any, x: Any, other: Any, *, rounding_mode: Any = None) -> Any:
    if rounding_mode is not None:
        raise Refused
    return sides(x, other, lambda: given / other, lambda: -given * out / other)


@rule(arithmetic.reflected_div)
def _reflected_div(given: Any, out: Any, x: Any, other: Any) -> Any:
    return sides(x, other, lambda: -given * out / x, lambda: given / x)


@rule(arithmetic.pow)
def _pow(given: Any, out: Any, x: Any, exponent: Any) -> Any:
    if isinstance(exponent, Tensor):
        if not (x.value > 0).all():
            raise Refused
        to_exponent = lambda: given * out * x.log()  # noqa: E731  (one of a pair)
        return sides(x, exponent, lambda: given * exponent * x ** (exponent - 1), to_exponent)
    if exponent in (0, 1, 2):
        return [lambda: given * (x * 2.0, x * 0 + 1, x * 0)[(2, 1, 0).index(exponent)]]
    return [lambda: given * (x ** (exponent - 1) * float(exponent))]


@rule(unary_functions.square)
def _square(given: Any, out: Any, x: Any) -> Any:
    return [lambda: given * (x * 2.0)]


@rule(unary_functions.neg)
def _neg(given: Any, out: Any, x: Any) -> Any:
    return [lambda: -given]


def slope(function: Callable[..., Any], derivative: Callable[[Any, Any], Any]) -> None:
    """Declare the rule of a function of one float tensor.

    `derivative` gives it from the argument and the result.
    """

    def by_slope(given: Any, out: Any, x: Any) -> Any:
        return [lambda: given * derivative(x, out)]

    _rules[function] = by_slope


slope(unary_functions.exp, lambda x, out: out)
slope(unary_functions.expm1, lambda x, out: out + 1)
slope(unary_functions.log, lambda x, out: 1 / x)
slope(unary_functions.log1p, lambda x, out: 1 / (x + 1))
slope(unary_functions.sin, lambda x, out: x.cos())
slope(unary_functions.cos, lambda x, out: -x.sin())
slope(unary_functions.tan, lambda x, out: out * out + 1)
slope(unary_functions.atan, lambda x, out: 1 / (x * x + 1))
slope(unary_functions.sinh, lambda x, out: x.cosh())
slope(unary_functions.cosh, lambda x, out: x.sinh())
slope(unary_functions.tanh, lambda x, out: 1 - out * out)
slope(unary_functions.sqrt, lambda x, out: 0.5 / out)
slope(unary_functions.rsqrt, lambda x, out: -0.5 * (out * out * out))
slope(unary_functions.reciprocal, lambda x, out: -out * out)
slope(unary_functions.abs, lambda x, out: x.detach().sign())
slope(activations.sigmoid, lambda x, out: out * (1 - out))
slope(activations.relu, lambda x, out: (x.detach() > 0).to(x.dtype))
slope(activations.silu, lambda x, out: x.sigmoid() * (x * (1 - x.sigmoid()) + 1))


@rule(activations.softplus)
def _softplus(given: Any, out: Any, x: Any, beta: Any = 1, threshold: Any = 20) -> Any:
    return [lambda: given * (x * beta).sigmoid().masked_fill(x.detach() * beta > threshold, 1.0)]


@rule(activations.leaky_relu)
def _leaky_relu(given: Any, out: Any, x: Any, negative_slope: Any = 0.01) -> Any:
    return [lambda: given * give(numpy.where(x.value > 0, 1, negative_slope).astype(x.value.dtype))]


@rule(pairwise.masked_fill)
def _masked_fill(given: Any, out: Any, x: Any, mask: Any, value: Any) -> Any:
    if isinstance(value, Core):
        raise Refused
    return [lambda: fit(given.masked_fill(mask, 0), x), None]


# Sums


def spread(given: Any, x: Any, dim: Any, keepdim: Any) -> Any:
    """The gradient of a summed tensor: `given`, repeated along the axes."""
    shape = x.value.shape
    if dim is not None and not keepdim:
        axes = [dim] if isinstance(dim, int) else list(dim)
        kept = list(shape)
        for axis in axes or range(len(shape)):
            kept[axis] = 1
        given = given.reshape(kept)
    return given.expand(shape)


@rule(basic_reductions.sum)
def _sum(given: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False) -> Any:
    return [lambda: spread(given, x, dim, keepdim)]


@rule(basic_reductions.mean)
def _mean(given: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False) -> Any:
    share = out.value.size / x.value.size
    return [lambda: spread(given * share, x, dim, keepdim)]


@rule(log_sum_exp.softmax)
def _softmax(given: Any, out: Any, x: Any, dim: Any = -1, dtype: None = None) -> Any:
    return [lambda: out * (given - (given * out).sum(dim, keepdim=True))]


@rule(log_sum_exp.log_softmax)
def _log_softmax(given: Any, out: Any, x: Any, dim: Any = -1, dtype: None = None) -> Any:
    return [lambda: given - out.exp() * given.sum(dim, keepdim=True)]


# Products


@rule(
    matrix_product.matmul, named_products.mm, named_products.bmm, named_products.mv,
    named_products.dot,
)  # fmt: skip
def _matmul(given: Any, out: Any, x: Any, other: Any) -> Any:
    if x.value.ndim == 2 and other.value.ndim == 1:
        return [lambda: given.unsqueeze(1) * other, lambda: x.mT @ given]
    if x.value.ndim == 1 == other.value.ndim:
        return [lambda: given * other, lambda: given * x]
    if x.value.ndim == 1 and other.value.ndim == 2:
        return [lambda: other @ given, lambda: x.unsqueeze(1) * given]
    if x.value.ndim < 2 or other.value.ndim < 2:
        raise Refused
    return sides(x, other, lambda: given @ other.mT, lambda: x.mT @ given)


@rule(named_products.linear)
def _linear(given: Any, out: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    width, depth = weight.value.shape
    lines, rows = given.reshape(-1, width), x.reshape(-1, depth)
    found = [lambda: given @ weight, lambda: lines.mT @ rows]
    return found if bias is None else [*found, lambda: lines.sum(0)]


# Movements


@rule(
    basic_movements.reshape, derived_movements.view, basic_movements.flatten,
    derived_movements.ravel, basic_movements.unflatten, basic_movements.squeeze,
    basic_movements.unsqueeze,
)  # fmt: skip
def _reshape(given: Any, out: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    return [lambda: given.reshape(x.value.shape)]


@rule(basic_movements.expand, conversion.clone)
def _expand(given: Any, out: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    return [lambda: fit(given, x)]


@rule(basic_movements.transpose, basic_movements.T, derived_movements.t, derived_movements.mT)
def _transpose(given: Any, out: Any, x: Any, dim0: int = -1, dim1: int = -2) -> Any:
    if x.value.ndim < 2:
        raise Refused
    return [lambda: given.transpose(dim0, dim1)]


@rule(joining.cat)
def _cat(given: Any, out: Any, tensors: Any, dim: int = 0) -> Any:
    found, start = [], 0
    for tensor in tensors:
        length = tensor.value.shape[dim]
        found.append(lambda start=start, length=length: given.narrow(dim, start, length))
        start += length
    return found


@rule(joining.stack)
def _stack(given: Any, out: Any, tensors: Any, dim: int = 0) -> Any:
    return [lambda at=at: given.select(dim, at) for at in range(len(tensors))]
