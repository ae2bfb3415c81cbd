"""Images between convolutions are laid out with the channels last.

    before   relu(conv(x)) kept as (batch, channels, rows, columns)
    after    the same value, kept as (batch, rows, columns, channels)

A convolution then reads the channels of a pixel contiguously and has its features in lanes. It
needs no copy in the order of its windows, stores its results in the order computed, and fills
vectors whatever the length of rows. A bias or residual is read in the same order. Filters are
packed into panels, like the weights of a product. Integers are multiplied in words of two or four
channels where the target can; if bytes are multiplied as wider integers, the wider ones are kept.
Convolutions of 3×3 windows are computed in tiles (`winograd.py`) where rounding may change and that
takes less time.

Inputs and results keep their layout. Graphs that compute gradients of filters or write to memory
are left alone: gradients read images along the columns.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping

from ogive.compiler.ir.memory import FILTER_PANELS, STRIPPED, upper_count
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import cast, expand, pad_axis, shrink_axis
from ogive.compiler.ir.ops import ELEMENTWISE, Op
from ogive.compiler.passes.graph.convolutions.recognized_convolutions import (
    Convolution,
    find_convolutions,
    is_computed,
    is_frame,
    path_below,
)
from ogive.compiler.passes.graph.convolutions.winograd import (
    TWO,
    convolve_in_tiles,
    framed_length,
    has_whole_tiles,
)
from ogive.compiler.passes.graph.convolutions.winograd_choice import (
    TileChoice,
    choose_tiles,
    describe_tiles,
)
from ogive.compiler.passes.graph.products.group_narrow_products import WORD, to_words
from ogive.compiler.passes.graph.products.panels import best_filter_panel, make_panels
from ogive.compiler.targets.estimates import sums_in_registers
from ogive.compiler.targets.findings import Finding
from ogive.compiler.targets.target import CACHE_LINE, Dot, Target

CHANNEL = 1
"""The axis of an image's channels, after the batch."""

DEPTH = 3
"""The axis of channels in the product of windows and filters."""


def lay_channels_last(
    sink: UOp, target: Target, exactness: str, findings: list[Finding]
) -> UOp:
    """The graph with the channels last in images between convolutions.

    Convolutions computed in tiles, where `exactness` admits that, are added to `findings`.
    """
    order = sink.walk()
    if target.has_grid or any(node.op is Op.ASSIGN for node in order):
        return sink
    convolutions = find_convolutions(order, target)
    tiled = {} if exactness == "exact" else _find_tiled(convolutions, target)
    if not tiled and not any(is_computed(each.image) for each in convolutions.values()):
        return sink
    roots = frozenset(sink.src)
    images, rebuilt, ends = _find_images(order, convolutions, roots)
    joined = {node for node in tiled if node in ends and has_whole_tiles(convolutions[node], TWO)}
    stripped = {ends[node] for node in joined if tiled[node].strips > 1}
    kinds = {each.image: each.multiplied for each in convolutions.values()}
    laid_out: dict[UOp, UOp] = {}
    done: dict[UOp, UOp] = {}
    plain: dict[UOp, UOp] = {}
    for node in order:
        if node in tiled:
            choice = tiled[node]
            new = _rebuild_in_tiles(convolutions[node], choice, done, node in joined, target)
        elif node in rebuilt:
            new = _rebuild(convolutions[node], done, laid_out, target)
        elif node not in roots and _is_plain_copy(node) and node.operand in laid_out:
            new = done[node.operand]  # a kept image already
        else:
            table = plain if node is sink else done
            new = node.with_sources(tuple([table[source] for source in node.src]))
        plain[node] = new
        done[node] = new
        if node in images:
            hints = STRIPPED if node in stripped else ()
            laid_out[node] = _laid_out(cast(new, kinds.get(node, new.dtype)), hints)
            done[node] = cast(laid_out[node], new.dtype)
    if tiled:
        results = {node.operand: node for node in order if node.op is Op.RESHAPE}
        findings.extend(describe_tiles(tiled, plain, results))
    return plain[sink]


def _find_tiled(
    convolutions: Mapping[UOp, Convolution], target: Target
) -> dict[UOp, TileChoice]:
    """The convolutions that are computed in tiles."""
    fixed = {
        node: each
        for node, each in convolutions.items()
        if all(isinstance(size, int) for size in node.shape)
    }
    choices = {node: choose_tiles(each, TWO, target) for node, each in fixed.items()}
    return {node: choice for node, choice in choices.items() if choice is not None}


