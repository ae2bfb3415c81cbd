"""Tensors split into parts, which are views. The number of parts must not be symbolic."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ogive.compat.methods.keywords import also
from ogive.compiler.ir.shape import Dim
from ogive.errors import ArgumentError, ArgumentTypeError, ShapeError
from ogive.tensor import build
from ogive.tensor.core import Core, to_axis, to_dim, to_integer
from ogive.tensor.lengths import is_symbolic

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

Parts = tuple["Tensor", ...]


@also(split_size_or_sections="split_size")
def split(self: Tensor, split_size: Any, dim: int = 0) -> Parts:
    """Parts of `split_size` along `dim`, the last perhaps shorter; or of the sizes given.

    Shapes: (a, b) → (s₀, b), (s₁, b), ... for `dim` 0.

    >>> [part.tolist() for part in Tensor([1, 2, 3, 4, 5]).split(2)]
    [[1, 2], [3, 4], [5]]
    >>> [part.tolist() for part in Tensor([1, 2, 3]).split([1, 2])]
    [[1], [2, 3]]

    Raises `ShapeError` when the sizes do not add up to the length.
    """
    axis, length = _axis_of(self, dim, "split")
    if isinstance(split_size, tuple | list):
        sizes = [to_dim(size, "split: a size") for size in split_size]
        if sum(sizes) != length or any(size < 0 for size in sizes):
            raise ShapeError(
                f"split: the sizes {sizes} do not add up to the {length} elements of axis "
                f"{axis} of shape {build.show(self.shape)}"
            )
        return _cut(self, axis, sizes)
    size = to_integer(split_size, "split: the size")
    if size < 0 or (size == 0 and length != 0):
        raise ArgumentError(f"split: the size is {size}; it must be positive")
    count = max(-(-length // size), 1) if size else 1
    return _cut(self, axis, [min(size, length - i * size) for i in range(count)])


def chunk(self: Tensor, chunks: int, dim: int = 0) -> Parts:
    """At most `chunks` parts along `dim`, all but the last of equal length.

    Shapes: (a, b) → (⌈a / chunks⌉, b), ... for `dim` 0.

    >>> [part.tolist() for part in Tensor([1, 2, 3, 4, 5]).chunk(3)]
    [[1, 2], [3, 4], [5]]

    Raises `ArgumentError` unless `chunks` is positive.
    """
    number = to_integer(chunks, "chunk: chunks")
    if number < 1:
        raise ArgumentError(f"chunk: {number} parts; there must be at least one")
    axis, length = _axis_of(self, dim, "chunk")
    if length == 0:
        return _cut(self, axis, [0] * number)
    return self.split(-(-length // number), axis)


def tensor_split(self: Tensor, indices_or_sections: Any, dim: int = 0) -> Parts:
    """A number of parts along `dim` whose lengths differ by at most 1; or cuts at positions.

    Shapes: (a, b) → (i₀, b), (i₁ - i₀, b), ..., (a - iₙ, b) for `dim` 0.

    >>> [part.tolist() for part in Tensor([1, 2, 3, 4]).tensor_split(3)]
    [[1, 2], [3], [4]]
    >>> [part.tolist() for part in Tensor([1, 2, 3, 4]).tensor_split([1, 3])]
    [[1], [2, 3], [4]]

    A tensor of positions is computed at once. Raises `ArgumentError` unless there is at least
    one part.
    """
    axis, length = _axis_of(self, dim, "tensor_split")
    if hasattr(indices_or_sections, "tolist"):
        indices_or_sections = indices_or_sections.tolist()
    if isinstance(indices_or_sections, tuple | list):
        bounds = [0, *[to_integer(i, "tensor_split: a position") for i in indices_or_sections]]
        places = [range(length)[slice(a, b)] for a, b in itertools.pairwise(bounds)]
        places.append(range(length)[bounds[-1] :])
        return tuple([self.narrow(axis, p.start, len(p)) for p in places])
    number = to_integer(indices_or_sections, "tensor_split: sections")
    if number < 1:
        raise ArgumentError(f"tensor_split: {number} parts; there must be at least one")
    least, longer = divmod(length, number)
    return _cut(self, axis, [least + (i < longer) for i in range(number)])


def hsplit(self: Tensor, indices_or_sections: Any) -> Parts:
    """`tensor_split` along the columns (of a vector, its elements), in equal parts.

    Shapes: (a, b) → (a, b / n), ...

    >>> [part.tolist() for part in Tensor([[1, 2], [3, 4]]).hsplit(2)]
    [[[1], [3]], [[2], [4]]]

    Raises `ShapeError` when there are no equal parts.
    """
    return _split_evenly(self, indices_or_sections, 0 if self.ndim == 1 else 1, 1, "hsplit")


def vsplit(self: Tensor, indices_or_sections: Any) -> Parts:
    """`tensor_split` along the rows, in equal parts. Shapes: (a, b) → (a / n, b), ...

    >>> [part.tolist() for part in Tensor([[1, 2], [3, 4]]).vsplit(2)]
    [[[1, 2]], [[3, 4]]]

    Raises `ShapeError` when there are no equal parts.
    """
    return _split_evenly(self, indices_or_sections, 0, 2, "vsplit")


def dsplit(self: Tensor, indices_or_sections: Any) -> Parts:
    """`tensor_split` along the third axis, in equal parts. Shapes: (a, b, c) → (a, b, c / n).

    >>> [part.shape for part in ogive.zeros(2, 3, 4).dsplit(2)]
    [(2, 3, 2), (2, 3, 2)]

    Raises `ShapeError` when there are no equal parts.
    """
    return _split_evenly(self, indices_or_sections, 2, 3, "dsplit")


@also(axis="dim")
def unbind(self: Tensor, dim: int = 0) -> Parts:
    """The slices along `dim`, without that axis. Shapes: (a, b) → a times (b,).

    >>> [row.tolist() for row in Tensor([[1, 2], [3, 4]]).unbind()]
    [[1, 2], [3, 4]]
    """
    axis, length = _axis_of(self, dim, "unbind")
    return tuple([self.select(axis, index) for index in range(length)])


def _axis_of(x: Core, dim: Any, name: str) -> tuple[int, Any]:
    """The axis to cut and its length, which must be known."""
    axis = to_axis(dim, x.ndim, name)
    length = x.shape[axis]
    if is_symbolic(length):
        raise ShapeError(
            f"{name}: axis {axis} of shape {build.show(x.shape)} depends on a variable, and so "
            "would how many parts there are"
        )
    return axis, length


def _cut(x: Tensor, axis: int, sizes: Sequence[Dim]) -> Parts:
    parts = []
    start: Dim = 0
    for size in sizes:
        parts.append(x.narrow(axis, start, size))
        start = start + size
    return tuple(parts)


def _split_evenly(x: Tensor, where: Any, axis: int, least_rank: int, name: str) -> Parts:
    if isinstance(where, Core):
        raise ArgumentTypeError(f"{name} takes an integer or a list of them, not a tensor")
    if x.ndim < least_rank:
        raise ShapeError(f"{name}: shape {build.show(x.shape)} has fewer than {least_rank} axes")
    if not isinstance(where, tuple | list) and (where < 1 or x.shape[axis] % where):
        raise ShapeError(
            f"{name}: axis {axis} of shape {build.show(x.shape)} has no {where} equal parts"
        )
    return x.tensor_split(where, axis)
