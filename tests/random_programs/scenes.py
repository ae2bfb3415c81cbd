"""Several instructions that go together, as users write them: loops over time, repeated sums."""

from __future__ import annotations

from tests.random_programs.steps import Steps


class Scenes(Steps):
    """`play_NAME()` adds a scene with inputs of its own."""

    def play_repeats(self) -> None:
        """Reductions of values that are alike along different axes."""
        shape = tuple([self.draw((2, 3, 4, 5, 9)) for _ in range(self.draw((2, 3, 3, 4)))])
        axes = tuple([axis for axis in range(len(shape)) if self.chance(0.5)]) or (0,)
        dtype, keep = self.draw(("int64", "float32", "float64")), self.chance(0.5)
        total: int | None = None
        for _ in range(self.draw((2, 2, 3, 4))):
            small = tuple([1 if self.chance(0.5) else size for size in shape])
            made: int | None = self.add("expand", (self.add_input(small, dtype),), shape)
            if made is not None and self.chance(0.4):
                made = self.add("unary", (made,), self.draw(("square", "neg", "contiguous")))
            if made is not None:
                name = self.draw(("sum", "sum", "amax"))
                made = self.add("reduce", (made,), name, axes, keep)
            if made is not None and total is not None:
                made = self.add("binary", (total, made), self.draw(("add", "mul", "maximum")))
            total = made if made is not None else total

    def play_recurrence(self) -> None:
        """A loop over time, written out: each step reads its own row, and may write one."""
        steps = int(self.random.integers(3, 8))
        row = tuple([self.draw((1, 2, 3, 8, 9)) for _ in range(self.draw((1, 1, 2)))])
        dtype = self.draw(("int32", "float32", "float64"))
        rows, state = self.add_input((steps, *row), dtype), self.add_input(row, dtype)
        weight = self.add_input((row[-1], row[-1]), dtype) if self.chance(0.4) else None
        history = self.add_input((steps, *row), dtype) if self.chance(0.4) else None
        operation = self.draw(("add", "sub", "maximum", "minimum"))
        backwards, keep = self.chance(0.3), self.chance(0.5)
        states: list[int] = []
        for time in reversed(range(steps)) if backwards else range(steps):
            part = self.add("slice", (rows,), (time,))
            made = part and self.add("binary", (state, part), operation)
            if made and weight is not None:
                made = self.add("matmul", (made, weight))
            if made and dtype != "int32":
                made = self.add("unary", (made,), self.draw(("tanh", "sin")))
            if made and keep:
                made = self.add("unary", (made,), "contiguous")
            if not made:
                return
            state = made
            states.append(state)
            if history is not None:
                self.add("setitem", (history, state), (time,), "=")
        if self.chance(0.5):
            self.add("stack", tuple(states), 0)

    def play_shapes(self) -> None:
        """The same work element by element on buffers of several shapes, asked for together."""
        dtype = self.draw(("int32", "float32", "float16", "float64"))
        names = [self.draw(("neg", "abs", "relu", "square")) for _ in range(self.draw((1, 2, 3)))]
        number, has_partner = int(self.random.integers(1, 4)), self.chance(0.5)
        results: list[int] = []
        for _ in range(self.draw((2, 3, 4))):
            shape = self.shape()
            made: int | None = self.add_input(shape, dtype)
            partner = self.add_input(shape, dtype)
            for name in names:
                made = made and self.add("unary", (made,), name)
            made = made and self.add("scalar", (made,), "add", number)
            if made and has_partner:
                made = self.add("binary", (made, partner), "mul")
            if made and self.chance(0.3):
                self.add("assign", (partner, made))
            if made:
                results.append(made)
        self.add(self.draw(("realize", "prepare")), tuple(results)) if results else None

    def play_windows(self) -> None:
        """Rows of a buffer, read and written by turns, so that later ones see earlier ones."""
        size, width = self.draw((5, 8, 16)), self.draw((1, 3, 8))
        dtype = self.draw(("int32", "float32"))
        buffer = self.add_input((size, width), dtype)
        if self.chance(0.5):
            self.add("realize", (buffer,))
        length = self.draw((1, 1, 2, 3))
        for _ in range(self.draw((2, 3, 4, 6))):
            source, target = self.random.integers(0, size - length + 1, 2).tolist()
            read = self.add("slice", (buffer,), (slice(source, source + length),))
            made = read and self.add("scalar", (read,), self.draw(("add", "sub")), 1)
            if made:
                place = (slice(target, target + length),)
                self.add("setitem", (buffer, made), place, self.draw(("=", "=", "+=")))
            if self.chance(0.2):
                self.add("realize", (buffer,))
