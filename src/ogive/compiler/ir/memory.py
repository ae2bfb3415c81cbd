"""Values that are views of whole buffers, and the kinds of memory they are in.

A buffer is flat; a value in it is the buffer reshaped. A value with a symbolic length is in a
buffer for its greatest length, and is that buffer reshaped and shrunk. So strides never depend on a
user's variable:

    (4, 8) in memory     RESHAPE(BUFFER 32, (4, 8))
    (n, 8), n <= 4       SHRINK(RESHAPE(BUFFER 32, (4, 8)), (0, n), (0, 8))

In a general graph (`passes/general/`) the compiler's own variables stand for lengths that are fixed
to the user, whose tensors have no gaps. So strides do depend on these variables:

    (8, #n), #n <= 4     RESHAPE(SHRINK(BUFFER 32, (0, 8·#n)), (8, #n))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from ogive.compiler.ir.device_names import DEFAULT_DEVICE, FILES, first_computing, group_members
from ogive.compiler.ir.layouts import holding_device
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, SPREAD, Op
from ogive.compiler.ir.shape import (
    Shape,
    element_count,
    greatest,
    movement_argument,
    split_argument,
)
from ogive.compiler.ir.symbolic.variable import OWN

OPEN_ENDED = 1 << 39
"""The size of a buffer that is exactly as long as the values in it: nothing may be read past them.
A view of its front (`SHRINK`) says how long it can get."""

LONGEST = 1 << 40
"""The size of a buffer whose length is known only at launch: more elements than any buffer has."""


PANELS = ("panels",)
"""The argument of a `CONTIGUOUS` that is computed once and kept until one of its inputs changes,
such as weights packed into panels."""

FILTER_PANELS = (*PANELS, "filters")
"""The same, for filters of a convolution that is laid out for panels already."""

STRIPS = ("strips",)
"""The argument of a `CONTIGUOUS` that may be computed in strips of its first axis, each from strips
of the other values of its chain (`passes/regions/strip_steps.py`)."""

STRIPPED = ("stripped",)
"""The argument of the value at the end of such a chain, which is cut into as many strips."""

ALIGNMENT = 64
"""The alignment of every allocation on any device, in bytes: a cache line."""


def is_kept_once(node: UOp) -> bool:
    """Whether a value is computed once and kept until one of its inputs changes."""
    return node.op is Op.CONTIGUOUS and node.arg[:1] == PANELS


def upper_shape(shape: Shape) -> tuple[int, ...]:
    """The greatest length of each axis."""
    for size in shape:
        if size.__class__ is not int:
            return tuple([greatest(size) for size in shape])
    return tuple(shape)  # the common case: passes ask for thousands of static shapes


def upper_count(shape: Shape) -> int:
    """The number of elements in a buffer for a value of this shape."""
    return math.prod(upper_shape(shape))


def shaped(flat: UOp, shape: Shape) -> UOp:
    """The view of flat memory, as large as `shape` can get, that has this shape."""
    upper = upper_shape(shape)
    if upper != tuple(shape) and has_own_strides(shape):
        argument, symbolic = split_argument(((0, element_count(shape)),))
        front = UOp(Op.SHRINK, flat.dtype, (flat, *symbolic), argument)
        sizes, symbolic = split_argument(tuple(shape))
        return UOp(Op.RESHAPE, flat.dtype, (front, *symbolic), sizes)
    node = flat if flat.shape == upper else UOp(Op.RESHAPE, flat.dtype, (flat,), upper)
    if upper == tuple(shape):
        return node
    argument, symbolic = split_argument(tuple([(0, size) for size in shape]))
    return UOp(Op.SHRINK, flat.dtype, (node, *symbolic), argument)


def has_own_strides(shape: Shape) -> bool:
    """Whether strides depend on the compiler's own variables.

    They do if one is in the length of an axis, other than the first longer than 1: there, memory
    for the greatest length would have gaps.
    """
    longer = [size for size in shape if not (isinstance(size, int) and size == 1)]
    inner = [node for size in longer[1:] if not isinstance(size, int) for node in size.walk()]
    return any(node.op is Op.VARIABLE and node.name.startswith(OWN) for node in inner)


def memory_leaf(node: UOp) -> UOp:
    """The flat memory under the view that `shaped` makes of it; any other node itself."""
    top = node
    if (
        node.op is Op.SHRINK
        and all(begin == 0 for begin, _ in movement_argument(node))
        and node.operand.shape == upper_shape(node.shape)
    ):
        node = node.operand
    while node.op is Op.RESHAPE:
        node = node.operand
    return node if node.op in (Op.BUFFER, Op.PARAM, Op.AFTER) else top


HOST_OPS = frozenset({Op.COPY, Op.CUSTOM})
"""Ops whose values no kernel computes but a step on the host."""


def host_value(node: UOp) -> UOp | None:
    """The value under reshapes if a step on the host computes it."""
    while node.op is Op.RESHAPE:
        node = node.operand
    return node if node.op in HOST_OPS else None


def plain_roots(roots: Sequence[UOp], ops: frozenset[Op]) -> tuple[UOp, ...]:
    """The roots, with a reshaped value of one of `ops` replaced by that value itself.

        before   SINK(RESHAPE(COPY(PARAM 0)))          after   SINK(COPY(PARAM 0))

    Each such value is taken once, since no two roots may be the same memory.
    """
    taken = set(roots)
    plain = []
    for root in roots:
        value = root
        while value.op is Op.RESHAPE:
            value = value.operand
        if value.op in ops and value not in taken:
            taken.add(value)
            root = value
        plain.append(root)
    return tuple(plain)


FILE_VIEWS = frozenset(
    {Op.RESHAPE, Op.PERMUTE, Op.EXPAND, Op.SHRINK, Op.FLIP, Op.DETACH}
)


def file_of(node: UOp) -> UOp | None:
    """The buffer on `DISK` that a node is a view of, or None."""
    while node.op in FILE_VIEWS:
        node = node.operand
    return node if node.op is Op.BUFFER and node.device == FILES else None


def computing_devices(
    order: Iterable[UOp], known: Mapping[UOp, str | None] = MappingProxyType({})
) -> dict[UOp, str | None]:
    """The device that computes each node of `order`, which has sources before users.

    None stands for nodes that are the same everywhere, such as constants, and for files, which are
    read from anywhere. Nodes in `known` need not be in `order`.
    """
    where: dict[UOp, str | None] = dict(known)
    for node in order:
        if node.op in (Op.BUFFER, Op.PARAM):
            where[node] = first_computing((node.device,))
        elif node.op is Op.COPY:
            where[node] = node.device
        elif node.op in SPREAD:
            where[node] = holding_device(node)
        else:
            device = first_computing([where[source] for source in node.src])
            # A function is called on one device, whichever devices read its results.
            where[node] = device or (DEFAULT_DEVICE if node.op is Op.CUSTOM else None)
    return where


def devices_of_graph(sink: UOp) -> tuple[str, ...]:
    """The devices that compute some of a parametric graph, those of its results first."""
    groups = dict.fromkeys(sink.arg or (DEFAULT_DEVICE,))
    groups |= dict.fromkeys(computing_devices(sink.walk()).values())
    names = [name for group in groups if group is not None for name in group_members(group)]
    return tuple(dict.fromkeys(names))


def is_memory(node: UOp) -> bool:
    """Whether a node is a whole buffer, or a version of one."""
    return memory_leaf(node).op in (Op.BUFFER, Op.PARAM, Op.AFTER)


def keep_roots_apart(before: Sequence[UOp], after: Sequence[UOp]) -> tuple[UOp, ...]:
    """The roots of a rewritten graph, each made a result of its own.

    A root that has become memory, or the same node as another root, is copied: an assignment to one
    result must not change another. A root that has become a leaf is stored.
    """
    roots: dict[UOp, UOp] = {}
    kept = {old for old, new in zip(before, after, strict=True) if new is old}
    for position, (old, new) in enumerate(zip(before, after, strict=True)):
        if old in roots:
            continue  # the same root twice: as a result, and as an assignment
        taken = new in kept
        became_memory = is_memory(new) and not is_memory(old)  # a version of a buffer stays one
        is_leaf = not new.src or new.op is Op.IOTA  # IOTA may have a symbolic length as source
        if new is not old and (taken or became_memory or is_leaf):
            new = UOp(Op.CONTIGUOUS, new.dtype, (new,), ("result", position))
        roots[old] = new
        kept.add(new)
    return tuple([roots[old] for old in before])


def reads_elsewhere(value: UOp, target: UOp, reads: Callable[[UOp], bool]) -> bool:
    """Whether `value` reads the memory of `target` in another way than element by element.

    An assignment of `x + 1` to `x` reads each element where it writes it; one of `x.flip(0)` reads
    elsewhere. `reads` says whether a node is computed from that memory.
    """
    stack, seen = [value], {value}
    while stack:
        node = stack.pop()
        if node is target:
            continue
        marked = node.op in (Op.DETACH, Op.GRADIENT)
        if node.op not in ELEMENTWISE and not marked:
            if reads(node):
                return True
            continue
        for source in node.src[:1] if marked else node.src:
            if source not in seen:
                seen.add(source)
                stack.append(source)
    return False
