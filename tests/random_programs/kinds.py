"""Every kind of instruction: what it gives by NumPy, and how Ogive is asked for it.

Both functions take the inputs as a list, then the instruction's arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import ogive
from ogive import Tensor
from tests.random_programs import arithmetic, positions
from tests.random_programs.values import (
    FLOATS,
    INTEGERS,
    Array,
    Unsuitable,
    Value,
    exact,
    make_input,
)
from tests.unreadable import before_an_unreadable_page

Values = list[Value]
Tensors = list[Tensor]


@dataclass(frozen=True)
class Kind:
    """The two sides of an instruction."""

    apply: Callable[..., Value]
    perform: Callable[..., Tensor]


def _method(name: str) -> Callable[..., Tensor]:
    """The tensor's method of that name; the other inputs come before the arguments."""
    return lambda inputs, *arguments: getattr(inputs[0], name)(*inputs[1:], *arguments)


def _named(inputs: Tensors, name: str, *arguments: Any) -> Tensor:
    """The method that the first argument names."""
    made: Tensor = getattr(inputs[0], name)(*inputs[1:], *arguments)
    return made


def _moved(move: Callable[..., Array]) -> Callable[..., Value]:
    """The reference of what only puts elements elsewhere."""
    return lambda inputs, *arguments: inputs[0].moved(lambda array: move(array, *arguments))


# Leaves


def _given(inputs: Values, dtype: str, shape: tuple[int, ...], seed: int, borrowed: bool) -> Value:
    kind = np.float64 if dtype in FLOATS else np.dtype(dtype)
    return exact(dtype, make_input(dtype, shape, seed).astype(kind))


def _give(inputs: Tensors, dtype: str, shape: tuple[int, ...], seed: int, borrowed: bool) -> Tensor:
    array = make_input(dtype, shape, seed)
    return Tensor.from_numpy(before_an_unreadable_page(array)) if borrowed else Tensor(array)


def _draw(inputs: Tensors, name: str, shape: tuple[int, ...], seed: int) -> Tensor:
    make = {"rand": ogive.rand, "randint": _dice}[name]
    return make(*shape, key=ogive.random.key(seed))


def _dice(*shape: int, key: Tensor) -> Tensor:
    return ogive.random.randint(-3, 4, shape, key=key)


@cache
def _drawn(name: str, shape: tuple[int, ...], seed: int) -> Value:
    """A draw by itself: what it is fused with must not change it."""
    tensor = _draw([], name, shape, seed)
    return exact(tensor.dtype.name, tensor.numpy())


# Elementwise


def _binary(inputs: Values, name: str) -> Value:
    left, right = inputs
    if name in ("floor_divide", "remainder"):
        if left.dtype not in INTEGERS or right.dtype != left.dtype:
            raise Unsuitable("integers only")
        right = arithmetic.odd(right)
    if name == "div":
        if right.dtype == "bool":
            raise Unsuitable("not for bool")
        right = arithmetic.binary("maximum", right, exact(right.dtype, np.ones(())))
    return arithmetic.binary(name, left, right)


def _combine(inputs: Tensors, name: str) -> Tensor:
    left, right = inputs
    if name in ("floor_divide", "remainder"):
        right = right | 1
    if name == "div":
        right = right.maximum(1)
    return _named([left, right], name)


def _scalar(inputs: Values, name: str, number: int) -> Value:
    (value,) = inputs
    if value.dtype == "bool" or (name == "remainder" and value.is_float):
        raise Unsuitable("tested elsewhere")
    return arithmetic.binary(name, value, exact(value.dtype, np.array(number)))


def _where(inputs: Values) -> Value:
    condition, *rest = inputs
    if condition.dtype != "bool":
        raise Unsuitable("needs a condition")
    left, right = arithmetic.promote(*rest)
    error = np.where(condition.data, left.error, right.error)
    return Value(left.dtype, np.where(condition.data, left.data, right.data), error)


# Movement


def _pad(inputs: Values, pads: Any, fill: int) -> Value:
    (value,) = inputs
    data = np.pad(value.data, pads, constant_values=fill)
    return Value(value.dtype, data, np.pad(value.error, pads))


def _joined(join: Any) -> Callable[..., Value]:
    def apply(inputs: Values, axis: int) -> Value:
        if len({value.dtype for value in inputs}) != 1:
            raise Unsuitable("promotion is tested elsewhere")
        data, error = [value.data for value in inputs], [value.error for value in inputs]
        return Value(inputs[0].dtype, join(data, axis), join(error, axis))

    return apply


# Assignments


def _write(target: Value, place: Any, new: Value) -> Value:
    """Write to the memory of `target`, which others may be views of."""
    if not target.data.flags.writeable:
        raise Unsuitable("an element that is shown several times cannot be written to")
    target.data[place] = new.data.copy()
    target.error[place] = new.error.copy()
    return target


