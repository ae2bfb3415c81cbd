"""Reads and writes at positions that a tensor holds, along one axis or in the flat tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError, nearest
from ogive.tensor import build
from ogive.tensor.core import Core, same_device, to_axis, to_operand, wrap
from ogive.tensor.elementwise.binary_operations import addable_dtype, number_dtype, refuse, to_node
from ogive.tensor.indexing import advanced_indexing
from ogive.tensor.lengths import at_most
from ogive.tensor.memory import assignment
from ogive.tensor.movement.joining import where

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

_WAYS = {"sum": Op.ADD, "mean": Op.ADD, "prod": Op.MUL, "amax": Op.MAXIMUM, "amin": Op.MINIMUM}
_NEUTRAL = {"sum": 0, "mean": 0, "prod": 1}


def gather(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """The elements of this tensor whose positions along `dim` are those in `index`, and along
    other axes those of the result: yᵢⱼ = x[indexᵢⱼ, j] for `dim` 0.

    Shapes: (a, b) with an index of shape (c, d) → (c, d), where d ≤ b for `dim` 0.

    >>> Tensor([[1, 2], [3, 4]]).gather(1, Tensor([[0, 0], [1, 0]])).tolist()
    [[1, 1], [4, 3]]

    Raises `ShapeError` for an index that is larger than the tensor along another axis,
    `DtypeError` for one that is not of integers; `IndexRangeError` when computed, also for
    negative positions.
    """
    device = same_device([self, to_index(index, "gather")], "gather")
    with graph_lock:
        indices = _along(self, index, dim, "gather")
        node = build.gather(_with_axis(self.node), indices)
        return wrap(build.reshape(node, index.node.shape), device)


def take_along_dim(self: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """`gather` of tensors that broadcast along the other axes; of the flat ones without `dim`.

    Shapes: (a, b) with (a, c) → (a, c) for `dim` 1. Negative indices count from the back.

    >>> x = Tensor([[3, 1, 2]])
    >>> x.take_along_dim(x.argsort(1), 1).tolist()
    [[1, 2, 3]]

    Raises `ShapeError` unless both have as many axes and broadcast; else as `gather`.
    """
    to_index(indices, "take_along_dim")
    if dim is None:
        return self.ravel().gather(0, indices.ravel())
    if self.ndim != indices.ndim:
        raise ShapeError(
            f"take_along_dim: indices of shape {build.show(indices.shape)} for the shape "
            f"{build.show(self.shape)}; they must have as many axes"
        )
    axis = to_axis(dim, self.ndim, "take_along_dim")
    ones = [tuple([1 if i == axis else n for i, n in enumerate(t.shape)]) for t in (self, indices)]
    common = build.broadcast_shapes(ones[0], ones[1], "take_along_dim")
    sizes = [(*common[:axis], t.shape[axis], *common[axis + 1 :]) for t in (self, indices)]
    positions = where(indices.lt(0), indices + self.shape[axis], indices)
    return self.expand(sizes[0]).gather(axis, positions.expand(sizes[1]))


def take(self: Tensor, index: Tensor) -> Tensor:
    """The elements at positions of the flat tensor; negative ones count from the back.

    Shapes: that of `index`.

    >>> Tensor([[1, 2], [3, 4]]).take(Tensor([3, -4])).tolist()
    [4, 1]

    Raises `DtypeError` for an index that is not of integers; `IndexRangeError` when computed.
    """
    device = same_device([self, to_index(index, "take")], "take")
    flat = self.ravel()
    place = advanced_indexing.from_front(index, flat.shape[0])
    with graph_lock:
        return wrap(build.gather(flat.node, [place.node]), device)


def index_select(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """The parts at some positions along `dim`. Shapes: (a, b), (n,) → (n, b) for `dim` 0.

    >>> Tensor([[1, 2], [3, 4], [5, 6]]).index_select(0, Tensor([2, 0])).tolist()
    [[5, 6], [1, 2]]

    Raises `ShapeError` unless the index has one axis; `IndexRangeError` when computed.
    """
    device = same_device([self, to_index(index, "index_select")], "index_select")
    with graph_lock:
        shape, indices = _lines(self, dim, index, "index_select")
        node = build.gather(_with_axis(self.node), indices)
        return wrap(build.reshape(node, shape if self.ndim else ()), device)


def scatter(
    self: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: Any = None
) -> Tensor:
    """This tensor with the elements of `src`, or one `value`, at positions along `dim`:
    y[indexᵢⱼ, j] = srcᵢⱼ for `dim` 0. `reduce` is "add" or "multiply" to combine them.

    Shapes: as this tensor; `index` is no larger than `src` and, along other axes than `dim`,
    than the tensor. Where a position comes twice, the last element stays.

    >>> ogive.zeros(2, 3).scatter(1, Tensor([[2], [0]]), 5.0).tolist()
    [[0.0, 0.0, 5.0], [5.0, 0.0, 0.0]]

    Raises `ShapeError`, `DtypeError` for a `src` of another dtype or an index that is not of
    integers, `ArgumentError` for another `reduce`; `IndexRangeError` when computed.
    """
    ways = {None: None, "add": Op.ADD, "multiply": Op.MUL}
    if reduce not in ways:
        raise ArgumentError(f"scatter: reduce is 'add' or 'multiply', got {reduce!r}")
    source = value if src is None else src
    if source is None:
        raise ArgumentTypeError("scatter takes a tensor src, or a value, and got neither")
    if self.dtype.is_bool and reduce is not None:
        values = src if src is not None else index.eq(index) & bool(source)
        return scatter_reduce(self, dim, index, values, {"add": "sum", "multiply": "prod"}[reduce])
    return _scatter(self, dim, index, source, ways[reduce], "scatter")


def scatter_add(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """`scatter` that adds to the elements there. Shapes: as `scatter`.

    >>> ogive.zeros(3).scatter_add(0, Tensor([0, 2, 0]), ogive.ones(3)).tolist()
    [2.0, 0.0, 1.0]
    """
    if self.dtype.is_bool:
        return scatter_reduce(self, dim, index, src, "sum")
    return _scatter(self, dim, index, src, Op.ADD, "scatter_add")


def scatter_reduce(
    self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """`scatter` that reduces the elements of one place: "sum", "prod", "mean", "amax", "amin".

    Shapes: as `scatter`. `include_self` says whether the elements of this tensor count too.

    >>> x, index = Tensor([9.0, 8.0]), Tensor([0, 0])
    >>> x.scatter_reduce(0, index, Tensor([1.0, 2.0]), "mean", include_self=False).tolist()
    [1.5, 8.0]

    Raises `ArgumentError` for another `reduce`; else as `scatter`.
    """
    value = _source(self, src, "scatter_reduce")
    if self.dtype.is_bool:
        return _of_bytes(scatter_reduce, self, dim, index, src, reduce, include_self)
    device = same_device([self, to_index(index, "scatter_reduce"), src], "scatter_reduce")
    with graph_lock:
        indices = _along(self, index, dim, "scatter_reduce")
        cut = _cut(_with_axis(value), index, "scatter_reduce")
    return _combined(self, cut, indices, reduce, include_self, device, "scatter_reduce")


def index_add(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """alpha · `source` added to the parts at some positions along `dim`.

    Shapes: (a, b), (n,), (n, b) → (a, b) for `dim` 0.

    >>> ogive.zeros(3).index_add(0, Tensor([1, 1]), Tensor([2.0, 3.0])).tolist()
    [0.0, 5.0, 0.0]

    Raises `ShapeError` and `DtypeError` when `source` does not fit; `IndexRangeError` when
    computed.
    """
    if self.dtype.is_bool:
        return _of_bytes(index_reduce, self, dim, index, source & bool(alpha), "sum", True)
    addable_dtype(self.dtype, "index_add")
    scaled = source if alpha == 1 else source * alpha
    return _index_put(
        self, dim, index, lambda shape: _fitted(self, scaled, shape, "index_add"), Op.ADD,
        "index_add",
    )  # fmt: skip


def index_copy(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """`source` in place of the parts at some positions along `dim`. Shapes: as `index_add`.

    >>> ogive.zeros(3).index_copy(0, Tensor([2, 0]), Tensor([2.0, 3.0])).tolist()
    [3.0, 0.0, 2.0]
    """
    return _index_put(
        self, dim, index, lambda shape: _fitted(self, source, shape, "index_copy"), None,
        "index_copy",
    )  # fmt: skip


def index_fill(self: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """One value in place of the parts at some positions along `dim`.

    Shapes: (a, b), (n,) → (a, b).

    >>> Tensor([[1, 2], [3, 4]]).index_fill(1, Tensor([0]), 9).tolist()
    [[9, 2], [9, 4]]

    Negative positions count from the back. Raises `ArgumentTypeError` for a value with axes.
    """
    fill = to_operand(value, "index_fill")
    if isinstance(fill, Core) and fill.ndim:
        raise ArgumentTypeError(
            f"index_fill takes a number or a scalar, not the shape {build.show(fill.shape)}"
        )
    own = self.shape or (1,)
    length = own[to_axis(dim, len(own), "index_fill")]
    return _index_put(
        self, dim, advanced_indexing.from_front(to_index(index, "index_fill"), length),
        lambda shape: assignment.fit(fill, self.dtype, shape), None, "index_fill",
    )  # fmt: skip


def index_reduce(
    self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """`index_add` with another way to combine: "prod", "mean", "amax" or "amin".

    >>> x = Tensor([1.0, 5.0])
    >>> x.index_reduce(0, Tensor([0, 0]), Tensor([2.0, 3.0]), "prod").tolist()
    [6.0, 5.0]
    """
    device = same_device([self, to_index(index, "index_reduce"), source], "index_reduce")
    with graph_lock:
        shape, indices = _lines(self, dim, index, "index_reduce")
        value = _fitted(self, source, shape, "index_reduce")
    return _combined(self, value, indices, reduce, include_self, device, "index_reduce")


def index_put(
    self: Tensor, indices: Sequence[Any], values: Any, accumulate: bool = False
) -> Tensor:
    """This tensor after `x[indices] = values`; with `accumulate` the values are added, also
    several values at one position.

    Shapes: as this tensor; `values` broadcast to what the indices select.

    >>> index = (Tensor([0, 0, 1]),)
    >>> Tensor([0, 0, 7]).index_put(index, Tensor(1), accumulate=True).tolist()
    [2, 1, 7]

    Raises `IndexRangeError` and `ShapeError` as indexing does.
    """
    op = Op.ADD if accumulate else None
    operand = to_operand(values, "index_put")
    if isinstance(operand, Core):
        _source(self, operand, "index_put")
    entries = tuple([slice(None) if entry is None else entry for entry in indices])
    view, taken = advanced_indexing.parse(self.shape, entries)
    positions = advanced_indexing.to_positions(taken, view.shape, self.device)
    with graph_lock:
        part = advanced_indexing.put(view.forward(self.node), positions, operand, op)
        return wrap(build.reshape(part, self.node.shape), self.device)


def put(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """`source` at positions of the flat tensor; with `accumulate` it is added to the elements.

    Shapes: as this tensor; `index` and `source` have as many elements.

    >>> Tensor([[1, 2], [3, 4]]).put(Tensor([-1, 0]), Tensor([8, 9])).tolist()
    [[9, 2], [3, 8]]

    Raises `ShapeError` and `DtypeError` when they do not fit.
    """
    to_index(index, "put")
    if index.numel() != source.numel():
        raise ShapeError(
            f"put: {source.numel()} elements for {index.numel()} positions; must be as many"
        )
    flat = self.ravel().index_put((index.ravel(),), source.ravel(), accumulate)
    return flat.reshape(self.shape)


def to_index(index: Any, name: str) -> Core:
    """Positions: a tensor of integers. Raises `ArgumentTypeError` and `DtypeError`."""
    if not isinstance(index, Core):
        raise ArgumentTypeError(f"{name}: the index must be a tensor, got {index!r}")
    if not index.dtype.is_integer:
        raise DtypeError(f"{name}: the index is of {index.dtype.name}; positions are integers")
    return index


def _with_axis(node: UOp) -> UOp:
    """The node, with an axis of length 1 if it is a scalar."""
    return node if node.shape else build.reshape(node, (1,))


def _along(x: Core, index: Core, dim: Any, name: str) -> list[UOp]:
    """An index for each axis of x: `index` along `dim`, the element's own position elsewhere."""
    shape = x.node.shape or (1,)
    node = _with_axis(build.cast(index.node, dtypes.int64))
    own = node.shape
    axis = to_axis(dim, len(shape), name)
    fits = len(own) == len(shape) and all(
        other == axis or at_most(size, length)
        for other, (size, length) in enumerate(zip(own, shape, strict=True))
    )
    if not fits and 0 not in own:
        raise ShapeError(
            f"{name}: an index of shape {build.show(index.shape)} for the shape "
            f"{build.show(x.shape)}; it must have as many axes, and along others than {axis} be no "
            "longer"
        )
    return [node if other == axis else build.count_along(other, own) for other in range(len(own))]


