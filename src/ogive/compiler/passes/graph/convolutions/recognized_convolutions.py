"""Recognition of convolutions in the form that `tensor/neural/convolution_products.py` builds.

    windows (batch, groups, 1, channels, taps, places, ...) times
    filters (1, groups, features, channels, taps, 1, ...), summed over channels and taps

A convolution of integers is recognized if the target has an instruction that multiplies several of
the narrower integers from which they were widened. The image is then the narrow one.
"""

from __future__ import annotations

import math

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.memory import upper_count
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import cast
from ogive.compiler.ir.ops import MOVEMENT, Op
from ogive.compiler.ir.shape import Shape
from ogive.compiler.passes.graph.convolutions import WINDOW_RANKS
from ogive.compiler.targets.target import Dot, Target
from ogive.named import NamedTuple

WORD_BITS = 32
"""The bits of the word in which an instruction adds up products of narrow integers."""

_NARROW = {each.name: each for each in (dtypes.int8, dtypes.uint8, dtypes.int16)}
"""The integers that such instructions multiply."""


class Convolution(NamedTuple):
    """A sum of windows times filters, the image below the windows, and whether that is padded.

    `filters` have no `CONTIGUOUS` in their movements. `dot` is the instruction for integers.
    """

    node: UOp
    windows: UOp
    filters: UOp
    image: UOp
    is_padded: bool
    dot: Dot | None

    @property
    def multiplied(self) -> DType:
        """The dtype in which elements of the image are multiplied."""
        return self.image.dtype if self.dot is None else _NARROW[self.dot.left]

    @property
    def is_by_channel(self) -> bool:
        """Whether each channel has a filter of its own, which gives one feature."""
        return bool(self.node.operand.shape[1] != 1)

    @property
    def is_pointwise(self) -> bool:
        """Whether windows are single pixels."""
        taps = self.node.operand.shape[4::2]
        return bool(math.prod(taps) == 1)


def find_convolutions(order: list[UOp], target: Target) -> dict[UOp, Convolution]:
    """All convolutions whose features fill vectors; none if the graph has a gradient of filters."""
    convolutions = {}
    for node in order:
        if node.op is not Op.REDUCE_AXES or node.combine is not Op.ADD:
            continue
        product = node.operand
        if product.op is not Op.MUL or len(product.shape) not in WINDOW_RANKS:
            continue
        if set(node.arg[1]) & set(_places(product.shape)):
            return {}
        convolution = _as_convolution(node, target)
        if convolution is not None and _is_suited(convolution, target):
            convolutions[node] = convolution
    return convolutions


def is_computed(image: UOp) -> bool:
    """Whether an image is computed: neither an input nor a constant."""
    while image.op in MOVEMENT:
        image = image.operand
    return image.op is not Op.PARAM and image.op is not Op.CONST


def path_below(windows: UOp, image: UOp) -> list[UOp]:
    """The movements from an image to its windows, in this order."""
    path = []
    while windows is not image:
        path.append(windows)
        windows = windows.operand
    return path[::-1]


def is_frame(move: UOp, rank: int) -> bool:
    """Whether a movement pads or cuts an image."""
    return move.op in (Op.PAD, Op.SHRINK) and len(move.shape) == rank


