"""Products of vectors and matrices under the names of PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ogive.compiler.ir.dtype import Scalar, promote
from ogive.compiler.ir.shape import Dim, element_count, greatest
from ogive.errors import ArgumentError, ShapeError
from ogive.tensor import build
from ogive.tensor.autocast_dtypes import lowered, unchanged
from ogive.tensor.core import Core, to_axis
from ogive.tensor.elementwise.pairwise import factor_for
from ogive.tensor.linear_algebra.einsum import einsum, tensordot
from ogive.tensor.movement.joining import to_tensors
from ogive.tensor.outlined import outlined

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


@outlined
@lowered
def mm(self: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices. Shapes: (a, b), (b, c) → (a, c).

    >>> Tensor([[1, 2]]).mm(Tensor([[3], [4]])).tolist()
    [[11]]

    Raises `ShapeError` for other than matrices.
    """
    _check_ranks("mm", (self, 2), (mat2, 2))
    return self.matmul(mat2)


@outlined
@lowered
def bmm(self: Tensor, mat2: Tensor) -> Tensor:
    """The products of matrices, pair by pair. Shapes: (n, a, b), (n, b, c) → (n, a, c).

    >>> ogive.ones(2, 1, 3).bmm(ogive.ones(2, 3, 1)).tolist()
    [[[3.0]], [[3.0]]]

    Raises `ShapeError` for other than as many matrices.
    """
    _check_ranks("bmm", (self, 3), (mat2, 3))
    if self.shape[0] != mat2.shape[0]:
        raise ShapeError(
            f"bmm: shapes {build.show(self.shape)} and {build.show(mat2.shape)} hold a "
            "different number of matrices"
        )
    return self.matmul(mat2)


@outlined
@unchanged
def mv(self: Tensor, vec: Tensor) -> Tensor:
    """A matrix times a vector. Shapes: (a, b), (b,) → (a,).

    >>> Tensor([[1, 2]]).mv(Tensor([3, 4])).tolist()
    [11]

    Raises `ShapeError` for other than a matrix and a vector.
    """
    _check_ranks("mv", (self, 2), (vec, 1))
    return self.matmul(vec)


@outlined
@unchanged
def dot(self: Tensor, tensor: Tensor) -> Tensor:
    """The sum of the products of two vectors. Shapes: (a,), (a,) → ().

    >>> Tensor([1, 2]).dot(Tensor([3, 4])).item()
    11

    Raises `ShapeError` for other than vectors of one length.
    """
    _check_ranks("dot", (self, 1), (tensor, 1))
    return self.matmul(tensor)


def vdot(self: Tensor, other: Tensor) -> Tensor:
    """`dot`, with this tensor conjugated. Shapes: (a,), (a,) → ().

    >>> Tensor([1j, 2.0]).vdot(Tensor([1j, 1.0])).item()
    (3+0j)
    """
    return self.conj().dot(other)


def inner(self: Tensor, other: Tensor) -> Tensor:
    """The sums of products over the last axes. Shapes: (..., a), (---, a) → (..., ---).

    >>> Tensor([[1, 2], [3, 4]]).inner(Tensor([5, 6])).tolist()
    [17, 39]

    Raises `ShapeError` when the last axes differ.
    """
    if self.ndim == 0 or other.ndim == 0:
        return self.mul(other)
    return tensordot(self, other, ([-1], [-1]))


@outlined
def outer(self: Tensor, vec2: Tensor) -> Tensor:
    """All products of the elements of two vectors. Shapes: (a,), (b,) → (a, b).

    >>> Tensor([1, 2]).outer(Tensor([3, 4])).tolist()
    [[3, 4], [6, 8]]

    Raises `ShapeError` for other than vectors.
    """
    _check_ranks("outer", (self, 1), (vec2, 1))
    return self.unsqueeze(1) * vec2


