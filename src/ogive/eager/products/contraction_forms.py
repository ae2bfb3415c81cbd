"""Forms of sums of products over named axes, and of distances between rows.

A product of two operands is a product of matrices. Its axes are those that both operands have and
the result keeps, those of one operand, and those that are summed over.

    "bij,bjk->bik"    (b, i, j) @ (b, j, k)

Gradients are sums of products, too, with the operand and the result exchanged.
"""

from __future__ import annotations

import functools
from string import ascii_letters
from typing import Any

import numpy

from ogive.eager.casts import unbroadcast
from ogive.eager.forms import Refused, dispatching, done_by, form, forms, gradient
from ogive.eager.products.product_forms import check_work
from ogive.tensor.linear_algebra import einsum as plain
from ogive.tensor.reduction import distances

Words = tuple[str, ...]


@functools.lru_cache(512)
def _parse(equation: str, ranks: tuple[int, ...]) -> tuple[Words, str] | None:
    """The axes of the operands and of the result, a letter each; None for other equations."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    words = tuple(left.split(","))
    if len(words) != len(ranks):
        return None
    if "..." in equation:
        words, right = _spelled_out(words, arrow, right, ranks)
    letters = "".join(words) + right
    if not letters.isalpha() or not letters.isascii():
        return None
    names = "".join(words)
    if not arrow:
        alone = {name for name in names if names.count(name) == 1}
        right += "".join(sorted(alone - set(right)))
    if not _is_once(right) or not set(right) <= set(names):
        return None
    if any(len(word) != rank for word, rank in zip(words, ranks, strict=True)):
        return None
    return words, right


def _spelled_out(
    words: Words, arrow: str, right: str, ranks: tuple[int, ...]
) -> tuple[Words, str]:
    """An equation with letters in the place of `...`: `...ij` of 3 axes becomes `αij`."""
    pairs = list(zip(words, ranks, strict=True))
    rest = [rank - len(word.replace("...", "")) for word, rank in pairs if "..." in word]
    unused = [name for name in ascii_letters if name not in "".join(words)]
    names = "".join(unused[: max(rest, default=0)])
    spelled = [
        word.replace("...", names[len(names) - rank + len(word) - 3 :]) if "..." in word else word
        for word, rank in pairs
    ]
    return tuple(spelled), right.replace("...", names) if arrow else names


def _is_once(word: str) -> bool:
    return len(set(word)) == len(word)


def _sized(words: Words, arrays: Any) -> dict[str, int]:
    """The length of each axis. Raises `Refused` if an axis has two lengths."""
    sizes: dict[str, int] = {}
    for word, array in zip(words, arrays, strict=True):
        for name, length in zip(word, array.shape, strict=True):
            if sizes.setdefault(name, length) != length or not length:
                raise Refused
    return sizes


def _diagonal(word: str, array: Any) -> tuple[str, Any]:
    """An operand with the diagonal in the place of axes that have the same letter."""
    if _is_once(word):
        return word, array
    once = "".join(dict.fromkeys(word))
    return once, numpy.einsum(f"{word}->{once}", array)


def _contract(words: Words, arrays: Any, result: str, sizes: dict[str, int]) -> Any:
    """The sum of products, computed for two operands at a time, from the left."""
    word, total = _diagonal(words[0], arrays[0])
    for n in range(1, len(words)):
        kept = set(result).union(*words[n + 1 :])
        other, array = _diagonal(words[n], arrays[n])
        word, total = _multiply(word, total, other, array, kept, sizes)
    word, total = _sum_over(word, total, set(result))
    return total.transpose([word.index(name) for name in result])


def _sum_over(word: str, array: Any, kept: set[str]) -> tuple[str, Any]:
    """An operand summed over the axes that are not in `kept`."""
    if kept.issuperset(word):
        return word, array
    axes = tuple([axis for axis, name in enumerate(word) if name not in kept])
    return "".join([name for name in word if name in kept]), numpy.add.reduce(array, axes)


def _multiply(
    one: str, x: Any, other: str, y: Any, kept: set[str], sizes: dict[str, int]
) -> tuple[str, Any]:
    one, x = _sum_over(one, x, kept.union(other))
    other, y = _sum_over(other, y, kept.union(one))
    batch = [name for name in one if name in other and name in kept]
    summed = [name for name in one if name in other and name not in kept]
    rows = [name for name in one if name not in other]
    columns = [name for name in other if name not in one]
    counts = [_count(names, sizes) for names in (batch, rows, summed, columns)]
    size = counts[0] * counts[1] * counts[3]
    check_work(size * counts[2], size)
    x = x.transpose([one.index(name) for name in (*batch, *rows, *summed)])
    y = y.transpose([other.index(name) for name in (*batch, *summed, *columns)])
    front = counts[:1] if batch else []
    total = numpy.matmul(
        x.reshape(*front, counts[1], counts[2]), y.reshape(*front, counts[2], counts[3])
    )
    word = "".join([*batch, *rows, *columns])
    return word, total.reshape([sizes[name] for name in word])


def _count(names: list[str], sizes: dict[str, int]) -> int:
    count = 1
    for name in names:
        count *= sizes[name]
    return count


@form(plain.einsum)
def einsum(equation: str, *operands: Any) -> Any:
    """The sum of products over named axes."""
    words, result = _equation(equation, operands)
    if len(words) == 1 and set(words[0]) == set(result):
        raise Refused  # a view
    return _contract(words, operands, result, _sized(words, operands))


_by_form = dispatching(forms[plain.einsum])


@done_by(plain.einsum)
def einsum_at_once(equation: Any, *operands: Any) -> Any:
    """`einsum` of tensors or of a list of them. If it only moves axes, the result is a view."""
    if len(operands) == 1:
        (given,) = operands
        if given.__class__ in (list, tuple):
            return einsum_at_once(equation, *given)
        parsed = _parse(equation, (given.ndim,)) if equation.__class__ is str else None
        if parsed is not None and sorted(parsed[0][0]) == sorted(parsed[1]):
            return given.permute([parsed[0][0].index(name) for name in parsed[1]])
    return _by_form(equation, *operands)


def _equation(equation: str, operands: Any) -> tuple[Words, str]:
    dtype = operands[0].dtype
    if dtype.kind not in "fc" or any(operand.dtype != dtype for operand in operands):
        raise Refused
    parsed = _parse(equation, tuple([operand.ndim for operand in operands]))
    if parsed is None:
        raise Refused
    return parsed


@gradient(einsum)
def _einsum(given: Any, out: Any, equation: str, *operands: Any) -> Any:
    words, result = _equation(equation, operands)
    return [_toward(n, given, words, operands, result) for n in range(len(operands))]


def _toward(n: int, given: Any, words: Words, operands: Any, result: str) -> Any:
    """The gradient of operand n: the product of the result's gradient and the other operands."""
    sizes = _sized(words, operands)
    others = (result, *words[:n], *words[n + 1 :])
    arrays = (given, *operands[:n], *operands[n + 1 :])
    word = "".join(dict.fromkeys(words[n]))
    known = set("".join(others))
    present = "".join([name for name in word if name in known])
    product = _contract(others, arrays, present, sizes)
    if present != word:
        # An axis that only this operand has, and that was summed, gets equal gradients.
        places = tuple([slice(None) if name in known else None for name in word])
        product = numpy.broadcast_to(product[places], [sizes[name] for name in word])
    if word == words[n]:
        return product
    spread = numpy.zeros(operands[n].shape, operands[n].dtype)
    numpy.einsum(f"{words[n]}->{word}", spread)[...] = product
    return spread