def _lines(x: Core, dim: Any, index: Core, name: str) -> tuple[Shape, list[UOp]]:
    """The shape of the parts at positions along an axis, and for each axis of x the index."""
    if index.ndim > 1:
        raise ShapeError(
            f"{name}: the index has the shape {build.show(index.shape)}; expected one axis"
        )
    own = x.node.shape or (1,)
    axis = to_axis(dim, len(own), name)
    line = _with_axis(build.cast(index.node, dtypes.int64))
    shape = (*own[:axis], line.shape[0], *own[axis + 1 :])
    spread = build.reshape(line, (*line.shape, *[1] * (len(own) - axis - 1)))
    return shape, [
        build.expand_to(spread, shape) if other == axis else build.count_along(other, shape)
        for other in range(len(own))
    ]


def _source(x: Core, source: Any, name: str) -> UOp:
    """The node of the values written to x, whose dtype must be that of x."""
    if not isinstance(source, Core):
        raise ArgumentTypeError(f"{name}: the source must be a tensor, got {source!r}")
    if source.dtype is not x.dtype:
        raise DtypeError(
            f"{name}: the source is of {source.dtype.name} and the tensor of {x.dtype.name}; they "
            "must be the same, cast one"
        )
    return source.node


def _cut(value: UOp, index: Core, name: str) -> UOp:
    """The part of a source that the shape of the index covers."""
    shape = index.shape or (1,)
    if 0 in shape:
        return build.filled(value.dtype, 0, shape)
    fits = len(value.shape) == len(shape) and all(
        at_most(size, length) for size, length in zip(shape, value.shape, strict=True)
    )
    if not fits:
        raise ShapeError(
            f"{name}: the source has the shape {build.show(value.shape)}, and must have an element "
            f"for each of the index, of shape {build.show(shape)}"
        )
    return build.shrink(value, tuple([(0, size) for size in shape]))


