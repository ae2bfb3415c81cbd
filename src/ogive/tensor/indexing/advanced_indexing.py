"""Indexing with tensors, arrays, lists and masks, mixed with integers and slices.

An index becomes a view and, for some axes of the view, positions:

    x[1:, [2, 0]]   →   GATHER(x[1:], (position along axis 0, [2, 0] beside it))

As in PyTorch, positions broadcast together. Their axes take the place of the first indexed axis if
the indexed axes are adjacent, else they come first. An integer, also a scalar tensor, removes its
axis. A mask stands for the positions where it holds, one list per axis of the mask. Their number is
in the shape of the result, so a mask that is a tensor is computed at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import Scalar
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Dim, Shape
from ogive.compiler.ir.symbolic.evaluate import evaluate
from ogive.compiler.live.registry import graph_lock, is_shown_memory, make
from ogive.errors import (
    ArgumentTypeError,
    DtypeError,
    IndexRangeError,
    ShapeError,
    needing_memory,
)
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
"""The int64 positions to take along each indexed axis."""


class Taken(NamedTuple):
    """One entry of an index that takes positions from the axes that begin at `axis`."""

    axis: int
    what: Core | Array  # positions along one axis, or a mask over several

    @property
    def is_mask(self) -> bool:
        return _is_bool(self.what)


def is_advanced(entry: Any) -> bool:
    """Whether an entry of an index is not an integer, a slice, None or Ellipsis."""
    return isinstance(entry, Core | list | tuple | range | numpy.ndarray | bool | numpy.bool_)


def parse(shape: Shape, index: tuple[Any, ...]) -> tuple[View, list[Taken]]:
    """Split an index: the view of its integers and slices, and the entries with positions."""
    entries = [_to_array(entry) if is_advanced(entry) else entry for entry in index]
    basic: list[Any] = []
    taken: list[Taken] = []
    consumed = sum([_consumed(entry) for entry in entries])
    axis = 0
    for entry in entries:
        if not isinstance(entry, Core | numpy.ndarray):
            basic.append(entry)
            if entry is Ellipsis:
                axis += len(shape) - consumed
            elif entry is None or isinstance(entry, slice):
                axis += 1
        elif not entry.ndim and _is_bool(entry):
            # A scalar bool takes all or nothing of a new axis.
            basic.append(None)
            taken.append(Taken(axis, numpy.zeros(int(bool(entry)), numpy.int64)))
            axis += 1
        else:
            count = _consumed(entry)
            basic.extend([WHOLE] * count)
            taken.append(Taken(axis, entry))
            axis += count
    view = to_view(shape, tuple(basic))
    for entry in taken:
        if entry.is_mask:
            _check_mask(entry, view.shape)
    return view, taken


def _to_array(entry: Any) -> Core | Array | int:
    """Positions or a mask as a tensor or an array; a single position as an integer."""
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


def _is_bool(what: Core | Array) -> bool:
    return what.dtype.is_bool if isinstance(what, Core) else what.dtype.kind == "b"


def _consumed(entry: Any) -> int:
    """The number of axes that an entry of an index consumes."""
    if entry is None or entry is Ellipsis:
        return 0
    if isinstance(entry, Core | numpy.ndarray) and _is_bool(entry):
        return entry.ndim
    return 1


def _check_mask(taken: Taken, shape: Shape) -> None:
    mask = tuple(taken.what.shape)
    covered = shape[taken.axis : taken.axis + len(mask)]
    if mask != covered:
        raise IndexRangeError(
            f"the mask of shape {build.show(mask)} does not fit the axes it selects from, which "
            f"have the shape {build.show(covered)}"
        )


# Positions


def join_masked(taken: Sequence[Taken], shape: Shape) -> tuple[list[Taken], Shape]:
    """Join the axes of each mask, in the entries and in the shape that they index: one list of
    positions is faster to find and read than one for each axis.

        before   a mask of (3, 4) from axis 1 of (2, 3, 4, 5)
        after    a mask of (12,)  from axis 1 of (2, 12, 5)
    """
    joined: list[Taken] = []
    lost = 0
    for entry in taken:
        axis, what = entry.axis - lost, entry.what
        if entry.is_mask and not any(map(lengths.is_symbolic, what.shape)):
            shape = (*shape[:axis], math.prod(what.shape), *shape[axis + what.ndim :])
            lost += what.ndim - 1
            what = numpy.asarray(what).reshape(-1)
        joined.append(Taken(axis, what))
    return joined, shape


def to_positions(taken: Sequence[Taken], shape: Shape, device: str) -> Positions:
    """The positions along each indexed axis, counted from the front.

    Arrays become tensors on `device`.
    """
    positions: Positions = {}
    for axis, what in taken:
        if _is_bool(what):
            with needing_memory("a mask"):
                where = numpy.asarray(what).nonzero()
            lines = [to_tensor(line, device) for line in where]
            positions.update({axis + number: line for number, line in enumerate(lines)})
        elif isinstance(what, Core):
            positions[axis] = from_front(what, shape[axis])
        else:
            positions[axis] = to_tensor(_within(what, shape[axis], axis), device)
    return positions


def from_front(positions: Core, length: Dim) -> Tensor:
    """Positions as int64, with negative ones counted from the front."""
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
    """`from_front` for an array, whose positions are checked immediately."""
    if lengths.is_symbolic(length):
        length = evaluate(length)
    outside = (positions < -length) | (positions >= length)
    if outside.any():
        raise IndexRangeError(
            f"index {positions[outside].flat[0]} is out of range for axis {axis} of length {length}"
        )
    return numpy.where(positions < 0, positions + length, positions)


def place(shape: Shape, positions: Positions) -> tuple[Shape, list[UOp]]:
    """The shape of the elements taken from `shape`, and for each axis of `shape` the index node."""
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
            spread = (*node.shape, *[1] * len(after)) if node.shape else ()
            indices.append(build.expand_to(build.reshape(node, spread), result))
        else:
            number = kept.index(axis)
            own = number if number < front else number + len(wide)
            indices.append(build.count_along(own, result))
    return result, indices


def _are_adjacent(lists: list[int], kept: list[int]) -> bool:
    """Whether no kept axis lies between the indexed axes."""
    return bool(lists) and not any(lists[0] < axis < lists[-1] for axis in kept)


# Reading and writing


def read(x: Core, index: tuple[Any, ...]) -> Tensor:
    """`x[index]`."""
    view, taken = parse(x.shape, index)
    taken, shape = join_masked(taken, view.shape)
    positions = to_positions(taken, shape, x.device)
    device = same_device([x, *positions.values()], "indexing")
    with graph_lock:
        node = build.reshape(view.forward(x.node), shape)
        _, indices = place(node.shape, positions)
        return wrap(build.gather(node, indices), device)


def write(x: Core, index: tuple[Any, ...], operand: Core | Scalar, op: Op | None = None) -> None:
    """`x[index] = operand`; with `op`, the operand is combined with the elements there."""
    view, taken = parse(x.shape, index)
    if op is None and len(taken) == 1 and taken[0].is_mask:
        entry = taken[0].what
        mask = to_tensor(entry, None if isinstance(entry, Core) else x.device)
        if _is_same_throughout(operand, taken[0], len(view.shape)):
            same_device([x, mask], "indexing")
            with graph_lock:
                part = view.forward(x.node)
                views.write(x, view, _choose(mask.node, operand, taken[0].axis, part))
            settle()
            return
    positions = to_positions(taken, view.shape, x.device)
    same_device([x, *positions.values()], "indexing")
    with graph_lock:
        part = view.forward(x.node)
        views.write(x, view, put(part, positions, operand, op))
    settle()


def put(part: UOp, positions: Positions, operand: Core | Scalar, op: Op | None) -> UOp:
    """`part` with a value, which broadcasts, at the positions."""
    shape, indices = place(part.shape, positions)
    return build.scatter(part, assignment.fit(operand, part.dtype, shape), indices, op)


def _is_same_throughout(value: Core | Scalar, mask: Taken, rank: int) -> bool:
    """Whether a value is the same for all elements that a mask selects, whatever their number."""
    if not isinstance(value, Core):
        return True
    after = rank - mask.axis - mask.what.ndim
    return value.ndim <= after or value.shape[value.ndim - after - 1] == 1


def _choose(mask: UOp, value: Core | Scalar, axis: int, part: UOp) -> UOp:
    """WHERE(mask, value, part), with the axis of selected elements replaced by the mask's axes."""
    rank, covered = len(part.shape), len(mask.shape)
    after = rank - axis - covered
    if isinstance(value, Core) and value.ndim > after:
        own = value.node.shape
        cut = value.ndim - after - 1
        spread = (*own[:cut], *[1] * covered, *own[cut + 1 :])
        value = wrap(build.reshape(value.node, spread), value.device)
    new = assignment.fit(value, part.dtype, part.shape)
    shown = build.expand_to(build.reshape(mask, (*mask.shape, *[1] * after)), part.shape)
    return make(Op.WHERE, part.dtype, (shown, new, part))


