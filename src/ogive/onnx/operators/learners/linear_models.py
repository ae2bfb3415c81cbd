"""Linear models (ai.onnx.ml), and what classifiers make of scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.onnx.call import Call, index_tensor
from ogive.onnx.table import Value, operator
from ogive.tensor.movement.joining import cat
from ogive.tensor.tensor import Tensor

DOMAIN = "ai.onnx.ml"


def transform_scores(c: Call, scores: Tensor, kind: str | None = None) -> Tensor:
    """Scores as `post_transform` says."""
    kind = kind or c.get("post_transform", "NONE")
    if kind == "NONE":
        return scores
    if kind == "LOGISTIC":
        return scores.sigmoid()
    if kind == "SOFTMAX":
        return scores.softmax(-1)
    if kind == "SOFTMAX_ZERO":
        return _softmax_of_nonzero(scores)
    if kind == "PROBIT":
        return (scores * 2 - 1).erfinv() * 2**0.5
    raise c.refuse(f"scores are transformed by {kind!r}")


def _softmax_of_nonzero(scores: Tensor) -> Tensor:
    """A softmax to which what is 0 does not contribute."""
    largest = scores.amax(-1, True)
    powers = (scores - largest).exp().where(scores.abs() > 1e-7, scores * (-largest).exp())
    total = powers.sum(-1, True)
    return (powers * 0 + 0.5).where(total == 0, powers / total)


def label_pairs(
    c: Call, scores: Tensor, labels: Sequence[int | str], is_chance: bool
) -> Value:
    """The label of each row, and scores of two classes, for those of one: chances, or distances."""
    pair = cat([1 - scores if is_chance else -scores, scores], 1)
    return label_scores(c, pair, labels, "NONE" if is_chance else None)


def label_scores(
    c: Call, scores: Tensor, labels: Sequence[int | str], kind: str | None = None
) -> Value:
    """The label of each row, and the scores as `kind`, or else the node, says."""
    kind = kind or c.get("post_transform", "NONE")
    if len(labels) == 1:  # the other class is 0
        labels = [0, labels[0]] if isinstance(labels[0], int) else ["", labels[0]]
    transformed = transform_scores(c, scores, kind).cast(dtypes.float32)
    if int(transformed.shape[1]) == 1:
        threshold = 0.0 if kind == "NONE" else 0.5
        chosen = (transformed.reshape(-1) >= threshold).cast(dtypes.int64)
    else:
        chosen = transformed.argmax(1).cast(dtypes.int64)
    return name_classes(chosen, labels), transformed


def name_classes(chosen: Tensor, labels: Sequence[int | str]) -> Value:
    """The labels of classes that are chosen by number."""
    if not labels:
        return chosen
    if isinstance(labels[0], str):
        return numpy.array(labels, object)[chosen.numpy()]
    if list(labels) == list(range(len(labels))):
        return chosen
    return index_tensor(labels).index_select(0, chosen)


def _scores(c: Call, columns: int) -> Tensor:
    """[rows, columns]: products with the coefficients, and intercepts."""
    given = c.tensor(0)
    x = given if given.dtype is dtypes.float64 else given.cast(dtypes.float32)
    x = x.reshape(1, -1) if x.ndim == 1 else x
    weights = numpy.array(c.get("coefficients"), numpy.float64)
    if columns < 1 or weights.size != columns * int(x.shape[1]):
        count = int(x.shape[1])
        raise c.refuse(f"{weights.size} coefficients for {count} features of {columns} results")
    products = x @ Tensor.from_numpy(weights.reshape(columns, -1).T.copy()).cast(x.dtype)
    intercepts = c.get("intercepts")
    if not intercepts:
        return products
    return products + Tensor.from_numpy(numpy.array(intercepts, numpy.float64)).cast(x.dtype)


@operator("LinearRegressor", domain=DOMAIN)
def linear_regressor(c: Call) -> Value:
    return transform_scores(c, _scores(c, c.get("targets", 1))).cast(dtypes.float32)


@operator("LinearClassifier", domain=DOMAIN)
def linear_classifier(c: Call) -> Value:
    labels = c.get("classlabels_ints") or c.get("classlabels_strings") or []
    features = int(c.tensor(0).shape[-1])
    columns = len(c.get("coefficients")) // max(features, 1)
    scores = _scores(c, columns)
    if columns == 1 and len(labels) == 2:
        scores = cat([-scores, scores], 1)
    return label_scores(c, scores, labels)
