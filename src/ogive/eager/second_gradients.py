"""Gradients that have gradients themselves: what `create_graph=True` asks for.

A rule here is to a form what its gradient is, but over tensors, by operations that leave records:

    gradient of mul    given * other           of arrays
    rule of mul        given * other           of tensors, so that it can be gone back through

Where some operation on the way has no rule, the tensors settle, and the compiler differentiates.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy

import ogive.eager.activations
import ogive.eager.elementwise
import ogive.eager.movement
import ogive.eager.products
import ogive.eager.quotients
import ogive.eager.reduction
import ogive.eager.unary  # noqa: F401  (all of them declare the forms that have rules here)
from ogive.eager import joins, methods
from ogive.eager.forms import Form, Refused, forms
from ogive.eager.records import Record, Source
from ogive.eager.tensors import give
from ogive.live import history
from ogive.tensor.elementwise import arithmetic, unary_functions
from ogive.tensor.linear_algebra import matrix_product, named_products
from ogive.tensor.movement import basic_movements, derived_movements, joining
from ogive.tensor.neural import activations
from ogive.tensor.reduction import basic_reductions
from ogive.tensor.tensor import Tensor
from ogive.tensor.values import conversion

rules: dict[Form, Callable[..., Any]] = {}


def recorded_gradients(root: Source, way: list[Record], upstream: Any) -> Any:
    """The gradients of all records and leaves under a record, by their ids, with records of their
    own. None where some operation has no rule."""
    if any(record.form not in rules for record in way):
        return None
    found: dict[int, Any] = {id(root): give(upstream.copy())}
    recording = history.set_recording(True)
    try:
        for record in way:
            given = found.get(id(record))
            if given is not None:
                _go_back(record, given, found)
    except Refused:
        return None
    finally:
        history.set_recording(recording)
    return found


def _go_back(record: Record, given: Tensor, found: dict[int, Any]) -> None:
    operands: list[Tensor] = []
    args = [_to_tensor(value, record, operands) for value in record.args]
    kwargs = {name: _to_tensor(value, record, operands) for name, value in record.kwargs.items()}
    parts = rules[record.form](given, give(record.out, record), *args, **kwargs)
    for source, operand, part in zip(record.sources, operands, parts, strict=True):
        if source is None or part is None:
            continue
        part = _summed_to(part() if part.__class__ is FunctionType else part, operand.value)
        if part is given and len(operands) > 1:
            part = given.clone()  # so that no two gradients are one tensor
        known = found.get(id(source))
        found[id(source)] = part if known is None else known + part


def _to_tensor(value: Any, record: Record, operands: list[Tensor]) -> Any:
    """An argument of a record as a tensor that gradients flow through to where it came from."""
    if value.__class__ in (list, tuple):
        return [_to_tensor(entry, record, operands) for entry in value]
    if value.__class__ is not numpy.ndarray:
        return value
    source = record.sources[len(operands)]
    made: Any = None
    if source is None or not source.is_leaf:
        made = give(value, source)
    else:
        made = source.tensor()
        if made is None or not made.is_eager or made.value is not value:
            raise Refused  # it was changed since
    operands.append(made)
    return made


def _summed_to(part: Any, operand: Any) -> Tensor:
    """The gradient of an operand that was broadcast."""
    if not part.is_eager or part.value.dtype != operand.dtype:
        raise Refused
    extra = part.value.ndim - operand.ndim
    if extra:
        part = part.sum(tuple(range(extra)))
    shape = part.value.shape
    axes = [axis for axis, length in enumerate(operand.shape) if length == 1 != shape[axis]]
    made: Tensor = part.sum(axes, True) if axes else part
    return made


def rule(*functions: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare the gradients of functions, over tensors: one for each tensor among the arguments."""

    def declare(own: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            rules[forms[function]] = own
        return own

    return declare


def _sides(x: Any, other: Any, to_x: Any, to_other: Any) -> tuple[Any, ...]:
    found = [to_x] if isinstance(x, Tensor) else []
    return (*found, to_other) if isinstance(other, Tensor) else tuple(found)


# Arithmetic


@rule(arithmetic.add)
def _add(given: Any, out: Any, x: Any, other: Any, *, alpha: Any = 1) -> Any:
    return _sides(x, other, given, lambda: given if alpha == 1 else given * alpha)


@rule(arithmetic.sub)
def _sub(given: Any, out: Any, x: Any, other: Any, *, alpha: Any = 1) -> Any:
    return _sides(x, other, given, lambda: given * -alpha)


@rule(arithmetic.reflected_sub)
def _reflected_sub(given: Any, out: Any, x: Any, other: Any) -> Any:
    return _sides(x, other, lambda: -given, given)


@rule(arithmetic.mul)
def _mul(given: Any, out: Any, x: Any, other: Any) -> Any:
    return _sides(x, other, lambda: given * other, lambda: given * x)


@rule(arithmetic.div)
def _div(given: Any, out: Any, x: Any, other: Any, rounding_mode: Any = None) -> Any:
    if rounding_mode is not None:
        raise Refused
    return _sides(x, other, lambda: given / other, lambda: -given * out / other)


@rule(arithmetic.reflected_div)
def _reflected_div(given: Any, out: Any, x: Any, other: Any) -> Any:
    return _sides(x, other, lambda: -given * out / x, lambda: given / x)


@rule(arithmetic.pow)
def _pow(given: Any, out: Any, x: Any, exponent: Any) -> Any:
    if exponent.__class__ not in (int, float):
        raise Refused
    if exponent == 0:
        return (given * 0,)
    return (given * exponent if exponent == 1 else given * (x ** (exponent - 1) * exponent),)


# Functions of one tensor: the slope, by the argument and the result

_SLOPES: dict[Callable[..., Any], Callable[[Any, Any], Any]] = {
    unary_functions.neg: lambda x, out: -1.0,
    unary_functions.exp: lambda x, out: out,
    unary_functions.expm1: lambda x, out: out + 1,
    unary_functions.log: lambda x, out: 1 / x,
    unary_functions.log1p: lambda x, out: 1 / (x + 1),
    unary_functions.sin: lambda x, out: x.cos(),
    unary_functions.cos: lambda x, out: -x.sin(),
    unary_functions.tan: lambda x, out: out * out + 1,
    unary_functions.atan: lambda x, out: 1 / (x * x + 1),
    unary_functions.sinh: lambda x, out: x.cosh(),
    unary_functions.cosh: lambda x, out: x.sinh(),
    unary_functions.tanh: lambda x, out: 1 - out * out,
    unary_functions.sqrt: lambda x, out: 0.5 / out,
    unary_functions.rsqrt: lambda x, out: out * out * out * -0.5,
    unary_functions.reciprocal: lambda x, out: -out * out,
    unary_functions.abs: lambda x, out: x.detach().sign(),
    unary_functions.square: lambda x, out: x * 2,
    activations.sigmoid: lambda x, out: out * (1 - out),
    activations.silu: lambda x, out: x.sigmoid() * (1 + x * (1 - x.sigmoid())),
}


def _declare_slope(function: Callable[..., Any], slope: Callable[[Any, Any], Any]) -> None:
    @rule(function)
    def _(given: Any, out: Any, x: Any, *others: Any, **named: Any) -> Any:
        if others or named:
            raise Refused
        return (given * slope(x, out),)


for _function, _slope in _SLOPES.items():
    _declare_slope(_function, _slope)


@rule(activations.relu)
def _relu(given: Any, out: Any, x: Any) -> Any:
    return (given.masked_fill(x.detach() <= 0, 0.0),)


# Sums and products


def _spread(given: Any, x: Any, dim: Any, keepdim: Any) -> Any:
    """What was reduced over axes, for each element that was."""
    shape = x.value.shape
    if not keepdim and shape:
        named = range(len(shape)) if dim is None else [dim] if dim.__class__ is int else dim
        places = {axis % len(shape) for axis in named}
        given = given.reshape([1 if at in places else size for at, size in enumerate(shape)])
    return given.expand(shape)


@rule(basic_reductions.sum)
def _sum(
    given: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None
) -> Any:
    return (_spread(given, x, dim, keepdim),)


@rule(basic_reductions.mean)
def _mean(
    given: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None
) -> Any:
    count = x.value.size / max(out.value.size, 1)
    return (_spread(given / count, x, dim, keepdim),)


@rule(
    matrix_product.matmul, named_products.mm, named_products.bmm, named_products.mv,
    named_products.dot,
)  # fmt: skip
def _matmul(given: Any, out: Any, x: Any, other: Any) -> Any:
    if x.value.ndim == 1 == other.value.ndim:
        return given * other, given * x
    if other.value.ndim == 1:
        if x.value.ndim > 2:
            raise Refused
        return lambda: given[:, None] * other, lambda: x.T @ given
    if x.value.ndim == 1:
        if other.value.ndim > 2:
            raise Refused
        return lambda: other @ given, lambda: x[:, None] * given
    return lambda: given @ other.transpose(-2, -1), lambda: x.transpose(-2, -1) @ given


@rule(named_products.linear)
def _linear(given: Any, out: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    width, depth = weight.value.shape
    lines, rows = given.reshape(-1, width), x.reshape(-1, depth)
    found = ((lambda: given @ weight), (lambda: lines.T @ rows))
    return found if bias is None else (*found, lambda: lines.sum(0))


# Movements


@rule(
    basic_movements.reshape, derived_movements.view, basic_movements.flatten,
    derived_movements.ravel, basic_movements.unflatten, basic_movements.squeeze,
    basic_movements.unsqueeze,
)  # fmt: skip
def _reshape(given: Any, out: Any, x: Any, *_: Any, **__: Any) -> Any:
    return (given.reshape(x.value.shape),)


@rule(basic_movements.transpose)
def _transpose(given: Any, out: Any, x: Any, dim0: Any = -2, dim1: Any = -1) -> Any:
    return (given.transpose(dim0, dim1),)


@rule(basic_movements.T, derived_movements.t)
def _reverse_axes(given: Any, out: Any, x: Any) -> Any:
    return (given.T,)


@rule(basic_movements.expand, conversion.clone)
def _as_it_is(given: Any, out: Any, x: Any, *_: Any, **__: Any) -> Any:
    return (given,)


@rule(joining.stack)
def _stack(given: Any, out: Any, tensors: Any, dim: Any = 0) -> Any:
    return given.unbind(dim)


@rule(joining.cat)
def _cat(given: Any, out: Any, tensors: Any, dim: Any = 0) -> Any:
    if any(part.value.ndim != given.value.ndim for part in tensors):
        raise Refused
    return given.split([part.value.shape[dim] for part in tensors], dim)


def _take(given: Any, out: Any, x: Any, index: Any) -> Any:
    if not index.is_basic:
        raise Refused
    made = give(numpy.zeros(x.value.shape, x.value.dtype))
    made[index.entries] = given
    return (made,)


for _form in (methods.TAKE, joins.SPLIT, joins.UNBIND):
    rules[_form] = _take
