"""Products over named axes: einsum, and tensordot, a special case.

    "bij,bjk->bik"    both operands permuted to (b, i, k, j), multiplied, and summed over j

With several operands, the two with the smallest product are contracted first.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from ogive.compat.methods.keywords import also
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import promote
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.shape import Dim, greatest
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentError, ArgumentTypeError, ShapeError
from ogive.named import NamedTuple
from ogive.tensor import build
from ogive.tensor.autocast_dtypes import lower
from ogive.tensor.core import Core, same_device, to_axes, to_axis, to_integer, wrap
from ogive.tensor.elementwise.binary_operations import field_dtype
from ogive.tensor.linear_algebra.matrix_product import multiply_and_sum
from ogive.tensor.method_functions import open_to_eager
from ogive.tensor.movement.joining import to_tensors

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

Labels = tuple[Hashable, ...]


class Term(NamedTuple):
    """A tensor and the names of its axes, which are all different."""

    tensor: Tensor
    labels: Labels

    def size(self, label: Hashable) -> Dim:
        """The length of an axis; 1 if there is no axis of that name."""
        return self.tensor.shape[self.labels.index(label)] if label in self.labels else 1


@open_to_eager
def einsum(equation: Any, *operands: Any) -> Tensor:
    """The sum of products over named axes, by Einstein's convention.

    The equation names the axes of each operand, and those of the result behind `->`. Axes that the
    result lacks are summed over; without `->` the result has those named once, in alphabetical
    order. A name twice in one operand takes the diagonal. `...` stands for axes that broadcast.
    Operands may be followed by lists of integers instead: `einsum(a, [0, 1], b, [1, 2], [0, 2])`.

    Shapes: as the equation says; "ij,jk->ik" of (a, b) and (b, c) → (a, c).

    >>> a = Tensor([[1, 2], [3, 4]])
    >>> einsum("ij,jk->ik", a, a).tolist()
    [[7, 10], [15, 22]]
    >>> einsum("ii", a).item()
    5

    Raises `ArgumentError` for a malformed equation, `ShapeError` where lengths do not fit it.
    """
    if not isinstance(equation, str):
        equation, operands = _from_lists((equation, *operands))
    if len(operands) == 1 and isinstance(operands[0], tuple | list):
        operands = tuple(operands[0])
    tensors = to_tensors(list(operands), "einsum")
    inputs, output = _parse(equation, tensors)
    terms = [_unique(tensor, labels) for tensor, labels in zip(tensors, inputs, strict=True)]
    _check_lengths(terms, equation)
    while len(terms) > 1:
        terms = _contract_smallest(terms, output)
    (term,) = terms
    summed = [axis for axis, label in enumerate(term.labels) if label not in output]
    result = term.tensor
    if summed:
        own = len(tensors) > 1
        result = result.sum(summed, dtype=result.dtype if own else None)
    kept = [label for label in term.labels if label in output]
    return result.permute([kept.index(label) for label in output])


@open_to_eager
@also(axes="dims")
def tensordot(a: Core, b: Core, dims: Any = 2) -> Tensor:
    """The sum of products over axes of two tensors: the last of `a` with the first of `b`.

    Shapes: (m, k) and (k, n) → (m, n) for `dims` 1 or ([1], [0]).

    >>> tensordot(Tensor([1, 2]), Tensor([3, 4]), 1).item()
    11

    Raises `ShapeError` when the axes differ in number or length.
    """
    first, second = to_tensors([a, b], "tensordot")
    if isinstance(dims, tuple | list):
        left, right = [list(d) if isinstance(d, tuple | list) else [d] for d in dims]
    else:
        number = to_integer(dims, "tensordot: dims")
        if number < 0 or number > min(first.ndim, second.ndim):
            raise ShapeError(
                f"tensordot: {number} axes of {build.show(first.shape)} and "
                f"{build.show(second.shape)} cannot be summed over"
            )
        left, right = list(range(first.ndim - number, first.ndim)), list(range(number))
    if len(left) != len(right):
        raise ShapeError(f"tensordot: the axes {left} and {right} differ in number")
    to_axes(left, first.ndim, "tensordot"), to_axes(right, second.ndim, "tensordot")
    labels: list[Hashable] = [("b", axis) for axis in range(second.ndim)]
    for mine, theirs in zip(left, right, strict=True):
        axis, other = to_axis(mine, first.ndim, "tensordot"), to_axis(theirs, second.ndim, "")
        sizes = (first.shape[axis], second.shape[other])
        if sizes[0] != sizes[1] and 1 not in sizes:
            raise ShapeError(
                f"tensordot: axis {axis} of {build.show(first.shape)} and axis {other} of "
                f"{build.show(second.shape)} differ in length"
            )
        labels[other] = ("a", axis)
    names: Labels = tuple([("a", axis) for axis in range(first.ndim)])
    keep = set(names) ^ set(labels)
    return contract(Term(first, names), Term(second, tuple(labels)), keep).tensor


def contract(left: Term, right: Term, keep: set[Hashable]) -> Term:
    """The product of two terms, summed over all axes except those to keep."""
    left, right = _sum_alone(left, right, keep), _sum_alone(right, left, keep)
    names = dict.fromkeys([*left.labels, *right.labels])
    shared = [label for label in names if label in left.labels and label in right.labels]
    ordered = [*shared, *[label for label in names if label not in shared]]
    result = tuple([label for label in ordered if label in keep])
    summed = tuple([label for label in names if label not in keep])
    if summed:
        left, right = [term._replace(tensor=lower(term.tensor)) for term in (left, right)]
    device = same_device([left.tensor, right.tensor], "einsum")
    dtype = field_dtype(promote(left.tensor.dtype, right.tensor.dtype), "einsum")
    compute = dtypes.float32 if dtype in build.WIDENED else dtype
    with graph_lock:
        order = (*result, *summed)
        nodes = [build.cast(_laid_out(term, order), compute) for term in (left, right)]
        first, second = build.broadcast(nodes, "einsum")
        total = multiply_and_sum(first, second, tuple(range(len(result), len(order))))
        shape = first.shape[: len(result)] if first.shape else second.shape[: len(result)]
        return Term(wrap(build.cast(build.reshape(total, shape), dtype), device), result)


def _laid_out(term: Term, order: Labels) -> UOp:
    """The axes in that order, with length 1 for axes that the term lacks."""
    own = [label for label in order if label in term.labels]
    node = build.permute(term.tensor.node, tuple([term.labels.index(label) for label in own]))
    return build.reshape(node, tuple([term.size(label) for label in order]))


def _sum_alone(term: Term, other: Term, keep: set[Hashable]) -> Term:
    """Sum over the axes that only this term has, before the product."""
    alone = [label for label in term.labels if label not in keep and label not in other.labels]
    if not alone:
        return term
    axes = [term.labels.index(label) for label in alone]
    remaining = tuple([label for label in term.labels if label not in alone])
    return Term(term.tensor.sum(axes, dtype=term.tensor.dtype), remaining)


def _contract_smallest(terms: list[Term], output: Labels) -> list[Term]:
    """Contract the two terms whose product has the fewest elements."""

    def kept(pair: tuple[int, int]) -> set[Hashable]:
        others = [term for place, term in enumerate(terms) if place not in pair]
        return {label for term in others for label in term.labels} | set(output)

    def elements(pair: tuple[int, int]) -> tuple[int, int]:
        one, other = terms[pair[0]], terms[pair[1]]
        sizes = {
            label: max(greatest(one.size(label)), greatest(other.size(label)))
            for label in (*one.labels, *other.labels)
        }
        keep = kept(pair)
        result = work = 1
        for label, size in sizes.items():
            work *= size
            result *= size if label in keep else 1
        return result, work

    pair = min(itertools.combinations(range(len(terms)), 2), key=elements)
    product = contract(terms[pair[0]], terms[pair[1]], kept(pair))
    return [*[term for place, term in enumerate(terms) if place not in pair], product]


# Reading equations


def _parse(equation: str, tensors: Sequence[Tensor]) -> tuple[list[Labels], Labels]:
    """The axis names of each operand and of the result; the axes of `...` have numbers as names."""
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    words = left.split(",")
    if len(words) != len(tensors):
        raise ArgumentError(
            f"einsum: {equation!r} names {len(words)} operands, and {len(tensors)} were given"
        )
    inputs = [_labels(word, x.ndim, equation) for word, x in zip(words, tensors, strict=True)]
    names = [label for labels in inputs for label in labels]
    broad = sorted({label for label in names if isinstance(label, int)})
    if not arrow:
        once = sorted([str(x) for x in set(names) if names.count(x) == 1 and isinstance(x, str)])
        return inputs, (*broad, *once)
    before, dots, after = right.partition("...")
    output: Labels = (*before, *(broad if dots else ()), *after)
    for label in output:
        if output.count(label) > 1:
            raise ArgumentError(f"einsum: {equation!r} names {label!r} twice in the result")
        if label not in names:
            raise ArgumentError(f"einsum: {equation!r} has {label!r} only in the result")
    return inputs, output


def _labels(word: str, rank: int, equation: str) -> Labels:
    """The axis names of one operand; the axes of `...` are -1, -2, ... from the back."""
    before, dots, after = word.partition("...")
    for letter in before + after:
        if letter not in _ALPHABET:
            raise ArgumentError(f"einsum: {letter!r} in {equation!r} is no letter")
    missing = rank - len(before) - len(after)
    if missing < 0 or (missing and not dots):
        raise ShapeError(
            f"einsum: {word!r} in {equation!r} names {len(before) + len(after)} axes, and the "
            f"operand has {rank}"
        )
    return (*before, *range(-missing, 0), *after)


def _unique(tensor: Tensor, labels: Labels) -> Term:
    """An operand as a term: axes with the same name are replaced by their diagonal."""
    for label in labels:
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            if tensor.shape[first] != tensor.shape[second]:
                raise ShapeError(
                    f"einsum: the axes {label!r} of shape {build.show(tensor.shape)} have the "
                    f"lengths {tensor.shape[first]} and {tensor.shape[second]}; no diagonal"
                )
            tensor = tensor.diagonal(0, first, second)
            rest = [x for place, x in enumerate(labels) if place not in (first, second)]
            labels = (*rest, label)
    return Term(tensor, labels)


def _check_lengths(terms: Sequence[Term], equation: str) -> None:
    known: dict[Hashable, Dim] = {}
    for term in terms:
        for label, size in zip(term.labels, term.tensor.shape, strict=True):
            present = known.setdefault(label, size)
            if present != size and 1 not in (present, size):
                raise ShapeError(
                    f"einsum: {label!r} in {equation!r} has the lengths {present} and {size}"
                )
            known[label] = size if present == 1 else present


_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _from_lists(arguments: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """`(a, [0, 1], b, [1, 2], [0, 2])` as an equation and its operands."""
    operands, lists = arguments[0::2], arguments[1::2]
    output = None
    if len(operands) > len(lists):
        operands, output = operands[:-1], operands[-1]
    if not lists or not all(isinstance(x, tuple | list) for x in lists):
        raise ArgumentTypeError(
            "einsum takes an equation and tensors, or tensors each followed by a list of integers"
        )

    def word(entries: Sequence[Any]) -> str:
        names = [
            _ALPHABET[to_integer(x, "einsum: a name")] if x is not ... else "..." for x in entries
        ]
        return "".join(names)

    equation = ",".join([word(entries) for entries in lists])
    return equation if output is None else f"{equation}->{word(output)}", tuple(operands)
