"""GroupQueryAttention makes what ONNX Runtime makes."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import ogive
from ogive.onnx import OperatorError
from tests.onnx.test_contrib_operators import Array, draw, make_node
from tests.raising import raises

onnxruntime = pytest.importorskip("onnxruntime")

HEADS, GROUPS, SIZE = 4, 2, 16
ROTATED: dict[str, Any] = {"do_rotary": 1}


def lengths(*counts: int) -> Array:
    """How many keys count in each row of a batch, as the operator takes it."""
    return numpy.array(counts, numpy.int32) - 1


def angles(count: int = 32) -> list[Array]:
    turns = numpy.arange(count)[:, None] * 0.3 ** numpy.arange(SIZE // 2)
    return [numpy.cos(turns).astype(numpy.float32), numpy.sin(turns).astype(numpy.float32)]


def check(
    count: int, held: int, ends: Array, *, packed: bool = False, **attributes: Any
) -> None:
    """`count` new positions behind caches with room for `held`, of which `ends` count then."""
    batch = len(ends)
    query = draw(batch, count, (HEADS + 2 * GROUPS if packed else HEADS) * SIZE)
    key, value = (draw(batch, count, GROUPS * SIZE, seed=seed) for seed in (1, 2))
    past = [draw(batch, GROUPS, held, SIZE, seed=seed) for seed in (3, 4)]
    total = numpy.array(ends.max() + 1, numpy.int32)
    inputs = [query, *([None, None] if packed else [key, value]), *past, ends, total]
    inputs += angles() if attributes.get("do_rotary") else []
    raw, given = make_node(
        "GroupQueryAttention", inputs, 3, num_heads=HEADS, kv_num_heads=GROUPS, **attributes
    )
    session = onnxruntime.InferenceSession(raw)
    wanted = session.run(None, given)
    made = [each.numpy() for each in ogive.onnx.load(raw).run(given).values()]
    numpy.testing.assert_allclose(made[0], wanted[0], rtol=2e-5, atol=2e-5)
    for one, other in zip(made[1:], wanted[1:], strict=True):
        assert one.shape == other.shape
        for row, end in enumerate(ends + 1):  # what lies behind that is nobody's
            numpy.testing.assert_allclose(one[row, :, :end], other[row, :, :end], rtol=2e-5)


@pytest.mark.parametrize("attributes", [{}, ROTATED, {**ROTATED, "rotary_interleaved": 1}])
def test_a_prompt(attributes: dict[str, Any]) -> None:
    check(5, 0, lengths(5), **attributes)
    check(5, 0, lengths(5, 5), **attributes)


@pytest.mark.parametrize("attributes", [{}, ROTATED])
def test_a_position_behind_a_cache(attributes: dict[str, Any]) -> None:
    check(1, 6, lengths(7), **attributes)
    check(1, 6, lengths(7), packed=True, **attributes)


def test_caches_with_room_and_of_different_lengths() -> None:
    check(1, 12, lengths(7), **ROTATED)
    check(1, 12, lengths(5, 9), **ROTATED)
    check(1, 8, lengths(5, 9), **ROTATED)


def test_scores_are_bounded_scaled_and_see_a_window() -> None:
    check(6, 0, lengths(6), local_window_size=3)
    check(1, 6, lengths(7), local_window_size=3)
    check(4, 0, lengths(4), softcap=2.0, scale=0.7)


def test_what_is_not_there_is_refused() -> None:
    inputs = [draw(1, 3, 64), draw(1, 3, 32), draw(1, 3, 32), None, None, lengths(3)]
    raw, given = make_node(
        "GroupQueryAttention", [*inputs, numpy.array(3, numpy.int32)], 3, num_heads=4,
        kv_num_heads=2, smooth_softmax=1,
    )  # fmt: skip
    with raises(OperatorError, match="smooth softmax"):
        ogive.onnx.load(raw).run(given)
