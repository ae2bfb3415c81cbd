"""Random differentiable programs that both libraries run, step by step alike.

A step is drawn for a value that there is, tried by PyTorch, and kept if all numbers stay moderate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy
import torch
from numpy.typing import NDArray

import ogive
from ogive import Tensor

Array = NDArray[Any]
Function = Callable[..., Any]
LARGEST, GREATEST = 400, 50.0
"""The most elements in one value, and the greatest of them."""


class Library(NamedTuple):
    """What is not a method of tensors."""

    module: Any
    make: Callable[[Any], Any]
    settle: Callable[[Any], Any]


OGIVE = Library(ogive, Tensor, lambda x: x.realize())
TORCH = Library(torch, torch.tensor, lambda x: x)


class Step(NamedTuple):
    """A function of the library and of the values with these numbers."""

    text: str
    inputs: tuple[int, ...]
    function: Function


class Program(NamedTuple):
    """Inputs, what is made of them, and by how much each element at the ends counts."""

    inputs: list[Array]
    steps: list[Step]
    weights: list[Array]

    def total(self, library: Library, inputs: Sequence[Any]) -> Any:
        """The sum of all elements of the values at the ends, by their weights."""
        values = list(inputs)
        for step in self.steps:
            values.append(step.function(library, *[values[number] for number in step.inputs]))
        parts = [
            (values[number] * library.make(weight)).sum()
            for number, weight in zip(self.ends, self.weights, strict=True)
        ]
        return sum(parts[1:], parts[0])

    @property
    def ends(self) -> list[int]:
        """The numbers of the inputs, and of what nothing else uses."""
        used = {number for step in self.steps for number in step.inputs}
        first, count = len(self.inputs), len(self.steps)
        return [*range(first), *[n for n in range(first, first + count) if n not in used]]

    def __str__(self) -> str:
        lines = [f"{number}: input {array.shape}" for number, array in enumerate(self.inputs)]
        first = len(lines)
        lines += [f"{first + n}: {s.text} {s.inputs}" for n, s in enumerate(self.steps)]
        return "\n".join(lines)


def _method(name: str, *arguments: Any, **named: Any) -> Function:
    return lambda library, x, *others: getattr(x, name)(*others, *arguments, **named)


UNARY: dict[str, Function] = {
    **{
        name: _method(name)
        for name in ("sin", "cos", "tanh", "sigmoid", "square", "abs", "relu", "atan", "erf",
                     "neg", "contiguous", "expm1", "asinh", "detach")
    },
    "exp": lambda library, x: x.tanh().exp(),
    "sqrt": lambda library, x: (x.square() + 1).sqrt(),
    "log": lambda library, x: (x.abs() + 0.5).log(),
    "reciprocal": lambda library, x: (x.square() + 1).reciprocal(),
    "clamp": _method("clamp", -0.7, 0.9),
    "assign": lambda library, x: _overwritten(x),
    "realize": lambda library, x: library.settle(x * 1.5),
}  # fmt: skip

BINARY: dict[str, Function] = {
    **{name: _method(name) for name in ("add", "sub", "mul", "maximum", "minimum", "atan2")},
    "div": lambda library, x, y: x / (y.square() + 1),
    "pow": lambda library, x, y: (x.abs() + 0.5) ** y.tanh(),
    "where": lambda library, x, y: library.module.where(x > y, x * y, y - x),
    "fmod": lambda library, x, y: x.fmod(y.abs() + 0.7),
    "logaddexp": lambda library, x, y: library.module.logaddexp(x, y),
}

ALONG: dict[str, Function] = {
    **{
        name: lambda library, x, axis, name=name: getattr(x, name)(axis, keepdim=True)
        for name in ("sum", "mean", "amax", "amin", "prod", "logsumexp")
    },
    **{
        name: lambda library, x, axis, name=name: getattr(x, name)(axis)
        for name in ("sum", "softmax", "log_softmax", "cumsum", "cumprod", "logcumsumexp")
    },
    "var": lambda library, x, axis: x.var(axis, keepdim=True, correction=0),
    "cummax": lambda library, x, axis: x.cummax(axis).values,
    "sort": lambda library, x, axis: x.sort(axis).values,
    "normalized": lambda library, x, axis: (
        (x - x.mean(axis, keepdim=True)) / (x.var(axis, keepdim=True, correction=0) + 0.1).sqrt()
    ),
    "roll": lambda library, x, axis: x.roll(1, axis),
    "flip": lambda library, x, axis: x.flip((axis,)),
    "doubled": lambda library, x, axis: library.module.cat([x, x.sin()], axis),
    "stacked": lambda library, x, axis: library.module.stack([x, x * 2], axis),
    "unsqueeze": lambda library, x, axis: x.unsqueeze(axis),
}  # fmt: skip


def _overwritten(x: Any) -> Any:
    """A copy of which the first part was changed in place."""
    y = x * 1.0
    y[: (y.shape[0] + 1) // 2] = y[-1] * 3
    y[0] *= 2
    return y


class Generator:
    """Draws a program; PyTorch says what shapes there are."""

    def __init__(self, seed: int) -> None:
        self.random = numpy.random.default_rng(seed)
        self.inputs: list[Array] = []
        self.steps: list[Step] = []

    def draw(self, options: Sequence[Any]) -> Any:
        return options[int(self.random.integers(len(options)))]

    def generate(self, length: int) -> Program:
        """A program of so many steps that gave moderate numbers."""
        shape = tuple([self.draw((1, 2, 3, 4, 5)) for _ in range(self.draw((1, 2, 2, 3)))])
        count = self.draw((1, 2, 3))
        for _ in range(count):
            small = [1 if self.random.random() < 0.3 else size for size in shape]
            self.inputs.append(self.random.normal(size=small))
        values = [torch.tensor(array) for array in self.inputs]
        for _ in range(20 * length):
            step = self.step(values)
            made = self.tried(step, values) if step else None
            if step and made is not None:
                self.steps.append(step)
                values.append(made)
            if len(self.steps) == length:
                break
        program = Program(self.inputs, self.steps, [])
        shapes = [tuple(values[number].shape) for number in program.ends]
        return program._replace(weights=[self.random.normal(size=shape) for shape in shapes])

    def tried(self, step: Step, values: list[torch.Tensor]) -> torch.Tensor | None:
        """What a step gives, if that can be gone on with."""
        try:
            made: torch.Tensor = step.function(TORCH, *[values[n] for n in step.inputs])
        except (RuntimeError, IndexError):
            return None
        small = 0 < made.numel() <= LARGEST and made.ndim <= 5
        return made if small and bool((made.abs() < GREATEST).all()) else None

    def step(self, values: list[torch.Tensor]) -> Step | None:
        recent = range(max(0, len(values) - 4), len(values))
        number = self.draw(recent if self.random.random() < 0.7 else range(len(values)))
        shape = tuple(values[number].shape)
        axis = int(self.random.integers(len(shape))) if shape else 0
        kind = self.draw(("unary", "binary", "binary", "along", "along", "moved", "indexed", "met"))
        if kind == "unary":
            name = self.draw(list(UNARY))
            return Step(name, (number,), UNARY[name])
        if kind == "binary":
            fitting = [n for n, v in enumerate(values) if _broadcasts(tuple(v.shape), shape)]
            name = self.draw(list(BINARY))
            return Step(name, (number, self.draw(fitting)), BINARY[name])
        if not shape:
            return None
        if kind == "along":
            name = self.draw(list(ALONG))
            function = ALONG[name]
            return Step(
                f"{name} along {axis}", (number,), lambda library, x: function(library, x, axis)
            )
        if kind == "moved":
            return self.moved(number, shape)
        if kind == "indexed":
            return self.indexed(number, shape, axis)
        return self.met(number, shape)

    def moved(self, number: int, shape: tuple[int, ...]) -> Step:
        order = tuple(self.random.permutation(len(shape)).tolist())
        turned = tuple([shape[axis] for axis in order])
        grown = tuple([self.draw((2, 3)) if size == 1 else size for size in shape])
        begin = [int(self.random.integers(size)) for size in shape]
        window = tuple([slice(first, None, self.draw((1, 1, 2))) for first in begin])
        ways: dict[str, Function] = {
            f"permute {order}": _method("permute", order),
            f"fold {turned}": _method("reshape", turned),
            "flat": _method("reshape", (-1,)),
            f"expand {grown}": _method("expand", grown),
            f"window {window}": lambda library, x: x[window],
            "lower": lambda library, x: x.tril(),
        }
        text = self.draw(list(ways))
        return Step(text, (number,), ways[text])

    def indexed(self, number: int, shape: tuple[int, ...], axis: int) -> Step:
        index = self.random.integers(0, shape[axis], shape)
        lines = self.random.integers(0, shape[axis], 3)
        ways: dict[str, Function] = {
            "gather": lambda library, x: x.gather(axis, library.make(index)),
            "scatter_add": lambda library, x: x.scatter_add(axis, library.make(index), x.sin()),
            "index_select": lambda library, x: x.index_select(axis, library.make(lines)),
            "index_add": lambda library, x: x.index_add(
                axis, library.make(lines), x.index_select(axis, library.make(lines)).cos()
            ),
            "taken": lambda library, x: x[
                (slice(None),) * axis + (library.make(lines),)
            ],
        }  # fmt: skip
        text = self.draw(list(ways))
        return Step(f"{text} along {axis}", (number,), ways[text])

    def met(self, number: int, shape: tuple[int, ...]) -> Step:
        """Products, and sums of what is repeated along different axes."""
        if len(shape) > 1 and self.random.random() < 0.6:
            return Step("outer products", (number,), lambda library, x: x @ x.transpose(-1, -2))
        return Step(
            "repeated sums",
            (number,),
            lambda library, x: _repeated(x, 0).sum(1) * _repeated(x, 1).square().sum(1),
        )


def _repeated(x: Any, axis: int) -> Any:
    length = x.shape[0]
    x = x.unsqueeze(axis)
    return x.expand(length, length, *x.shape[2:])


def _broadcasts(left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    return all(a == b or 1 in (a, b) for a, b in zip(left[::-1], right[::-1], strict=False))