def listed_entries(index: Any) -> Any:
    """PyTorch's reading of an index: a list of lists, tensors or slices has an entry per axis.

        x[[[0, 1], [1, 2]]]   →   x[[0, 1], [1, 2]]
        x[[0, 1]]             →   x[[0, 1]]
    """
    if index.__class__ is list and len(index) < 32:
        kinds = (Core, list, tuple, slice, numpy.ndarray, str, range)
        if any(each is None or each is Ellipsis or isinstance(each, kinds) for each in index):
            return tuple(index)
    return index


def get_item(self: Tensor, index: Any) -> Tensor:
    """A part of the tensor: by integers, slices, None (a new axis), Ellipsis; by tensors,
    arrays or lists of positions, which broadcast together; and by masks.

    Integers and bounds of slices may depend on variables. The positions in a tensor are checked
    when the result is computed. A mask is computed at once, since the shape depends on it.

    >>> x = Tensor([[1, 2, 3], [4, 5, 6]])
    >>> x[:, ::-2].tolist()
    [[3, 1], [6, 4]]
    >>> x[Tensor([0, -1]), [2, 0]].tolist(), x[x > 3].tolist()
    ([3, 4], [4, 5, 6])

    Raises `IndexRangeError` for an index that is outside its axis or, for some value of its
    variables, may be, for too many of them, and for a mask that does not fit its axes.
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
    """Replace a part of the tensor; `value` broadcasts to it and takes on the dtype.

    Views of the same memory see the new values; results computed from this tensor before keep
    the old ones. If a position is given twice, the last value stays. A mask is not computed at
    once if one value is assigned to all its elements.

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
        self.realize()  # a loop over single elements most likely needs their values
    return (self[position] for position in range(len(self)))

