"""Reads of realized memory in place: an element, a row or a slice needs no kernel.

    before   x[3].item()        a graph, a kernel, new memory, a copy of that
    after                       a copy of the bytes that the view shows

Neither does an expression of single elements, if its operations have one right result to the last
bit, whatever computes them:

    if x[i] < 0: ...            the element is read and compared
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import string_at
from struct import Struct
from typing import TYPE_CHECKING, Any

import numpy

from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.devices.write_clock import clock, is_disturbed
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import element_count
from ogive.compiler.live import registry
from ogive.compiler.live.waiting_plans import is_unexecuted
from ogive.tensor.core import Core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ogive.compiler.devices.buffer import Buffer

MOST_REPEATED = 1 << 16
"""The most elements of a view that shows elements of its memory several times."""

MOST_COUNTED = 1 << 12
"""The longest count of positions that is made to read some of them."""

_MOST_OPERATIONS = 8
"""The most operations on elements that are computed directly. A kernel computes more faster."""

_VIEWS = frozenset({Op.RESHAPE, Op.SHRINK, Op.PERMUTE, Op.EXPAND, Op.DETACH})
_UNMOVED = frozenset({Op.RESHAPE, Op.EXPAND, Op.DETACH})
PLAIN = frozenset({dtypes.float32, dtypes.float64, dtypes.bool_, *dtypes.SIGNED, *dtypes.UNSIGNED})
"""NumPy's dtypes without half floats and complex numbers."""

_CODES = {
    "b1": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I",
    "u8": "Q", "f4": "f", "f8": "d",
}  # fmt: skip
_FORMS = {dtype: Struct("=" + _CODES[dtype.numpy.str[1:]]) for dtype in PLAIN}
"""The memory format of a number of each dtype."""

_EXACT: dict[Op, Callable[..., Any]] = {
    Op.ADD: numpy.add, Op.SUB: numpy.subtract, Op.MUL: numpy.multiply, Op.DIV: numpy.divide,
    Op.NEG: numpy.negative, Op.ABS: numpy.absolute, Op.AND: numpy.bitwise_and,
    Op.OR: numpy.bitwise_or, Op.XOR: numpy.bitwise_xor, Op.NOT: numpy.invert,
    Op.CMPLT: numpy.less, Op.CMPLE: numpy.less_equal, Op.CMPEQ: numpy.equal,
    Op.CMPNE: numpy.not_equal, Op.WHERE: numpy.where,
}  # fmt: skip

OPERATIONS = frozenset({*_EXACT, Op.CAST})
"""The operations that are computed from single elements."""


_SHOWN = frozenset({*OPERATIONS, *_UNMOVED, Op.BUFFER, Op.CONST, Op.IOTA})


def read_directly(tensor: Core) -> NDArray[Any] | None:
    """A copy of the elements that a view of realized memory shows, or the value of one element.

    None if a tensor is something else, or the memory is written meanwhile, or will be by a plan
    that has not run yet.
    """
    moment = clock.quiet
    node = tensor.node
    if node.op is Op.BUFFER:
        return None  # neither a view nor an expression
    read: list[Buffer] = []
    values = shown_values(node, read, least_parts=1)
    if values is None:
        return None
    values = numpy.array(values, dtype=node.dtype.numpy, order="C")
    if tensor.node is not node or (clock.now != moment and is_disturbed(moment, read)):
        return None
    return values


def may_be_shown(node: UOp) -> bool:
    """Whether a node may be readable without a kernel."""
    return node.op in _VIEWS or node.op in _SHOWN


def read_number(tensor: Core) -> Any:
    """The only element of a tensor that is memory or a view of it; None if it is not computed."""
    node = tensor.node
    form = _FORMS.get(node.dtype)
    if form is None:
        return None
    place = _place_in_memory(node)
    if place is None:
        return None
    memory, position = place
    moment = clock.moment_of(memory)
    size = node.dtype.itemsize
    (number,) = form.unpack(string_at(memory.address + position * size, size))
    return None if tensor.node is not node or is_disturbed(moment, (memory,)) else number


def _place_in_memory(node: UOp) -> tuple[Buffer, int] | None:
    """The memory of the host that has the only element of a node, and its position there."""
    at = [0] * len(node.shape)
    while node.op is not Op.BUFFER:
        if node.op not in _VIEWS or len(node.src) != 1:
            return None
        source = node.src[0]
        if node.op is Op.SHRINK:
            at = [index + (begin or 0) for (begin, _), index in zip(node.spans, at, strict=True)]
        elif node.op is Op.PERMUTE:
            moved = dict(zip(node.order, at, strict=True))
            at = [moved[axis] for axis in range(len(at))]
        elif node.op is Op.EXPAND:
            at = [0 if size == 1 else index for size, index in zip(source.shape, at, strict=True)]
        elif node.op is Op.RESHAPE:
            at = _unravel(_ravel(at, node.shape), source.shape)
        node = source
    memory = registry.buffer_of(node)
    if memory is None or memory.is_absent or is_unexecuted(memory):
        return None
    return (memory, at[0]) if find_device(memory.device).addressable else None


def _ravel(at: list[int], shape: tuple[int, ...]) -> int:
    position = 0
    for index, length in zip(at, shape, strict=True):
        position = position * length + index
    return position


def _unravel(position: int, shape: tuple[int, ...]) -> list[int]:
    at = []
    for length in reversed(shape):
        position, index = divmod(position, length)
        at.append(index)
    return at[::-1]