def _assigned(inputs: Values) -> Value:
    target, source = inputs
    return _write(target, ..., arithmetic.cast(source, target.dtype))


def _assign(inputs: Tensors) -> Tensor:
    return inputs[0].assign(inputs[1])


def _set(inputs: Values, index: Any, way: str) -> Value:
    """`target[index] = source`, or `+=`, where tensors of positions follow in the inputs."""
    target, source, *indices = inputs
    place = positions.filled(index, [value.data for value in indices])
    new = arithmetic.cast(source, target.dtype)
    if way == "+=":
        if source.dtype != target.dtype:
            raise Unsuitable("promotion is tested elsewhere")
        new = arithmetic.binary("add", target.moved(lambda array: np.asarray(array[place])), new)
    return _write(target, place, new)


def _put(inputs: Tensors, index: Any, way: str) -> Tensor:
    target, source, *indices = inputs
    place = positions.filled(index, indices)
    if way == "+=":
        target[place] += source
    else:
        target[place] = source
    return target


VIEWS = ("cast", "reshape", "permute", "expand", "slice")
"""Instructions that may give another view of the same memory, as NumPy's do."""

ASSIGNMENTS: dict[str, Kind] = {
    "assign": Kind(_assigned, _assign),
    "setitem": Kind(_set, _put),
}
"""Instructions that change their first input."""

KINDS: dict[str, Kind] = {
    "input": Kind(_given, _give),
    "full": Kind(
        lambda inputs, dtype, shape, number: exact(dtype, np.full(shape, number)),
        lambda inputs, dtype, shape, number: ogive.full(shape, number, dtype=dtype),
    ),
    "arange": Kind(
        lambda inputs, count: exact("int64", np.arange(count)),
        lambda inputs, count: ogive.arange(count),
    ),
    "draw": Kind(lambda inputs, *arguments: _drawn(*arguments), _draw),
    "cast": Kind(lambda inputs, dtype: arithmetic.cast(inputs[0], dtype), _method("cast")),
    "unary": Kind(lambda inputs, name: arithmetic.unary(name, inputs[0]), _named),
    "binary": Kind(_binary, _combine),
    "scalar": Kind(_scalar, _named),
    "where": Kind(_where, lambda inputs: ogive.where(inputs[0], inputs[1], inputs[2])),
    "reshape": Kind(_moved(np.reshape), _method("reshape")),
    "permute": Kind(_moved(np.transpose), _method("permute")),
    "expand": Kind(_moved(np.broadcast_to), _method("expand")),
    "pad": Kind(_pad, lambda inputs, pads, fill: inputs[0].pad(pads, value=fill)),
    "flip": Kind(_moved(np.flip), _method("flip")),
    "slice": Kind(
        _moved(lambda array, index: array[index if ... in index else (*index, ...)]),
        lambda inputs, index: inputs[0][index],
    ),
    "cat": Kind(_joined(np.concatenate), lambda inputs, axis: ogive.cat(inputs, axis)),
    "stack": Kind(_joined(np.stack), lambda inputs, axis: ogive.stack(inputs, axis)),
    "reduce": Kind(
        lambda inputs, name, axes, keep: arithmetic.reduced(name, inputs[0], axes, keep),
        lambda inputs, name, axes, keep: _named(inputs, name, axes, keep),
    ),
    "choose": Kind(
        lambda inputs, name, axis: arithmetic.chosen(name, inputs[0], axis), _named
    ),
    "softmax": Kind(
        lambda inputs, axis: arithmetic.softmax(inputs[0], axis), _method("softmax")
    ),
    "matmul": Kind(lambda inputs: arithmetic.product(*inputs), _method("matmul")),
    "scan": Kind(
        lambda inputs, name, axis: arithmetic.scanned(name, inputs[0], axis),
        lambda inputs, name, axis: _named(inputs, name, axis),
    ),
    "extreme": Kind(
        lambda inputs, name, axis, part: positions.extreme(inputs[0], name, axis, part),
        lambda inputs, name, axis, part: getattr(getattr(inputs[0], name)(axis), part),
    ),
    "gather": Kind(
        lambda inputs, axis: positions.gathered(inputs, axis),
        lambda inputs, axis: inputs[0].gather(axis, inputs[1]),
    ),
    "index": Kind(
        lambda inputs, index: positions.indexed(inputs[0], inputs[1:], index),
        lambda inputs, index: inputs[0][positions.filled(index, inputs[1:])],
    ),
    "scatter": Kind(
        lambda inputs, axis, way: positions.scattered(inputs, axis, way),
        lambda inputs, axis, way: positions.scatter(inputs, axis, way),
    ),
}  # fmt: skip
"""Instructions that give something new."""
