"""Attention and tables: values, masks and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Tensor
from ogive.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    IndexRangeError,
    ShapeError,
)
from tests.tensor.oracle import (
    ErrorCase,
    agree,
    agree_on_dtype,
    each_error,
    normal,
    refuses,
    uniform,
)

NAME = "scaled_dot_product_attention"
QUERY, KEY, VALUE = normal(2, 4, 5, 8), normal(2, 4, 7, 8), normal(2, 4, 7, 3)
SEEN = uniform(5, 7) < 0.5
SEEN[1] = False  # a query that sees nothing

CASES: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "plain": ((QUERY, KEY, VALUE), {}),
    "scaled": ((QUERY, KEY, VALUE), {"scale": 0.3}),
    "masked": ((QUERY, KEY, VALUE, SEEN), {}),
    "mask added": ((QUERY, KEY, VALUE, normal(2, 1, 5, 7)), {}),
    "mask of infinities": ((QUERY, KEY, VALUE, np.where(SEEN, 0.0, -np.inf)), {}),
    "causal": ((QUERY, QUERY, QUERY), {"is_causal": True}),
    "causal, more keys": ((QUERY, KEY, VALUE), {"is_causal": True}),
    "grouped heads": ((QUERY, normal(2, 2, 7, 8), normal(2, 2, 7, 3)), {"enable_gqa": True}),
    "no batch": ((normal(5, 8), normal(7, 8), normal(7, 3)), {}),
    "empty batch": ((normal(0, 5, 8), normal(0, 7, 8), normal(0, 7, 3)), {}),
    "no queries": ((normal(2, 0, 8), normal(2, 7, 8), normal(2, 7, 3)), {}),
    "no keys": ((normal(2, 5, 8), normal(2, 0, 8), normal(2, 0, 3)), {}),
}


@pytest.mark.parametrize("case", CASES)
def test_attention_agrees_with_torch(case: str) -> None:
    arguments, options = CASES[case]
    agree(NAME, *arguments, **options)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_the_dtype_stays(dtype: str) -> None:
    agree_on_dtype(NAME, dtype, normal(1, 3, 4), normal(1, 5, 4), normal(1, 5, 2))


def test_views_attend_as_they_are_seen() -> None:
    x = normal(2, 5, 4, 8)
    heads = Tensor(x).transpose(1, 2)
    expected = Tensor(np.ascontiguousarray(x.transpose(0, 2, 1, 3)))
    np.testing.assert_allclose(
        heads.scaled_dot_product_attention(heads, heads).numpy(),
        expected.scaled_dot_product_attention(expected, expected).numpy(),
        rtol=1e-12,
    )


def test_dropped_weights_are_zero_and_the_others_larger() -> None:
    ogive.random.manual_seed(5)
    query, value = ogive.zeros(1, 64, 4), ogive.ones(1, 64, 1)
    sums = query.scaled_dot_product_attention(query, value, dropout_p=0.5).numpy()
    assert abs(sums.mean() - 1) < 0.1 and sums.std() > 0.05
    dropped = query.scaled_dot_product_attention(query, value, dropout_p=1.0)
    assert dropped.numpy().max() == 0


def test_rows_of_tables_agree_with_torch() -> None:
    table = normal(6, 3)
    agree("embedding", np.array([[1, 2], [0, 5]]), table)
    agree("embedding", np.array([1, 2], "int32"), table, padding_idx=-1)
    agree("embedding", np.zeros((0, 2), "int64"), table)
    agree("one_hot", np.array([[1, 2], [0, 5]]))
    agree("one_hot", np.array(1), num_classes=4)


Q = ogive.zeros(2, 5, 8)
MASK = ogive.ones(5, 5, dtype="bool")
ROWS = Tensor([0, 6])
TABLE = ogive.zeros(6, 3)
NUMBER: Any = 1

ERRORS: list[ErrorCase] = [
    (lambda: Q.scaled_dot_product_attention(ogive.zeros(2, 5, 4), Q), ShapeError,
     r"query, key and value have the shapes \(2, 5, 8\), \(2, 5, 4\), \(2, 5, 8\); expected"),
    (lambda: Q.scaled_dot_product_attention(Q, ogive.zeros(2, 4, 8)), ShapeError, r"\(..., s, v\)"),
    (lambda: Q.scaled_dot_product_attention(Q, Q, MASK, is_causal=True), ArgumentError, "not both"),
    (lambda: Q.scaled_dot_product_attention(Q.double(), Q), DtypeError, "key is float64 and query"),
    (lambda: Q.scaled_dot_product_attention(Q, Q, MASK.int()), DtypeError, "attn_mask is int32"),
    (lambda: Q.scaled_dot_product_attention(Q, NUMBER), ArgumentTypeError, "value must be a ten"),
    (lambda: Q.scaled_dot_product_attention(Q[:, None].expand(2, 3, 5, 8)[0], Q, enable_gqa=True),
     ShapeError, "the heads of key .* must divide those of query"),
    (lambda: ROWS.embedding(TABLE).realize(), IndexRangeError, "outside"),
    (lambda: ROWS.embedding(TABLE[0]), ShapeError, r"weight has the shape \(3,\); expected"),
    (lambda: ROWS.embedding(TABLE, 6), IndexRangeError, "padding_idx=6 is not among the 6 rows"),
    (lambda: TABLE.embedding(TABLE), DtypeError, "the input is float32; positions are"),
    (lambda: ROWS.one_hot(6).realize(), IndexRangeError, "outside"),
    (lambda: ROWS.one_hot(0), ArgumentError, "num_classes must be positive, got 0"),
    (lambda: ROWS[:0].one_hot(), ArgumentError, "no elements say how many classes"),
]  # fmt: skip


@each_error(ERRORS)
def test_errors_name_the_argument_and_what_was_expected(case: ErrorCase) -> None:
    refuses(*case)