def _as_convolution(node: UOp, target: Target) -> Convolution | None:
    product = node.operand
    shape = product.shape
    fixed = [size for axis, size in enumerate(shape) if axis not in _places(shape)]
    if not all(isinstance(size, int) for size in fixed):
        return None
    summed = [axis for axis in (3, *range(4, len(shape), 2)) if shape[axis] != 1]
    if [axis for axis in node.arg[1] if shape[axis] != 1] != summed:
        return None
    windows, filters = product.src
    if filters.op is not Op.EXPAND or any(filters.operand.shape[a] != 1 for a in _places(shape)):
        return None
    image = _find_image(windows, (shape[0], shape[1] * shape[3]), len(shape) // 2)
    if image is None:
        return None
    filters = _without_keeping(filters.operand)
    dot = None
    if not product.dtype.is_float:
        if not all(isinstance(size, int) for size in shape):
            return None
        dot = _find_dot(image, filters, target)
        if dot is None:
            return None
        image, filters = image.operand, _before_widening(filters, _NARROW[dot.right])
    rank = len(image.shape)
    is_padded = any(move.op is Op.PAD and is_frame(move, rank) for move in _frames(windows, image))
    return Convolution(node, windows, filters, image, is_padded, dot)


def _places(shape: Shape) -> tuple[int, ...]:
    """The axes along which filters do not vary: the batch, and the places of windows."""
    return (0, *range(5, len(shape), 2))


def _find_image(windows: UOp, front: tuple[int, int], rank: int) -> UOp | None:
    """The image (batch, channels, ...) from which windows are taken.

    It is the lowest such value under the movements, and below every `EXPAND`. If none has `rank`
    axes, it may have more, of length 1.
    """
    image, longer, node = None, None, windows
    while node.op in MOVEMENT or node.op is Op.CONTIGUOUS:
        if node.op is Op.EXPAND:
            image = longer = None
        node = node.operand
        if node.shape[:2] == front:
            image = node if len(node.shape) == rank else image
            longer = node if len(node.shape) > rank else longer
    return image or longer


def _frames(windows: UOp, image: UOp) -> list[UOp]:
    """The movements that pad and cut an image before its windows are taken."""
    rank = len(image.shape)
    frames = []
    for move in path_below(windows, image):
        if move.op in (Op.CAST, Op.CONTIGUOUS):
            continue
        if not is_frame(move, rank):
            break
        frames.append(move)
    return frames


def _without_keeping(value: UOp) -> UOp:
    """A moved value without the `CONTIGUOUS` nodes in its movements."""
    path = []
    while value.op in MOVEMENT or value.op is Op.CONTIGUOUS:
        path.append(value)
        value = value.operand
    return _moved([move for move in reversed(path) if move.op is not Op.CONTIGUOUS], value)


def _before_widening(value: UOp, kind: DType) -> UOp:
    """A moved value before its widening, or widened only to `kind`."""
    path = []
    while value.op in MOVEMENT:
        path.append(value)
        value = value.operand
    return _moved(path[::-1], cast(value.operand, kind))


def _moved(path: list[UOp], value: UOp) -> UOp:
    for move in path:
        value = UOp(move.op, value.dtype, (value, *move.src[1:]), move.arg)
    return value


def _find_dot(image: UOp, filters: UOp, target: Target) -> Dot | None:
    """The instruction that multiplies the most elements of an image and of filters at once.

    Both must be widened to int32 from a dtype that the instruction takes, or a narrower one.
    """
    while filters.op in MOVEMENT:
        filters = filters.operand
    if image.op is not Op.CAST or filters.op is not Op.CAST or image.dtype is not dtypes.int32:
        return None
    suited = [
        dot
        for dot in target.dots
        if _fits(image.operand, dot.left) and _fits(filters.operand, dot.right)
        if image.shape[1] * _NARROW[dot.left].bits % WORD_BITS == 0
    ]
    return min(suited, key=lambda dot: _NARROW[dot.left].bits, default=None)


def _fits(value: UOp, name: str) -> bool:
    """Whether the narrow dtype `name` holds all numbers of a value's dtype."""
    kind = _NARROW.get(name)
    if kind is None or not value.dtype.is_integer:
        return False
    return value.dtype is kind or (kind.is_signed and value.dtype.bits < kind.bits)


def _is_suited(convolution: Convolution, target: Target) -> bool:
    """Whether features fill vectors, and there is enough work to pay for packing the filters."""
    shape = convolution.node.operand.shape
    lanes = target.vector_bytes // convolution.node.dtype.itemsize
    _, groups, features, channels, *_ = shape
    if upper_count(shape) < target.costs.packing.least_work:
        return False
    if groups == 1:
        return bool(2 * features >= lanes)
    is_by_channel = features == 1 and channels == 1 and groups >= lanes
    return is_by_channel and convolution.dot is None
