"""Windows: contiguous parts of a buffer that a graph reads.

    before   SHRINK(RESHAPE(BUFFER, (1000, 64)), (7, 9), (0, 64))
    after    128 elements of the buffer, from element 448 on, in the shape (2, 64)

To a kernel, a window is a smaller buffer at another address. The kernel does not depend on where
the window begins, so that `x[0]`, `x[1]` and so on share one compiled graph.
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.compiler.ir.device_names import STORAGE
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import element_count, row_major_strides
from ogive.named import NamedTuple


class Window(NamedTuple):
    """`length` elements of a buffer, from element `start` on."""

    buffer: UOp
    start: int
    length: int


class Windows(NamedTuple):
    """The nodes of a graph that are read as windows (`found`), and those that only they need."""

    found: dict[UOp, Window]
    hidden: set[UOp]


def find_windows(order: Sequence[UOp], roots: Sequence[UOp]) -> Windows:
    """The windows of buffers that a graph reads, given its nodes with sources before users.

    A buffer that the graph also reads whole, or writes, has one slot and no windows.
    """
    ranges: dict[UOp, Window] = {}
    read: dict[UOp, None] = dict.fromkeys(roots)
    whole: set[UOp] = set()
    for node in order:
        window = window_of(node, ranges)
        if window is not None:
            ranges[node] = window
        elif node.op is Op.AFTER:
            whole.add(memory_leaf(node.operand))
        if window is None or node.op is Op.BUFFER:
            read.update(dict.fromkeys(node.src))
    read_windows = [node for node in read if node in ranges]
    whole.update(ranges[node].buffer for node in read_windows if is_whole(ranges[node]))
    windows = {node: ranges[node] for node in read_windows if ranges[node].buffer not in whole}
    hidden = {node for node, window in ranges.items() if window.buffer not in whole}
    return Windows(windows, hidden - windows.keys())


def is_whole(window: Window) -> bool:
    """Whether a window covers all of its buffer."""
    return bool(window.length == window.buffer.size)


_SEEN_THROUGH = frozenset({Op.RESHAPE, Op.SHRINK, Op.DETACH})


def window_of(node: UOp, below: dict[UOp, Window]) -> Window | None:
    """The window that a node shows, given the windows of its sources; None if it shows none."""
    if node.op is Op.BUFFER:
        return None if node.device in STORAGE else Window(node, 0, node.size)
    if node.op not in _SEEN_THROUGH or len(node.src) != 1 or node.operand not in below:
        return None
    source = below[node.operand]
    if node.op is not Op.SHRINK:
        return source
    first = first_element(node)
    if first is None:
        return None
    return Window(source.buffer, source.start + first, element_count(node.shape))


def first_element(node: UOp) -> int | None:
    """The position of the first element of a `SHRINK`; None if it is not contiguous."""
    axis = row_axis(node)
    before = node.operand.shape
    inner = list(zip(node.arg, before, strict=True))[axis + 1 :]
    if any(end - begin != size for (begin, end), size in inner):
        return None
    strides = row_major_strides(before)
    return int(sum(begin * stride for (begin, _), stride in zip(node.arg, strides, strict=True)))


def row_axis(node: UOp) -> int:
    """The first axis along which a `SHRINK` keeps more than one element, or else the last axis."""
    for axis, (begin, end) in enumerate(node.arg):
        if end - begin != 1:
            return axis
    return len(node.arg) - 1
