"""Images between convolutions lie with their channels side by side.

    before   relu(conv(x)) kept as (batch, channels, rows, columns)
    after    the same value, kept as (batch, rows, columns, channels)

A convolution then reads one pixel's channels in a row and has its features in lanes: it needs no
copy in the order of its windows, its results are stored as they come, rows of any length fill the
vectors, and what is added to them is read the same way. Filters are laid out in panels, as the
weights of a product are.

What comes in from outside, and what goes out, stays as it is. Graphs in which filters are learnt,
or memory is written to, are left alone: their gradients go through images along the columns.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping

from ogive.ir.node import UOp
from ogive.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.ir.shape import Shape
from ogive.named import NamedTuple
from ogive.passes.graph.panels import make_panels
from ogive.targets.estimates import step_cost, sums_in_registers
from ogive.targets.target import CACHE_LINE, Target

CHANNEL = 1
"""The axis of an image's channels: behind the batch."""


def lay_channels_last(sink: UOp, target: Target) -> UOp:
    """The graph with the images between its convolutions laid out by pixels."""
    order = sink.walk()
    if target.has_grid or any(node.op is Op.ASSIGN for node in order):
        return sink
    convolutions = _find_convolutions(order, target)
    if not any(_is_computed(each.image) for each in convolutions.values()):
        return sink
    images, rebuilt = _find_images(order, convolutions, frozenset(sink.src))
    done: dict[UOp, UOp] = {}
    plain: dict[UOp, UOp] = {}
    for node in order:
        if node in rebuilt:
            made = _rebuild(convolutions[node], done, images, target)
        else:
            table = plain if node is sink else done
            made = node.with_sources(tuple([table[source] for source in node.src]))
        plain[node] = made
        done[node] = _laid_out(made) if node in images else made
    return plain[sink]


class _Convolution(NamedTuple):
    """A sum over channels and taps of windows times filters, and the image below the windows."""

    node: UOp
    windows: UOp
    filters: UOp
    image: UOp

    @property
    def is_by_channel(self) -> bool:
        """Whether each channel has its own filter and is its own feature."""
        return bool(self.node.operand.shape[1] != 1)


def _find_convolutions(order: list[UOp], target: Target) -> dict[UOp, _Convolution]:
    """All convolutions whose channels fill vectors; none where another sum goes over windows."""
    found = {}
    for node in order:
        if node.op is not Op.REDUCE_AXES or node.combine is not Op.ADD:
            continue
        product = node.operand
        if product.op is not Op.MUL or len(product.shape) not in (6, 8, 10):
            continue
        if set(node.arg[1]) & set(_places(product.shape)):
            return {}  # the gradient of filters
        convolution = _as_convolution(node)
        if convolution is not None and _is_suited(convolution, target):
            found[node] = convolution
    return found


