"""Chains of movements: how to get from a value to what a tensor shows of it.

    x.T[0]   →   PERMUTE (1, 0) · SHRINK ((0, 1), (0, 2)) · RESHAPE (2,)

They lead forward, to the part, and back, to where in the whole it lies. Beside movements there are
marks: a `detach()`, behind which gradients are those of what was written there, and `contiguous()`.
`graph_lock` is held in all that follows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ogive.at_once import Change
from ogive.ir.dtype import DType
from ogive.ir.memory import memory_leaf
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.shape import Shape, as_length, element_count
from ogive.live import history
from ogive.live.registry import make
from ogive.tensor import build
from ogive.tensor.memory.strides import Strides, contiguous_strides, strides_after

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

Restride = Callable[[Strides], Strides | None]

MARKS = frozenset({Op.DETACH, Op.CONTIGUOUS})
"""Steps that say something of a value, and move nothing."""


class Lineage:
    """The way of gradients behind one `detach()`: none, until something that has gradients is
    written through it. From then on a `tensor` holds the same values with their history."""

    __slots__ = ("tensor",)

    def __init__(self) -> None:
        self.tensor: Tensor | None = None


class View:
    """Movements that lead from a value to a part of it, and back.

    `strided` has, for some steps by their number, what several from there on make of the strides,
    where that cannot be seen from them one by one, and how many they are.
    """

    __slots__ = ("shape", "steps", "strided")

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.steps: list[tuple[Op | None, Any, Shape]] = []
        self.strided: dict[int, tuple[int, Restride]] = {}

    def add(self, op: Op | None, argument: Any, shape: Shape) -> View:
        """Append a movement from the present shape to `shape`, unless it moves nothing.

        Without an `op`, the argument is a function of the node that computes what is shown.
        """
        if shape != self.shape or argument_matters(op, argument):
            self.steps.append((op, argument, self.shape))
            self.shape = shape
        return self

    def of_another_storage(self) -> View:
        """The same movements, with nothing behind its detached steps yet."""
        same = View(self.shape)
        same.steps = [
            (op, Lineage() if op is Op.DETACH else argument, shape)
            for op, argument, shape in self.steps
        ]
        same.strided = self.strided
        return same

    def then(self, other: View) -> View:
        """The view that shows what `other` shows of this one."""
        if not self.steps:
            return other
        joined = View(other.shape)
        joined.steps = self.steps + other.steps
        joined.strided = self.strided
        if other.strided:
            ahead = len(self.steps)
            moved = {ahead + number: entry for number, entry in other.strided.items()}
            joined.strided = self.strided | moved
        return joined

    def restride(self, function: Restride) -> View:
        """Say what all steps together make of the strides of a value."""
        self.strided = {0: (len(self.steps), function)}
        return self

    @property
    def is_padded(self) -> bool:
        """Whether some movement reaches outside the value."""
        return any(op is Op.PAD for op, _, _ in self.steps)

    @property
    def is_detached(self) -> bool:
        """Whether no gradient flows through."""
        return any(op is Op.DETACH for op, _, _ in self.steps)

    @property
    def is_repeated(self) -> bool:
        """Whether an element may be shown at several places, or something computed from it."""
        return any(
            op is None or (op is Op.EXPAND and element_count(argument) != element_count(before))
            for op, argument, before in self.steps
        )

    @property
    def is_bitcast(self) -> bool:
        """Whether the bits are read as another dtype's."""
        return any(op is Op.BITCAST for op, _, _ in self.steps)

    @property
    def movements(self) -> list[tuple[Op | None, Any, Shape]]:
        """The steps that are no marks: two views without others show the same."""
        return [step for step in self.steps if step[0] not in MARKS]

    @property
    def moves(self) -> bool:
        """Whether it shows another than the whole value as it is."""
        return bool(self.movements)

    def forward(self, node: UOp, changed: Change | None = None) -> UOp:
        """The part of `node`; the tensor of one lineage is about to be `changed`."""
        for op, argument, _ in self.steps:
            if op is Op.DETACH and changed is not None and changed[0] is argument:
                node = _follow(node, changed[2])
            else:
                node = _FORWARD[op](node, argument)
        return node

    def cut(self, at: int) -> tuple[View, View]:
        """The first steps, and the others. Strides are not asked of them."""
        before, after = View(self.steps[at - 1][2]), View(self.shape)
        before.steps, after.steps = self.steps[:at], self.steps[at:]
        return before, after

    def place(self, node: UOp) -> UOp:
        """Where in `node` the part lies: movements alone."""
        for op, argument, _ in self.steps:
            if op not in MARKS:
                node = _FORWARD[op](node, argument)
        return node

    def backward(self, node: UOp, fill: Any) -> UOp:
        """`node`, which has the part's shape, in its place, with `fill` everywhere else."""
        for op, argument, before in reversed(self.steps):
            if op is Op.RESHAPE or op is Op.EXPAND:  # one that is written through repeats nothing
                node = build.reshape(node, before)
            elif op is Op.FLIP:
                node = build.flip(node, argument)
            elif op is Op.PERMUTE:
                node = build.permute(node, tuple([argument.index(a) for a in range(len(argument))]))
            elif op is Op.SHRINK:
                pads = [
                    (low, as_length(n - high))
                    for (low, high), n in zip(argument, before, strict=True)
                ]
                node = build.pad(node, tuple(pads), fill)
            elif op is Op.PAD:
                node = build.shrink(node, tuple([(0, size) for size in before]))
            elif op is Op.BITCAST and node.dtype is argument[1]:
                node = _bitcast(node, (argument[1], argument[0]))
        return node

    def strides(self, layout: Strides | None) -> Strides | None:
        """How far apart neighbours along each axis lie in memory of that layout, or row-major.

        None where that is not one number for each axis, or depends on variables.
        """
        whole = self.steps[0][2] if self.steps else self.shape
        strides = contiguous_strides(whole) if layout is None else layout
        at = 0
        while strides is not None and at < len(self.steps):
            count, function = self.strided.get(at, (1, None))
            if function is not None:
                strides = function(strides)
            else:
                op, argument, before = self.steps[at]
                strides = strides_after(op, argument, before, strides)
            at += count
        return strides


