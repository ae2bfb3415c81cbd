"""Convolutions of 3×3 windows, computed in tiles of results by Winograd's form.

    before   y = sum over channels and 9 taps of windows * filters
    after    Y = Aᵀ (sum over channels of (Bᵀ X B) * (G w Gᵀ)) A, for each tile Y of the results

X is the piece of the image from which a tile is computed. A tile of 2×2 results takes 16 products
for each channel, where windows take 36; the rest are additions. Together, all tiles are 16 matrix
products, (tiles × channels) · (channels × features). Their right operands depend on the filters
alone and are computed once.

Sums are rounded in other places, so this is for `exactness="rounding"`. `winograd_choice.py` says
for which convolutions it is used.
"""

from __future__ import annotations

import math

from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.memory import FILTER_PANELS, STRIPPED, STRIPS
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import (
    apply,
    apply_number,
    compare_number,
    count_along,
    expand,
    filled,
    move,
    permute,
    reshape,
)
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.graph.convolutions.recognized_convolutions import (
    Convolution,
    is_frame,
    path_below,
)
from ogive.compiler.passes.graph.products.panels import make_panels
from ogive.named import NamedTuple

Matrix = tuple[tuple[float, ...], ...]

TAPS = 3
"""The length of a window along each side."""


class Transform(NamedTuple):
    """The matrices Bᵀ, G and Aᵀ of Winograd's form for tiles of `edge` × `edge` results."""

    edge: int
    of_image: Matrix
    of_filters: Matrix
    of_results: Matrix

    @property
    def side(self) -> int:
        """The length of each side of X, the piece of an image for one tile."""
        return self.edge + TAPS - 1


    @property
    def amplification(self) -> float:
        """How much larger the terms of a result may be than the products of windows and filters.

        The ratio of the greatest sums of absolute values.
        """
        image, filters = [
            [sum(map(abs, row)) for row in matrix] for matrix in (self.of_image, self.of_filters)
        ]
        sums = [
            sum([abs(factor) * x * w for factor, x, w in zip(row, image, filters, strict=True)])
            for row in self.of_results
        ]
        return (max(sums) / TAPS) ** 2


TWO = Transform(
    2,
    ((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1)),
    ((1, 0, 0), (0.5, 0.5, 0.5), (0.5, -0.5, 0.5), (0, 0, 1)),
    ((1, 1, 1, 0), (0, 1, -1, -1)),
)
"""F(2×2, 3×3)."""


def has_unit_windows(convolution: Convolution) -> bool:
    """Whether a convolution has 3×3 windows with stride 1, in one group."""
    shape = convolution.node.operand.shape
    if len(shape) != 8 or (shape[1], shape[4], shape[6]) != (1, TAPS, TAPS):
        return False
    rank = len(convolution.image.shape)
    value = convolution.image
    path = [
        each
        for each in path_below(convolution.windows, value)
        if each.op not in (Op.CONTIGUOUS, Op.CAST)
    ]
    while path and is_frame(path[0], rank):
        value = _moved(value, path.pop(0))
    if len(value.shape) != 4:
        return False
    unit_windows = _slide(_slide(value, 2), 4)
    batch, _, _, channels, *pairs = shape
    unit_windows = expand(reshape(unit_windows, (batch, 1, 1, channels, *pairs)), shape)
    for each in path:
        value = _moved(value, each)
    return value is unit_windows


def _moved(value: UOp, moved: UOp) -> UOp:
    return UOp(moved.op, value.dtype, (value, *moved.src[1:]), moved.arg)


def _slide(value: UOp, axis: int) -> UOp:
    """Windows along an axis with stride 1, in the form that `sliding_windows` builds."""
    before, (length, *after) = value.shape[:axis], value.shape[axis:]
    value = reshape(value, (*before, 1, length, *after))
    value = expand(value, (*before, TAPS, length, *after))
    value = _pad(value, axis + 1, (0, 1))
    value = reshape(value, (*before, TAPS * (length + 1), *after))
    value = _pad(value, axis, (TAPS - 1, TAPS - 2))
    value = reshape(value, (*before, TAPS, length + TAPS - 1, *after))
    return _shrink(value, axis + 1, TAPS - 1, length)


