"""Index expressions of all kinds at once, read, written and changed in place, on views.

    x = make(7, (2, 3, 4), 'int32')
    x = x.flip(1)
    x[..., None, [0, -1], 1:] += 2

Positions are the first and the last of an axis, which every axis has: PyTorch looks at no others
where there is nothing to read, and ours refuses them. Lines that PyTorch refuses are left out.
"""

from __future__ import annotations

import random
from typing import Any

import torch as pytorch

from tests.line_programs.running import Lines, names_for

DTYPES = ("float32", "float64", "int64", "int32", "bool", "float16")
VIEWS = ("x.flip(0)", "x.transpose(0, -1)", "x[...]", "x.movedim(0, -1)", "x.flip(-1)", "x * 1")


def draw_indices(seed: int) -> Lines:
    """A tensor, and some lines that use what they find of it."""
    draw = random.Random(seed)
    shape = tuple([draw.choice((1, 2, 3, 4, 5)) for _ in range(draw.randint(1, 4))])
    dtype = draw.choice(DTYPES)
    lines = [f"x = make({seed}, {shape}, '{dtype}')"]
    names = _names_after(lines)
    for _ in range(draw.randint(4, 9)):
        line = _draw_line(draw, names["x"].ndim, seed, dtype)
        try:
            exec(line, names)
        except (IndexError, RuntimeError, TypeError):
            names = _names_after(lines)  # half of it may have been done
        else:
            lines += line.split("; ")
    return lines


def _names_after(lines: Lines) -> dict[str, Any]:
    names = names_for(pytorch, [])
    exec("\n".join(lines), names)
    return names


def _draw_line(draw: random.Random, rank: int, seed: int, dtype: str) -> str:
    index = _draw_index(draw, rank)
    number = draw.choice(("3", "1", "True", "2.5"))
    change = "x[{0}] = ~x[{0}]" if dtype == "bool" else "x[{0}] *= 2"
    forms = (
        f"check(x[{index}])", f"x[{index}] = {number}; check(x)", f"x = x[{index}]; check(x)",
        f"x[{index}] = make({seed + 1}, x[{index}].shape, '{dtype}'); check(x)",
        f"{change.format(index)}; check(x)", f"y = x[{index}]; y.add_(True); check(x, y)",
        f"x = {draw.choice(VIEWS)}",
    )  # fmt: skip
    return draw.choice(forms)


def _draw_index(draw: random.Random, rank: int) -> str:
    parts: list[str] = []
    used, is_open = 0, False
    while used < rank and len(parts) < rank + 2:
        kind = draw.randrange(9)
        if kind == 0:
            parts.append("None")
        elif kind == 1 and not is_open:
            parts.append("...")
            is_open = True
        elif kind == 2 and not is_open:
            axes = draw.randint(1, rank - used)
            parts.append(f"make({used}, x.shape[{used}:{used + axes}], 'bool')")
            used += axes
        else:
            parts.append(
                draw.choice(
                    (
                        "0", "-1", "1:", "::2", ":-1", "-2:", "2:100:3", ":", "[0, -1]", "[-1]",
                        "places(1, (2, 2), 1)", "places(2, (3,), 1) - 1", "places(3, (), 1)",
                        "places(5, (2, 1), 1) - 1",
                    )
                )
            )  # fmt: skip
            used += 1
        if draw.random() < 0.15:
            break
    return ", ".join(parts) or "..."
