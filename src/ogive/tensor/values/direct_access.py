"""Memory that is there is read where it is: no kernel runs for an element, a row or a slice of it.

    before   x[3].item()     a graph, a kernel, new memory, a copy of that
    after                    a copy of the bytes that the view shows
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from ogive.devices.write_clock import clock, is_disturbed
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.shape import element_count
from ogive.live import registry
from ogive.tensor.core import Core

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_REPEATED = 1 << 16
"""How many elements a view may have that shows elements of its memory several times."""

_VIEWS = frozenset({Op.RESHAPE, Op.SHRINK, Op.PERMUTE, Op.EXPAND})


def read_view(tensor: Core, is_to_come: Callable[[Any], bool]) -> NDArray[Any] | None:
    """A copy of what a view of realized memory shows, unless what it shows `is_to_come`.

    None where a tensor is something else, has a symbolic length, repeats more than a few elements,
    or is written to meanwhile.
    """
    given = node = tensor.node
    views: list[UOp] = []
    while node.op in _VIEWS and len(node.src) == 1:
        views.append(node)
        node = node.operand
    if not views or node.op is not Op.BUFFER:
        return None
    memory = registry.buffer_of(node)
    if memory is None or is_to_come(memory):
        return None
    if not all(isinstance(size, int) for view in views for size in view.shape):
        return None
    if any(element_count(view.shape) > max(node.size, MOST_REPEATED) for view in views):
        return None
    moment = clock.moment_of(memory)
    array = memory.contents(node.dtype.numpy, node.shape)
    for view in reversed(views):
        array = _shown(view, array)
    values: NDArray[Any] = numpy.array(array, order="C")
    return None if tensor.node is not given or is_disturbed(moment, (memory,)) else values


def _shown(view: UOp, array: NDArray[Any]) -> NDArray[Any]:
    """What a movement shows of an array, without a copy where NumPy needs none."""
    if view.op is Op.SHRINK:
        return array[tuple([slice(begin, end) for begin, end in view.spans])]
    if view.op is Op.PERMUTE:
        return array.transpose(view.order)
    if view.op is Op.EXPAND:
        return numpy.broadcast_to(array, view.shape)
    return array.reshape(view.shape)