def _scatter(x: Core, dim: int, index: Core, given: Any, op: Op | None, name: str) -> Tensor:
    operand = to_operand(given, name)
    tensors = [x, to_index(index, name)]
    if isinstance(operand, Core):
        _source(x, operand, name)
        tensors.append(operand)
    device = same_device(tensors, name)
    if op is not None:
        (addable_dtype if op is Op.ADD else number_dtype)(x.dtype, name)
    with graph_lock:
        indices = _along(x, index, dim, name)
        value = to_node(operand, x.dtype)
        if isinstance(operand, Core):
            value = _cut(_with_axis(value), index, name)
        node = build.scatter(_with_axis(x.node), value, indices, op)
        return wrap(build.reshape(node, x.node.shape), device)


def _index_put(
    x: Core, dim: int, index: Core, value: Callable[[Shape], UOp], op: Op | None, name: str
) -> Tensor:
    """x with a value, fitted to the shape of the parts, at positions along an axis."""
    device = same_device([x, to_index(index, name)], name)
    with graph_lock:
        shape, indices = _lines(x, dim, index, name)
        node = build.scatter(_with_axis(x.node), value(shape), indices, op)
        return wrap(build.reshape(node, x.node.shape), device)


def _fitted(x: Core, source: Any, shape: Shape, name: str) -> UOp:
    """The node of a source, checked to have the shape of the parts of x."""
    node = _source(x, source, name)
    if x.ndim and node.shape != shape:
        raise ShapeError(
            f"{name}: the source has the shape {build.show(node.shape)}; expected "
            f"{build.show(shape)}"
        )
    return build.reshape(node, shape)