def _find_images(
    order: list[UOp], convolutions: Mapping[UOp, Convolution], roots: frozenset[UOp]
) -> tuple[set[UOp], set[UOp], dict[UOp, UOp]]:
    """The images to lay out, the convolutions to rebuild, and the image each of these computes.

    An image is a value that a convolution reads or, through elementwise operations, computes; but
    inputs and roots are none.
    """
    inner = {node: each for node, each in convolutions.items() if is_computed(each.image)}
    read = {each.image for each in inner.values()}
    # A narrow image is copied where it is padded, from whatever it is computed from.
    images = {each.image for each in inner.values() if each.dot is None or not each.is_padded}
    rebuilt, ends = set(inner), dict[UOp, UOp]()
    below = _all_below(read)
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
        end = _last_elementwise(result, read, readers, numbers, roots, taken)
        if end in roots or (node not in below and node not in rebuilt):
            continue
        images.add(end)
        rebuilt.add(node)
        ends[node] = end
    return images, rebuilt, ends


def _all_below(values: set[UOp]) -> set[UOp]:
    """All nodes from which some values are computed."""
    below: set[UOp] = set()
    pending = list(values)
    while pending:
        new = [source for source in pending.pop().src if source not in below]
        below.update(new)
        pending.extend(new)
    return below


def _last_elementwise(
    value: UOp,
    read: set[UOp],
    readers: Mapping[UOp, list[UOp]],
    numbers: Mapping[UOp, int],
    roots: frozenset[UOp],
    taken: set[UOp],
) -> UOp:
    """The end of the elementwise operations that follow a value, such as bias and activation.

    Every path from `value` goes through the end, and the end is at most what another convolution
    reads. Values between are added to `taken`, so that two convolutions share none.
    """
    while value not in read:
        pending: list[tuple[int, UOp]] = []
        seen: set[UOp] = set()
        between: list[UOp] = [value]
        while True:
            last = between[-1]
            if (last in roots or last in read) and last is not value:
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
    return value


def _is_plain_copy(node: UOp) -> bool:
    return node.op is Op.CONTIGUOUS and not node.arg


def _kept(image: UOp) -> UOp:
    return UOp(Op.CONTIGUOUS, image.dtype, (image,), ())


def _laid_out(image: UOp, hints: tuple[str, ...] = ()) -> UOp:
    """An image, kept with its channels last."""
    rank = len(image.shape)
    last = (0, *range(2, rank), CHANNEL)
    back = (0, rank - 1, *range(1, rank - 1))
    value = UOp(Op.PERMUTE, image.dtype, (image,), last)
    value = UOp(Op.CONTIGUOUS, image.dtype, (value,), hints)
    return UOp(Op.PERMUTE, image.dtype, (value,), back)


