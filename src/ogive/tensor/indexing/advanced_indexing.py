"""Indexing with tensors, arrays, lists and masks, mixed with integers and slices.

An index becomes a view, and positions along some axes of that view:

    x[1:, [2, 0]]   →   GATHER(x[1:], (position along axis 0, [2, 0] beside it))

As in PyTorch, the positions broadcast together. If their axes are adjacent, the axes of the result
take the place of the first one, and else come in front. An integer or a scalar tensor removes its
axis. A mask stands for the positions where it holds, one list per axis of the mask. Their number is
part of the shape of the result, so a mask that is a tensor is computed at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ogive.errors import (
    ArgumentTypeError,
    DtypeError,
    IndexRangeError,
    ShapeError,
    needing_memory,
)
from ogive.ir import dtype as dtypes
from ogive.ir.dtype import Scalar
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.shape import Dim, Shape
from ogive.ir.symbolic.evaluate import evaluate
from ogive.live.registry import graph_lock, is_shown_memory, make
from ogive.named import NamedTuple
from ogive.tensor import build, lengths
from ogive.tensor.core import Core, memory_device, same_device, to_operand, to_tensor, wrap
from ogive.tensor.indexing.basic_indexing import WHOLE, to_view
from ogive.tensor.indexing.known_positions import known_positions, may_be_computed
from ogive.tensor.memory import assignment, views
from ogive.tensor.memory.movement_chains import View
from ogive.tensor.memory.shared_arrays import settle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ogive.tensor.tensor import Tensor

    Array = NDArray[Any]

Positions = dict[int, Core]
"""The positions of int64 that are selected along some axes, by axis."""


class Selection(NamedTuple):
    """An advanced entry of an index: positions along `axis`, or a mask of axes from there on."""

    axis: int
    positions: Core | Array  # of integers, or a mask of bool

    @property
    def is_mask(self) -> bool:
        return _is_bool(self.positions)


def is_advanced(entry: Any) -> bool:
    """Whether an entry of an index is more than an integer, a slice, None or Ellipsis."""
    return isinstance(entry, Core | list | tuple | range | numpy.ndarray | bool | numpy.bool_)


def parse(shape: Shape, index: tuple[Any, ...]) -> tuple[View, list[Selection]]:
    """Return the view of the integers and slices of an index, and the selections from its axes."""
    entries = [_to_array(entry) if is_advanced(entry) else entry for entry in index]
    basic: list[Any] = []
    selections: list[Selection] = []
    indexed = sum([_consumed(entry) for entry in entries])
    axis = 0
    for entry in entries:
        if not isinstance(entry, Core | numpy.ndarray):
            basic.append(entry)
            if entry is Ellipsis:
                axis += len(shape) - indexed
            elif entry is None or isinstance(entry, slice):
                axis += 1
        elif not entry.ndim and _is_bool(entry):
            # A single truth value selects all or nothing of a new axis.
            basic.append(None)
            selections.append(Selection(axis, numpy.zeros(int(bool(entry)), numpy.int64)))
            axis += 1
        else:
            count = _consumed(entry)
            basic.extend([WHOLE] * count)
            selections.append(Selection(axis, entry))
            axis += count
    view = to_view(shape, tuple(basic))
    for entry in selections:
        if entry.is_mask:
            _check_mask(entry, view.shape)
    return view, selections


def _to_array(entry: Any) -> Core | Array | int:
    """Return positions or a mask as a tensor or an array, and a single position as an integer."""
    if isinstance(entry, Core):
        if entry.dtype.is_float:
            raise DtypeError(
                f"a tensor of {entry.dtype.name} cannot index; indices are integers, masks bool"
            )
        return entry
    if isinstance(entry, list | tuple) and any(isinstance(part, Core) for part in entry):
        entry = [numpy.asarray(part) for part in entry]
    try:
        array = numpy.asarray(entry)
    except ValueError:
        raise ShapeError(f"the lists in the index {entry!r} are not of equal lengths") from None
    if array.dtype.kind not in "biu" and array.size:
        raise ArgumentTypeError(
            f"an index cannot be of {array.dtype} ({type(entry).__name__}); indices are integers, "
            "masks bool"
        )
    if array.dtype.kind == "b":
        return array
    return array.astype(numpy.int64) if array.ndim else int(array)


def _is_bool(entry: Core | Array) -> bool:
    return entry.dtype.is_bool if isinstance(entry, Core) else entry.dtype.kind == "b"


def _consumed(entry: Any) -> int:
    """How many axes of the tensor an entry of an index refers to."""
    if entry is None or entry is Ellipsis:
        return 0
    if isinstance(entry, Core | numpy.ndarray) and _is_bool(entry):
        return entry.ndim
    return 1


def _check_mask(selection: Selection, shape: Shape) -> None:
    mask = tuple(selection.positions.shape)
    covered = shape[selection.axis : selection.axis + len(mask)]
    if mask != covered:
        raise IndexRangeError(
            f"the mask of shape {build.show(mask)} does not fit the axes it selects from, which "
            f"have the shape {build.show(covered)}"
        )


# Positions


def join_masked(selections: Sequence[Selection], shape: Shape) -> tuple[list[Selection], Shape]:
    """Join the axes of each mask into one, in the selections and in the shape.

    One list of positions is computed and read faster than one for each axis.

        before   a mask of (3, 4) from axis 1 of (2, 3, 4, 5)
        after    a mask of (12,)  from axis 1 of (2, 12, 5)
    """
    joined: list[Selection] = []
    removed = 0
    for entry in selections:
        axis, mask = entry.axis - removed, entry.positions
        if entry.is_mask and not any(map(lengths.is_symbolic, mask.shape)):
            shape = (*shape[:axis], math.prod(mask.shape), *shape[axis + mask.ndim :])
            removed += mask.ndim - 1
            mask = numpy.asarray(mask).reshape(-1)
        joined.append(Selection(axis, mask))
    return joined, shape


def to_positions(selections: Sequence[Selection], shape: Shape, device: str) -> Positions:
    """Return the selected positions along each axis, counted from the front.

    Positions in arrays become tensors on `device`.
    """
    positions: Positions = {}
    for axis, selected in selections:
        if _is_bool(selected):
            with needing_memory("a mask"):
                where = numpy.asarray(selected).nonzero()
            lines = [to_tensor(line, device) for line in where]
            positions.update({axis + number: line for number, line in enumerate(lines)})
        elif isinstance(selected, Core):
            positions[axis] = from_front(selected, shape[axis])
        else:
            positions[axis] = to_tensor(_within(selected, shape[axis], axis), device)
    return positions


def from_front(positions: Core, length: Dim) -> Tensor:
    """Return positions as int64, counted from the front. Negative ones count from the back."""
    with graph_lock:
        node = build.cast(positions.node, dtypes.int64)
        if positions.dtype.is_signed:
            zero = build.constant(dtypes.int64, 0)
            is_negative = make(Op.CMPLT, dtypes.bool_, (node, zero))
            size = build.expand_to(build.index_value(length), node.shape)
            node = make(Op.WHERE, dtypes.int64, (
                is_negative, make(Op.ADD, dtypes.int64, (node, size)), node,
            ))  # fmt: skip
        return wrap(node, positions.device)


def _within(positions: Array, length: Dim, axis: int) -> Array:
    """Return the positions of an array, counted from the front. They are checked at once."""
    if lengths.is_symbolic(length):
        length = evaluate(length)
    outside = (positions < -length) | (positions >= length)
    if outside.any():
        raise IndexRangeError(
            f"index {positions[outside].flat[0]} is out of range for axis {axis} of length {length}"
        )
    return numpy.where(positions < 0, positions + length, positions)


def place(shape: Shape, positions: Positions) -> tuple[Shape, list[UOp]]:
    """Return the shape of a selection from `shape`, and for each axis of `shape` its index node."""
    lists = [axis for axis, index in positions.items() if index.ndim]
    wide: Shape = ()
    for axis in lists:
        wide = build.broadcast_shapes(wide, positions[axis].shape, "indexing")
    kept = [axis for axis in range(len(shape)) if axis not in positions]
    front = sum([axis < lists[0] for axis in kept]) if _are_adjacent(lists, kept) else 0
    before, after = kept[:front], kept[front:]
    result = (*[shape[axis] for axis in before], *wide, *[shape[axis] for axis in after])
    indices = []
    for axis in range(len(shape)):
        if axis in positions:
            node = positions[axis].node
            aligned = (*node.shape, *[1] * len(after)) if node.shape else ()
            indices.append(build.expand_to(build.reshape(node, aligned), result))
        else:
            number = kept.index(axis)
            result_axis = number if number < front else number + len(wide)
            indices.append(build.count_along(result_axis, result))
    return result, indices


def _are_adjacent(lists: list[int], kept: list[int]) -> bool:
    """Whether no kept axis lies between axes with lists of positions."""
    return bool(lists) and not any(lists[0] < axis < lists[-1] for axis in kept)


# Reading and writing


def read(x: Core, index: tuple[Any, ...]) -> Tensor:
    """Return `x[index]`."""
    view, selections = parse(x.shape, index)
    selections, shape = join_masked(selections, view.shape)
    positions = to_positions(selections, shape, x.device)
    device = same_device([x, *positions.values()], "indexing")
    with graph_lock:
        node = build.reshape(view.forward(x.node), shape)
        _, indices = place(node.shape, positions)
        return wrap(build.gather(node, indices), device)


def write(x: Core, index: tuple[Any, ...], operand: Core | Scalar, op: Op | None = None) -> None:
    """Assign `x[index] = operand`. With `op`, the operand is combined with the present elements."""
    view, selections = parse(x.shape, index)
    if op is None and len(selections) == 1 and selections[0].is_mask:
        selected = selections[0].positions
        mask = to_tensor(selected, None if isinstance(selected, Core) else x.device)
        if _is_same_throughout(operand, selections[0], len(view.shape)):
            same_device([x, mask], "indexing")
            with graph_lock:
                part = view.forward(x.node)
                views.write(x, view, _choose(mask.node, operand, selections[0].axis, part))
            settle()
            return
    positions = to_positions(selections, view.shape, x.device)
    same_device([x, *positions.values()], "indexing")
    with graph_lock:
        part = view.forward(x.node)
        views.write(x, view, put(part, positions, operand, op))
    settle()


def put(part: UOp, positions: Positions, operand: Core | Scalar, op: Op | None) -> UOp:
    """Return `part` with `operand`, which broadcasts, put at some positions."""
    shape, indices = place(part.shape, positions)
    return build.scatter(part, assignment.fit(operand, part.dtype, shape), indices, op)


def _is_same_throughout(value: Core | Scalar, mask: Selection, rank: int) -> bool:
    """Whether a value is the same for all elements that a mask selects, however many."""
    if not isinstance(value, Core):
        return True
    after = rank - mask.axis - mask.positions.ndim
    return value.ndim <= after or value.shape[value.ndim - after - 1] == 1


def _choose(mask: UOp, value: Core | Scalar, axis: int, part: UOp) -> UOp:
    """Return WHERE(mask, value, part). The value's axis of selected elements gets length 1."""
    rank, covered = len(part.shape), len(mask.shape)
    after = rank - axis - covered
    if isinstance(value, Core) and value.ndim > after:
        own = value.node.shape
        selected_axis = value.ndim - after - 1
        aligned = (*own[:selected_axis], *[1] * covered, *own[selected_axis + 1 :])
        value = wrap(build.reshape(value.node, aligned), value.device)
    new = assignment.fit(value, part.dtype, part.shape)
    condition = build.expand_to(build.reshape(mask, (*mask.shape, *[1] * after)), part.shape)
    return make(Op.WHERE, part.dtype, (condition, new, part))


