"""Views as chains of movements: how to get from a whole value to the part that a tensor shows.

    x.T[0]   →   PERMUTE (1, 0) · SHRINK ((0, 1), (0, 2)) · RESHAPE (2,)

A chain is applied forward to get the part of a value, and backward to put a part into the whole.
Besides movements, it may have *marks*, which move nothing: `contiguous()` and `detach()`. Behind a
`detach()`, gradients flow only to values that were written there. `graph_lock` is held by all
callers.
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
"""Steps of a chain that move nothing."""


class Lineage:
    """The history behind one `detach()`.

    There is none until values with a history are written through the detached view. From then on,
    `tensor` holds the values of the view with that history.
    """

    __slots__ = ("tensor",)

    def __init__(self) -> None:
        self.tensor: Tensor | None = None


class View:
    """A chain of movements from a value to a part of it.

    Each of the `steps` is an op, its argument, and the shape before it. Usually each step has a
    known effect on strides. Where only several steps together have one, `strided` maps the number
    of the first of them to their count and the function of the strides.
    """

    __slots__ = ("shape", "steps", "strided")

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.steps: list[tuple[Op | None, Any, Shape]] = []
        self.strided: dict[int, tuple[int, Restride]] = {}

    def add(self, op: Op | None, argument: Any, shape: Shape) -> View:
        """Append a step from the present shape to `shape`, unless it changes nothing.

        Without an `op`, the argument is a function that computes the shown node from a node.
        """
        if shape != self.shape or argument_matters(op, argument):
            self.steps.append((op, argument, self.shape))
            self.shape = shape
        return self

    def of_another_storage(self) -> View:
        """Return the same chain for another storage, with no history behind its detached steps."""
        same = View(self.shape)
        same.steps = [
            (op, Lineage() if op is Op.DETACH else argument, shape)
            for op, argument, shape in self.steps
        ]
        same.strided = self.strided
        return same

    def then(self, other: View) -> View:
        """Return the chain of this view followed by `other`, a view of what this one shows."""
        if not self.steps:
            return other
        joined = View(other.shape)
        joined.steps = self.steps + other.steps
        joined.strided = self.strided
        if other.strided:
            count = len(self.steps)
            shifted = {count + number: entry for number, entry in other.strided.items()}
            joined.strided = self.strided | shifted
        return joined

    def restride(self, function: Restride) -> View:
        """Set the function from the strides of a value to those of the view. Returns the view."""
        self.strided = {0: (len(self.steps), function)}
        return self

    @property
    def is_padded(self) -> bool:
        """Whether a step pads the value."""
        return any(op is Op.PAD for op, _, _ in self.steps)

    @property
    def is_detached(self) -> bool:
        """Whether a step is a `detach()`."""
        return any(op is Op.DETACH for op, _, _ in self.steps)

    @property
    def is_repeated(self) -> bool:
        """Whether an element may be shown more than once, or a value computed from it is shown."""
        return any(
            op is None or (op is Op.EXPAND and element_count(argument) != element_count(before))
            for op, argument, before in self.steps
        )

    @property
    def is_bitcast(self) -> bool:
        """Whether the bits are read as another dtype."""
        return any(op is Op.BITCAST for op, _, _ in self.steps)

    @property
    def movements(self) -> list[tuple[Op | None, Any, Shape]]:
        """The steps without marks. Two views with the same movements show the same elements."""
        return [step for step in self.steps if step[0] not in MARKS]

    @property
    def moves(self) -> bool:
        """Whether the view is more than marks on the whole value."""
        return bool(self.movements)

    def forward(self, node: UOp, changed: Change | None = None) -> UOp:
        """Return the part of `node`. `changed` is a pending change of the tensor of a lineage."""
        for op, argument, _ in self.steps:
            if op is Op.DETACH and changed is not None and changed[0] is argument:
                node = _with_gradients_of(node, changed[2])
            else:
                node = _FORWARD[op](node, argument)
        return node

    def cut(self, at: int) -> tuple[View, View]:
        """Split the chain after `at` steps. Neither view can give strides."""
        before, after = View(self.steps[at - 1][2]), View(self.shape)
        before.steps, after.steps = self.steps[:at], self.steps[at:]
        return before, after

    def place(self, node: UOp) -> UOp:
        """Return the place of the part in `node`, by movements alone, without marks."""
        for op, argument, _ in self.steps:
            if op not in MARKS:
                node = _FORWARD[op](node, argument)
        return node

    def backward(self, node: UOp, fill: Any) -> UOp:
        """Return the whole with `node` at the place of the part, and `fill` everywhere else."""
        for op, argument, before in reversed(self.steps):
            if op is Op.RESHAPE or op is Op.EXPAND:  # a writable EXPAND only adds axes of length 1
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
        """Return the strides of the view, if the whole has the strides `layout`, or is row-major.

        None if the view has no strides, or if they depend on variables.
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
    """The rule of a `GRADIENT` node for a value that was replaced without being recorded.

    Gradients flow as if it had not been replaced.
    """

    __slots__ = ()
    is_fixed = True

    def gradients(self, node: UOp, upstream: UOp) -> list[UOp | None]:
        return [upstream for _ in node.inputs]


UNNOTICED = _Unnoticed()


def argument_matters(op: Op | None, argument: Any) -> bool:
    """Whether a step that keeps the shape changes anything."""
    if op is Op.PERMUTE:
        return bool(argument != tuple(range(len(argument))))
    return op is None or op in MARKS or op is Op.BITCAST or (op is Op.FLIP and bool(argument))


def _bitcast(node: UOp, dtypes_of: tuple[DType, DType]) -> UOp:
    """Read the bits of `node` as the second of two dtypes."""
    return make(Op.BITCAST, dtypes_of[1], (node,), None, node.shape)


def detach(node: UOp, lineage: Lineage | None = None) -> UOp:
    """Apply a `detach()` to `node`: without gradients, or with those of its lineage."""
    if lineage is not None and lineage.tensor is not None:
        return _with_gradients_of(node, lineage.tensor)
    return node if node.op is Op.DETACH else make(Op.DETACH, node.dtype, (node,), None, node.shape)


def _with_gradients_of(node: UOp, source: Tensor) -> UOp:
    """Return the values of `node` with the gradients of another tensor."""
    return make(Op.GRADIENT, node.dtype, (node, source.node), UNNOTICED, node.shape)


def _contiguous(node: UOp, _: Any) -> UOp:
    """Mark `node` as contiguous, unless it is marked or is memory already."""
    base = node.operand if node.op is Op.RESHAPE else node
    if base.op is Op.CONTIGUOUS or memory_leaf(node).op is Op.BUFFER:
        return node
    return make(Op.CONTIGUOUS, node.dtype, (node,), ())


def _compute(node: UOp, function: Callable[[UOp], UOp]) -> UOp:
    """Return `function(node)`, recorded even under `no_grad`: `views.show` decides on gradients."""
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