@form(plain.tensordot)
def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """The sum of products over axes of two tensors."""
    left, right = _axes(a, b, dims)
    words, result = _named(a, b, left, right)
    return _contract(words, (a, b), result, _sized(words, (a, b)))


def _axes(a: Any, b: Any, dims: Any) -> tuple[list[int], list[int]]:
    if a.dtype != b.dtype or a.dtype.kind != "f":
        raise Refused
    if dims.__class__ is int:
        if not 0 <= dims <= min(a.ndim, b.ndim):
            raise Refused
        return list(range(a.ndim - dims, a.ndim)), list(range(dims))
    left, right = [list(axes) if axes.__class__ in (list, tuple) else [axes] for axes in dims]
    left, right = _counted(left, a.ndim), _counted(right, b.ndim)
    if len(left) != len(right) or len(set(left)) < len(left) or len(set(right)) < len(right):
        raise Refused
    return left, right


def _counted(axes: list[int], rank: int) -> list[int]:
    """Axes, counted from the front."""
    if any(not -rank <= axis < rank for axis in axes):
        raise Refused
    return [axis % rank for axis in axes]


def _named(a: Any, b: Any, left: list[int], right: list[int]) -> tuple[Words, str]:
    first = [chr(97 + axis) for axis in range(a.ndim)]
    second = [chr(65 + axis) for axis in range(b.ndim)]
    for mine, theirs in zip(left, right, strict=True):
        second[theirs] = first[mine]
    words = ("".join(first), "".join(second))
    result = [name for name in (*first, *second) if (name in first) != (name in second)]
    return words, "".join(result)