def listed_entries(index: Any) -> Any:
    """Return an index as PyTorch reads it: a list of lists, tensors or slices is a tuple.

        x[[[0, 1], [1, 2]]]   →   x[[0, 1], [1, 2]]
        x[[0, 1]]             →   x[[0, 1]]
    """
    if index.__class__ is list and len(index) < 32:
        kinds = (Core, list, tuple, slice, numpy.ndarray, str, range)
        if any(each is None or each is Ellipsis or isinstance(each, kinds) for each in index):
            return tuple(index)
    return index


def get_item(self: Tensor, index: Any) -> Tensor:
    """Return a part of the tensor: `x[index]`.

    An index consists of integers, slices, None (a new axis), Ellipsis, tensors, arrays or lists of
    positions, which broadcast together, and masks. Integers and bounds of slices may depend on
    variables. Positions in a tensor are checked when the result is computed. A mask is computed at
    once, because the shape depends on it.

    >>> x = Tensor([[1, 2, 3], [4, 5, 6]])
    >>> x[:, ::-2].tolist()
    [[3, 1], [6, 4]]
    >>> x[Tensor([0, -1]), [2, 0]].tolist(), x[x > 3].tolist()
    ([3, 4], [4, 5, 6])

    Raises `IndexRangeError` for an index that is, or for some value of its variables may be,
    outside of its axis, for too many indices, and for a mask that does not fit its axes.
    """
    entries = index if isinstance(index, tuple) else (index,)
    if any(map(is_advanced, entries)):
        entries = known_positions(entries)
        if any(map(is_advanced, entries)):
            return read(self, entries)
    with graph_lock:
        node = self.node
        return views.show(self, to_view(node.shape, entries))


