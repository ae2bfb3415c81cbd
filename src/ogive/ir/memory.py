"""Values that are memory as they stand.

A buffer is flat; a value in it is the buffer reshaped. A value with a symbolic length lies in a
buffer made for its greatest length and is that buffer shrunk, so that strides never depend on a
variable:

    (4, 8) in memory     RESHAPE(BUFFER 32, (4, 8))
    (n, 8), n <= 4       SHRINK(RESHAPE(BUFFER 32, (4, 8)), (0, n), (0, 8))

What varies in a general graph (`passes/general/`) is a tensor of one length to its user, without
gaps; so strides do depend on the compiler's own variables:

    (8, #n), #n <= 4     RESHAPE(SHRINK(BUFFER 32, (0, 8·#n)), (8, #n))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from ogive.ir.device_names import DEFAULT_DEVICE, FILES, first_computing, group_members
from ogive.ir.layouts import holding_device
from ogive.ir.node import UOp
from ogive.ir.ops import ELEMENTWISE, SPREAD, Op
from ogive.ir.shape import Shape, element_count, greatest, movement_argument, split_argument
from ogive.ir.symbolic.variable import OWN

OPEN_ENDED = 1 << 39
"""The size of a buffer that ends with the values in it, however many these are: nothing may be read
behind them. A view of its front (`SHRINK`) says how long it can get."""

LONGEST = 1 << 40
"""More elements than any buffer has: the size of one whose length only a launch knows."""


PANELS = ("panels",)
"""The argument of a `CONTIGUOUS` that is made once for as long as the inputs it is computed from
stay as they are: panels of operands, and what else follows from weights."""

FILTER_PANELS = (*PANELS, "filters")
"""The same of filters whose convolution is laid out for them already."""

STRIPS = ("strips",)
"""The argument of a `CONTIGUOUS` that may be computed a strip of its first axis at a time, from
strips of the others of its chain (`passes/regions/strip_steps.py`)."""

STRIPPED = ("stripped",)
"""That of the value at the end of such a chain, of which there are as many strips."""

ALIGNMENT = 64
"""Bytes of a line: memory of its own begins on one of its own, on any device."""


def is_kept_once(node: UOp) -> bool:
    """Whether a value is made once for as long as its inputs stay as they are."""
    return node.op is Op.CONTIGUOUS and node.arg[:1] == PANELS


def upper_shape(shape: Shape) -> tuple[int, ...]:
    """The greatest length of each axis."""
    for size in shape:
        if size.__class__ is not int:
            return tuple([greatest(size) for size in shape])
    return tuple(shape)  # as nearly all are, and passes ask by the thousand


def upper_count(shape: Shape) -> int:
    """How many elements a buffer for a value of this shape has."""
    return math.prod(upper_shape(shape))


def shaped(flat: UOp, shape: Shape) -> UOp:
    """Flat memory, as large as `shape` can get, seen with that shape."""
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
    """Whether strides follow the compiler's own variables: one is the length of another axis than
    the first that is longer than 1, where memory for the greatest length would have gaps."""
    longer = [size for size in shape if not (isinstance(size, int) and size == 1)]
    inner = [node for size in longer[1:] if not isinstance(size, int) for node in size.walk()]
    return any(node.op is Op.VARIABLE and node.name.startswith(OWN) for node in inner)


def memory_leaf(node: UOp) -> UOp:
    """The flat memory under the shapes that `shaped` puts on it; any other node is its own."""
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


def host_value(node: UOp) -> UOp | None:
    """The value under reshapes, if a step that is no kernel makes it: a copy or a custom value."""
    while node.op is Op.RESHAPE:
        node = node.operand
    return node if node.op in (Op.COPY, Op.CUSTOM) else None


FILE_VIEWS = frozenset(
    {Op.RESHAPE, Op.PERMUTE, Op.EXPAND, Op.SHRINK, Op.FLIP, Op.DETACH}
)


def file_of(node: UOp) -> UOp | None:
    """The buffer on `DISK` that a node is a view of, if it is one."""
    while node.op in FILE_VIEWS:
        node = node.operand
    return node if node.op is Op.BUFFER and node.device == FILES else None


def computing_devices(
    order: Iterable[UOp], known: Mapping[UOp, str | None] = MappingProxyType({})
) -> dict[UOp, str | None]:
    """Where each node is computed, sources first; None for what is the same everywhere, such as
    constants, and for files, which are read from anywhere. What is `known` need not be in order."""
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
            # A function is called once, wherever what it returns is read.
            where[node] = device or (DEFAULT_DEVICE if node.op is Op.CUSTOM else None)
    return where


def devices_of_graph(sink: UOp) -> tuple[str, ...]:
    """The devices that compute some of a parametric graph, those of its results first."""
    groups = dict.fromkeys(sink.arg or (DEFAULT_DEVICE,))
    groups |= dict.fromkeys(computing_devices(sink.walk()).values())
    names = [name for group in groups if group is not None for name in group_members(group)]
    return tuple(dict.fromkeys(names))


def is_memory(node: UOp) -> bool:
    """Whether a node is a version of a buffer as it stands."""
    return memory_leaf(node).op in (Op.BUFFER, Op.PARAM, Op.AFTER)


def keep_roots_apart(before: Sequence[UOp], after: Sequence[UOp]) -> tuple[UOp, ...]:
    """Roots of a graph that was rewritten, each a result of its own.

    One that has become memory, or the same value as another root, is copied: whoever assigns to it
    must not change the other. One that has become a leaf is written out.
    """
    roots: dict[UOp, UOp] = {}
    given = {old for old, new in zip(before, after, strict=True) if new is old}
    for position, (old, new) in enumerate(zip(before, after, strict=True)):
        if old in roots:
            continue  # asked for twice: as a result, and as an assignment
        taken = new in given
        became_memory = is_memory(new) and not is_memory(old)  # a version stays one, in place
        is_leaf = not new.src or new.op is Op.IOTA  # one may have a symbolic length below it
        if new is not old and (taken or became_memory or is_leaf):
            new = UOp(Op.CONTIGUOUS, new.dtype, (new,), ("result", position))
        roots[old] = new
        given.add(new)
    return tuple([roots[old] for old in before])


def reads_elsewhere(value: UOp, target: UOp, reads: Callable[[UOp], bool]) -> bool:
    """Whether `value` reads the memory of `target` other than element by element, as `target`.

    `reads` says whether a node is computed from that memory.
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