def kron(self: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: every element of this tensor times the whole of `other`.

    Shapes: (a, b), (c, d) → (a·c, b·d).

    >>> Tensor([1, 10]).kron(Tensor([1, 2])).tolist()
    [1, 2, 10, 20]
    """
    rank = max(self.ndim, other.ndim)
    ones = [(1,) * (rank - x.ndim) + x.shape for x in (self, other)]
    mine = [part for size in ones[0] for part in (size, 1)]
    theirs = [part for size in ones[1] for part in (1, size)]
    product = self.reshape(mine) * other.reshape(theirs)
    return product.reshape([element_count(pair) for pair in zip(*ones, strict=True)])


def cross(self: Tensor, other: Tensor, dim: int = -1) -> Tensor:
    """The cross product of vectors along an axis of length 3. Shapes broadcast.

    >>> Tensor([1, 0, 0]).cross(Tensor([0, 1, 0])).tolist()
    [0, 0, 1]

    Raises `ShapeError` unless the axis has length 3.
    """
    for x in (self, other):
        axis = to_axis(dim, x.ndim, "cross")
        if x.shape[axis] != 3:
            raise ShapeError(
                f"cross: axis {axis} of shape {build.show(x.shape)} must have length 3"
            )
    turned = self * other.roll(-1, dim) - self.roll(-1, dim) * other
    return turned.roll(-1, dim)


@outlined
@lowered
def addmm(
    self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Tensor:
    """beta · self + alpha · mat1 @ mat2. Shapes: self broadcasts, (a, b), (b, c) → (a, c).

    >>> Tensor([1]).addmm(Tensor([[1, 2]]), Tensor([[3], [4]]), beta=10).tolist()
    [[21]]
    """
    return _added(self, mat1.mm(mat2), beta, alpha)


@unchanged
def addmv(self: Tensor, mat: Tensor, vec: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1) -> Tensor:
    """beta · self + alpha · mat @ vec. Shapes: self broadcasts, (a, b), (b,) → (a,).

    >>> Tensor([1]).addmv(Tensor([[1, 2]]), Tensor([3, 4])).tolist()
    [12]
    """
    return _added(self, mat.mv(vec), beta, alpha)


def addr(
    self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Tensor:
    """beta · self + alpha · outer(vec1, vec2). Shapes: self broadcasts, (a,), (b,) → (a, b).

    >>> Tensor([1]).addr(Tensor([1, 2]), Tensor([3])).tolist()
    [[4], [7]]
    """
    if promote(self.dtype, promote(vec1.dtype, vec2.dtype)).is_bool:
        beta, alpha = bool(beta), bool(alpha)
    return _added(self, vec1.outer(vec2), beta, alpha)


@lowered
def baddbmm(
    self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Tensor:
    """beta · self + alpha · bmm(batch1, batch2).

    Shapes: self broadcasts, (n, a, b), (n, b, c) → (n, a, c).

    >>> Tensor([1.0]).baddbmm(ogive.ones(2, 1, 3), ogive.ones(2, 3, 1)).tolist()
    [[[4.0]], [[4.0]]]
    """
    return _added(self, batch1.bmm(batch2), beta, alpha)


@lowered
def addbmm(
    self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Tensor:
    """beta · self + alpha · the sum of bmm(batch1, batch2) over the pairs.

    Shapes: self broadcasts, (n, a, b), (n, b, c) → (a, c).

    >>> Tensor([1.0]).addbmm(ogive.ones(2, 1, 3), ogive.ones(2, 3, 1)).tolist()
    [[7.0]]
    """
    _check_ranks("addbmm", (batch1, 3), (batch2, 3))
    return _added(self, einsum("nab,nbc->ac", batch1, batch2), beta, alpha)


@outlined
@lowered
def linear(self: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x @ weightᵀ + bias. Shapes: (..., i), (o, i), (o,) → (..., o); without o for (i,).

    >>> Tensor([1.0, 2.0]).linear(Tensor([[3.0, 4.0]]), Tensor([1.0])).tolist()
    [12.0]

    Raises `ShapeError` when the features differ.
    """
    if weight.ndim not in (1, 2):
        raise ShapeError(f"linear: weight has the shape {build.show(weight.shape)}, not (o, i)")
    if self.ndim == 0 or self.shape[-1] != weight.shape[-1]:
        raise ShapeError(
            f"linear: input has the shape {build.show(self.shape)}; with a weight of shape "
            f"{build.show(weight.shape)} expected (..., {weight.shape[-1]})"
        )
    product = self.matmul(weight.T)
    return product if bias is None else product + bias


@unchanged
def bilinear(self: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Σ xᵢ · weightₒᵢⱼ · yⱼ + biasₒ. Shapes: (..., i), (..., j), (o, i, j), (o,) → (..., o).

    >>> Tensor([2.0]).bilinear(Tensor([3.0]), Tensor([[[1.0]]])).tolist()
    [6.0]

    Raises `ShapeError` when the features differ.
    """
    product = einsum("...i,oij,...j->...o", self, weight, input2)
    return product if bias is None else product + bias


def multi_dot(tensors: Any) -> Tensor:
    """The product of several matrices, multiplied in the cheapest order.

    Shapes: (a, b), (b, c), (c, d) → (a, d). The first may be a row (b,), the last a column (c,).

    >>> multi_dot([Tensor([[1, 2]]), Tensor([[3], [4]]), Tensor([[5]])]).tolist()
    [[55]]

    Raises `ShapeError` for other than matrices, `ArgumentError` for fewer than two.
    """
    parts = to_tensors(tensors, "multi_dot")
    if len(parts) < 2:
        raise ArgumentError("multi_dot needs at least two tensors")
    first, last = parts[0], parts[-1]
    parts[0] = first.unsqueeze(0) if first.ndim == 1 else first
    parts[-1] = last.unsqueeze(1) if last.ndim == 1 else last
    _check_ranks("multi_dot", *[(part, 2) for part in parts])
    product = _multiply_chain(parts)
    if last.ndim == 1:
        product = product.squeeze(1)
    return product.squeeze(0) if first.ndim == 1 else product


def _multiply_chain(parts: list[Tensor]) -> Tensor:
    """Multiply a chain in the cheapest order, by dynamic programming over its segments."""
    number = len(parts)
    sizes = [greatest(part.shape[0]) for part in parts] + [greatest(parts[-1].shape[1])]
    cost: dict[tuple[int, int], int] = {(i, i + 1): 0 for i in range(number)}
    cuts: dict[tuple[int, int], int] = {}
    for length in range(2, number + 1):
        for start in range(number - length + 1):
            end = start + length
            cost[start, end], cuts[start, end] = min(
                (cost[start, cut] + cost[cut, end] + sizes[start] * sizes[cut] * sizes[end], cut)
                for cut in range(start + 1, end)
            )

    def multiply(start: int, end: int) -> Tensor:
        if end - start == 1:
            return parts[start]
        cut = cuts[start, end]
        return multiply(start, cut).mm(multiply(cut, end))

    return multiply(0, number)


def _added(x: Tensor, product: Tensor, beta: Scalar, alpha: Scalar) -> Tensor:
    """beta · x + alpha · product; if beta is 0, x is ignored."""
    dtype = promote(x.dtype, product.dtype)
    alpha, beta = factor_for(alpha, dtype), factor_for(beta, dtype)
    scaled = product if alpha == 1 else product * alpha
    if beta == 0:
        return scaled
    total = scaled + (x if beta == 1 else x * beta)
    if total.shape != product.shape:
        raise ShapeError(
            f"shape {build.show(x.shape)} does not broadcast to that of the product, "
            f"{build.show(product.shape)}"
        )
    return total


def _check_ranks(name: str, *expected: tuple[Core, int]) -> None:
    shapes: list[tuple[Dim, ...]] = [x.shape for x, _ in expected]
    if any(x.ndim != rank for x, rank in expected):
        ranks = " and ".join([str(rank) for _, rank in expected])
        raise ShapeError(
            f"{name}: shapes {' and '.join([build.show(shape) for shape in shapes])} must have "
            f"{ranks} axes"
        )
