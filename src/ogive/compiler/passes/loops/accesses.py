"""The loads and stores of a kernel, with their strides along its loop counters."""

from __future__ import annotations

import math
from collections.abc import Collection

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.positions import index_constant
from ogive.compiler.ir.symbolic.index_arithmetic import linear_form
from ogive.compiler.passes.loops.kernel_axes import axis_extent
from ogive.named import record


@record(frozen=True)
class MemoryAccess:
    """One LOAD or STORE.

    `strides` has the counters on which its offset depends linearly, `irregular` those on which it
    depends in another way, such as through a division.
    """

    node: UOp
    strides: dict[UOp, int]
    irregular: frozenset[UOp]
    is_store: bool

    @property
    def index(self) -> UOp:
        return self.node.place

    def depends_on(self, counter: UOp) -> bool:
        """Whether the place accessed, or the row staged there, changes with `counter`."""
        memory = self.index.base
        staged_anew = memory.op is Op.STAGE and counter in memory.ranges
        return staged_anew or counter in self.strides or counter in self.irregular

    def bytes_along(self, counters: Collection[UOp]) -> int:
        """The number of bytes accessed along some counters."""
        lengths = [axis_extent(counter) for counter in self.strides if counter in counters]
        return self.index.dtype.itemsize * math.prod(lengths)

    @property
    def memory_bytes(self) -> int:
        """The size in bytes of the memory that is accessed."""
        memory = self.index.base
        is_buffer = memory.op is Op.PARAM
        count = memory.size if is_buffer else math.prod(map(axis_extent, memory.closed))
        return int(count) * self.index.dtype.itemsize


def memory_accesses(root: UOp) -> list[MemoryAccess]:
    """All loads and stores of a loop graph, in graph order."""
    accesses = []
    for node in root.walk():
        if node.op not in (Op.LOAD, Op.STORE):
            continue
        is_store = node.op is Op.STORE
        strides, irregular = offset_strides(node.place.offset)
        accesses.append(MemoryAccess(node, strides, irregular, is_store))
    return accesses


def offset_strides(offset: UOp) -> tuple[dict[UOp, int], frozenset[UOp]]:
    """The linear strides of an offset, and the counters that it uses in any other way.

    A stride that depends on variables is replaced by its greatest value: `r0*#n + r1` has the
    strides of the longest row. Use `stride_along` for the exact expression.
    """
    terms, _ = linear_form(offset)
    strides: dict[UOp, int] = {}
    irregular: set[UOp] = set()
    for term, coefficient in terms.items():
        counter, factor = _counter_in(term)
        if counter is not None:
            strides[counter] = strides.get(counter, 0) + coefficient * int(factor.vmax)
        else:
            irregular |= term.ranges
    for counter in irregular:
        strides.pop(counter, None)
    return strides, frozenset(irregular)


def stride_along(offset: UOp, counter: UOp) -> UOp:
    """The stride of an offset along a counter on which it depends linearly, as an index node."""
    terms, _ = linear_form(offset)
    total = index_constant(0)
    for term, coefficient in terms.items():
        inner, factor = _counter_in(term)
        if inner is counter:
            total = total + factor * coefficient
    return total


def _counter_in(term: UOp) -> tuple[UOp | None, UOp]:
    """The only counter of a term and its factor; None and 1 if the term has none or several."""
    one = index_constant(1)
    if term.op is Op.RANGE:
        return term, one
    counter, factor, stack = None, one, [term]
    while stack:
        part = stack.pop()
        if part.op is Op.MUL:
            stack += part.src
        elif part.op is Op.RANGE and counter is None:
            counter = part
        elif part.ranges or any(below.op is Op.LOAD for below in part.walk()):
            return None, one
        else:
            factor = factor * part
    return counter, factor
