"""Basic indexing, read and written: integers, slices with steps, None and Ellipsis.

An index becomes a list of movements from the tensor to what it selects:

    x[1:8:3]  of length 10   →   SHRINK (1, 10) · RESHAPE (3, 3) · SHRINK (0, 1) · RESHAPE (3,)

A step reads a column of blocks of that size. A last block that is not whole borrows elements that
lie before or behind the slice, and is padded only where there are none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ogive.errors import ArgumentError, ArgumentTypeError, IndexRangeError, ShapeError
from ogive.ir import dtype as dtypes
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.registry import graph_lock, make
from ogive.ir.shape import Dim, Shape
from ogive.tensor import assignment, build
from ogive.tensor.core import Core, relocate, same_device, to_integer, to_operand, wrap

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


class View:
    """Movements that lead from a tensor to a part of it, and back."""

    __slots__ = ("shape", "steps")

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.steps: list[tuple[Op, Any, Shape]] = []

    def add(self, op: Op, argument: Any, shape: Shape) -> None:
        """Append a movement from the present shape to `shape`, unless it moves nothing."""
        if shape != self.shape or (op is Op.FLIP and argument):
            self.steps.append((op, argument, self.shape))
            self.shape = shape

    @property
    def is_padded(self) -> bool:
        """Whether some movement reaches outside the tensor."""
        return any(op is Op.PAD for op, _, _ in self.steps)

    def forward(self, node: UOp) -> UOp:
        """The part of `node`."""
        for op, argument, _ in self.steps:
            node = _FORWARD[op](node, argument)
        return node

    def backward(self, node: UOp, fill: Any) -> UOp:
        """`node`, which has the part's shape, in its place, with `fill` everywhere else."""
        for op, argument, before in reversed(self.steps):
            if op is Op.RESHAPE:
                node = build.reshape(node, before)
            elif op is Op.FLIP:
                node = build.flip(node, argument)
            elif op is Op.SHRINK:
                pads = [(low, n - high) for (low, high), n in zip(argument, before, strict=True)]
                node = build.pad(node, tuple(pads), fill)
            else:
                node = build.shrink(node, tuple([(0, size) for size in before]))
        return node


_FORWARD: dict[Op, Any] = {
    Op.RESHAPE: build.reshape, Op.FLIP: build.flip, Op.SHRINK: build.shrink, Op.PAD: build.pad,
}  # fmt: skip


def to_view(shape: Shape, index: Any) -> View:
    """What `index` selects from a tensor of `shape`."""
    entries = _complete(shape, index if isinstance(index, tuple) else (index,))
    windows: list[tuple[Dim, Dim]] = []  # what to cut out of each axis
    flipped: list[int] = []
    missing: list[tuple[Dim, Dim]] = []  # what to append for the last block to be whole
    blocks: list[tuple[Dim, int]] = []  # how many blocks of how many elements
    picks: list[tuple[Dim, Dim]] = []  # which element of each block, where they have several
    result: list[Dim] = []
    for entry in entries:
        if entry is None:
            result.append(1)
            continue
        axis = len(windows)
        size = shape[axis]
        if isinstance(entry, slice):
            first, step, length = _slice(entry, size, axis)
            result.append(length)
        else:
            first, step, length = _position(entry, size, axis, shape), 1, 1
        if isinstance(size, UOp) or length == 0:
            windows.append((0, length))
            missing.append((0, 0))
            blocks.append((length, 1))
            picks += [(0, length), (0, 1)]
            continue
        stride = abs(step) if length > 1 else 1
        low = min(first, first + (length - 1) * step)
        high = max(first, first + (length - 1) * step) + 1
        behind = min(size - high, stride - 1)
        ahead = min(low, stride - 1 - behind)
        windows.append((low - ahead, high + behind))
        if step < 0 and length > 1:
            flipped.append(axis)
        missing.append((0, stride - 1 - behind - ahead))
        blocks.append((length, stride))
        pick = behind if step < 0 else ahead
        picks += [(0, length), (pick, pick + 1)]
    view = View(shape)
    view.add(Op.SHRINK, tuple(windows), tuple([high - low for low, high in windows]))
    view.add(Op.FLIP, tuple(flipped), view.shape)
    whole = tuple([size + after for size, (_, after) in zip(view.shape, missing, strict=True)])
    view.add(Op.PAD, tuple(missing), whole)
    if any(stride > 1 for _, stride in blocks):
        split = tuple([part for pair in blocks for part in pair])
        view.add(Op.RESHAPE, split, split)
        view.add(Op.SHRINK, tuple(picks), tuple([high - low for low, high in picks]))
    view.add(Op.RESHAPE, tuple(result), tuple(result))
    return view