class _Unnoticed:
    """The rule of a `GRADIENT` node for what took the place of a value behind gradients' back."""

    __slots__ = ()
    is_fixed = True

    def gradients(self, node: UOp, upstream: UOp) -> list[UOp | None]:
        return [upstream for _ in node.inputs]


UNNOTICED = _Unnoticed()


def argument_matters(op: Op | None, argument: Any) -> bool:
    """Whether a step of the same shape before and after does something."""
    if op is Op.PERMUTE:
        return bool(argument != tuple(range(len(argument))))
    return op is None or op in MARKS or op is Op.BITCAST or (op is Op.FLIP and bool(argument))


def _bitcast(node: UOp, dtypes_of: tuple[DType, DType]) -> UOp:
    """The bits of `node` read as the second dtype's."""
    return make(Op.BITCAST, dtypes_of[1], (node,), None, node.shape)


def detach(node: UOp, lineage: Lineage | None = None) -> UOp:
    """`node` for the step of a `detach()`: without gradients, or with those of its lineage."""
    if lineage is not None and lineage.tensor is not None:
        return _follow(node, lineage.tensor)
    return node if node.op is Op.DETACH else make(Op.DETACH, node.dtype, (node,), None, node.shape)


def _follow(node: UOp, source: Tensor) -> UOp:
    """The values of `node`, with the gradients of another tensor."""
    return make(Op.GRADIENT, node.dtype, (node, source.node), UNNOTICED, node.shape)


def _contiguous(node: UOp, _: Any) -> UOp:
    """In memory, which what is memory is, and what was made so."""
    base = node.operand if node.op is Op.RESHAPE else node
    if base.op is Op.CONTIGUOUS or memory_leaf(node).op is Op.BUFFER:
        return node
    return make(Op.CONTIGUOUS, node.dtype, (node,), ())


def _compute(node: UOp, function: Callable[[UOp], UOp]) -> UOp:
    """A function's result for `node`. Whether gradients flow is decided where it is shown."""
    before = history.set_recording(True)
    try:
        return function(node)
    finally:
        history.set_recording(before)


_FORWARD: dict[Op | None, Any] = {
    Op.RESHAPE: build.reshape, Op.FLIP: build.flip, Op.SHRINK: build.shrink, Op.PAD: build.pad,
    Op.PERMUTE: build.permute, Op.EXPAND: build.expand_to, Op.BITCAST: _bitcast,
    Op.DETACH: detach, Op.CONTIGUOUS: _contiguous, None: _compute,
}  # fmt: skip