@gradient(tensordot)
def _tensordot(given: Any, out: Any, a: Any, b: Any, dims: Any = 2) -> Any:
    words, result = _named(a, b, *_axes(a, b, dims))
    return [_toward(n, given, words, (a, b), result) for n in range(2)]


# Distances


@done_by(distances.cosine_similarity)
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors, by eager operations."""
    return distances.cosines(x1, x2, dim, eps)


def _is_by_product(x1: Any, x2: Any, mode: str | None) -> bool:
    """Whether distances are computed by |a|² + |b|² - 2 a·b, as PyTorch does for many rows."""
    if mode is None or mode == "use_mm_for_euclid_dist_if_necessary":
        return bool(x1.shape[-2] > 25 or x2.shape[-2] > 25)
    return mode == "use_mm_for_euclid_dist"


def _squares_apart(x1: Any, x2: Any) -> Any:
    squares = numpy.matmul(x1 * x1.dtype.type(-2), x2.swapaxes(-1, -2))
    squares += numpy.einsum("...i,...i->...", x1, x1)[..., None]
    squares += numpy.einsum("...i,...i->...", x2, x2)[..., None, :]
    return numpy.maximum(squares, 0, out=squares)


@form(distances.cdist)
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str | None = None) -> Any:
    """The distance of each row of `x1` to each row of `x2`."""
    if x1.dtype != x2.dtype or x1.dtype.kind != "f" or p not in (1, 2):
        raise Refused
    if x1.ndim < 2 or x2.ndim < 2 or x1.shape[-1] != x2.shape[-1] or not x1.shape[-1]:
        raise Refused
    check_work(x1.size * x2.shape[-2], x1.size // x1.shape[-1] * x2.shape[-2])
    if p == 2 and _is_by_product(x1, x2, compute_mode):
        return numpy.sqrt(_squares_apart(x1, x2))
    apart = x1[..., :, None, :] - x2[..., None, :, :]
    if p == 1:
        return numpy.add.reduce(numpy.abs(apart), -1)
    return numpy.sqrt(numpy.einsum("...i,...i->...", apart, apart))


@gradient(cdist)
def _cdist(
    given: Any, out: Any, x1: Any, x2: Any, p: float = 2.0, compute_mode: str | None = None
) -> Any:
    # The gradient between equal rows is zero.
    share = given if p == 1 else given / numpy.where(out == 0, numpy.inf, out)
    if p == 2 and _is_by_product(x1, x2, compute_mode):
        to_x1 = x1 * share.sum(-1)[..., None] - numpy.matmul(share, x2)
        to_x2 = x2 * share.sum(-2)[..., None] - numpy.matmul(share.swapaxes(-1, -2), x1)
        return unbroadcast(to_x1, x1), unbroadcast(to_x2, x2)
    apart = x1[..., :, None, :] - x2[..., None, :, :]
    slope = (numpy.sign(apart) if p == 1 else apart) * share[..., None]
    to_first, to_second = numpy.add.reduce(slope, -2), -numpy.add.reduce(slope, -3)
    return unbroadcast(to_first, x1), unbroadcast(to_second, x2)
