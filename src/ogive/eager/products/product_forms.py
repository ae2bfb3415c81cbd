"""Forms of products of vectors and matrices."""

from __future__ import annotations

from typing import Any

import numpy

from ogive.eager.casts import pair, sides, unbroadcast
from ogive.eager.forms import Refused, form, gradient
from ogive.eager.shapes.movement_forms import place_of
from ogive.tensor.eager_sizes import LARGE, PRODUCTS_PER_ELEMENT, SMALL, allowance
from ogive.tensor.linear_algebra import matrix_product, named_products

MOST_WORK = 4 * LARGE * PRODUCTS_PER_ELEMENT
"""The most multiplications of one operation. NumPy takes some 20 ms for them, on one core. A larger
operation is worth a kernel of its own, even before the allowance for large tensors is used up."""

LITTLE_WORK = SMALL * PRODUCTS_PER_ELEMENT
"""So many are always added up at once."""

_matmul = numpy.matmul


def check_work(count: int, size: int) -> None:
    """Raise `Refused` for more than `MOST_WORK` products, or too large a result."""
    if count <= LITTLE_WORK and size <= SMALL:
        return
    reads = max(size, count // PRODUCTS_PER_ELEMENT)
    if size > LARGE or allowance.is_beyond(reads, MOST_WORK // PRODUCTS_PER_ELEMENT):
        raise Refused


def _check_dtypes(x: Any, y: Any) -> None:
    """Only numbers of one dtype are multiplied here, as in PyTorch."""
    kind = x.dtype
    if (kind is not y.dtype and kind != y.dtype) or kind.kind == "b":
        raise Refused


def multiply(x: Any, y: Any) -> Any:
    """`x @ y` of arrays of one dtype."""
    _check_dtypes(x, y)
    if y.ndim == 2 == x.ndim:
        rows, depth = x.shape
        columns = y.shape[1]
        check_work(rows * depth * columns, rows * columns)
        return _matmul(x, y)
    if not x.ndim or not y.ndim:
        raise Refused
    columns = y.shape[-1] if y.ndim > 1 else 1
    if y.ndim <= 2:
        check_work(x.size * columns, x.size * columns // max(x.shape[-1], 1))
        if x.ndim > 2 and y.ndim == 2:
            depth = x.shape[-1]
            return _matmul(x.reshape(-1, depth), y).reshape(*x.shape[:-1], columns)
        return _matmul(x, y)
    rows = x.shape[-2] if x.ndim > 1 else 1
    batch = x.shape[:-2] if x.shape[:-2] == y.shape[:-2] else None
    if batch is None:
        batch = numpy.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    count = rows * columns
    for length in batch:
        count *= length
    check_work(count * x.shape[-1], count)
    return _matmul(x, y)


@form(matrix_product.matmul, counts=True)
def matmul(x: Any, other: Any) -> Any:
    """`x @ other`."""
    return multiply(x, other)


@form(matrix_product.reflected_matmul, counts=True)
def reflected_matmul(x: Any, other: Any) -> Any:
    """`other @ x`."""
    return multiply(other, x)


@form(named_products.mm, counts=True)
def mm(x: Any, mat2: Any) -> Any:
    """The product of two matrices."""
    return _of_ranks(x, mat2, 2, 2)


@form(named_products.bmm, counts=True)
def bmm(x: Any, mat2: Any) -> Any:
    """The products of matrices, pair by pair."""
    if len(x) != len(mat2):
        raise Refused
    return _of_ranks(x, mat2, 3, 3)


@form(named_products.mv, counts=True)
def mv(x: Any, vec: Any) -> Any:
    """A matrix times a vector."""
    return _of_ranks(x, vec, 2, 1)


@form(named_products.dot, counts=True)
def dot(x: Any, tensor: Any) -> Any:
    """The sum of the products of two vectors."""
    return _of_ranks(x, tensor, 1, 1)


@form(named_products.vdot, counts=True)
def vdot(x: Any, other: Any) -> Any:
    """`dot` of real vectors."""
    return _of_ranks(x, other, 1, 1)


def _of_ranks(x: Any, y: Any, rank: int, other_rank: int) -> Any:
    if x.ndim != rank or y.ndim != other_rank:
        raise Refused
    return multiply(x, y)


def product_gradients(given: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """The gradients of the operands of `x @ y`."""
    if x.ndim == 2 == y.ndim:
        return lambda: _matmul(given, y.T), lambda: _matmul(x.T, given)
    if y.ndim == 1:
        if x.ndim == 1:
            return given * y, given * x
        lines = x.reshape(-1, x.shape[-1])
        return given[..., None] * y, _matmul(numpy.reshape(given, -1), lines)
    if x.ndim == 1:
        to_x = _matmul(y, given[..., None])[..., 0]
        return unbroadcast(to_x, x), x[:, None] * given[..., None, :]
    if y.ndim == 2:
        columns = given.reshape(-1, y.shape[1])
        return (
            lambda: _matmul(columns, y.T).reshape(x.shape),
            lambda: _matmul(x.reshape(-1, x.shape[-1]).T, columns),
        )
    return (
        lambda: unbroadcast(_matmul(given, y.swapaxes(-1, -2)), x),
        lambda: unbroadcast(_matmul(x.swapaxes(-1, -2), given), y),
    )


def _both(given: Any, out: Any, x: Any, other: Any) -> Any:
    return product_gradients(given, x, other)


for _compute in (matmul, mm, bmm, mv, dot, vdot):
    gradient(_compute)(_both)


@gradient(reflected_matmul)
def _reflected(given: Any, out: Any, x: Any, other: Any) -> Any:
    return product_gradients(given, other, x)[::-1]


@form(named_products.inner, counts=True)
def inner(x: Any, other: Any) -> Any:
    """The sums of products over the last axes."""
    _check_dtypes(x, other)
    if not x.ndim or not other.ndim or x.shape[-1] != other.shape[-1] or not x.shape[-1]:
        raise Refused
    depth = x.shape[-1]
    rows, columns = x.size // depth, other.size // depth
    check_work(rows * columns * depth, rows * columns)
    total = _matmul(x.reshape(rows, depth), other.reshape(columns, depth).T)
    return total.reshape(x.shape[:-1] + other.shape[:-1])


@gradient(inner)
def _inner(given: Any, out: Any, x: Any, other: Any) -> Any:
    depth = x.shape[-1]
    rows, columns = x.reshape(-1, depth), other.reshape(-1, depth)
    given = numpy.reshape(given, (len(rows), len(columns)))
    return _matmul(given, columns).reshape(x.shape), _matmul(given.T, rows).reshape(other.shape)


@form(named_products.outer)
def outer(x: Any, vec2: Any) -> Any:
    """All products of the elements of two vectors."""
    if x.ndim != 1 or vec2.ndim != 1:
        raise Refused
    if x.dtype != vec2.dtype:
        x, vec2 = pair(x, vec2)
    check_work(0, x.size * vec2.size)
    return numpy.multiply(x[:, None], vec2)


@gradient(outer)
def _outer(given: Any, out: Any, x: Any, vec2: Any) -> Any:
    kind = given.dtype
    own = _matmul(given, vec2.astype(kind, copy=False)).astype(x.dtype, copy=False)
    theirs = _matmul(x.astype(kind, copy=False), given).astype(vec2.dtype, copy=False)
    return own, theirs


_ndarray = numpy.ndarray
_NEXT, _LAST = [1, 2, 0], [2, 0, 1]


@form(named_products.cross)
def cross(x: Any, other: Any, dim: Any = -1) -> Any:
    """The cross product of vectors along an axis."""
    if x.__class__ is not _ndarray or other.__class__ is not _ndarray or x.dtype.kind not in "fi":
        raise Refused
    first, second = place_of(dim, x.ndim), place_of(dim, other.ndim)
    if x.shape[first] != 3 or other.shape[second] != 3:
        raise Refused
    x, other = pair(x, other)
    return _crossed(x, other, first, second)


def _crossed(x: Any, other: Any, first: int, second: int) -> Any:
    ahead = x.take(_NEXT, first) * other.take(_LAST, second)
    return ahead - x.take(_LAST, first) * other.take(_NEXT, second)


@gradient(cross)
def _cross(given: Any, out: Any, x: Any, other: Any, dim: Any = -1) -> Any:
    first, second, own = [place_of(dim, each.ndim) for each in (x, other, given)]
    return sides(
        x, other, lambda: _crossed(other, given, second, own),
        lambda: _crossed(given, x, own, first),
    )  # fmt: skip


# Products added to a tensor


@form(named_products.addmm, counts=True)
def addmm(x: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta · x + alpha · mat1 @ mat2."""
    return _added(x, _of_ranks(mat1, mat2, 2, 2), beta, alpha)


@form(named_products.addmv, counts=True)
def addmv(x: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta · x + alpha · mat @ vec."""
    return _added(x, _of_ranks(mat, vec, 2, 1), beta, alpha)


@form(named_products.baddbmm, counts=True)
def baddbmm(x: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta · x + alpha · batch1 @ batch2, pair by pair."""
    if len(batch1) != len(batch2):
        raise Refused
    return _added(x, _of_ranks(batch1, batch2, 3, 3), beta, alpha)


def _added(x: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """beta · x + alpha · product. Raises `Refused` for a beta of 0, with which NaN in x is ignored.
    """
    kinds = (int, float) if x.dtype.kind == "f" else (int,)
    if x.dtype != product.dtype or not beta or {beta.__class__, alpha.__class__} - {*kinds}:
        raise Refused
    if alpha != 1:
        product *= alpha
    product += x if beta == 1 else x * beta  # raises if x does not broadcast to the product
    return product


def _added_gradients(
    given: Any, out: Any, x: Any, one: Any, other: Any, *, beta: Any = 1, alpha: Any = 1
) -> Any:
    below = given if alpha == 1 else given * alpha
    own = given if beta == 1 else given * beta
    return (unbroadcast(own, x), *product_gradients(below, one, other))


for _compute in (addmm, addmv, baddbmm):
    gradient(_compute)(_added_gradients)


@form(named_products.linear, counts=True)
def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """x @ weightᵀ + bias."""
    if weight.ndim != 2:
        raise Refused
    _check_dtypes(x, weight)
    count, depth = weight.shape
    if x.ndim == 2:
        lines = x
    elif x.ndim and depth and x.shape[-1] == depth:
        lines = x.reshape(-1, depth)
    else:
        raise Refused
    rows = len(lines)
    check_work(rows * depth * count, rows * count)
    total = _matmul(lines, weight.T)
    if bias is not None:
        if bias.shape != (count,):
            raise Refused
        _check_dtypes(x, bias)
        total += bias
    return total if x.ndim == 2 else total.reshape(*x.shape[:-1], count)


@gradient(linear)
def _linear(given: Any, out: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    if x.ndim == 2:
        lines, rows = given, x
    else:
        lines, rows = given.reshape(-1, len(weight)), x.reshape(-1, x.shape[-1])
    to_weight = _matmul(lines.T, rows)

    def to_x() -> Any:
        to_lines = _matmul(lines, weight)
        return to_lines if x.ndim == 2 else to_lines.reshape(x.shape)

    if bias is None:
        return to_x, to_weight
    return to_x, to_weight, numpy.add.reduce(lines, 0)


@form(named_products.bilinear, counts=True)
def bilinear(x: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """Σ xᵢ · weightₒᵢⱼ · yⱼ + biasₒ."""
    if weight.ndim != 3 or not x.ndim or x.shape[:-1] != input2.shape[:-1]:
        raise Refused
    if x.dtype != weight.dtype or input2.dtype != weight.dtype or x.dtype.kind != "f":
        raise Refused
    if x.shape[-1] != weight.shape[1] or input2.shape[-1] != weight.shape[2] or not x.size:
        raise Refused
    pairs = _pairs(x, input2)
    check_work(len(pairs) * weight.size, len(pairs) * max(pairs.shape[1], len(weight)))
    total = _matmul(pairs, weight.reshape(len(weight), -1).T)
    if bias is not None:
        if bias.dtype != x.dtype or bias.shape != (len(weight),):
            raise Refused
        total += bias
    return total.reshape(*x.shape[:-1], len(weight))


def _pairs(x: Any, y: Any) -> Any:
    """All products of features, line by line. Shapes: (..., i), (..., j) → (lines, i · j)."""
    products = x[..., :, None] * y[..., None, :]
    return products.reshape(-1, x.shape[-1] * y.shape[-1])


@gradient(bilinear)
def _bilinear(given: Any, out: Any, x: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    lines = given.reshape(-1, len(weight))
    below = _matmul(lines, weight.reshape(len(weight), -1))
    below = below.reshape(*x.shape, input2.shape[-1])
    to_x = _matmul(below, input2[..., None])[..., 0]
    to_y = _matmul(x[..., None, :], below)[..., 0, :]
    to_weight = _matmul(lines.T, _pairs(x, input2)).reshape(weight.shape)
    gradients = (to_x, to_y, to_weight)
    return gradients if bias is None else (*gradients, numpy.add.reduce(lines, 0))
