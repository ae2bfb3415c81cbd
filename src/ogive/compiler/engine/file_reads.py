"""A graph reads from files only the bytes that it needs: of a range of rows, those rows.

    before   SHRINK(RESHAPE(BUFFER on DISK, 1000×64), (7, 9), (0, 64))
    after    RESHAPE(BUFFER on DISK', 2×64)              with a buffer of 2 rows, 7 rows further on

The range becomes a buffer of its own, so that other rows of the same file, or of another, give the
same normalized graph.
"""

from __future__ import annotations

from ogive.compiler.devices.handle import Handle
from ogive.compiler.ir.device_names import FILES
from ogive.compiler.ir.memory import FILE_VIEWS, shaped
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import element_count, movement_argument
from ogive.compiler.ir.traversal import substitute, walk
from ogive.compiler.live import registry
from ogive.compiler.passes.capture.contiguous_parts import first_element, row_axis


def narrow_files(roots: tuple[UOp, ...]) -> tuple[UOp, ...]:
    """The graph with views of files replaced by buffers on the rows they show."""
    order = walk(roots)
    ranges: dict[UOp, tuple[UOp, int]] = {}  # views that are rows: the file, the first element
    divided: dict[UOp, UOp] = {}
    read: dict[UOp, None] = {}  # what is asked of files by anything but a view
    for node in order:
        if node.op is Op.BUFFER and _is_file(node):
            ranges[node] = node, 0
        elif node.op is Op.RESHAPE and len(node.src) == 1 and node.operand in ranges:
            ranges[node] = ranges[node.operand]
        elif node.op is Op.SHRINK and len(node.src) == 1 and node.operand in ranges:
            first = first_element(node)
            if first is not None:
                file, start = ranges[node.operand]
                ranges[node] = file, start + first
            elif (rows_first := _rows_first(node)) is not None:
                divided[node] = rows_first
        is_row_view = node in ranges or (node.op in FILE_VIEWS and node.operand not in ranges)
        if not is_row_view:
            read.update(dict.fromkeys([source for source in node.src if source in ranges]))
    if divided:
        return narrow_files(substitute(roots, divided, revisit=False))
    read.update(dict.fromkeys([root for root in roots if root in ranges]))
    files = {node: ranges[node][0] for node in read}
    whole = {file for node, file in files.items() if element_count(node.shape) == file.size}
    narrowed: dict[tuple[UOp, int, int], UOp] = {}
    replacements: dict[UOp, UOp] = {}
    for node in read:
        file, start = ranges[node]
        if file not in whole:
            count = element_count(node.shape)
            key = file, start, count
            if key not in narrowed:
                narrowed[key] = _part(file, start, count)
            replacements[node] = shaped(narrowed[key], node.shape)
    return substitute(roots, replacements, revisit=False) if replacements else roots


def _is_file(node: UOp) -> bool:
    """Whether a buffer is a file, and no placeholder for one."""
    return bool(node.device == FILES) and isinstance(registry.buffer_of(node), Handle)


def _rows_first(node: UOp) -> UOp | None:
    """A `SHRINK` as one of whole rows and one inside them, if that leaves out any rows."""
    axis = row_axis(node)
    full = [(0, size) for size in node.operand.shape]
    spans = movement_argument(node)
    rows = (*spans[: axis + 1], *full[axis + 1 :])
    if rows == tuple(full):
        return None
    inner = (*[(0, end - begin) for begin, end in spans[: axis + 1]], *spans[axis + 1 :])
    whole_rows = UOp(Op.SHRINK, node.dtype, (node.operand,), rows)
    return UOp(Op.SHRINK, node.dtype, (whole_rows,), inner)


def _part(file: UOp, start: int, count: int) -> UOp:
    size = file.dtype.itemsize
    buffer = registry.buffer_of(file).view(start * size, count * size)
    node = UOp(Op.BUFFER, file.dtype, (UOp.unique(),), (FILES, count))
    node.origin = file.origin
    registry.set_buffer(node, buffer)
    return node
