"""The choice of convolutions that are computed in tiles (`winograd.py`), by time and by rounding.

The bound of the error counts the roundings on the way to a result, each as often as its terms are
larger than those of windows (`search/graph/rounding_bounds.py`). With 64 channels:

    windows           9 * 64 products, added up                             576 roundings
    tiles of 2×2      64 products and 10 sums, of terms 7.1 times as large  527

So tiles are as exact as windows if there are many channels. Tiles of 4×4 would take a quarter of
the products, but terms 256 times as large: they are not used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.graph.convolutions.recognized_convolutions import Convolution
from ogive.compiler.passes.graph.convolutions.winograd import TAPS, Transform, has_unit_windows
from ogive.compiler.passes.graph.products.panels import best_filter_panel
from ogive.compiler.targets.estimates import memory_level
from ogive.compiler.targets.findings import Finding
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple

RULE = "3×3 windows * filters → tiles of 2×2 results, by Winograd's form"


class TileChoice(NamedTuple):
    """The cost of a convolution, each (by windows, in tiles), and how its tiles are computed.

    `times` are nanoseconds, `roundings` bounds. Panels of filters are `panel_width` features wide.
    The rows of tiles are multiplied in `strips`.
    """

    times: tuple[float, float]
    roundings: tuple[int, int]
    panel_width: int
    strips: int


def describe_tiles(
    chosen: Mapping[UOp, TileChoice], laid_out: Mapping[UOp, UOp], results: Mapping[UOp, UOp]
) -> list[Finding]:
    """The findings for convolutions computed in tiles; equal choices are one finding.

    `results` has for a convolution the value that the user's graph knows.
    """
    alike: dict[TileChoice, list[UOp]] = {}
    for node, choice in chosen.items():
        alike.setdefault(choice, []).append(node)
    return [
        Finding(
            (nodes[0],), (laid_out[nodes[0]],), *choice.times, kernels_before=1, kernels_after=3,
            rules=(RULE,), applied={RULE: len(nodes)}, roundings=choice.roundings,
            place=tuple([results.get(node, node) for node in nodes]), times=len(nodes),
        )
        for choice, nodes in alike.items()
    ]  # fmt: skip


class _Sizes(NamedTuple):
    """The sizes of a convolution: its rows and columns, and the number of places and of tiles."""

    lines: tuple[int, int]
    places: int
    tiles: int
    channels: int
    features: int


def choose_tiles(
    convolution: Convolution, transform: Transform, target: Target
) -> TileChoice | None:
    """How to compute a convolution in tiles; None if windows are better."""
    if convolution.dot is not None or not has_unit_windows(convolution):
        return None
    batch, _, features, *_, rows, _, columns = convolution.node.shape
    tiles = batch * math.prod([-(-each // transform.edge) for each in (rows, columns)])
    channels = convolution.filters.shape[3]
    sizes = _Sizes((rows, columns), batch * rows * columns, tiles, channels, features)
    roundings = TAPS * TAPS * channels, count_tile_roundings(channels, transform)
    costs = target.costs.packing
    if roundings[1] > costs.tiled_roundings * roundings[0]:
        return None
    itemsize = convolution.node.dtype.itemsize
    lanes = target.vector_bytes // itemsize
    panel = best_filter_panel(features, lanes, (tiles,), 1, target)
    times = (
        _windows_time(sizes, lanes, target),
        _tiles_time(sizes, transform, panel.cycles, itemsize, target),
    )
    price = _kept_more(sizes, transform, itemsize, target) * costs.kept_price
    if times[0] < costs.tiled_gain * (times[1] + price):
        return None
    strips = _count_strips(sizes, batch, transform, itemsize, target)
    return TileChoice(times, roundings, lanes * panel.vectors, strips)


def _count_strips(
    sizes: _Sizes, batch: int, transform: Transform, itemsize: int, target: Target
) -> int:
    """The number of strips of rows in which tiles are multiplied.

    The pieces and the sums of one strip should take at most half of the second-level cache. Every
    strip reads the filters again, so there is one strip unless filters are small beside that.
    """
    rows = batch * -(-sizes.lines[0] // transform.edge)
    values = transform.side**2 * itemsize
    moved = values * sizes.tiles * (sizes.channels + sizes.features)
    if values * sizes.channels * sizes.features > target.costs.packing.strip_filters * moved:
        return 1
    fitting = [n for n in range(1, rows + 1) if rows % n == 0 and 2 * moved <= n * target.l2_bytes]
    return min(fitting, default=rows)


def _kept_more(sizes: _Sizes, transform: Transform, itemsize: int, target: Target) -> float:
    """How many more bytes kept filters take in tiles than as they are."""
    filters = sizes.channels * sizes.features * itemsize
    is_kept = transform.side**2 * filters >= target.costs.packing.kept_bytes
    return (transform.side**2 - TAPS**2) * filters * is_kept


def count_tile_roundings(channels: int, transform: Transform) -> int:
    """The roundings on the way to a result of a tile, scaled by the transform's amplification."""
    matrices = (transform.of_image, transform.of_filters, transform.of_results)
    sums = [max([sum(map(bool, row)) - 1 for row in matrix]) for matrix in matrices]
    return math.ceil((2 * sum(sums) + channels) * transform.amplification)


def _windows_time(sizes: _Sizes, lanes: int, target: Target) -> float:
    panel = best_filter_panel(sizes.features, lanes, sizes.lines, 1, target)
    multiplied = sizes.places * TAPS * TAPS * sizes.channels
    return multiplied * panel.cycles * _multiply_nanoseconds(target)


def _tiles_time(
    sizes: _Sizes, transform: Transform, cycles: float, itemsize: int, target: Target
) -> float:
    """The time of the products, of writing the pieces and reading the sums, and of the filters.

    Kept filters are read from memory during the products. Filters that are too small to be kept
    are transformed in each run.
    """
    memory, packing = target.costs.memory, target.costs.packing
    pieces = transform.side**2
    product = pieces * sizes.tiles * sizes.channels * cycles * _multiply_nanoseconds(target)
    written, read = [
        pieces * sizes.tiles * length * itemsize for length in (sizes.channels, sizes.features)
    ]
    moved = written / memory.kept_write[memory_level(written, target)]
    moved += read / memory.kept_read[memory_level(read, target)]
    elements = pieces * sizes.channels * sizes.features
    if elements * itemsize < packing.kept_bytes:
        filters = elements * packing.transformed * _multiply_nanoseconds(target)
    else:
        filters = elements * itemsize / memory.kept_read[-1] * packing.beside_products
    return product + moved + filters


def _multiply_nanoseconds(target: Target) -> float:
    """Nanoseconds of a multiply-add of whole vectors.

    Two begin in a cycle, unless the processor executes a vector in several steps.
    """
    operations = target.costs.operations
    steps = target.vector_bytes / target.step_bytes
    return operations.cycle_nanoseconds * operations.hidden_share * steps
