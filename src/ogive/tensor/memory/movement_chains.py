"""Views as chains of movements from a value to the part of it that a tensor shows.

    x.T[0]   →   PERMUTE (1, 0) · SHRINK ((0, 1), (0, 2)) · RESHAPE (2,)

A chain can be applied forward, to get the part, and backward, to put a part into the whole. Besides
movements there are marks: `contiguous()`, and `detach()`, after which gradients are those of values
written there. `graph_lock` is held in all functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ogive.at_once import Change
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape, as_length, element_count
from ogive.compiler.live import history
from ogive.compiler.live.registry import make
from ogive.tensor import build
from ogive.tensor.memory.strides import Strides, contiguous_strides, strides_after

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

Restride = Callable[[Strides], Strides | None]

MARKS = frozenset({Op.DETACH, Op.CONTIGUOUS})
"""The ops of steps that mark a value and move nothing."""


class Lineage:
    """The gradients after one `detach()`: none, until a value with gradients is written through it.

    From then on `tensor` holds the same values with their history.
    """

    __slots__ = ("tensor",)

    def __init__(self) -> None:
        self.tensor: Tensor | None = None


class View:
    """Movements that lead from a value to a part of it, and back.

    `strided` has, for some steps by number, a function for the strides after several steps from
    there on, and their number, if the steps one by one do not tell.
    """

    __slots__ = ("shape", "steps", "strided")

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.steps: list[tuple[Op | None, Any, Shape]] = []
        self.strided: dict[int, tuple[int, Restride]] = {}

    def add(self, op: Op | None, argument: Any, shape: Shape) -> View:
        """Append a movement from the present shape to `shape`, unless it moves nothing.

        Without an `op`, the argument is a function that computes the shown node.
        """
        if shape != self.shape or argument_matters(op, argument):
            self.steps.append((op, argument, self.shape))
            self.shape = shape
        return self

    def of_another_storage(self) -> View:
        """The same movements with new lineages at its detached steps."""
        same = View(self.shape)
        same.steps = [
            (op, Lineage() if op is Op.DETACH else argument, shape)
            for op, argument, shape in self.steps
        ]
        same.strided = self.strided
        return same

    def then(self, other: View) -> View:
        """The composition: the view that shows what `other` shows of this one."""
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
        """The view with a function for the strides after all its steps."""
        self.strided = {0: (len(self.steps), function)}
        return self

    @property
    def is_padded(self) -> bool:
        """Whether a movement reaches outside the value."""
        return any(op is Op.PAD for op, _, _ in self.steps)

    @property
    def is_detached(self) -> bool:
        """Whether no gradient flows through it."""
        return any(op is Op.DETACH for op, _, _ in self.steps)

    @property
    def is_repeated(self) -> bool:
        """Whether it may show an element at several places, or a value computed from elements."""
        return any(
            op is None or (op is Op.EXPAND and element_count(argument) != element_count(before))
            for op, argument, before in self.steps
        )

    @property
    def is_bitcast(self) -> bool:
        """Whether it reads the bits as another dtype."""
        return any(op is Op.BITCAST for op, _, _ in self.steps)

    @property
    def movements(self) -> list[tuple[Op | None, Any, Shape]]:
        """The steps without marks. Views with equal movements show the same elements."""
        return [step for step in self.steps if step[0] not in MARKS]

    @property
    def moves(self) -> bool:
        """Whether it shows anything other than the whole value unchanged."""
        return bool(self.movements)

    def forward(self, node: UOp, changed: Change | None = None) -> UOp:
        """The shown part of `node`. `changed` is a pending change of the tensor of a lineage."""
        for op, argument, _ in self.steps:
            if op is Op.DETACH and changed is not None and changed[0] is argument:
                node = _follow(node, changed[2])
            else:
                node = _FORWARD[op](node, argument)
        return node

    def cut(self, at: int) -> tuple[View, View]:
        """The first `at` steps, and the others. Their strides must not be asked for."""
        before, after = View(self.steps[at - 1][2]), View(self.shape)
        before.steps, after.steps = self.steps[:at], self.steps[at:]
        return before, after

    def place(self, node: UOp) -> UOp:
        """The shown part of `node` as a target of a store: only the movements."""
        for op, argument, _ in self.steps:
            if op not in MARKS:
                node = _FORWARD[op](node, argument)
        return node

    def backward(self, node: UOp, fill: Any) -> UOp:
        """`node`, which has the part's shape, at the part's place, with `fill` elsewhere."""
        for op, argument, before in reversed(self.steps):
            if op is Op.RESHAPE or op is Op.EXPAND:  # a writable view repeats no element
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
        """The strides of the view of memory with this layout, or of row-major memory for None.

        None if an axis has no single stride, or strides are symbolic.
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
    """The rule of a `GRADIENT` node for a value that was replaced without gradients noticing."""

    __slots__ = ()
    is_fixed = True

    def gradients(self, node: UOp, upstream: UOp) -> list[UOp | None]:
        return [upstream for _ in node.inputs]


UNNOTICED = _Unnoticed()


def argument_matters(op: Op | None, argument: Any) -> bool:
    """Whether a step that keeps the shape has an effect."""
    if op is Op.PERMUTE:
        return bool(argument != tuple(range(len(argument))))
    return op is None or op in MARKS or op is Op.BITCAST or (op is Op.FLIP and bool(argument))


def _bitcast(node: UOp, dtypes_of: tuple[DType, DType]) -> UOp:
    """The bits of `node` read as the second of two dtypes."""
    return make(Op.BITCAST, dtypes_of[1], (node,), None, node.shape)


def detach(node: UOp, lineage: Lineage | None = None) -> UOp:
    """`node` after a `detach()`: without gradients, or with those of the lineage."""
    if lineage is not None and lineage.tensor is not None:
        return _follow(node, lineage.tensor)
    return node if node.op is Op.DETACH else make(Op.DETACH, node.dtype, (node,), None, node.shape)


def _follow(node: UOp, source: Tensor) -> UOp:
    """The values of `node`, with the gradients of another tensor."""
    return make(Op.GRADIENT, node.dtype, (node, source.node), UNNOTICED, node.shape)


def _contiguous(node: UOp, _: Any) -> UOp:
    """`node` made contiguous, unless it is memory or contiguous already."""
    base = node.operand if node.op is Op.RESHAPE else node
    if base.op is Op.CONTIGUOUS or memory_leaf(node).op is Op.BUFFER:
        return node
    return make(Op.CONTIGUOUS, node.dtype, (node,), ())


def _compute(node: UOp, function: Callable[[UOp], UOp]) -> UOp:
    """A function's result for `node`, with gradients recorded whatever the present mode is."""
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