def _of_bytes(
    function: Callable[..., Tensor], x: Tensor, dim: int, index: Tensor, src: Tensor, how: str,
    include_self: bool,
) -> Tensor:  # fmt: skip
    """A reduction of bools, whose sum is "or" and whose product is "and"."""
    ways = {"sum": "amax", "amax": "amax", "prod": "amin", "amin": "amin"}
    if how not in ways:
        raise refuse(dtypes.bool_, how, "cast to an integer or float dtype first")
    whole, parts = x.cast(dtypes.uint8), src.cast(dtypes.uint8)
    done = function(whole, dim, index, parts, ways[how], include_self=include_self)
    return done.cast(dtypes.bool_)


def _combined(
    x: Core, value: UOp, indices: list[UOp], how: Any, include_self: bool, device: str, name: str
) -> Tensor:
    """x combined with values in one of `_WAYS`."""
    if how not in _WAYS:
        raise ArgumentError(
            f"{name}: reduce is one of {', '.join(_WAYS)}, got {how!r}{nearest(str(how), _WAYS)}"
        )
    dtype = number_dtype(x.dtype, name)
    with graph_lock:
        shape = x.node.shape
        node = _with_axis(x.node)
        if not include_self:
            neutral = _NEUTRAL.get(how, dtype.limits[how == "amin"])
            node = build.scatter(node, build.constant(dtype, neutral), indices)
        node = build.scatter(node, value, indices, _WAYS[how])
        combined = wrap(build.reshape(node, shape), device)
        if how != "mean":
            return combined
        ones = build.filled(dtypes.int64, int(include_self), node.shape)
        counts = build.scatter(ones, build.constant(dtypes.int64, 1), indices, Op.ADD)
        number = wrap(build.reshape(counts, shape), device)
    if dtype.is_float:
        return combined / number.maximum(1)
    # The counts wrap around as the sums of narrow integers do, as in PyTorch.
    number = number.cast(dtype)
    return combined // where(number.eq(0), 1, number)
