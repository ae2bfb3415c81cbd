"""Histories: the expressions of values in memory, through which differentiation continues.

Realizing a tensor replaces its node by memory in every live graph. If the value depends on a
*leaf*, a tensor that requires gradients, the memory remembers the expression:

    before   w ── mul ── sum ── t          after t.realize()

    after    buffer ── t                   history of the buffer: w ── mul ── sum

A history lives as long as its memory. It does not count as a reader: memory to which only a history
refers may be overwritten, and `Record.versions` shows that it was.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import substitute, walk
from ogive.named import NamedTuple


class Record(NamedTuple):
    """The expression from which memory was computed.

    `versions` has, for each buffer under it, how often that had been written when it was read.
    """

    expression: UOp
    versions: tuple[tuple[UOp, int], ...]


class Argument:
    """The rule of a `GRADIENT` node whose only purpose is to give a value an identity of its own.

    `leaf` is the tensor for which it stands, if any. While it is `open`, values computed from it
    have a history.
    """

    __slots__ = ("__weakref__", "leaf", "open")

    def __init__(self, leaf: LeafReference | None = None) -> None:
        self.leaf = leaf
        self.open = True
        number = id(self)
        _open_arguments[number] = weakref.ref(self, lambda _: _open_arguments.pop(number, None))

    def close(self) -> None:
        """End the differentiation by this argument: no more gradients of it will be asked for."""
        self.open = False
        _open_arguments.pop(id(self), None)

    def gradients(self, node: UOp, upstream: UOp) -> list[UOp | None]:
        """The gradients of the inputs: that of the node itself, which is the identity."""
        return [upstream for _ in node.inputs]


class LeafReference(weakref.ref[Any]):
    """A weak reference to a leaf.

    The leaf and all nodes that are versions of it share one such object. So it lives as long as the
    leaf or anything that was computed from it.
    """

    __slots__ = ("__weakref__",)


_open_arguments: dict[int, weakref.ref[Argument]] = {}
leaves: dict[int, weakref.ref[LeafReference]] = {}
"""The live references to leaves, by id of the tensor."""


def is_tracking() -> bool:
    """Whether a leaf, a value computed from one, or an open argument of a transform is alive."""
    return bool(leaves or _open_arguments)


# Leaves


def mark_leaf(tensor: Any) -> None:
    """Make a tensor a leaf. It holds memory, or a `GRADIENT` node of its own."""
    number = tensor.id
    tensor.leaf = leaf = LeafReference(tensor)

    def forget(reference: weakref.ref[LeafReference]) -> None:
        if leaves.get(number) is reference:
            del leaves[number]

    leaves[number] = weakref.ref(leaf, forget)
    tensor.is_flagged = True
    _set_leaf(tensor.node, leaf)


def unmark_leaf(tensor: Any) -> None:
    """Make a tensor a leaf no longer."""
    leaves.pop(tensor.id, None)
    tensor.is_flagged = False


def is_flagged(tensor: Any) -> bool:
    """Whether a tensor is a leaf."""
    return getattr(tensor, "is_flagged", False)


def follow(tensor: Any, node: UOp) -> None:
    """Record that `node`, which `tensor` is about to hold, is a version of it if it is a leaf."""
    if is_flagged(tensor):
        _set_leaf(node, tensor.leaf)


def inherit(old: UOp, new: UOp) -> None:
    """Record that `new` is a version of the same leaf as `old`, if that is one."""
    live = memory_leaf(old).live
    leaf = None if live is None else live.leaf
    if leaf is not None:
        _set_leaf(new, leaf)


def stand_for(memory: UOp, other: UOp) -> None:
    """Give `other` the leaf and the history of the memory for which it stands."""
    live = memory.live
    if live is None or (live.leaf is None and live.history is None):
        return
    onto = other.live
    onto.leaf = live.leaf or onto.leaf
    onto.history = live.history or onto.history


def _set_leaf(node: UOp, leaf: LeafReference) -> None:
    base = memory_leaf(node)
    if base.op is Op.GRADIENT:
        base.arg.leaf = leaf
    else:
        base.live.leaf = leaf


def leaf_of(node: UOp) -> Any:
    """The live leaf of which a node is a version, or None."""
    reference = _leaf_reference(node)
    tensor = None if reference is None else reference()
    return tensor if tensor is not None and tensor.is_flagged else None


def _leaf_reference(node: UOp) -> LeafReference | None:
    if node.op is Op.GRADIENT:
        return getattr(node.arg, "leaf", None)
    return None if node.live is None else node.live.leaf


def is_version(node: UOp) -> bool:
    """Whether a node is a version of a leaf, which may be gone."""
    reference = _leaf_reference(node)
    if reference is None:
        return False
    tensor = reference()
    return tensor is None or tensor.is_flagged


# Histories


_CUT = Record(UOp.const(dtypes.float32, 0.0), ())
"""The record of a buffer whose history is not known."""


def record_of(node: UOp) -> Record | None:
    """The history of a buffer, or None."""
    record: Record | None = None if node.live is None else node.live.history
    return None if record is _CUT else record


def has_record(node: UOp) -> bool:
    """Whether a buffer has a history, even if that is not known."""
    return node.live is not None and node.live.history is not None


def cut(node: UOp) -> None:
    """Record that a buffer was computed from leaves in a way that is not known."""
    node.live.history = _CUT


def forget(node: UOp) -> None:
    """Drop the history of a buffer, and the memory that only the history kept alive."""
    if node.live is not None:
        node.live.history = None


def is_cut(node: UOp) -> bool:
    """Whether a buffer was computed from leaves in a way that is not known."""
    return node.live is not None and node.live.history is _CUT


def remember(
    mapping: Mapping[UOp, UOp],
    moved: Mapping[UOp, UOp],
    buffers: Iterable[UOp],
    count_writes: Callable[[UOp], tuple[int, int]],
) -> None:
    """Record the history of each value in `mapping` at the memory that holds it now.

    `buffers` are all that the values came from. `count_writes(buffer)` gives how often one had been
    written before the run, and after it. Versions in `moved` (those that the run has written, and
    copies of overwritten ones) are replaced in histories by the memory that holds them now:

        before   t = MUL(AFTER(w, ASSIGN(w, v)), 2)    after   t in memory, from MUL(w, 2)
    """
    if not _open_arguments and not any(map(is_end, buffers)):
        return
    for version, memory in moved.items():
        inherit(version, memory)
    for value, memory in mapping.items():
        if has_history(value):
            buffers, ends = _read_by(value, moved)
            versions = {node: count_writes(node)[0] for node in buffers}
            expression = value
            if ends:
                now = {end: moved[end] for end in ends}
                (expression,) = substitute((value,), now, revisit=False)
                for node in walk((expression,)):
                    if node.op is Op.BUFFER and node not in versions:
                        versions[node] = count_writes(node)[1]
            for node in versions:
                node.live.remembered = True
            memory_leaf(memory).live.history = Record(expression, tuple(versions.items()))


def _read_by(root: UOp, moved: Collection[UOp]) -> tuple[list[UOp], list[UOp]]:
    """The buffers that `root` reads directly, and the nodes in `moved` through which it reads."""
    stack, seen = [root], {root}
    buffers, ends = [], []
    while stack:
        node = stack.pop()
        if node in moved and node is not root:
            ends.append(node)
            continue
        if node.op is Op.BUFFER:
            buffers.append(node)
        for source in node.src:
            if source not in seen:
                seen.add(source)
                stack.append(source)
    return buffers, ends


def has_history(value: UOp) -> bool:
    """Whether gradients flow through a value that is not itself a version of a leaf."""
    return not is_version(memory_leaf(value)) and leads_to_leaf(value)


def leads_to_leaf(root: UOp) -> bool:
    """Whether a gradient of `root` may reach a leaf or an open argument."""
    if is_end(root):
        return True
    stack, seen = [root], {root}
    while stack:
        for source in gradient_sources(stack.pop()):
            if source not in seen:
                if is_end(source):
                    return True
                seen.add(source)
                if source.src:
                    stack.append(source)
    return False


def is_end(node: UOp) -> bool:
    """Whether a gradient that reaches this node has a use: a leaf, a history or an argument."""
    if node.op is Op.GRADIENT:
        return is_version(node) or (isinstance(node.arg, Argument) and node.arg.open)
    live = node.live
    if live is None or (live.leaf is None and live.history is None):
        return False  # the common case: the tests below take longer
    return is_version(node) or record_of(node) is not None


_ENDS = frozenset({Op.DETACH, Op.MSELECT, Op.MULTI})
"""Ops through which no gradient flows. The history of a `MULTI` leads to its operands."""


def gradient_sources(node: UOp) -> Iterable[UOp]:
    """The sources to which a gradient may flow, the store of an assignment among them."""
    if node.op in _ENDS:
        return ()
    sources = node.inputs if node.op is Op.GRADIENT else node.src
    return [source for source in sources if source.dtype.is_inexact or source.op is Op.ASSIGN]


# Whether operations are recorded


paused: set[int] = set()
"""The threads that are inside `no_grad`."""

traced: set[int] = set()
"""The threads that trace a function, whose operations are not recorded for tensors outside."""


def is_traced() -> bool:
    """Whether this thread traces a function."""
    return bool(traced) and threading.get_ident() in traced


def is_recording() -> bool:
    """Whether gradients flow through what this thread computes now."""
    return not paused or threading.get_ident() not in paused


def set_recording(recording: bool) -> bool:
    """Set whether this thread records gradients from now on; gives the setting before."""
    thread = threading.get_ident()
    before = thread not in paused
    if before is not recording:
        (paused.discard if recording else paused.add)(thread)
    return before


def needs_cut(node: UOp) -> bool:
    """Whether a value computed now must be detached, so that no gradient flows through it."""
    if is_recording() or not is_tracking() or not node.dtype.is_inexact:
        return False
    if node.op in (Op.CONST, Op.DETACH):
        return False
    base = memory_leaf(node)
    return base.op is not Op.BUFFER or is_version(base) or record_of(base) is not None