def set_item(self: Tensor, index: Any, value: Any) -> None:
    """Replace a part of the tensor: `x[index] = value`, where `value` is broadcast and cast.

    Tensors that show the same memory show the new values. Tensors that were computed from this one
    before keep their values. If a position is given twice, the last value counts. A mask with one
    value for all elements is not computed at once.

    >>> x = Tensor([1, 2, 3, 4])
    >>> x[::2] = 0
    >>> x[[1, -1]] = Tensor([7, 8])
    >>> x[x == 0] = -1
    >>> x.tolist()
    [-1, 7, -1, 8]
    """
    operand = to_operand(value, "assignment")
    if isinstance(operand, Core):
        operand = operand.to(memory_device(self))
    entries = index if isinstance(index, tuple) else (index,)
    if any(map(is_advanced, entries)):
        entries = known_positions(entries)
        if any(map(is_advanced, entries)):
            write(self, entries, operand)
            return
    with graph_lock:
        view = to_view(self.node.shape, entries)
        part = assignment.fit(operand, self.node.dtype, view.shape)
        views.write(self, view, part, given=operand if isinstance(operand, Core) else None)
    settle()


def length(self: Tensor) -> int:
    """`len(x)`: the length of the first axis. Raises `ArgumentTypeError` for a scalar."""
    shape = self.node.shape
    if not shape:
        raise ArgumentTypeError("a scalar tensor has no len()")
    return evaluate(shape[0])


def iterate(self: Tensor) -> Any:
    """`iter(x)`: the entries along the first axis. Raises `ArgumentTypeError` for a scalar."""
    if not self.node.shape:
        raise ArgumentTypeError("a scalar tensor cannot be iterated over")
    if lengths.is_symbolic(self.node.shape[0]):
        raise ShapeError(
            f"a tensor of shape {build.show(self.node.shape)} cannot be iterated over: how "
            "many entries it has depends on variables"
        )
    if len(self.node.shape) == 1 and not is_shown_memory(self.node) and may_be_computed(self):
        self.realize()  # the values of the single elements will be asked for
    return (self[position] for position in range(len(self)))

