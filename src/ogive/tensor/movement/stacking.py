"""Functions that join several tensors or make grids of them."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ogive.compiler.ir.dtype import result_type
from ogive.compiler.ir.shape import Shape
from ogive.compiler.ir.symbolic.evaluate import evaluate
from ogive.errors import ArgumentError, ShapeError, needing_memory
from ogive.tensor import build
from ogive.tensor.core import Core, same_device, to_integer, to_shape
from ogive.tensor.movement.joining import cat, to_tensors

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def atleast_1d(*tensors: Any) -> Any:
    """A tensor with at least one axis; of several tensors, a tuple of them.

    Shapes: () → (1,).

    >>> atleast_1d(Tensor(5)).shape
    (1,)
    """
    return _each(tensors, _one_axis, "atleast_1d")


def atleast_2d(*tensors: Any) -> Any:
    """A tensor with at least two axes, new ones in front; of several tensors, a tuple of them.

    Shapes: () → (1, 1); (a,) → (1, a).

    >>> atleast_2d(Tensor([1, 2])).shape
    (1, 2)
    """
    return _each(tensors, _two_axes, "atleast_2d")


def atleast_3d(*tensors: Any) -> Any:
    """A tensor with at least three axes; of several tensors, a tuple of them.

    Shapes: () → (1, 1, 1); (a,) → (1, a, 1); (a, b) → (a, b, 1).

    >>> atleast_3d(Tensor([1, 2])).shape
    (1, 2, 1)
    """
    return _each(tensors, _three_axes, "atleast_3d")


def hstack(tensors: Sequence[Core]) -> Tensor:
    """Joined side by side: along the columns, or end to end for vectors.

    Shapes: (a, b), (a, c) → (a, b + c).

    >>> hstack([Tensor([[1], [2]]), Tensor([[3], [4]])]).tolist()
    [[1, 3], [2, 4]]
    """
    parts = [_one_axis(part) for part in to_tensors(tensors, "hstack")]
    return cat(parts, 0 if parts[0].ndim == 1 else 1)


def vstack(tensors: Sequence[Core]) -> Tensor:
    """Joined one below the other, along the rows; a vector is a row.

    Shapes: (a, c), (b, c) → (a + b, c).

    >>> vstack([Tensor([1, 2]), Tensor([3, 4])]).tolist()
    [[1, 2], [3, 4]]
    """
    return cat([_two_axes(part) for part in to_tensors(tensors, "vstack")], 0)


row_stack = vstack


def dstack(tensors: Sequence[Core]) -> Tensor:
    """Joined one behind the other, along the third axis.

    Shapes: (a, b, c), (a, b, d) → (a, b, c + d).

    >>> dstack([Tensor([1, 2]), Tensor([3, 4])]).tolist()
    [[[1, 3], [2, 4]]]
    """
    return cat([_three_axes(part) for part in to_tensors(tensors, "dstack")], 2)


def column_stack(tensors: Sequence[Core]) -> Tensor:
    """Joined side by side, a vector being a column.

    Shapes: (a,), (a, b) → (a, 1 + b).

    >>> column_stack([Tensor([1, 2]), Tensor([3, 4])]).tolist()
    [[1, 3], [2, 4]]
    """
    parts = to_tensors(tensors, "column_stack")
    return cat([part.reshape(-1, 1) if part.ndim < 2 else part for part in parts], 1)


def broadcast_shapes(*shapes: Any) -> Shape:
    """The shape that shapes broadcast to, aligned at the last axis; a number is a shape (n,).

    >>> broadcast_shapes((2, 1), 3)
    (2, 3)

    Raises `ShapeError` when they do not meet.
    """
    result: Shape = ()
    for shape in shapes:
        result = build.broadcast_shapes(
            result, to_shape((shape,), "broadcast_shapes"), "broadcast_shapes"
        )
    return result


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """All tensors expanded to the shape that they broadcast to.

    Shapes: (a, 1), (b,) → (a, b) each.

    >>> [x.shape for x in broadcast_tensors(Tensor([[1], [2]]), Tensor([1, 2, 3]))]
    [(2, 3), (2, 3)]

    Raises `ShapeError` when they do not meet.
    """
    parts = to_tensors(_spread(tensors), "broadcast_tensors")
    shape = parts[0].shape
    for part in parts[1:]:
        shape = build.broadcast_shapes(shape, part.shape, "broadcast_tensors")
    return tuple([part.expand(shape) for part in parts])


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """The coordinates of a grid: each vector repeated along the axes of the others.

    Shapes: (a,), (b,) → (b, a) each for `indexing` "xy", as in images; (a, b) for "ij". The default
    is "xy", that of the array API standard, with a warning, since PyTorch's is "ij". For vectors in
    a list, which only PyTorch allows, the default is "ij".

    >>> rows, columns = meshgrid(Tensor([1, 2]), Tensor([3, 4, 5]), indexing="ij")
    >>> rows.tolist()
    [[1, 1, 1], [2, 2, 2]]

    Raises `ShapeError` for more than one axis, `ArgumentError` for another indexing.
    """
    parts = to_tensors(_spread(tensors), "meshgrid")
    if indexing is None:
        indexing = _guess_indexing(tensors, len(parts))
    if indexing not in ("ij", "xy"):
        raise ArgumentError(f"meshgrid: indexing is 'ij' or 'xy', got {indexing!r}")
    for number, part in enumerate(parts):
        if part.ndim > 1:
            raise ShapeError(
                f"meshgrid: tensor {number} has the shape {build.show(part.shape)}; it must be a "
                "vector or a scalar"
            )
    if indexing == "xy" and len(parts) > 1:
        second, first, *rest = meshgrid(parts[1], parts[0], *parts[2:], indexing="ij")
        return (first, second, *rest)
    lines = []
    for axis, part in enumerate(parts):
        line = [1] * len(parts)
        line[axis] = part.numel()
        lines.append(part.reshape(line))
    return broadcast_tensors(*lines)


def _guess_indexing(tensors: tuple[Any, ...], number: int) -> str:
    if len(tensors) == 1:
        return "ij"
    if number > 1:
        warnings.warn(
            "meshgrid without indexing is 'xy', as in NumPy and the array API standard, and 'ij' "
            "in PyTorch; say which",
            stacklevel=3,
        )
    return "xy"


def cartesian_prod(*tensors: Any) -> Tensor:
    """All combinations of an element of each vector, the last changing fastest.

    Shapes: (a,), (b,) → (a·b, 2); one vector stays as it is.

    >>> cartesian_prod(Tensor([1, 2]), Tensor([3, 4])).tolist()
    [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    grids = meshgrid(*tensors, indexing="ij")
    if len(grids) == 1:
        return grids[0]
    return cat([grid.unsqueeze(-1) for grid in grids], -1).reshape(-1, len(grids))


def combinations(x: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of `r` elements of a vector, in its order, with or without replacement.

    Shapes: (n,) → (choices, r).

    >>> combinations(Tensor([1, 2, 3])).tolist()
    [[1, 2], [1, 3], [2, 3]]

    Raises `ShapeError` unless `x` is a vector.
    """
    if x.ndim != 1:
        raise ShapeError(f"combinations: the shape is {build.show(x.shape)}; expected a vector")
    if r == 0:
        return x[:0]
    size, taken = evaluate(x.shape[0]), to_integer(r, "combinations: r")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = math.comb(size + taken - 1 if with_replacement and size else size, taken)
    build.check_size((rows, taken))
    with needing_memory("combinations"):
        entries = itertools.chain.from_iterable(choose(range(size), taken))
        chosen = numpy.fromiter(entries, numpy.int64, rows * taken)
    return x[chosen.reshape(rows, taken)]


def block_diag(*tensors: Any) -> Tensor:
    """Matrices one after another along the diagonal, with 0 around them.

    Shapes: (a, b), (c, d) → (a + c, b + d); a vector is a row.

    >>> block_diag(Tensor([[1, 2]]), Tensor([[3]])).tolist()
    [[1, 2, 0], [0, 0, 3]]

    Raises `ShapeError` for more than two axes.
    """
    parts = [_two_axes(part) for part in to_tensors(list(tensors), "block_diag")]
    same_device(parts, "block_diag")
    for number, part in enumerate(parts):
        if part.ndim > 2:
            raise ShapeError(
                f"block_diag: tensor {number} has the shape {build.show(part.shape)}; it must have "
                "at most 2 axes"
            )
    dtype = result_type([(part.dtype, part.ndim) for part in parts])
    width = sum([part.shape[1] for part in parts])
    bands = []
    before = 0
    for part in parts:
        after = width - before - part.shape[1]
        bands.append(part.cast(dtype).pad((before, after)))
        before = before + part.shape[1]
    return cat(bands, 0)


def _spread(tensors: tuple[Any, ...]) -> list[Any]:
    """The tensors of an argument list, or of its only argument if that is a list."""
    if len(tensors) == 1 and isinstance(tensors[0], tuple | list):
        return list(tensors[0])
    return list(tensors)


def _each(tensors: tuple[Any, ...], function: Callable[[Tensor], Tensor], name: str) -> Any:
    parts = [function(part) for part in to_tensors(_spread(tensors), name)]
    alone = len(tensors) == 1 and isinstance(tensors[0], Core)
    return parts[0] if alone else tuple(parts)


def _one_axis(x: Tensor) -> Tensor:
    return x if x.ndim else x.reshape(1)


def _two_axes(x: Tensor) -> Tensor:
    return x if x.ndim > 1 else x.reshape(1, x.numel())


def _three_axes(x: Tensor) -> Tensor:
    return x if x.ndim > 2 else _two_axes(x).unsqueeze(-1)
