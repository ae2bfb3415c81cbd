"""Random tensor programs, run by Ogive and by NumPy side by side.

A program is a list of instructions that can be run again, in part too, so that a failing one can be
cut down to the few that matter (`python -m tests.random_programs SEED` prints them).

Floats are followed in float64 together with a bound on the error that rounding may have caused;
what depends on a float discontinuously is only done where that bound is zero. Integers are exact.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import ogive
from ogive import Config, Tensor

Array = NDArray[Any]

INTEGERS = ("int8", "int16", "int32", "int64", "uint8")
FLOATS = ("float16", "bfloat16", "float32", "float64")
DTYPES = ("bool", *INTEGERS, *FLOATS)
PRECISION = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
SIZES = (1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33, 40, 64, 65)
LARGEST = 4096
"""The most elements in one value."""

GREATEST = 4000.0
"""The greatest float in a program."""


class Unsuitable(Exception):
    """An instruction whose result the reference cannot vouch for."""


@dataclass(frozen=True)
class Value:
    """What a tensor must hold: floats as float64, within `error` elementwise."""

    dtype: str
    data: Array
    error: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS

    @property
    def is_exact(self) -> bool:
        return not self.error.any()

    def moved(self, move: Callable[[Array], Array]) -> Value:
        """The value with its elements somewhere else."""
        return Value(self.dtype, move(self.data), move(self.error))


@dataclass(frozen=True)
class Instruction:
    """`out = kind(inputs, arguments)`, or an effect on `inputs[0]`."""

    kind: str
    inputs: tuple[int, ...]
    out: int
    arguments: tuple[Any, ...] = ()


Program = list[Instruction]


def numpy_dtype(name: str) -> Any:
    return ml_dtypes.bfloat16 if name == "bfloat16" else np.dtype(name)


def rounded(data: Array, dtype: str) -> Array:
    """float64 rounded to a float dtype and back."""
    with np.errstate(over="ignore"):
        if dtype in ("float16", "bfloat16"):
            data = data.astype(np.float32)
        return data.astype(numpy_dtype(dtype)).astype(np.float64)


def exact(dtype: str, data: Array) -> Value:
    kind = np.float64 if dtype in FLOATS else np.dtype(dtype)
    array = np.asarray(data).astype(kind)
    return Value(dtype, array, np.zeros(array.shape))


def computed(dtype: str, data: Array, error: Array, ulps: float = 0.0) -> Value:
    """A float result: correctly rounded where the inputs are exact, else with a bound."""
    if not np.all(np.isfinite(data)) or np.any(np.abs(data) > GREATEST):
        raise Unsuitable("too large")
    data, error = np.asarray(data, np.float64), np.asarray(error, np.float64)
    if ulps == 0 and not error.any():
        return Value(dtype, rounded(data, dtype), np.zeros(data.shape))
    tiny = 2.0**-24 if dtype == "float16" else 1e-38
    error = error * 1.001 + PRECISION[dtype] * (1 + ulps) * np.abs(data) + tiny
    if np.any(error > 0.05 * np.abs(data) + 0.05):
        raise Unsuitable("too inexact")
    return Value(dtype, data, error)


def make_input(dtype: str, shape: tuple[int, ...], seed: int) -> Array:
    """Random data that stays exact for a while: small integers, a few fractions."""
    generator = np.random.default_rng(seed)
    if dtype == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    if dtype in INTEGERS:
        return generator.integers(0 if dtype == "uint8" else -9, 10, shape).astype(dtype)
    small = generator.integers(-8, 9, shape).astype(np.float64)
    if seed % 3 == 0:
        small = np.asarray(small / 4)
    array: Array = small.astype(numpy_dtype(dtype))
    return array


# The reference


def cast(value: Value, dtype: str) -> Value:
    if dtype == value.dtype:
        return value
    if not value.is_float:
        if dtype in FLOATS:
            data = value.data.astype(np.float32 if dtype != "float64" else np.float64)
            if np.any(np.abs(data) > GREATEST):
                raise Unsuitable("too large")
            return Value(dtype, rounded(data.astype(np.float64), dtype), value.error)
        return exact(dtype, value.data.astype(np.dtype(dtype)))
    if dtype in FLOATS:
        return computed(dtype, value.data, value.error)
    if not value.is_exact:
        raise Unsuitable("a discontinuous cast")
    if dtype == "bool":
        return exact(dtype, value.data != 0)
    limits = np.iinfo(dtype)
    if np.any(np.trunc(value.data) < limits.min) or np.any(value.data > limits.max):
        raise Unsuitable("an integer out of range")
    return exact(dtype, np.trunc(value.data))


def unary(kind: str, value: Value) -> Value:
    data, error, dtype = value.data, value.error, value.dtype
    if kind in ("contiguous", "detach"):
        return value
    if kind in ("exp", "sin", "tanh") or (kind == "sqrt" and not value.is_float):
        if not value.is_float:
            value = cast(value, "float32")
            data, error, dtype = value.data, value.error, value.dtype
        if kind == "exp":
            if np.any(data > 8):
                raise Unsuitable("too large")
            return computed(dtype, np.exp(data), np.exp(data) * np.expm1(error), 4)
        if kind in ("sin", "tanh"):
            function = np.sin if kind == "sin" else np.tanh
            return computed(dtype, function(data), error, 4)
    if kind == "sqrt":
        if np.any(data < 0) or not value.is_exact:
            raise Unsuitable("a root of what may be negative")
        return computed(dtype, np.sqrt(data), error)
    if kind == "logical_not":
        if not value.is_exact:
            raise Unsuitable("a discontinuity")
        return exact("bool", np.logical_not(data))
    if dtype == "bool":
        raise Unsuitable("no meaning for bool")
    if kind == "neg":
        return replace(value, data=-data)
    if kind == "abs":
        return replace(value, data=np.abs(data))
    if kind == "relu":
        return replace(value, data=np.maximum(data, 0))
    if kind == "square":
        return binary("mul", value, value)
    assert kind == "floor"
    if not value.is_float:
        return value
    if not value.is_exact:
        raise Unsuitable("a discontinuity")
    return exact(dtype, np.floor(data))


def promote(left: Value, right: Value) -> tuple[Value, Value]:
    """The operands in a common dtype; only pairs whose promotion nobody disputes."""
    if left.dtype == right.dtype:
        return left, right
    if (left.shape == ()) != (right.shape == ()):
        raise Unsuitable("a tensor without axes counts less")
    kinds = {value.dtype for value in (left, right)}
    if "bool" in kinds:
        (other,) = kinds - {"bool"}
    elif len(kinds & set(FLOATS)) == 1 and kinds & set(INTEGERS):
        (other,) = kinds & set(FLOATS)
    elif kinds == {"float16", "bfloat16"}:
        other = "float32"
    elif kinds <= set(FLOATS):
        other = max(kinds, key=lambda name: int(name.removeprefix("b").removeprefix("float")))
    elif "uint8" in kinds:
        other = "int16" if "int8" in kinds else next(iter(kinds - {"uint8"}))
    else:
        other = max(kinds, key=lambda name: int(name.removeprefix("int")))
    return cast(left, other), cast(right, other)


_COMPARISONS: dict[str, Any] = {
    "lt": np.less, "le": np.less_equal, "eq": np.equal, "ne": np.not_equal, "gt": np.greater,
    "ge": np.greater_equal,
}  # fmt: skip
_BITWISE: dict[str, Any] = {
    "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
}  # fmt: skip


def binary(kind: str, left: Value, right: Value) -> Value:
    if kind == "sub" and "bool" in (left.dtype, right.dtype):
        raise Unsuitable("no meaning for bool")
    left, right = promote(left, right)
    dtype = left.dtype
    a, b = left.data, right.data
    if kind in _COMPARISONS:
        if not (left.is_exact and right.is_exact):
            raise Unsuitable("a discontinuity")
        return exact("bool", _COMPARISONS[kind](a, b))
    if kind in _BITWISE:
        if left.is_float:
            raise Unsuitable("floats have no bits here")
        return exact(dtype, _BITWISE[kind](a, b))
    if kind in ("maximum", "minimum"):
        function = np.maximum if kind == "maximum" else np.minimum
        return Value(dtype, function(a, b), np.maximum(left.error, right.error))
    if dtype == "bool":
        if kind in ("add", "mul"):
            return exact(dtype, (np.logical_or if kind == "add" else np.logical_and)(a, b))
        raise Unsuitable("no meaning for bool")
    if kind in ("floor_divide", "remainder"):
        # The divisor is made odd by the instruction, so it is not zero.
        if left.is_float:
            raise Unsuitable("tested elsewhere")
        with np.errstate(all="ignore"):
            result = np.floor_divide(a, b) if kind == "floor_divide" else np.remainder(a, b)
        return exact(dtype, result)
    if kind == "div":
        if not left.is_float:
            left, right = cast(left, "float32"), cast(right, "float32")
            a, b = left.data, right.data
        # The divisor is at least 1 in magnitude.
        error = (left.error + np.abs(a / b) * right.error) / np.maximum(
            np.abs(b) - right.error, 0.5
        )
        return computed(left.dtype, a / b, error)
    with np.errstate(over="ignore"):
        result = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[kind](a, b)
    if not left.is_float:
        return exact(dtype, result)
    if kind == "mul":
        error = np.abs(a) * right.error + np.abs(b) * left.error + left.error * right.error
    else:
        error = left.error + right.error
    return computed(dtype, result, error)


def reduced(kind: str, value: Value, axes: tuple[int, ...], keep: bool) -> Value:
    data, dtype = value.data, value.dtype
    count = int(np.prod([value.shape[axis] for axis in axes], dtype=np.int64))
    if kind in ("any", "all"):
        if not value.is_exact:
            raise Unsuitable("a discontinuity")
        logic: Any = np.any if kind == "any" else np.all
        return exact("bool", np.asarray(logic(data != 0, axis=axes, keepdims=keep)))
    if kind in ("amax", "amin"):
        if count == 0:
            raise Unsuitable("nothing to choose from")
        function: Any = np.max if kind == "amax" else np.min
        error = np.asarray(np.max(value.error, axis=axes, keepdims=keep))
        return Value(dtype, np.asarray(function(data, axis=axes, keepdims=keep)), error)
    if not value.is_float:
        if kind == "mean":
            raise Unsuitable("integers have no mean")
        total = np.sum if kind == "sum" else np.prod
        with np.errstate(over="ignore"):
            result = total(data.astype(np.int64), axis=axes, keepdims=keep)
        return exact("int64", np.asarray(result))
    if kind == "prod":
        raise Unsuitable("tested elsewhere")
    if kind == "mean" and count == 0:
        raise Unsuitable("a mean of nothing")
    result = np.asarray(np.sum(data, axis=axes, keepdims=keep))
    size = np.asarray(np.sum(np.abs(data), axis=axes, keepdims=keep))
    error = np.asarray(np.sum(value.error, axis=axes, keepdims=keep))
    whole = np.all(data * 4 == np.round(data * 4)) and np.all(size < 1 / PRECISION[dtype] / 4)
    if not (whole and value.is_exact):
        error = error + PRECISION[dtype] * (count + 2) * size + 1e-30
    if kind == "mean":
        return computed(dtype, result / count, error / count, 4)
    return computed(dtype, result, error)


def chosen(kind: str, value: Value, axis: int) -> Value:
    if not value.is_exact or value.shape[axis] == 0 or value.dtype == "bool":
        raise Unsuitable("a discontinuity, or nothing")
    function = np.argmax if kind == "argmax" else np.argmin
    return exact("int64", np.asarray(function(value.data, axis=axis)))


def product(left: Value, right: Value) -> Value:
    if left.dtype != right.dtype or left.dtype == "bool":
        raise Unsuitable("tested elsewhere")
    dtype = left.dtype
    a, b = left.data, right.data
    if not left.is_float:
        return exact(dtype, a @ b)
    count = a.shape[-1]
    size = np.abs(a) @ np.abs(b)
    error = np.abs(a) @ right.error + left.error @ np.abs(b) + left.error @ right.error
    fractions = all(np.all(x * 4 == np.round(x * 4)) for x in (a, b))
    whole = fractions and np.all(size < 1 / PRECISION[dtype] / 16)
    if not (whole and left.is_exact and right.is_exact):
        error = error + PRECISION[dtype] * (count + 2) * size + 1e-30
    return computed(dtype, a @ b, error)


def softmax(value: Value, axis: int) -> Value:
    if not value.is_float or 0 in value.shape:
        raise Unsuitable("floats only")
    data = value.data - value.data.max(axis, keepdims=True)
    exponentials = np.exp(data)
    result = exponentials / exponentials.sum(axis, keepdims=True)
    worst = float(value.error.max(initial=0.0))
    error = result * np.expm1(4 * worst + PRECISION[value.dtype] * (value.shape[axis] + 16))
    return computed(value.dtype, result, error + 1e-7)


def odd(value: Value) -> Value:
    return binary("bitwise_or", value, exact(value.dtype, np.ones((), np.dtype(value.dtype))))


def apply(instruction: Instruction, inputs: Sequence[Value]) -> Value:
    """The value an instruction gives."""
    # NumPy makes numbers of arrays without axes.
    return _apply(instruction, inputs).moved(np.asarray)


def _apply(instruction: Instruction, inputs: Sequence[Value]) -> Value:
    kind, arguments = instruction.kind, instruction.arguments
    if kind == "input":
        dtype, shape, seed, _ = arguments
        return exact(dtype, make_input(dtype, shape, seed).astype(
            np.float64 if dtype in FLOATS else np.dtype(dtype)
        ))  # fmt: skip
    if kind == "full":
        dtype, shape, number = arguments
        return exact(dtype, np.full(shape, number))
    if kind == "arange":
        (count,) = arguments
        return exact("int64", np.arange(count))
    first = inputs[0]
    if kind == "cast":
        return cast(first, arguments[0])
    if kind == "unary":
        return unary(arguments[0], first)
    if kind == "binary":
        name = arguments[0]
        right = inputs[1]
        if name in ("floor_divide", "remainder"):
            if first.dtype not in INTEGERS or right.dtype != first.dtype:
                raise Unsuitable("integers only")
            right = odd(right)
        if name == "div":
            one = exact(right.dtype, np.ones(()))
            if right.dtype == "bool":
                raise Unsuitable("not for bool")
            right = binary("maximum", right, one)
        return binary(name, first, right)
    if kind == "scalar":
        name, number = arguments
        if first.dtype == "bool":
            raise Unsuitable("promotion is tested elsewhere")
        return binary(name, first, exact(first.dtype, np.array(number)))
    if kind == "where":
        if first.dtype != "bool":
            raise Unsuitable("needs a condition")
        left, right = promote(inputs[1], inputs[2])
        error = np.where(first.data, left.error, right.error)
        return Value(left.dtype, np.where(first.data, left.data, right.data), error)
    if kind == "reshape":
        return first.moved(lambda array: array.reshape(arguments[0]))
    if kind == "permute":
        return first.moved(lambda array: array.transpose(arguments[0]))
    if kind == "expand":
        return first.moved(lambda array: np.broadcast_to(array, arguments[0]))
    if kind == "pad":
        pads, fill = arguments
        data = np.pad(first.data, pads, constant_values=fill)
        return Value(first.dtype, data, np.pad(first.error, pads))
    if kind == "flip":
        return first.moved(lambda array: np.flip(array, arguments[0]))
    if kind == "slice":
        return first.moved(lambda array: np.asarray(array[arguments[0]]))
    if kind in ("cat", "stack"):
        if len({value.dtype for value in inputs}) != 1:
            raise Unsuitable("promotion is tested elsewhere")
        join: Any = np.concatenate if kind == "cat" else np.stack
        return Value(
            first.dtype,
            join([value.data for value in inputs], arguments[0]),
            join([value.error for value in inputs], arguments[0]),
        )
    if kind == "reduce":
        return reduced(arguments[0], first, arguments[1], arguments[2])
    if kind == "choose":
        return chosen(arguments[0], first, arguments[1])
    if kind == "softmax":
        return softmax(first, arguments[0])
    if kind == "matmul":
        return product(first, inputs[1])
    if kind == "assign":
        new = cast(inputs[1], first.dtype)
        return new.moved(lambda array: np.broadcast_to(array, first.shape).copy())
    assert kind == "setitem", kind
    new = cast(inputs[1], first.dtype)
    data, error = first.data.copy(), first.error.copy()
    data[arguments[0]] = new.data
    error[arguments[0]] = new.error
    return Value(first.dtype, data, error)


# Ogive


def perform(instruction: Instruction, inputs: Sequence[Tensor]) -> Tensor:
    """The same instruction on tensors."""
    kind, arguments = instruction.kind, instruction.arguments
    if kind == "input":
        dtype, shape, seed, borrowed = arguments
        array = make_input(dtype, shape, seed)
        return Tensor.from_numpy(array) if borrowed else Tensor(array)
    if kind == "full":
        dtype, shape, number = arguments
        return ogive.full(shape, number, dtype=dtype)
    if kind == "arange":
        return ogive.arange(arguments[0])
    first = inputs[0]
    if kind == "cast":
        return first.cast(arguments[0])
    if kind in ("unary", "choose", "softmax"):
        name, *rest = arguments if kind != "softmax" else ("softmax", *arguments)
        made: Tensor = getattr(first, name)(*rest)
        return made
    if kind == "binary":
        name = arguments[0]
        right = inputs[1]
        if name in ("floor_divide", "remainder"):
            right = right | 1
        if name == "div":
            right = right.maximum(1)
        made = getattr(first, name)(right)
        return made
    if kind == "scalar":
        name, number = arguments
        made = getattr(first, name)(number)
        return made
    if kind == "where":
        return ogive.where(first, inputs[1], inputs[2])
    if kind in ("reshape", "permute", "expand", "flip"):
        made = getattr(first, kind)(arguments[0])
        return made
    if kind == "pad":
        return first.pad(arguments[0], value=arguments[1])
    if kind == "slice":
        return first[arguments[0]]
    if kind == "cat":
        return ogive.cat(list(inputs), arguments[0])
    if kind == "stack":
        return ogive.stack(list(inputs), arguments[0])
    if kind == "reduce":
        made = getattr(first, arguments[0])(arguments[1], keepdim=arguments[2])
        return made
    assert kind == "matmul", kind
    return first @ inputs[1]


EFFECTS = ("assign", "setitem", "realize", "prepare", "check", "drop")


def run(program: Program, config: Config | None = None) -> dict[int, Tensor]:
    """Run a program both ways; raises `AssertionError` where they differ.

    The tensors that are left, by number.
    """
    tensors: dict[int, Tensor] = {}
    values: dict[int, Value] = {}
    for instruction in program:
        inputs = instruction.inputs
        if any(number not in tensors for number in inputs):
            continue
        kind = instruction.kind
        if kind in ("assign", "setitem"):
            target, source = inputs
            values[target] = apply(instruction, [values[target], values[source]])
            if kind == "assign":
                tensors[target].assign(tensors[source])
            else:
                tensors[target][instruction.arguments[0]] = tensors[source]
        elif kind == "realize":
            Tensor.realize_batch([tensors[number] for number in inputs], config)
        elif kind == "prepare":
            plan = Tensor.prepare_batch([tensors[number] for number in inputs], config)
            plan.execute()
        elif kind == "check":
            compare(tensors[inputs[0]], values[inputs[0]], config)
        elif kind == "drop":
            del tensors[inputs[0]], values[inputs[0]]
        else:
            values[instruction.out] = apply(instruction, [values[i] for i in inputs])
            tensors[instruction.out] = perform(instruction, [tensors[i] for i in inputs])
    for number, tensor in tensors.items():
        compare(tensor, values[number], config)
    return tensors


def compare(tensor: Tensor, value: Value, config: Config | None) -> None:
    assert tensor.dtype.name == value.dtype, f"dtype {tensor.dtype.name}, not {value.dtype}"
    assert tensor.shape == value.shape, f"shape {tensor.shape}, not {value.shape}"
    tensor.realize(config)
    got = tensor.numpy()
    if value.is_float:
        difference = np.abs(got.astype(np.float64) - value.data)
        good = difference <= value.error
    else:
        good = got == value.data
    if not np.all(good):
        place = tuple(int(axis[0]) for axis in np.nonzero(~np.atleast_1d(good)))
        wrong = np.atleast_1d(got)[place], np.atleast_1d(value.data)[place]
        raise AssertionError(
            f"{int((~good).sum())} of {good.size} elements of {value.dtype}{value.shape} differ, "
            f"first at {place}: {wrong[0]}, not {wrong[1]}"
        )


# Making programs


class Generator:
    """Draws programs; what the reference cannot vouch for is left out."""

    def __init__(self, seed: int, length: int) -> None:
        self.random = np.random.default_rng(seed)
        self.length = length
        self.program: Program = []
        self.values: dict[int, Value] = {}
        self.count = 0

    def draw(self, options: Sequence[Any]) -> Any:
        return options[int(self.random.integers(len(options)))]

    def chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def shape(self) -> tuple[int, ...]:
        rank = self.draw((0, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5))
        if self.chance(0.02):
            return tuple([self.draw((1, 1, 2)) if axis < 7 else 3 for axis in range(10)])
        shape: list[int] = []
        for _ in range(rank):
            size = 0 if self.chance(0.02) else self.draw(SIZES)
            if int(np.prod([*shape, size])) > LARGEST:
                size = 1
            shape.append(size)
        return tuple(shape)

    def generate(self) -> Program:
        for _ in range(int(self.random.integers(1, 4))):
            self.add_input(self.shape())
        while len(self.program) < self.length:
            self.step()
        return self.program

    def add(self, kind: str, inputs: tuple[int, ...], *arguments: Any) -> int | None:
        """Append an instruction, unless its result is unsuitable."""
        instruction = Instruction(kind, inputs, self.count, arguments)
        if kind not in EFFECTS or kind in ("assign", "setitem"):
            try:
                value = apply(instruction, [self.values[number] for number in inputs])
            except Unsuitable:
                return None
            if inputs and value.data.size > 4 * LARGEST:
                return None
            self.values[inputs[0] if kind in ("assign", "setitem") else self.count] = value
        self.program.append(instruction)
        self.count += 1
        return instruction.out

    def add_input(self, shape: tuple[int, ...], dtype: str | None = None) -> int:
        dtype = dtype or self.draw(DTYPES)
        seed = int(self.random.integers(1 << 30))
        if self.chance(0.1):
            made = self.add("full", (), dtype, shape, int(self.random.integers(2)))
        elif len(shape) == 1 and self.chance(0.1):
            made = self.add("arange", (), shape[0])
        else:
            made = self.add("input", (), dtype, shape, seed, self.chance(0.2))
        assert made is not None
        return made

    def pick(self) -> int:
        numbers = list(self.values)
        # Late values more often, so that programs grow deep; early ones too, so that they share.
        return int(self.draw(numbers if self.chance(0.4) else numbers[-3:]))

    def partner(self, number: int) -> int:
        """A value that broadcasts with another."""
        shape = self.values[number].shape
        fitting = [
            other
            for other, value in self.values.items()
            if _broadcasts(value.shape, shape) and self.chance(0.8)
        ]
        if fitting and self.chance(0.7):
            return int(self.draw(fitting))
        cut = list(shape[int(self.random.integers(len(shape) + 1)) :])
        for axis in range(len(cut)):
            if self.chance(0.25):
                cut[axis] = 1
        dtype = self.values[number].dtype if self.chance(0.8) else None
        return self.add_input(tuple(cut), dtype)

    def step(self) -> None:
        number = self.pick()
        kind = self.draw(_STEPS)
        getattr(self, "add_" + kind)(number, self.values[number])

    def add_unary(self, number: int, value: Value) -> None:
        names = ("neg", "abs", "relu", "square", "floor", "logical_not", "sqrt", "exp", "sin",
                 "tanh", "contiguous", "detach")  # fmt: skip
        self.add("unary", (number,), self.draw(names))

    def add_cast(self, number: int, value: Value) -> None:
        self.add("cast", (number,), self.draw(DTYPES))

    def add_binary(self, number: int, value: Value) -> None:
        names = ("add", "sub", "mul", "maximum", "minimum", "div", "floor_divide", "remainder",
                 *_COMPARISONS, *_BITWISE, "add", "mul", "sub")  # fmt: skip
        self.add("binary", (number, self.partner(number)), self.draw(names))

    def add_scalar(self, number: int, value: Value) -> None:
        names = ("add", "sub", "mul", "maximum", "minimum", "lt", "eq")
        self.add("scalar", (number,), self.draw(names), int(self.random.integers(4)))

    def add_where(self, number: int, value: Value) -> None:
        other = self.partner(number)
        condition = self.add("scalar", (number,), "gt", 0) if value.dtype != "bool" else number
        if condition is not None:
            self.add("where", (condition, self.draw((number, other)), other))

    def add_reshape(self, number: int, value: Value) -> None:
        factors = [f for size in value.shape for f in _factors(size)]
        self.random.shuffle(factors)
        shape: list[int] = []
        for factor in factors:
            if shape and self.chance(0.5):
                shape[-1] *= factor
            else:
                shape.append(factor)
        while len(shape) < 5 and self.chance(0.2):
            shape.insert(int(self.random.integers(len(shape) + 1)), 1)
        self.add("reshape", (number,), tuple(shape))

    def add_permute(self, number: int, value: Value) -> None:
        self.add("permute", (number,), tuple(map(int, self.random.permutation(len(value.shape)))))

    def add_expand(self, number: int, value: Value) -> None:
        shape = [self.draw((1, 2, 3, 8)) if size == 1 else size for size in value.shape]
        if self.chance(0.3):
            shape.insert(0, self.draw((1, 2, 5)))
        if int(np.prod(shape)) <= LARGEST:
            self.add("expand", (number,), tuple(shape))

    def add_pad(self, number: int, value: Value) -> None:
        pads = tuple([(self.draw((0, 0, 1, 3)), self.draw((0, 0, 1, 2))) for _ in value.shape])
        grown = [size + sum(pair) for size, pair in zip(value.shape, pads, strict=True)]
        if pads and int(np.prod(grown)) <= LARGEST:
            self.add("pad", (number,), pads, self.draw((0, 0, 1)))

    def add_flip(self, number: int, value: Value) -> None:
        axes = tuple([axis for axis in range(len(value.shape)) if self.chance(0.5)])
        if axes:
            self.add("flip", (number,), axes)

    def index(self, shape: tuple[int, ...]) -> tuple[Any, ...]:
        entries: list[Any] = []
        for size in shape:
            if self.chance(0.3) or size == 0:
                entries.append(slice(None))
            elif self.chance(0.15):
                entries.append(int(self.random.integers(-size, size)))
            else:
                first, last = sorted(self.random.integers(0, size + 1, 2).tolist())
                step = self.draw((None, 1, 2, 3, -1, -2, -5))
                if step is not None and step < 0:
                    first, last = last - 1, (first - 1 if first else None)
                entries.append(slice(first, last, step))
        if self.chance(0.1):
            entries.insert(int(self.random.integers(len(entries) + 1)), None)
        return tuple(entries)

    def add_slice(self, number: int, value: Value) -> None:
        self.add("slice", (number,), self.index(value.shape))

    def add_cat(self, number: int, value: Value) -> None:
        if not value.shape:
            return
        axis = int(self.random.integers(len(value.shape)))
        parts = [number]
        for _ in range(int(self.random.integers(1, 3))):
            if self.chance(0.3):
                parts.append(number)
            else:
                shape = list(value.shape)
                shape[axis] = self.draw((1, 2, 5, 8))
                if int(np.prod(shape)) > LARGEST:
                    return
                parts.append(self.add_input(tuple(shape), value.dtype))
        self.add("cat", tuple(parts), axis)

    def add_stack(self, number: int, value: Value) -> None:
        axis = int(self.random.integers(len(value.shape) + 1))
        if len(value.shape) < 6:
            self.add("stack", (number, self.add_input(value.shape, value.dtype)), axis)

    def add_reduce(self, number: int, value: Value) -> None:
        axes = tuple([axis for axis in range(len(value.shape)) if self.chance(0.5)])
        kind = self.draw(("sum", "sum", "amax", "amin", "any", "all", "mean", "prod"))
        if axes:
            keep = self.chance(0.6)
            made = self.add("reduce", (number,), kind, axes, keep)
            if made is not None and keep and self.chance(0.7):
                self.add("binary", (number, made), self.draw(("sub", "add", "mul", "maximum")))

    def add_choose(self, number: int, value: Value) -> None:
        if value.shape:
            axis = int(self.random.integers(len(value.shape)))
            self.add("choose", (number,), self.draw(("argmax", "argmin")), axis)

    def add_softmax(self, number: int, value: Value) -> None:
        if value.shape:
            self.add("softmax", (number,), int(self.random.integers(len(value.shape))))

    def add_matmul(self, number: int, value: Value) -> None:
        if not value.shape or value.dtype == "bool":
            return
        columns = self.draw((1, 2, 3, 17, 33))
        batch = value.shape[:-2] if self.chance(0.5) else ()
        if self.chance(0.2):
            shape: tuple[int, ...] = (value.shape[-1],)
        else:
            shape = (*batch, value.shape[-1], columns)
        self.add("matmul", (number, self.add_input(shape, value.dtype)))

    def add_assign(self, number: int, value: Value) -> None:
        source = self.partner(number)
        if _fits(self.values[source].shape, value.shape):
            self.add("assign", (number, source))

    def add_setitem(self, number: int, value: Value) -> None:
        index = self.index(value.shape)
        part = np.empty(value.shape, bool)[index]
        if self.chance(0.4):
            source = self.add("slice", (number,), self.index(value.shape))
            if source is None or not _fits(self.values[source].shape, part.shape):
                return
        else:
            source = self.add_input(part.shape if self.chance(0.7) else (), value.dtype)
        self.add("setitem", (number, source), index)

    def add_realize(self, number: int, value: Value) -> None:
        numbers = [other for other in self.values if self.chance(0.3)]
        self.random.shuffle(numbers)
        kind = "prepare" if numbers and self.chance(0.3) else "realize"
        self.add(kind, tuple(numbers))

    def add_check(self, number: int, value: Value) -> None:
        self.add("check", (number,))

    def add_drop(self, number: int, value: Value) -> None:
        if len(self.values) > 2:
            del self.values[number]
            self.program.append(Instruction("drop", (number,), self.count))
            self.count += 1


_STEPS = (
    "unary", "unary", "cast", "binary", "binary", "binary", "binary", "scalar", "where", "reshape",
    "permute", "expand", "pad", "flip", "slice", "slice", "cat", "stack", "reduce", "reduce",
    "reduce", "choose", "softmax", "matmul", "assign", "setitem", "setitem", "realize", "check",
    "drop",
)  # fmt: skip


def _broadcasts(left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    return all(a == b or 1 in (a, b) for a, b in zip(left[::-1], right[::-1], strict=False))


def _fits(own: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return len(own) <= len(wanted) and all(
        a in (1, b) for a, b in zip(own[::-1], wanted[::-1], strict=False)
    )


def _factors(size: int) -> list[int]:
    found = []
    for prime in (2, 3, 5, 7, 11, 13, 17, 31):
        while size > 1 and size % prime == 0:
            found.append(prime)
            size //= prime
    return [*found, size] if size != 1 else found


def generate(seed: int, length: int = 14) -> Program:
    """A program of about that many instructions."""
    return Generator(seed, length).generate()


def config_for(seed: int) -> Config:
    """A configuration that goes with a seed: sometimes small kernels, scalar code, no cache."""
    return Config(
        kernel_node_limit=(512, 512, 512, 1, 3, 10)[seed % 6],
        vectorize=seed % 5 != 0,
        schedule_cache=seed % 7 != 0,
        verify=True,
    )


# Cutting programs down


def failure(program: Program, config: Config) -> str | None:
    """What goes wrong when a program is run, if anything does."""
    try:
        run(program, config)
    except Unsuitable:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def shrink(program: Program, config: Config) -> Program:
    """The program without the instructions that its failure does not need."""
    kind = (failure(program, config) or "").partition(":")[0]
    changed = True
    while changed:
        changed = False
        for place in reversed(range(len(program))):
            shorter = [*program[:place], *program[place + 1 :]]
            found = failure(shorter, config)
            if found is not None and found.partition(":")[0] == kind:
                program, changed = shorter, True
    alive = {i.out for i in program}
    return [i for i in program if all(number in alive for number in i.inputs)]


def main(arguments: Sequence[str]) -> None:
    """Run the programs of some seeds and cut down those that fail.

    The arguments are `FIRST [LAST [LENGTH]]`.
    """
    first = int(arguments[0])
    last = int(arguments[1]) if len(arguments) > 1 else first + 1
    length = int(arguments[2]) if len(arguments) > 2 else 14
    for seed in range(first, last):
        program, config = generate(seed, length), config_for(seed)
        found = failure(program, config)
        if found is None:
            continue
        print(f"seed {seed}: {found}")
        small = shrink(program, config)
        for instruction in small:
            print(f"  {instruction.out}: {instruction.kind}{instruction.inputs} "
                  f"{instruction.arguments}")  # fmt: skip
        if last - first == 1:
            try:
                run(small, config)
            except Exception:
                traceback.print_exc()


if __name__ == "__main__":
    main(sys.argv[1:])
