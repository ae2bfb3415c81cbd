"""One instruction at a time, drawn for a value that there is."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.random_programs.arithmetic import BITWISE, COMPARISONS
from tests.random_programs.drawing import Drawing
from tests.random_programs.positions import TENSOR
from tests.random_programs.values import DTYPES, LARGEST, Instruction, Value


class Steps(Drawing):
    """`add_KIND(number, value)` draws what follows the value of that number."""

    def add_unary(self, number: int, value: Value) -> None:
        names = ("neg", "abs", "relu", "square", "floor", "logical_not", "sqrt", "exp", "sin",
                 "tanh", "contiguous", "detach")  # fmt: skip
        self.add("unary", (number,), self.draw(names))

    def add_cast(self, number: int, value: Value) -> None:
        self.add("cast", (number,), self.draw(DTYPES))

    def add_binary(self, number: int, value: Value) -> None:
        names = ("add", "sub", "mul", "maximum", "minimum", "div", "floor_divide", "remainder",
                 *COMPARISONS, *BITWISE, "add", "mul", "sub")  # fmt: skip
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
        self.add("setitem", (number, source), index, self.draw(("=", "=", "+=")))

    def positions(self, shape: tuple[int, ...], size: int) -> int | None:
        """Positions in an axis of that size: data, or counted through so that none comes twice."""
        if self.chance(0.5) or len(shape) != 1 or shape[0] > size:
            data: int | None = self.add_input(shape, "int64")
        else:
            data = self.add("arange", (), shape[0])
            factor = self.draw([f for f in (1, 2, 3, 5, 7) if np.gcd(f, size) == 1])
            data = self.add("scalar", (data,), "mul", factor) if data is not None else None
        return None if data is None else self.add("scalar", (data,), "remainder", size)

    def add_gather(self, number: int, value: Value) -> None:
        if not value.shape or 0 in value.shape:
            return
        axis = int(self.random.integers(len(value.shape)))
        shape = [int(self.random.integers(1, size + 1)) for size in value.shape]
        if self.chance(0.5):
            shape = list(value.shape)
        index = self.positions(tuple(shape), value.shape[axis])
        if index is None:
            return
        if self.chance(0.5):
            self.add("gather", (number, index), axis)
            return
        source = self.add_input(tuple(shape), value.dtype)
        way = self.draw(("put", "add", "add", "amax", "amin"))
        self.add("scatter", (number, index, source), axis, way)

    def tensor_index(self, shape: tuple[int, ...], once: bool) -> tuple[Any, tuple[int, ...]]:
        """An index of some slices and one or two tensors, and the numbers of those."""
        entries: list[Any] = [slice(None)] * len(shape)
        axes = self.random.permutation(len(shape))[: 1 if once else self.draw((1, 1, 2))]
        length, numbers = self.draw((1, 2, 5, 8)), []
        for axis in sorted(axes.tolist()):
            count = min(length, shape[axis]) if once else length
            made = self.positions((count,), shape[axis])
            if made is None or (once and len(set(self.values[made].data.tolist())) < count):
                return None, ()
            entries[axis] = TENSOR
            numbers.append(made)
        return tuple(entries), tuple(numbers)

    def add_index(self, number: int, value: Value) -> None:
        if not value.shape or 0 in value.shape:
            return
        put = self.chance(0.4)
        index, numbers = self.tensor_index(value.shape, once=put)
        if not put and numbers:
            self.add("index", (number, *numbers), index)
        elif numbers:
            place = np.indices(value.shape)[0]
            part = place[tuple([self.values[numbers[0]].data if e is TENSOR else e for e in index])]
            source = self.add_input(part.shape, value.dtype)
            self.add("setitem", (number, source, *numbers), index, self.draw(("=", "+=")))

    def add_scan(self, number: int, value: Value) -> None:
        if not value.shape:
            return
        axis = int(self.random.integers(len(value.shape)))
        name = self.draw(("cumsum", "cumsum", "cumprod", "cummax", "cummin"))
        if name in ("cumsum", "cumprod"):
            self.add("scan", (number,), name, axis)
        else:
            self.add("extreme", (number,), name, axis, self.draw(("values", "indices")))

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