def shown_values(
    node: UOp, read: list[Buffer], least_parts: int = 0
) -> NDArray[Any] | None:
    """The values of a node on realized memory, perhaps the memory itself, or an element's value.

    An expression is computed only if it has at least `least_parts` elements of larger memory. The
    memory is added to `read`. None for other nodes, symbolic lengths, and many repeated elements.
    """
    if node.op in _VIEWS or node.op is Op.BUFFER or node.op is Op.IOTA:
        shown = _read_view(node, read)
        if shown is not None:
            return shown
    if node.op in OPERATIONS or node.op in _UNMOVED:
        return _compute_element(node, read, least_parts)
    return None


def _read_view(node: UOp, read: list[Buffer]) -> NDArray[Any] | None:
    views: list[UOp] = []
    while node.op in _VIEWS and len(node.src) == 1:
        views.append(node)
        node = node.operand
    if node.op is Op.IOTA:
        return _read_positions(node, views)
    if node.op is not Op.BUFFER:
        return None
    memory = registry.buffer_of(node)
    if memory is None or memory.is_absent or is_unexecuted(memory):
        return None
    if not all(isinstance(size, int) for view in views for size in view.shape):
        return None
    if any(element_count(view.shape) > max(node.size, MOST_REPEATED) for view in views):
        return None
    read.append(memory)
    array: NDArray[Any] = memory.contents(node.dtype.numpy, node.shape)
    for view in reversed(views):
        array = _shown(view, array)
    return array


def _read_positions(node: UOp, views: list[UOp]) -> NDArray[Any] | None:
    """The elements of 0, 1, 2, ..., which is not memory, that views show."""
    stop = node.stop if not node.src else None
    if stop is None or stop > MOST_COUNTED:
        return None
    if not all(isinstance(size, int) and size <= MOST_COUNTED for v in views for size in v.shape):
        return None
    array: NDArray[Any] = numpy.arange(stop, dtype=node.dtype.numpy)
    for view in reversed(views):
        array = _shown(view, array)
    return array


def _shown(view: UOp, array: NDArray[Any]) -> NDArray[Any]:
    """A movement of an array, without a copy where NumPy needs none."""
    if view.op is Op.SHRINK:
        return array[tuple([slice(begin, end) for begin, end in view.spans])]
    if view.op is Op.PERMUTE:
        return array.transpose(view.order)
    if view.op is Op.EXPAND:
        return numpy.broadcast_to(array, view.shape)
    return array.reshape(view.shape)


def _compute_element(root: UOp, read: list[Buffer], least_parts: int) -> NDArray[Any] | None:
    """The value of an expression of constants and elements of larger memory."""
    if element_count(root.shape) != 1:
        return None
    order = _operations_under(root)
    if order is None or sum([_base(node).op is Op.BUFFER for node in order]) < least_parts:
        return None
    values: dict[UOp, Any] = {}
    with numpy.errstate(all="ignore"):
        for node in order:
            base = _base(node)
            if base.op is Op.BUFFER:
                shown = _read_view(node, read)
                if shown is None:
                    return None
                values[node] = shown.reshape(())
            elif base.op is Op.CONST:
                values[node] = numpy.array(base.arg, base.dtype.numpy)
            elif node.op in _UNMOVED:
                values[node] = values[node.operand]
            elif node.op is Op.CAST:
                values[node] = values[node.operand].astype(node.dtype.numpy)
            else:
                values[node] = _EXACT[node.op](*[values[source] for source in node.src])
    return numpy.asarray(values[root]).reshape(root.shape)


def _operations_under(root: UOp) -> list[UOp] | None:
    """The operations of an expression on constants and views of larger memory, sources first.

    None if they are many, or not exact.
    """
    operations: list[UOp] = [root]
    for node in operations:
        if len(operations) > 2 * _MOST_OPERATIONS or node.dtype not in PLAIN:
            return None
        base = _base(node)
        if base.op is Op.CONST or (base.op is Op.BUFFER and base.size > 1):
            continue
        if node.op in _UNMOVED or (node.op is Op.CAST and _is_exact_cast(node)):
            operations.append(node.operand)
        elif node.op in _EXACT and not _may_be_fused(node):
            operations.extend(node.src)
        else:
            return None
    return list(dict.fromkeys(reversed(operations)))


def _base(node: UOp) -> UOp:
    """The node of which a node is a view."""
    while node.op in _VIEWS and len(node.src) == 1:
        node = node.operand
    return node


def _is_exact_cast(node: UOp) -> bool:
    """Whether a cast has only one right result, as from floats to integers or narrower ones not."""
    source, to = node.operand.dtype, node.dtype
    if to.is_inexact:
        return to in PLAIN and (not source.is_inexact or to.itemsize >= source.itemsize)
    return not source.is_inexact and to is not dtypes.bool_ and to.itemsize >= source.itemsize


def _may_be_fused(node: UOp) -> bool:
    """Whether a kernel may fuse a product with a sum, so that both are rounded only once."""
    is_sum = node.op in (Op.ADD, Op.SUB) and node.dtype.is_inexact
    return is_sum and any(_is_product(source) for source in node.src)


def _is_product(node: UOp) -> bool:
    while node.op in _UNMOVED or node.op in (Op.CAST, Op.NEG):
        node = node.operand
    return node.op is Op.MUL