def _complete(shape: Shape, index: tuple[Any, ...]) -> list[Any]:
    """The index with one entry per axis, and None for each new axis."""
    for entry in index:
        if isinstance(entry, bool | numpy.bool_ | Core | list | tuple | numpy.ndarray):
            raise ArgumentTypeError(
                f"an index may hold integers, slices, None and Ellipsis; indexing with a "
                f"{type(entry).__name__} (gathering, masks) is not there yet"
            )
    given = sum([entry is not None and entry is not Ellipsis for entry in index])
    if given > len(shape):
        raise IndexRangeError(
            f"too many indices: {given} for the {len(shape)} axes of shape {build.show(shape)}"
        )
    ellipses = [place for place, entry in enumerate(index) if entry is Ellipsis]
    if len(ellipses) > 1:
        raise ArgumentError("an index may hold only one Ellipsis (...)")
    place = ellipses[0] if ellipses else len(index)
    rest = [slice(None)] * (len(shape) - given)
    return [*index[:place], *rest, *index[place + 1 :]]


def _slice(entry: slice, size: Dim, axis: int) -> tuple[Any, int, Any]:
    """First position, step and number of elements."""
    if isinstance(size, UOp):
        if entry == slice(None):
            return 0, 1, size
        raise ArgumentError(f"axis {axis} has a symbolic length; cut it with shrink()")
    for bound in (entry.start, entry.stop, entry.step):
        if bound is not None:
            to_integer(bound, "a bound of a slice")
    if entry.step is not None and to_integer(entry.step, "the step of a slice") == 0:
        raise ArgumentError(f"the slice of axis {axis} has the step 0")
    start, stop, step = entry.indices(size)
    return start, step, len(range(start, stop, step))


def _position(entry: Any, size: Dim, axis: int, shape: Shape) -> int:
    position = to_integer(entry, "an index")
    if isinstance(size, UOp):
        raise ArgumentError(f"axis {axis} has a symbolic length; cut it with shrink()")
    if not -size <= position < size:
        raise IndexRangeError(
            f"index {position} is out of range for axis {axis} of length {size} of shape "
            f"{build.show(shape)}"
        )
    return position % int(size)


class Indexing(Core):
    """`x[...]`, and `x[...] = value`."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Tensor:
        """A part of the tensor, by integers, slices, None (a new axis) and Ellipsis.

        >>> Tensor([[1, 2, 3], [4, 5, 6]])[:, ::-2].tolist()
        [[3, 1], [6, 4]]

        Raises `IndexRangeError` for an index outside its axis, or too many of them.
        """
        with graph_lock:
            node = self.node
            return wrap(to_view(node.shape, index).forward(node), self.device)

    def __setitem__(self, index: Any, value: Any) -> None:
        """Replace a part of the tensor; `value` broadcasts to it and takes on the dtype.

        Whatever was made from this tensor before keeps the values it had then.

        >>> x = Tensor([1, 2, 3, 4])
        >>> x[::2] = 0
        >>> x.tolist()
        [0, 2, 0, 4]
        """
        operand = to_operand(value, "assignment")
        if isinstance(operand, Core):
            same_device([self, operand], "assignment")
        with graph_lock:
            old = self.node
            view = to_view(old.shape, index)
            new = assignment.fit(operand, old.dtype, view.shape)
            if assignment.is_writable(old) and not view.is_padded:
                relocate(self, assignment.store(old, view.forward(old), new))
                return
            mask = view.backward(build.filled(dtypes.bool_, True, view.shape), False)
            moved = view.backward(new, 0)
            relocate(self, make(Op.WHERE, old.dtype, (mask, moved, old)))

    def __len__(self) -> int:
        shape = self.node.shape
        if not shape:
            raise ArgumentTypeError("a scalar tensor has no len()")
        if isinstance(shape[0], UOp):
            raise ShapeError("the first axis has a symbolic length, so len() is not known")
        return int(shape[0])

    def __iter__(self) -> Any:
        if not self.node.shape:
            raise ArgumentTypeError("a scalar tensor cannot be iterated over")
        return (self[position] for position in range(len(self)))