def _pad(value: UOp, axis: int, widths: tuple[int, int]) -> UOp:
    pads = tuple([widths if each == axis else (0, 0) for each in range(len(value.shape))])
    return move(Op.PAD, value, (pads, value.dtype.canonical(0)))


def _shrink(value: UOp, axis: int, begin: int, end: int) -> UOp:
    spans = [(0, length) for length in value.shape]
    if spans[axis] == (begin, end):
        return value
    spans[axis] = (begin, end)
    return move(Op.SHRINK, value, tuple(spans))


def framed_length(places: int, transform: Transform) -> int:
    """The length to which an axis of an image is padded, so that it can be cut into tiles."""
    return (-(-places // transform.edge) + -(-(TAPS - 1) // transform.edge)) * transform.edge


def has_whole_tiles(convolution: Convolution, transform: Transform) -> bool:
    """Whether all tiles are full, so that no result of a tile has to be cut off."""
    *_, rows, _, columns = convolution.node.shape
    return bool(rows % transform.edge == 0 and columns % transform.edge == 0)


def convolve_in_tiles(
    convolution: Convolution,
    image: UOp,
    transform: Transform,
    width: int,
    strips: int,
    is_joined: bool,
) -> UOp:
    """The convolution of an image that is padded to whole tiles.

    Filters are in panels of `width` features. Tiles are multiplied in `strips` of rows. A result
    that `is_joined` to the operations on it is not kept by itself.
    """
    _, _, features, *_, rows, _, columns = convolution.node.shape
    edge, side = transform.edge, transform.side
    batch, channels, *_ = image.shape
    counts = -(-rows // edge), -(-columns // edge)
    pieces = _transformed(transform.of_image, _taps(image, transform, counts))
    tiles = batch * math.prod(counts) // strips
    laid = reshape(_joined(pieces, (0, 1)), (side * side, strips, tiles, 1, channels))
    laid = _kept(permute(laid, (1, 0, 2, 3, 4)), STRIPS)
    filters = _filter_panels(convolution, transform, width)
    filters = reshape(filters, (1, *filters.shape))
    shape = (strips, side * side, tiles, features, channels)
    product = apply(Op.MUL, expand(laid, shape), expand(filters, shape))
    total = _kept(UOp(Op.REDUCE_AXES, product.dtype, (product,), (Op.ADD, (4,))), STRIPS)
    sums = reshape(total, (strips, side, side, batch * counts[0] // strips, counts[1], features))
    results = _transformed(
        transform.of_results,
        [[_piece(sums, i, j) for j in range(side)] for i in range(side)],
    )
    high, wide = counts[0] * edge, counts[1] * edge
    value = _joined(results, (2, 4))
    value = reshape(value, (batch, high, wide, features))
    if not is_joined:
        value = _kept(value, STRIPPED if strips > 1 else ())
    value = _shrink(_shrink(value, 1, 0, rows), 2, 0, columns)
    return reshape(permute(value, (0, 3, 1, 2)), convolution.node.shape)


def _kept(value: UOp, hints: tuple[str, ...] = ()) -> UOp:
    return UOp(Op.CONTIGUOUS, value.dtype, (value,), hints)


def _taps(image: UOp, transform: Transform, counts: tuple[int, int]) -> list[list[UOp]]:
    """The elements of X for all tiles: for each place in X, a value (batch, rows of tiles, columns
    of tiles, channels)."""
    edge, side = transform.edge, transform.side
    batch, channels, height, width = image.shape
    cut = reshape(image, (batch, channels, height // edge, edge, width // edge, edge))

    def tap(i: int, j: int) -> UOp:
        value = cut
        for axis, place, count in ((2, i, counts[0]), (4, j, counts[1])):
            value = _shrink(value, axis, place // edge, place // edge + count)
            value = _shrink(value, axis + 1, place % edge, place % edge + 1)
        return permute(reshape(value, (batch, channels, *counts)), (0, 2, 3, 1))

    return [[tap(i, j) for j in range(side)] for i in range(side)]


def _piece(sums: UOp, i: int, j: int) -> UOp:
    """The sums of all tiles at one place (strips, rows of tiles, columns of tiles, features)."""
    value = _shrink(_shrink(sums, 1, i, i + 1), 2, j, j + 1)
    return reshape(value, (sums.shape[0], *sums.shape[3:]))


def _transformed(matrix: Matrix, values: list[list[UOp]]) -> list[list[UOp]]:
    """matrix · values · matrixᵀ."""
    halves = [_combined(matrix, row) for row in values]
    columns = [_combined(matrix, [row[j] for row in halves]) for j in range(len(matrix))]
    return [list(row) for row in zip(*columns, strict=True)]


def _combined(matrix: Matrix, values: list[UOp]) -> list[UOp]:
    """matrix · values, for a column of values."""
    combined = []
    for row in matrix:
        total: UOp | None = None
        for factor, value in zip(row, values, strict=True):
            if factor:
                total = _add_scaled(total, factor, value)
        assert total is not None, "no row of such a matrix is empty"
        combined.append(total)
    return combined


def _add_scaled(total: UOp | None, factor: float, value: UOp) -> UOp:
    scaled = value if abs(factor) == 1 else apply_number(Op.MUL, value, abs(factor))
    if total is None:
        return scaled if factor > 0 else apply(Op.NEG, scaled)
    return apply(Op.ADD if factor > 0 else Op.SUB, total, scaled)


def _joined(pieces: list[list[UOp]], axes: tuple[int, int]) -> UOp:
    """One value with two more axes, with `pieces[i][j]` at position i, j of them."""
    first, second = axes
    rows = [_join(row, second - 1) for row in pieces]
    return _join(rows, first)


def _join(pieces: list[UOp], axis: int) -> UOp:
    before, after = pieces[0].shape[:axis], pieces[0].shape[axis:]
    shape = (*before, len(pieces), *after)
    spread = [expand(reshape(each, (*before, 1, *after)), shape) for each in pieces]
    places = count_along(axis, shape)
    value = spread[-1]
    for number in range(len(pieces) - 1, 0, -1):
        is_before = compare_number(Op.CMPLT, places, number)
        value = UOp(Op.WHERE, value.dtype, (is_before, spread[number - 1], value))
    return value


def _filter_panels(convolution: Convolution, transform: Transform, width: int) -> UOp:
    """The transformed filters (side², 1, features, channels), in panels of features."""
    filters, side = convolution.filters, transform.side
    dtype = filters.dtype
    _, _, features, channels, *_ = filters.shape
    filters = reshape(filters, (features, channels, TAPS, TAPS))
    shape = (side, side, features, channels)
    rows = [_column(transform.of_filters, tap, 0, shape, dtype) for tap in range(TAPS)]
    columns = [_column(transform.of_filters, tap, 1, shape, dtype) for tap in range(TAPS)]
    total: UOp | None = None
    for i in range(TAPS):
        row_total: UOp | None = None
        for j in range(TAPS):
            tap = _shrink(_shrink(filters, 2, i, i + 1), 3, j, j + 1)
            spread = expand(reshape(tap, (1, 1, features, channels)), shape)
            scaled = apply(Op.MUL, spread, columns[j])
            row_total = scaled if row_total is None else apply(Op.ADD, row_total, scaled)
        assert row_total is not None, "there are taps"
        scaled = apply(Op.MUL, row_total, rows[i])
        total = scaled if total is None else apply(Op.ADD, total, scaled)
    assert total is not None, "there are taps"
    flat = reshape(total, (side * side, 1, features, channels))
    return make_panels(flat, 2, (3,), width, FILTER_PANELS)


def _column(
    matrix: Matrix, number: int, axis: int, shape: tuple[int, ...], dtype: DType
) -> UOp:
    """The `number`-th column of a matrix along an axis of `shape`, expanded to it."""
    others = (*shape[:axis], *shape[axis + 1 :])
    return _join([filled(dtype, row[number], others) for row in matrix], axis)
