"""Support vector machines (ai.onnx.ml): sums of kernels between rows and support vectors.

    regressor    y = sum over v of coefficient v * kernel(x, v) + rho
    classifier   such a sum for each pair of classes; each sum is a vote, and may become a chance

Without support vectors both are linear: the coefficients are what rows are multiplied by.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.onnx.call import Call
from ogive.onnx.elements import Array
from ogive.onnx.operators import LEARNERS
from ogive.onnx.operators.learners.linear_models import label_scores, name_classes, transform_scores
from ogive.onnx.table import Value, operator
from ogive.tensor.movement.joining import cat
from ogive.tensor.tensor import Tensor

LEAST_CHANCE = 1e-7
"""Chances of one class beside another are kept so far from 0 and 1."""

MOST_ROUNDS = 100
"""Rounds in which chances of pairs become chances of classes; they end sooner as a rule."""


def _rows(c: Call) -> Tensor:
    x = c.tensor(0)
    return (x.reshape(1, -1) if x.ndim == 1 else x).cast(dtypes.float32)


def _numbers(c: Call, name: str) -> Array:
    return numpy.array(c.get(name) or [], numpy.float32)


def _matrix(c: Call, name: str, rows: int, columns: int) -> Array:
    """An attribute as a matrix; the node is refused where it has not as many numbers."""
    numbers = _numbers(c, name)
    if numbers.size != rows * columns:
        raise c.refuse(f"{name} has {numbers.size} numbers, where {rows}×{columns} are expected")
    return numbers.reshape(rows, columns)


def _kernels(c: Call, x: Tensor, vectors: Array) -> Tensor:
    """[rows, vectors]: the kernel between each row and each support vector."""
    kind = c.get("kernel_type", "LINEAR")
    gamma, constant, degree = [*(c.get("kernel_params") or []), 0.0, 0.0, 0.0][:3]
    others = Tensor.from_numpy(vectors)
    kernels: Tensor
    if kind == "RBF":
        apart = x.unsqueeze(1) - others.unsqueeze(0)
        kernels = ((apart * apart).sum(-1) * -gamma).exp()
    elif kind == "LINEAR":
        kernels = x @ others.T
    elif kind == "POLY":
        kernels = (x @ others.T * gamma + constant) ** degree
    elif kind == "SIGMOID":
        kernels = (x @ others.T * gamma + constant).tanh()
    else:
        raise c.refuse(f"there is no kernel {kind!r}")
    return kernels


@operator("SVMRegressor", domain=LEARNERS)
def regress(c: Call) -> Value:
    x, count = _rows(c), c.get("n_supports", 0)
    features = int(x.shape[1])
    if count > 0:
        values = _kernels(c, x, _matrix(c, "support_vectors", count, features))
    else:
        values, count = x, features
    weights = Tensor.from_numpy(_matrix(c, "coefficients", count, 1))
    scores = values @ weights + float(_matrix(c, "rho", 1, 1)[0, 0])
    if c.flag("one_class"):
        return (scores > 0).cast(dtypes.float32) * 2 - 1
    return transform_scores(c, scores)


@operator("SVMClassifier", domain=LEARNERS)
def classify(c: Call) -> Value:
    labels = c.get("classlabels_ints") or c.get("classlabels_strings") or []
    x, sizes = _rows(c), c.get("vectors_per_class") or []
    count, features = sum(sizes), int(x.shape[1])
    if not count:
        classes = max(len(labels), 1)
        weights = Tensor.from_numpy(_matrix(c, "coefficients", classes, features))
        return label_scores(c, x @ weights.T + float(_numbers(c, "rho")[0]), labels)
    classes = len(sizes)
    if labels and len(labels) != classes:
        raise c.refuse(f"{len(labels)} labels for {classes} classes")
    kernels = _kernels(c, x, _matrix(c, "support_vectors", count, features))
    pairs = list(itertools.combinations(range(classes), 2))
    shifts = Tensor.from_numpy(_matrix(c, "rho", 1, len(pairs)))
    scores = kernels @ Tensor.from_numpy(_weights_of_pairs(c, sizes, pairs)) + shifts
    chosen = _count_votes(scores, pairs, classes).argmax(1).cast(dtypes.int64)
    return name_classes(chosen, labels), _shown_scores(c, scores, pairs, classes)


def _weights_of_pairs(c: Call, sizes: list[int], pairs: list[tuple[int, int]]) -> Array:
    """[vectors, pairs]: what the vectors of both classes count for each pair. A vector has a
    coefficient for each class but its own."""
    ends = list(itertools.accumulate(sizes))
    spans = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    given = _matrix(c, "coefficients", len(sizes) - 1, ends[-1])
    table = numpy.zeros((ends[-1], len(pairs)), numpy.float32)
    for place, (one, other) in enumerate(pairs):
        table[spans[one], place] = given[other - 1, spans[one]]
        table[spans[other], place] = given[one, spans[other]]
    return table


def _count_votes(scores: Tensor, pairs: list[tuple[int, int]], classes: int) -> Tensor:
    """[rows, classes]: how many pairs each class wins."""
    first, second = numpy.eye(classes, dtype=numpy.float32)[numpy.array(pairs).T]
    won = (scores > 0).cast(dtypes.float32)
    return won @ Tensor.from_numpy(first) + (1 - won) @ Tensor.from_numpy(second)


def _shown_scores(
    c: Call, scores: Tensor, pairs: list[tuple[int, int]], classes: int
) -> Tensor:
    """The numbers beside the labels: chances of classes, or the sums of pairs."""
    if c.get("prob_a"):
        slopes, shifts = (_matrix(c, name, 1, len(pairs)) for name in ("prob_a", "prob_b"))
        chances = 1 / (1 + numpy.exp(scores.numpy() * slopes + shifts))
        coupled = _couple(_by_class(chances, pairs, classes))
        return transform_scores(c, Tensor.from_numpy(coupled.astype(numpy.float32)))
    if len(pairs) == 1:
        scores = cat([-scores, scores], 1)
    return transform_scores(c, scores)


def _by_class(chances: Any, pairs: list[tuple[int, int]], classes: int) -> Array:
    """[rows, classes, classes]: the chance of a class where there is but one other."""
    table = numpy.zeros((len(chances), classes, classes))
    for place, (one, other) in enumerate(pairs):
        chance = numpy.clip(chances[:, place], LEAST_CHANCE, 1 - LEAST_CHANCE)
        table[:, one, other], table[:, other, one] = chance, 1 - chance
    return table


def _couple(chances: Array) -> Array:
    """[rows, classes]: the chances p for which p_i * r_ji is as near to p_j * r_ij as can be, where
    r are the chances of pairs (Wu, Lin and Weng 2004, their second way, by its iteration)."""
    classes = chances.shape[1]
    squares = -chances.transpose(0, 2, 1) * chances
    squares += numpy.eye(classes) * (chances**2).sum(1)[:, None, :]
    coupled = numpy.full(chances.shape[:2], 1 / classes)
    left = numpy.arange(len(chances))
    for _ in range(max(MOST_ROUNDS, classes)):
        matrix, p = squares[left], coupled[left]
        slope = numpy.einsum("nij,nj->ni", matrix, p)
        value = (p * slope).sum(1)
        is_open = abs(slope - value[:, None]).max(1, initial=0) >= 0.005 / classes
        left, matrix, p = left[is_open], matrix[is_open], p[is_open]
        slope, value = slope[is_open], value[is_open]
        if not left.size:
            break
        for each in range(classes):
            corner = matrix[:, each, each]
            step = (value - slope[:, each]) / corner
            p[:, each] += step
            value = (value + step * (step * corner + 2 * slope[:, each])) / (1 + step) ** 2
            slope = (slope + step[:, None] * matrix[:, each]) / (1 + step)[:, None]
            p /= (1 + step)[:, None]
        coupled[left] = p
    return coupled
