"""Programs of views, movements, values and writes, in any order."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import torch as pytorch

from tests.line_programs import templates
from tests.line_programs.running import Lines, names_for

SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 13, 16, 17)
DTYPES = (
    "float32", "float32", "int64", "int32", "uint8", "int8", "bool", "float64", "bfloat16",
    "float16",
)  # fmt: skip
ATTEMPTS = 30
LARGEST = 3000

VIEWS, MOVEMENTS, VALUES, WRITES = (
    templates.templates(table)
    for table in (templates.VIEWS, templates.MOVEMENTS, templates.VALUES, templates.WRITES)
)


class Drawing:
    """A program that grows by lines that PyTorch accepts."""

    def __init__(self, seed: int, dtypes: tuple[str, ...]) -> None:
        self.random = random.Random(seed)
        self.dtypes = dtypes
        self.lines: Lines = []
        self.tensors: list[str] = []
        self.count = 0
        self.names = names_for(pytorch, [])

    def add_input(self) -> None:
        shape: list[int] = []
        for _ in range(self.random.choice((0, 1, 1, 2, 2, 2, 3, 3, 4))):
            size = self.random.choice(SIZES)
            shape.append(size if size * np.prod(shape) <= 600 else 1)
        dtype = self.random.choice(self.dtypes)
        self._try(f"make({self.random.randrange(1000)}, {tuple(shape)}, '{dtype}')")

    def add_value(self, table: list[str]) -> None:
        """A line that makes a tensor, unless none is found that stands."""
        for _ in range(ATTEMPTS):
            filled = self._fill(self.random.choice(table))
            if filled is not None and self._try(filled[0]):
                return

    def add_write(self) -> None:
        """A line that changes tensors."""
        for _ in range(ATTEMPTS):
            filled = self._fill(self.random.choice(WRITES))
            if filled is not None and self._stands(*filled):
                self.lines.append(filled[0])
                return
            self._start_again()  # half of it may have been done

    def _stands(self, line: str, reading_first: str) -> bool:
        """Whether PyTorch accepts a write, and does the same if it reads all before it writes.

        Where what is read shares memory with what is written, it may write in between.
        """
        values = []
        for text in dict.fromkeys((reading_first, line)):
            self._start_again()
            try:
                exec(text, self.names)
            except Exception:
                return False
            values.append([self.names[name].clone() for name in self.tensors])
        is_same = all(map(pytorch.equal, values[0], values[-1]))
        return is_same and all(map(_is_fit, values[-1]))

    def _start_again(self) -> None:
        self.names = names_for(pytorch, [])
        exec("\n".join(self.lines), self.names)

    def add_check(self) -> None:
        self.lines.append(f"check({self.random.choice(self.tensors)})")

    def finish(self) -> Lines:
        """The lines, and last all tensors, those first that were made last."""
        return [*self.lines, f"check({', '.join(reversed(self.tensors))})"]

    def _try(self, expression: str) -> bool:
        name = f"v{self.count}"
        line = f"{name} = {expression}"
        try:
            exec(line, self.names)
        except Exception:
            return False
        if not _is_fit(self.names[name]):
            return False
        self.count += 1
        self.tensors.append(name)
        self.lines.append(line)
        return True

    def _fill(self, template: str) -> tuple[str, str] | None:
        """A template with its holes filled, and the same with `b` copied before it is read.

        None where PyTorch has ways of its own.
        """
        name = self.random.choice(self.tensors)
        tensor = self.names[name]
        alike = [n for n in self.tensors if self.names[n].shape == tensor.shape]
        other = self.random.choice(alike if self.random.random() < 0.6 else self.tensors)
        if _is_odd(template, tensor, self.names[other]):
            return None

        def fill(hole: re.Match[str]) -> str:
            return self._hole(hole.group(1), name, tensor, other)

        line = re.sub(r"\{((?!b\})\w+)\}", fill, template)
        copied = other if "out=" in template or other == name else f"{other}.clone()"
        return line.replace("{b}", other), line.replace("{b}", copied)

    def _hole(self, hole: str, name: str, tensor: Any, other: str) -> str:
        draw, axes = self.random, max(tensor.dim(), 1)
        seed = draw.randrange(100)
        if hole == "order":
            return str(tuple(draw.sample(range(tensor.dim()), tensor.dim())))
        if hole == "shape":
            return str(self._split(tensor.numel()))
        if hole == "s":
            bounds = [draw.choice(("", str(draw.randint(-axes * 4, axes * 4)))) for _ in range(2)]
            return f"{bounds[0]}:{bounds[1]}:{draw.choice(('', '', '2', '3'))}"
        if hole == "p":
            low = draw.choice(("0", f"-{name}.size(0)"))
            return f"places({seed}, (3,), {name}.size(0), {low})"
        return {
            "a": name, "d": str(draw.randint(-axes, axes - 1)),
            "k": str(draw.choice((1, 2, 2, 3))), "o": str(draw.randint(-3, 3)),
            "m": f"({name} > {draw.randint(0, 2)})", "dt": draw.choice(self.dtypes),
            "q": f"places({seed}, ({other}.size(0),), {name}.size(0))",
        }[hole]  # fmt: skip

    def _split(self, count: int) -> tuple[int, ...]:
        """Lengths of so many elements."""
        lengths = []
        while count > 1 and self.random.random() < 0.8:
            length = self.random.choice([n for n in range(1, count + 1) if count % n == 0])
            lengths.append(length)
            count //= length
        return (*lengths, count)


def _is_odd(template: str, a: Any, b: Any) -> bool:
    """Whether PyTorch leaves its own rules there (docs/correctness.md, "Left out")."""
    if "einsum" in template and "{b}" in template:  # other promotion along axes of length 0 and 1
        is_plain = a.dtype == b.dtype and a.dtype.is_floating_point
        return not is_plain and min((*a.shape, *b.shape), default=0) < 2
    if "cumsum_" in template:  # without elements it looks at no dtype
        return bool(a.dtype == pytorch.bool)
    if "flatten()" in template:  # copies or not as memory lies, which for ours is in rows mostly
        return not a.is_contiguous()
    if "{q}" in template:  # into no rows it looks at no shapes
        return bool(a.numel() == 0)
    return False


def _is_fit(tensor: Any) -> bool:
    """Whether both libraries have the same to say of its values."""
    if tensor.numel() > LARGEST:
        return False
    most = 100 if tensor.dtype in (pytorch.bfloat16, pytorch.float16) else 3e4
    values = tensor.double()
    return bool(values.isfinite().all()) and bool((values.abs() <= most).all())


def draw_lines(seed: int) -> Lines:
    """A program that writes to nothing."""
    drawing = Drawing(seed, DTYPES)
    for _ in range(drawing.random.randint(1, 3)):
        drawing.add_input()
    for _ in range(drawing.random.randint(3, 11)):
        drawing.add_value(drawing.random.choice((VIEWS, MOVEMENTS, VALUES)))
        if drawing.random.random() < 0.15:
            drawing.add_check()
    return drawing.finish()


def draw_writes(seed: int) -> Lines:
    """A program of views, what is written to them, and who reads them, before and after."""
    drawing = Drawing(seed, (random.Random(seed).choice(DTYPES),))
    for _ in range(drawing.random.randint(1, 3)):
        drawing.add_input()
    for _ in range(drawing.random.randint(4, 14)):
        chance = drawing.random.random()
        if chance < 0.45:
            drawing.add_write()
        else:
            drawing.add_value(VIEWS if chance < 0.85 else VALUES)
        if drawing.random.random() < 0.12:
            drawing.add_check()
    return drawing.finish()