def _as_convolution(node: UOp) -> _Convolution | None:
    """(batch, groups, features, channels, taps, places, ...), summed over channels and taps."""
    product = node.operand
    shape = product.shape
    if not all(isinstance(size, int) for size in shape) or not product.dtype.is_float:
        return None
    summed = [axis for axis in (3, *range(4, len(shape), 2)) if shape[axis] != 1]
    if [axis for axis in node.arg[1] if shape[axis] != 1] != summed:
        return None
    windows, filters = product.src
    if filters.op is not Op.EXPAND or any(filters.operand.shape[a] != 1 for a in _places(shape)):
        return None
    image = _find_image(windows, (shape[0], shape[1] * shape[3]), len(shape) // 2)
    return None if image is None else _Convolution(node, windows, filters, image)


def _places(shape: Shape) -> tuple[int, ...]:
    """The axes along which filters are the same: the batch, and places."""
    return (0, *range(5, len(shape), 2))


def _find_image(windows: UOp, front: tuple[int, int], rank: int) -> UOp | None:
    """The image (batch, channels, ...) that windows are taken from, below all that moves it."""
    found, node = None, windows
    while node.op in MOVEMENT or node.op is Op.CONTIGUOUS:
        node = node.operand
        if len(node.shape) == rank and node.shape[:2] == front:
            found = node
    return found


def _is_suited(convolution: _Convolution, target: Target) -> bool:
    """Whether features fill vectors, and a panel of filters is worth it."""
    shape = convolution.node.operand.shape
    lanes = target.vector_bytes // convolution.node.dtype.itemsize
    _, groups, features, channels, *_ = shape
    if math.prod(shape) < target.costs.packing.least_work:
        return False
    if groups == 1:
        return bool(2 * features >= lanes)
    return bool(features == 1 and channels == 1 and groups >= lanes)


def _find_images(
    order: list[UOp], convolutions: Mapping[UOp, _Convolution], roots: frozenset[UOp]
) -> tuple[set[UOp], set[UOp]]:
    """What convolutions read and what is made of that, but for what comes from memory and what is
    asked for; and the convolutions that read or make such an image."""
    images = {each.image for each in convolutions.values() if _is_computed(each.image)}
    read = set(images)
    rebuilt = {node for node, each in convolutions.items() if each.image in images}
    numbers = {node: number for number, node in enumerate(order)}
    readers: dict[UOp, list[UOp]] = {node: [] for node in order}
    for node in order:
        for source in dict.fromkeys(node.src):
            readers[source].append(node)
    taken: set[UOp] = set()
    for node in order:
        if node not in convolutions or len(readers[node]) != 1:
            continue
        (result,) = readers[node]
        if result.op is not Op.RESHAPE or len(result.shape) * 2 != len(node.shape):
            continue
        end = _last_elementwise(result, readers, numbers, roots, taken)
        if end in roots or (end not in read and node not in rebuilt):
            continue
        images.add(end)
        rebuilt.add(node)
    return images, rebuilt


def _is_computed(image: UOp) -> bool:
    while image.op in MOVEMENT:
        image = image.operand
    return image.op is not Op.PARAM and image.op is not Op.CONST


def _last_elementwise(
    value: UOp,
    readers: Mapping[UOp, list[UOp]],
    numbers: Mapping[UOp, int],
    roots: frozenset[UOp],
    taken: set[UOp],
) -> UOp:
    """The last value that is computed from another element by element, and all that follows from
    it goes through: bias, residual and activation of a layer. Two convolutions share none."""
    while True:
        pending: list[tuple[int, UOp]] = []
        seen: set[UOp] = set()
        between: list[UOp] = [value]
        while True:
            last = between[-1]
            if last in roots and last is not value:
                return value
            for reader in readers[last]:
                if reader.op not in ELEMENTWISE or reader.shape != value.shape or reader in taken:
                    return value
                if reader not in seen:
                    seen.add(reader)
                    heapq.heappush(pending, (numbers[reader], reader))
            if not pending:
                return value
            between.append(heapq.heappop(pending)[1])
            if not pending:
                break
        taken.update(between)
        value = between[-1]


def _laid_out(image: UOp) -> UOp:
    """An image, kept with its channels side by side."""
    rank = len(image.shape)
    last = (0, *range(2, rank), CHANNEL)
    back = (0, rank - 1, *range(1, rank - 1))
    value = UOp(Op.PERMUTE, image.dtype, (image,), last)
    value = UOp(Op.CONTIGUOUS, image.dtype, (value,), ())
    return UOp(Op.PERMUTE, image.dtype, (value,), back)


def _laid_out_apart(image: UOp, target: Target) -> UOp:
    """The same, with a line between pixels that would push each other out of a cache: those of a
    window are read together."""
    dtype, shape = image.dtype, image.shape
    if shape[CHANNEL] * dtype.itemsize % target.costs.memory.few_sets_bytes:
        return _laid_out(image)
    pads = [(0, 0)] * len(shape)
    pads[CHANNEL] = (0, CACHE_LINE // dtype.itemsize)
    wider = UOp(Op.PAD, dtype, (image,), (tuple(pads), dtype.canonical(0)))
    return UOp(Op.SHRINK, dtype, (_laid_out(wider),), tuple([(0, size) for size in shape]))


def _rebuild(
    convolution: _Convolution, done: Mapping[UOp, UOp], images: set[UOp], target: Target
) -> UOp:
    """The convolution with its filters in panels, and its windows read from the laid-out image."""
    node, windows, filters, image = convolution
    new_windows = done[windows]
    if image in images:
        new_windows = _windows_of(windows, image, done[image], target)
    packed = _pack_filters(convolution, done[filters.operand], target)
    spread = UOp(Op.EXPAND, filters.dtype, (packed,), filters.shape)
    product = UOp(Op.MUL, node.dtype, (new_windows, spread))
    return UOp(node.op, node.dtype, (product,), node.arg, node.tag)


def _windows_of(windows: UOp, image: UOp, laid_out: UOp, target: Target) -> UOp:
    """Windows of a laid-out image: moved as they were, but kept only where padding is added."""
    path = []
    node = windows
    while node is not image:
        path.append(node)
        node = node.operand
    value, is_padded = laid_out, False
    rank = len(image.shape)
    for move in reversed(path):
        if move.op is Op.CONTIGUOUS:
            continue
        is_frame = move.op in (Op.PAD, Op.SHRINK) and len(move.shape) == rank
        if is_padded and not is_frame:
            value, is_padded = _laid_out_apart(value, target), False
        is_padded = is_padded or (move.op is Op.PAD and is_frame)
        value = move.with_sources((value, *move.src[1:]))
        if not is_frame:
            rank = 0  # what moves from here on are windows
    return value


def _without_keeping(value: UOp) -> UOp:
    """A moved value, kept nowhere on its way from where it was computed."""
    path = []
    while value.op in MOVEMENT or value.op is Op.CONTIGUOUS:
        path.append(value)
        value = value.operand
    for move in reversed(path):
        if move.op is not Op.CONTIGUOUS:
            value = move.with_sources((value, *move.src[1:]))
    return value


def _pack_filters(convolution: _Convolution, filters: UOp, target: Target) -> UOp:
    """Filters with features, or channels of their own, side by side."""
    axes = tuple(range(3, len(filters.shape)))
    filters = _without_keeping(filters)
    features = filters.shape[2]
    if convolution.is_by_channel:
        return make_panels(filters, 1, axes, filters.shape[1])
    lanes = target.vector_bytes // filters.dtype.itemsize
    places = convolution.node.shape[5::2]
    if convolution.node.operand.shape[4::2] == (1,) * len(places):
        places = (1, math.prod(places))  # windows of one pixel lie in one line
    vectors = _panel_vectors(features, lanes, places[-2:], target)
    return make_panels(filters, 2, axes, lanes * vectors)


def _panel_vectors(features: int, lanes: int, places: Shape, target: Target) -> int:
    """How many vectors wide panels are, so that the tiles of pixels that go with them take the
    least time: little is left empty of the last panel, and of the last tiles."""
    filled = -(-features // lanes)

    def estimate(vectors: int) -> float:
        rows, columns = (1, *places)[-2:]
        most = sums_in_registers(target) // vectors
        each = min(
            _filled_up(rows, high)
            * _filled_up(columns, wide)
            * step_cost(high * wide, vectors, target.costs.tiles.far_load, target)
            / (high * wide * vectors)
            for high in range(1, min(rows, most) + 1)
            for wide in range(1, min(columns, most // high) + 1)
        )
        return each * _filled_up(features, lanes * vectors)

    return min(range(1, min(filled, target.costs.tiles.narrow) + 1), key=estimate)


def _filled_up(length: int, step: int) -> float:
    """How many times as long an axis is that tiles of some length fill."""
    return -(-length // step) * step / length