def _laid_out_apart(image: UOp, target: Target) -> UOp:
    """The same, with a cache line between pixels that would evict each other from a cache.

    The pixels of a window are read together, and strides that are large powers of two map them to
    few sets of the cache.
    """
    dtype, shape = image.dtype, image.shape
    if shape[CHANNEL] * dtype.itemsize % target.costs.memory.few_sets_bytes:
        return _laid_out(image)
    wider = pad_axis(image, CHANNEL, (0, CACHE_LINE // dtype.itemsize), 0)
    return shrink_axis(_laid_out(wider), CHANNEL, shape[CHANNEL])


def _rebuild(
    convolution: Convolution, done: Mapping[UOp, UOp], wide: Mapping[UOp, UOp], target: Target
) -> UOp:
    """The convolution with its filters in panels and its windows read from the laid-out image.

    `wide` has the kept images in the dtype in which they are multiplied.
    """
    node, windows = convolution.node, done[convolution.windows]
    if convolution.dot is not None or convolution.is_padded or is_computed(convolution.image):
        image = wide.get(convolution.image, done[convolution.image])
        windows = _windows_of(convolution, image, target)
    if convolution.dot is not None:
        return _rebuild_with_words(convolution, convolution.dot, windows, target)
    filters = _pack_filters(convolution, convolution.filters, target)
    factors = windows, expand(filters, node.operand.shape)
    product = UOp(Op.MUL, node.dtype, factors)
    return UOp(node.op, node.dtype, (product,), node.arg, node.tag)


def _rebuild_in_tiles(
    convolution: Convolution,
    choice: TileChoice,
    done: Mapping[UOp, UOp],
    is_joined: bool,
    target: Target,
) -> UOp:
    """The convolution by Winograd's form.

    The image is padded to whole tiles where it is read: a padded copy would take as much memory
    again.
    """
    value, rank = done[convolution.image], len(convolution.image.shape)
    if not is_computed(convolution.image):
        value = _laid_out_apart(value, target)
    for move in path_below(convolution.windows, convolution.image):
        if is_frame(move, rank):
            value = UOp(move.op, value.dtype, (value, *move.src[1:]), move.arg)
        elif move.op is not Op.CONTIGUOUS:
            break
    *_, rows, _, columns = convolution.node.shape
    for axis, places in ((2, rows), (3, columns)):
        missing = framed_length(places, TWO) - value.shape[axis]
        value = pad_axis(value, axis, (0, missing), 0)
    return convolve_in_tiles(convolution, value, TWO, choice.panel_width, choice.strips, is_joined)


def _rebuild_with_words(convolution: Convolution, dot: Dot, windows: UOp, target: Target) -> UOp:
    """The convolution of integers, several channels of which are packed in a word.

    Sums of integers are exact in any order, so the channels, the longest loop, go last.
    """
    node = convolution.node
    rank = len(node.shape)
    order = (*[axis for axis in range(rank) if axis != DEPTH], DEPTH)
    if windows.op is Op.EXPAND:
        windows = windows.operand
    factors = [
        UOp(Op.PERMUTE, WORD, (to_words(each, DEPTH),), order)
        for each in (windows, convolution.filters)
    ]
    lengths = [*node.operand.shape[:DEPTH], *node.operand.shape[DEPTH + 1 :]]
    shape = (*lengths, factors[0].shape[-1])
    factors[1] = _pack_filters(convolution, factors[1], target)
    spread = tuple([expand(factor, shape) for factor in factors])
    product = UOp(Op.DOT, node.dtype, spread, (dot.left, dot.right))
    axes = (*range(DEPTH, rank - 1, 2), rank - 1)
    total = UOp(Op.REDUCE_AXES, node.dtype, (product,), (Op.ADD, axes), node.tag)
    return UOp(Op.RESHAPE, node.dtype, (total,), node.shape)


def _windows_of(convolution: Convolution, image: UOp, target: Target) -> UOp:
    """The windows of a laid-out image: the same movements, with a copy only where it is padded.

    Integers are also copied if they are widened or are inputs. Floats that are inputs keep the
    order of their axes.
    """
    rank, value = len(image.shape), image
    is_open = convolution.is_padded and not _is_read_where_it_is(convolution, target)
    is_by_pixels = convolution.dot is not None or is_computed(convolution.image)
    dtype = convolution.multiplied
    if convolution.dot is not None and (value.dtype is not dtype or value is convolution.image):
        value, is_open = cast(value, dtype), True
    for move in path_below(convolution.windows, convolution.image):
        if move.op in (Op.CONTIGUOUS, Op.CAST):
            continue
        if is_open and not is_frame(move, rank):
            value, is_open = _laid_out_apart(value, target) if is_by_pixels else _kept(value), False
        value = UOp(move.op, value.dtype, (value, *move.src[1:]), move.arg)
    return value


def _is_read_where_it_is(convolution: Convolution, target: Target) -> bool:
    """Whether a padded image is read in place, with a test for each pixel whether it is inside.

    This takes less time than a copy through a far cache if a kernel takes few windows, by channel,
    of a large image, and registers hold all channels of a pixel.
    """
    image = convolution.image
    lanes = target.vector_bytes // image.dtype.itemsize
    if image.shape[CHANNEL] > lanes * sums_in_registers(target):
        return False
    places, pixels = convolution.node.shape[5::2], upper_count(image.shape[2:])
    is_apart = pixels >= target.costs.packing.windows_apart * upper_count(places)
    is_large = upper_count(image.shape) * image.dtype.itemsize > target.l2_bytes
    return convolution.is_by_channel and is_apart and is_large


def _pack_filters(convolution: Convolution, filters: UOp, target: Target) -> UOp:
    """Filters, or words of them, in panels of features, or of channels if they are by channel."""
    axes = tuple(range(DEPTH, len(filters.shape)))
    if convolution.is_by_channel:
        return make_panels(filters, 1, axes, filters.shape[1], FILTER_PANELS)
    lanes = target.vector_bytes // filters.dtype.itemsize
    places = convolution.node.shape[5::2]
    if convolution.is_pointwise:
        places = (upper_count(places),)  # they lie in one line
    spare = 1 if convolution.dot is None else convolution.dot.spare
    panel = best_filter_panel(filters.shape[2], lanes, places, spare, target)
    return make_panels(filters, 2, axes, lanes * panel.vectors, FILTER_PANELS)

