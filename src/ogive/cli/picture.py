"""A two-dimensional array as a picture made of characters."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy
from numpy.typing import NDArray

from ogive.cli.screen import Screen

Pixels = NDArray[numpy.float64]

SHADES = " .:-=+*#%@"
BLOCKS = " ░▒▓█"
PALETTE = ((6, 10, 40), (18, 52, 120), (40, 130, 180), (150, 215, 225), (255, 255, 255))
"""Red, green and blue from the lowest value to the highest."""

_COLOUR = re.compile("\033\\[[0-9;]*m")

CELL_RATIO = 2
"""A character cell is about twice as high as it is wide."""


def draw(values: NDArray[numpy.float32], screen: Screen) -> str:
    """Lines that show `values` (height, width), scaled to the screen's width, low values dark."""
    height, width = values.shape
    columns = min(screen.columns, width)
    rows = max(1, round(height * columns / width / CELL_RATIO))
    if screen.colours and screen.blocks:
        return _draw_halves(_scale(_sample(values, 2 * rows, columns)), screen.colours)
    shades = BLOCKS if screen.blocks else SHADES
    steps = _scale(_sample(values, rows, columns)) * (len(shades) - 1)
    return "\n".join("".join(shades[round(step)] for step in row).rstrip() for row in steps)


def draw_beside(
    pictures: NDArray[numpy.float32], captions: Sequence[str], screen: Screen, scale: int = 2
) -> str:
    """Small pictures (count, height, width), as many in a row as fit, each over its caption."""
    cell = Screen(pictures.shape[2] * scale, screen.colours, screen.blocks)
    width = max(cell.columns, *map(len, captions)) + 2
    a_row = max(1, (screen.columns + 2) // width)
    rows = []
    for first in range(0, len(pictures), a_row):
        chosen = pictures[first : first + a_row]
        drawn = [draw(_enlarge(picture, scale), cell).splitlines() for picture in chosen]
        height = max(map(len, drawn))
        for line in range(height):
            cells = [lines[line] if line < len(lines) else "" for lines in drawn]
            rows.append("".join(_fill(cell, width) for cell in cells).rstrip(" "))
        texts = captions[first : first + a_row]
        rows.append("".join(text.ljust(width) for text in texts).rstrip())
        rows.append("")
    return "\n".join(rows[:-1])


def _enlarge(picture: NDArray[numpy.float32], scale: int) -> NDArray[numpy.float32]:
    return picture.repeat(scale, axis=0).repeat(scale, axis=1)


def _fill(cell: str, width: int) -> str:
    """A cell with spaces behind it, as wide as it looks: colours take no room."""
    visible = len(_COLOUR.sub("", cell))
    return cell + " " * max(width - visible, 0)


def _sample(values: NDArray[numpy.float32], rows: int, columns: int) -> Pixels:
    """The values in the middle of each cell."""
    height, width = values.shape
    down = ((numpy.arange(rows) + 0.5) * height / rows).astype(int)
    across = ((numpy.arange(columns) + 0.5) * width / columns).astype(int)
    sampled: Pixels = values[down][:, across].astype(numpy.float64)
    return sampled


def _scale(values: Pixels) -> Pixels:
    """From 0 to 1. Half a percent at each end is cut off, or one peak would make all else dark."""
    low, high = numpy.quantile(values, [0.005, 0.995])
    scaled: Pixels = numpy.clip((values - low) / max(high - low, 1e-12), 0, 1)
    return scaled


def _draw_halves(pixels: Pixels, colours: int) -> str:
    """Two pixels a cell: the upper half block in one colour, on a ground of the other."""
    palette = numpy.array(PALETTE, numpy.float64)
    places = numpy.linspace(0, 1, len(palette))
    channels = [numpy.interp(pixels, places, palette[:, channel]) for channel in range(3)]
    mixed = numpy.stack(channels, axis=-1).round().astype(int)
    lines = []
    for upper, lower in zip(mixed[0::2], mixed[1::2], strict=True):
        cells = [
            f"\033[38;{_code(above, colours)};48;{_code(below, colours)}m▀"
            for above, below in zip(upper.tolist(), lower.tolist(), strict=True)
        ]
        lines.append("".join(cells) + "\033[0m")
    return "\n".join(lines)


def _code(colour: list[int], colours: int) -> str:
    """A colour in the terminal's terms; with 256, the nearest of the 6×6×6 cube."""
    if colours > 256:
        return "2;{};{};{}".format(*colour)
    red, green, blue = (round(channel / 255 * 5) for channel in colour)
    return f"5;{16 + 36 * red + 6 * green + blue}"
