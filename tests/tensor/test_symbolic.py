"""Tensors whose shapes and indices depend on variables, against NumPy at every value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import ogive
from ogive import Tensor, Variable
from ogive.compiler.ir.ops import Op
from ogive.compiler.live.kept_graphs import kept_graphs
from ogive.errors import (
    ArgumentError,
    ArgumentTypeError,
    IndexRangeError,
    OgiveError,
    ShapeError,
    VariableError,
)
from tests.compiler.passes.parametric import normalize
from tests.raising import raises
from tests.tensor.symbolic_programs import Program

Array = NDArray[Any]
HIGH = 11
N = Variable("n", 0, HIGH)
POSITIVE = Variable("p", 1, HIGH)

ROWS = np.random.default_rng(1).standard_normal((HIGH, 6)).astype(np.float32)
CUBE = np.random.default_rng(2).standard_normal((3, HIGH, 5)).astype(np.float32)
WHOLE = np.random.default_rng(3).integers(-9, 9, (HIGH, 4))


def softmax(x: Array, axis: int) -> Array:
    weights = np.exp(x - x.max(axis, keepdims=True))
    return np.asarray(weights / weights.sum(axis, keepdims=True))


Build = Callable[..., Any]
BOTH: dict[str, tuple[Build, Array]] = {
    "front": (lambda x, n: x[:n], ROWS),
    "back": (lambda x, n: x[n:], ROWS),
    "from the end": (lambda x, n: x[n - 20 :], ROWS),
    "front of columns": (lambda x, n: x[:, :n], CUBE),
    "all but the last": (lambda x, n: x[:n][:-1], ROWS),
    "last two": (lambda x, n: x[:n][-2:], ROWS),
    "known front of symbolic": (lambda x, n: x[n:][:3], ROWS),
    "window": (lambda x, n: x[n : n + 2], ROWS),
    "window that moves back": (lambda x, n: x[2:n], ROWS),
    "beyond the end": (lambda x, n: x[: n + 5], ROWS),
    "steps": (lambda x, n: x[:n:2], ROWS),
    "steps of symbolic": (lambda x, n: x[:n][1::3], ROWS),
    "backwards": (lambda x, n: x[:n][::-1], ROWS),
    "backwards from": (lambda x, n: x[n::-1], ROWS),
    "backwards in steps": (lambda x, n: x[:, n::-2], CUBE),
    "new axis": (lambda x, n: x[None, :n, ..., None], ROWS),
    "arithmetic": (lambda x, n: x[:n] * 2 + x[:n], ROWS),
    "row": (lambda x, n: x[:n] + x[0], ROWS),
    "column": (lambda x, n: x[:n] - x[:n, :1], ROWS),
    "transposed": (lambda x, n: x[:n].T, ROWS),
    "sum": (lambda x, n: x[:n].sum(0), ROWS),
    "sum of rows": (lambda x, n: x[:n].sum(1), ROWS),
    "sum of all": (lambda x, n: x[:n].sum(), WHOLE),
    "sum of the middle": (lambda x, n: x[:, :n].sum(1), CUBE),
    "any": (lambda x, n: (x[:n] > 1).any(0), ROWS),
    "all": (lambda x, n: (x[:n] > 1).all(0), ROWS),
    "product": (lambda x, n: x[:n] @ x.T, ROWS),
    "product of columns": (lambda x, n: x @ x[:n].T, ROWS),
    "product over": (lambda x, n: x[:n].T @ x[:n], ROWS),
    "product all over": (lambda x, n: x[:n] @ x[:n].T, ROWS),
    "batch": (lambda x, n: x[:n].reshape(-1, 3, 2) @ x[0].reshape(2, 3), ROWS),
    "vector": (lambda x, n: x[:n] @ x[0], ROWS),
    "flat": (lambda x, n: x[:n].reshape(-1), ROWS),
    "split": (lambda x, n: x[:n].reshape(-1, 3, 2), ROWS),
    "joined": (lambda x, n: x[:, :n].reshape(3, -1), CUBE),
}


@pytest.mark.parametrize("name", BOTH)
def test_the_same_expression_as_numpy_at_every_value(name: str) -> None:
    build, data = BOTH[name]
    for value in range(HIGH + 1):
        got = build(Tensor(data), N.bind(value)).numpy()
        want = build(data, value)
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-5)


def check(build: Callable[[Any], Tensor], reference: Callable[[int], Any], low: int = 0) -> None:
    """Compare at every value; there must be one parametric graph for all of them."""
    variable = Variable("v", low, HIGH)
    sinks = set()
    for value in range(low, HIGH + 1):
        tensor = build(variable.bind(value))
        sinks.add(normalize((tensor.node,)).sink)
        want = np.asarray(reference(value))
        got = tensor.numpy()
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-5)
    assert len(sinks) == 1


def test_shrink_pad_and_expand() -> None:
    x = Tensor(ROWS)
    check(lambda n: x.shrink(((0, n), (1, 3))), lambda n: ROWS[:n, 1:3])
    check(lambda n: x.pad(((n, 0), (0, 1)), value=3), lambda n: _padded(ROWS, n, 0, 3))
    check(lambda n: x.pad(((0, n), (0, 1))), lambda n: _padded(ROWS, 0, n, 0))
    check(lambda n: x[:1].expand(n, -1), lambda n: np.repeat(ROWS[:1], n, 0))
    check(lambda n: x[:n].unsqueeze(1).expand(-1, n, -1)[:, :, 0],
          lambda n: np.repeat(ROWS[:n, None], n, 1)[:, :, 0])  # fmt: skip


def _padded(x: Array, before: int, after: int, fill: float) -> Array:
    return np.pad(x, ((before, after), (0, 1)), constant_values=fill)


def test_creation() -> None:
    check(lambda n: ogive.zeros(n, 3) + 1, lambda n: np.ones((n, 3)))
    check(lambda n: ogive.ones(2, n), lambda n: np.ones((2, n)))
    check(lambda n: ogive.full((n,), 7), lambda n: np.full(n, 7))
    check(lambda n: ogive.eye(n, 4), lambda n: np.eye(n, 4))
    check(lambda n: ogive.zeros_like(Tensor(ROWS)[:n]), lambda n: np.zeros((n, 6)))
    check(lambda n: ogive.arange(n), np.arange)
    check(lambda n: ogive.arange(2, n + 5, 3), lambda n: np.arange(2, n + 5, 3))
    check(lambda n: ogive.arange(n, n * 3), lambda n: np.arange(n, n * 3))
    check(lambda n: ogive.arange(n, -1, -2), lambda n: np.arange(n, -1, -2))
    check(lambda n: ogive.arange(n, dtype="float32") / 2, lambda n: np.arange(n) / 2)


def test_joining() -> None:
    x = Tensor(ROWS)
    check(lambda n: ogive.cat([x[:n], x]), lambda n: np.concatenate([ROWS[:n], ROWS]))
    check(lambda n: ogive.cat([x, x[n:], x[:n]]),
          lambda n: np.concatenate([ROWS, ROWS[n:], ROWS[:n]]))  # fmt: skip
    check(lambda n: ogive.cat([x[:n], x[:n]], 1), lambda n: np.tile(ROWS[:n], 2))
    check(lambda n: ogive.stack([x[:n], x[:n]]), lambda n: np.stack([ROWS[:n], ROWS[:n]]))
    check(lambda n: ogive.where(x[:n] > 0, x[:n], 0), lambda n: np.maximum(ROWS[:n], 0))


def test_averages_divide_by_the_variable() -> None:
    x = Tensor(CUBE)
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        check(lambda n: x[:, :n].mean(1), lambda n: CUBE[:, :n].mean(1))
        check(lambda n: x[:, :n].mean(), lambda n: CUBE[:, :n].mean())
        check(lambda n: x[:, :n].var(1), lambda n: CUBE[:, :n].var(1, ddof=1), low=2)
        check(lambda n: x[:, :n].var(correction=0), lambda n: CUBE[:, :n].var(), low=1)
        check(lambda n: x[:, :n].std((0, 1)), lambda n: CUBE[:, :n].std((0, 1), ddof=1), low=1)
    assert np.isnan(x[:, : POSITIVE.bind(1)].var(1).numpy()).all()


def test_extremes_and_their_positions() -> None:
    x, whole = Tensor(CUBE), Tensor(WHOLE)
    check(lambda n: x[:, :n].amax(1), lambda n: CUBE[:, :n].max(1), low=1)
    check(lambda n: x[:, : n + 1].min(), lambda n: CUBE[:, : n + 1].min())
    check(lambda n: whole[:n].argmax(0), lambda n: WHOLE[:n].argmax(0), low=1)
    check(lambda n: whole[:n].argmin(), lambda n: WHOLE[:n].argmin(), low=1)
    check(lambda n: whole[:n].argmax(1), lambda n: WHOLE[:n].argmax(1))


def test_softmax_and_norms() -> None:
    x, rows = Tensor(CUBE), Tensor(ROWS)
    check(lambda n: x[:, :n].softmax(1), lambda n: softmax(CUBE[:, :n], 1), low=1)
    check(lambda n: rows[:n].softmax(-1), lambda n: softmax(ROWS[:n], -1))
    check(lambda n: x[:, :n].log_softmax(1), lambda n: np.log(softmax(CUBE[:, :n], 1)), low=1)
    check(lambda n: rows[:n].layer_norm(6, Tensor(ROWS[0]), Tensor(ROWS[1])), _layer_norm)


def _layer_norm(n: int) -> Array:
    x = ROWS[:n]
    centred = x - x.mean(-1, keepdims=True)
    scale = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return np.asarray(centred / scale * ROWS[0] + ROWS[1])


def test_an_integer_index_that_depends_on_a_variable() -> None:
    x = Tensor(ROWS)
    place = Variable("i", 0, HIGH - 1)
    for value in (0, 4, HIGH - 1):
        i = place.bind(value)
        np.testing.assert_array_equal(x[i].numpy(), ROWS[value])
        np.testing.assert_array_equal(x[i, 2:].numpy(), ROWS[value, 2:])
        np.testing.assert_array_equal(x[i - HIGH].numpy(), ROWS[value - HIGH])
        np.testing.assert_array_equal(x[: i + 1][i].numpy(), ROWS[value])
        np.testing.assert_array_equal(x[: i + 1][-1].numpy(), ROWS[value])
        np.testing.assert_array_equal(x[i : i + 1].numpy(), ROWS[value : value + 1])
        assert x[i : i + 1].shape == (1, 6)


def test_two_variables() -> None:
    x = Tensor(CUBE)
    for n in (0, 1, 3, HIGH):
        for m in (0, 2, 5):
            a, b = N.bind(n), Variable("m", 0, 5).bind(m)
            part, want = x[:, :a, :b], CUBE[:, :n, :m]
            np.testing.assert_array_equal(part.numpy(), want)
            np.testing.assert_allclose(part.sum((1, 2)).numpy(), want.sum((1, 2)), rtol=2e-5)
            np.testing.assert_array_equal(part.flatten().numpy(), want.flatten())
            np.testing.assert_array_equal(part.T.reshape(-1, 3).numpy(), want.T.reshape(-1, 3))
            assert part.reshape(3, b, -1).shape == (3, b, a)


def test_a_variable_takes_part_in_arithmetic() -> None:
    n = N.bind(3)
    np.testing.assert_array_equal((ogive.arange(6) < n).numpy(), np.arange(6) < 3)
    x = Tensor([1.5, 2.5])
    assert (x * n).dtype is ogive.float32 and (x * n).tolist() == [4.5, 7.5]
    assert Tensor(n * 2 + 1).item() == 7 and Tensor(n).dtype is ogive.int64
    assert (1 / Tensor(n, dtype="float32")).item() == pytest.approx(1 / 3)


def test_what_is_known_about_a_symbolic_tensor() -> None:
    x = Tensor(ROWS)[: N.bind(4)]
    assert repr(x.shape) == "(n=4, 6)"
    assert repr(Tensor(ROWS)[N.bind(4) :].shape) == "(11 - (n=4), 6)"
    assert repr(x.numel()) == "(n=4)*6"
    assert repr(x.reshape(-1).shape) == "((n=4)*6,)"
    assert len(x) == 4 and x.ndim == 2
    assert repr(x * 2).startswith("Tensor(shape=(n=4, 6), dtype=float32, device=CPU, lazy")
    assert "shape=(n=4,)" in repr(x[:, 0].realize()) and repr(x[:, 0].realize()).count(",") > 5
    assert x.tolist() == ROWS[:4].tolist()


def test_item_and_bool_count_the_elements_there_are() -> None:
    x = Tensor([7.0, 8.0])
    assert x[: Variable("n", 0, 2).bind(1)].item() == 7
    assert bool(x[: Variable("n", 0, 2).bind(1)])
    with raises(ShapeError, match=r"shape \(n=2,\) has 2"):
        x[: Variable("n", 0, 2).bind(2)].item()


def test_only_the_logical_part_of_a_realized_tensor_is_read() -> None:
    x = (Tensor(CUBE)[:, : N.bind(4)] * 2).realize()
    assert x.is_realized and x.node.op is Op.SHRINK
    np.testing.assert_array_equal(x.numpy(), CUBE[:, :4] * 2)
    np.testing.assert_array_equal((x + 1).numpy(), CUBE[:, :4] * 2 + 1)
    np.testing.assert_array_equal(x.T.numpy(), (CUBE[:, :4] * 2).T)


def test_a_part_of_memory_in_another_layout_is_not_taken_for_memory() -> None:
    narrow = Variable("n", 0, 4).bind(3)
    x = Tensor(CUBE)
    np.testing.assert_array_equal(x[:, :narrow].numpy(), CUBE[:, :3])
    np.testing.assert_array_equal(x[:, :, :narrow].realize().numpy(), CUBE[:, :, :3])
    np.testing.assert_array_equal(x[:, :, :narrow].contiguous().numpy(), CUBE[:, :, :3])


# Writing


def test_assignment_at_a_symbolic_place_is_in_place() -> None:
    place = Variable("i", 0, HIGH - 1)
    cache, want = Tensor(CUBE), CUBE.copy()
    for value in (0, 5, HIGH - 1):
        i = place.bind(value)
        row = np.full((3, 5), value, np.float32)
        cache[:, i] = Tensor(row)
        assert cache.node.op is Op.AFTER
        want[:, value] = row
        np.testing.assert_array_equal(cache.numpy(), want)
        cache[:, i : i + 1] = 7
        want[:, value : value + 1] = 7
        np.testing.assert_array_equal(cache[:, : i + 1].numpy(), want[:, : value + 1])


def test_assignment_of_a_symbolic_length() -> None:
    for value in range(HIGH + 1):
        n = N.bind(value)
        x, want = Tensor(ROWS), ROWS.copy()
        before = x * 2
        x[:n] = x[:n] * 3
        want[:value] *= 3
        np.testing.assert_array_equal(x.numpy(), want)
        x[n:] = x[: HIGH - n]  # overlaps
        want[value:] = want[: HIGH - value].copy()
        np.testing.assert_array_equal(x.numpy(), want)
        x[:n:2] = 0
        want[:value:2] = 0
        np.testing.assert_array_equal(x.numpy(), want)
        np.testing.assert_array_equal(before.numpy(), ROWS * 2)


def test_a_symbolic_tensor_is_assigned_to_in_place() -> None:
    x = (Tensor(ROWS)[: POSITIVE.bind(4)] + 0).realize()
    want = ROWS[:4].copy()
    before = x + 1
    x[0] = 5
    x[:, 2] = Tensor(ROWS[:, 0])[: POSITIVE.bind(4)]
    assert x.node.op is Op.AFTER
    want[0], want[:, 2] = 5, ROWS[:4, 0]
    np.testing.assert_array_equal(x.numpy(), want)
    np.testing.assert_array_equal(before.numpy(), ROWS[:4] + 1)
    x.assign(x * 2)
    np.testing.assert_array_equal(x.numpy(), want * 2)


def test_a_symbolic_view_writes_through() -> None:
    x = Tensor(ROWS)
    view = x[: N.bind(3)]
    view.assign(0)
    np.testing.assert_array_equal(view.numpy(), np.zeros((3, 6)))
    np.testing.assert_array_equal(x.numpy(), [*np.zeros((3, 6)), *ROWS[3:]])


# What is refused


def refused(kind: type[OgiveError], words: str, build: Callable[[], Any]) -> None:
    with raises(kind, match=words, quoting=r"test_symbolic\.py"):
        build()


def test_senseless_variables() -> None:
    refused(VariableError, "0 <= low <= high", lambda: Variable("n", 3, 1))
    refused(VariableError, "0 <= low <= high", lambda: Variable("n", -1, 1))
    refused(VariableError, "identifier", lambda: Variable("2n", 0, 1))
    refused(ArgumentTypeError, "bounds are integers", lambda: Variable("n", 0.5, 1))  # type: ignore[arg-type]


def test_values_a_variable_does_not_take() -> None:
    refused(VariableError, "between 0 and 11, got 12", lambda: N.bind(12))
    refused(VariableError, "between 0 and 11, got -1", lambda: N.bind(-1))
    refused(VariableError, "takes an integer, got 1.5", lambda: N.bind(1.5))  # type: ignore[arg-type]
    refused(VariableError, "takes an integer, got True", lambda: N.bind(True))
    assert repr(N.bind(np.int64(3))) == "n=3"  # type: ignore[arg-type]


def test_a_variable_without_a_value() -> None:
    x = Tensor(ROWS)
    refused(VariableError, "'n' has no value; bind it", lambda: x[:N])
    refused(VariableError, "'n' has no value; bind it", lambda: ogive.zeros(N))
    refused(VariableError, "'n' has no value; bind it", lambda: x * N)
    refused(VariableError, "'n' has no value; bind it", lambda: x[: N.node].numpy())


def test_what_is_not_an_integer() -> None:
    n = N.bind(3)
    refused(ArgumentTypeError, "combined with integers, not with a float", lambda: n + 1.5)  # type: ignore[operator]
    refused(ArgumentTypeError, "write the tensor first", lambda: n * Tensor([1.0]))
    refused(ArgumentTypeError, "must be an integer; n=3", lambda: Tensor(ROWS)[::n])
    refused(ArgumentTypeError, "must be an integer; n=3", lambda: Tensor(ROWS).sum(n))  # type: ignore[arg-type]


def test_two_values_of_one_variable() -> None:
    x = Tensor(ROWS)
    three, four = x[: N.bind(3)], x[: N.bind(4)]
    words = "'n' is bound to [34] and to [34] in one graph"
    refused(VariableError, words, lambda: three + four)
    refused(VariableError, words, lambda: three.T @ four)
    refused(VariableError, words, lambda: ogive.cat([three, four], 1))
    refused(VariableError, words, lambda: three.reshape(N.bind(4), 6))
    refused(VariableError, words, lambda: (three.sum(0) + four.sum(0)).numpy())
    np.testing.assert_array_equal(three.numpy(), ROWS[:3])


def test_two_variables_of_one_name() -> None:
    x = Tensor(ROWS)
    one, other = x[: N.bind(3)], x[: Variable("n", 1, 9).bind(3)]
    words = r"two variables named 'n' with different bounds, \(0, 11\) and \(1, 9\)"
    refused(VariableError, words, lambda: one + other)
    refused(VariableError, words, lambda: (one.sum(0) + other.sum(0)).numpy())


def test_lengths_that_are_not_known_to_be_equal() -> None:
    x = Tensor(ROWS)
    n, m = x[: N.bind(3)], x[: Variable("m", 0, HIGH).bind(3)]
    words = "[nm]=3 and [nm]=3 are not equal for every value"
    refused(ShapeError, words, lambda: n + m)
    refused(ShapeError, words, lambda: n.T @ m)
    refused(ShapeError, words, lambda: ogive.stack([n, m]))
    refused(ShapeError, words, lambda: x[: N.bind(3)].assign(m))
    refused(ShapeError, r"n=3 and 3 are not equal for every", lambda: n + Tensor(ROWS[:3]))
    short, long = ogive.zeros(Variable("m", 2, 3).bind(2)), ogive.zeros(N.bind(3) + 20)
    refused(ShapeError, r"m=2 and \(n=3\) \+ 20 are never equal", lambda: short + long)
    refused(ShapeError, "does not fit", lambda: n.reshape(3, 6))
    refused(ShapeError, "does not fit", lambda: n.reshape(4, -1))
    refused(ShapeError, "would go from n=3 to 3", lambda: n.expand(3, 6))


def test_places_that_may_be_outside() -> None:
    x = Tensor(ROWS)
    n = N.bind(3)
    refused(IndexRangeError, r"index n=3 \(between 0 and 11\) may be out of range", lambda: x[n])
    refused(IndexRangeError, "may be out of range", lambda: x[n - 1])
    refused(IndexRangeError, "may be out of range", lambda: x[:n][0])
    refused(IndexRangeError, "may be out of range", lambda: x[:n][n])
    refused(IndexRangeError, "may or may not be negative", lambda: x[: n - 1])
    refused(IndexRangeError, "for every value", lambda: x.shrink(((0, n + 1), (0, 6))))
    refused(IndexRangeError, "for every value", lambda: x.shrink(((4, n), (0, 6))))
    refused(IndexRangeError, "may be out of range", lambda: x.__setitem__(n, 0))
    refused(ArgumentError, "may or may not be negative", lambda: x.pad(((n - 1, 0), (0, 0))))
    refused(ShapeError, "may have a negative length", lambda: ogive.zeros(n - 1))
    refused(ShapeError, "may have a negative length", lambda: x.reshape(n - 1, -1))
    refused(ArgumentError, "does not, for every value", lambda: ogive.arange(3, n))
    np.testing.assert_array_equal(x.numpy(), ROWS)


def test_what_an_empty_axis_does_not_have() -> None:
    part = Tensor(ROWS)[: N.bind(3)]
    refused(ShapeError, r"may have no elements \(between 0 and 11\)", lambda: part.amax(0))
    refused(ShapeError, "may have no elements", lambda: part.argmin())
    refused(ShapeError, "may have no elements", lambda: part.softmax(0))
    refused(ShapeError, "cannot be iterated over", lambda: list(part))


def test_a_part_of_what_graph_search_changes_has_a_length_of_its_own() -> None:
    places = np.random.default_rng(4).integers(-9, 9, (9, HIGH, 3)).astype(np.float32)
    found = Tensor(places).argmax(0).unsqueeze(0).expand(N.bind(4), HIGH, 3)
    np.testing.assert_array_equal(found.numpy(), places.argmax(0)[None].repeat(4, 0))


# Everything at once


def check_program(seed: int, bounds: dict[str, tuple[int, int]], values: list[Any]) -> None:
    variables = {name: Variable(name, *limits) for name, limits in bounds.items()}
    graphs = []
    for point in values:
        # What is stored besides depends on what the process has computed before; not on the values.
        kept_graphs.clear()
        pairs = Program(seed, variables, point).run(9)
        graphs.append([normalize((pair.tensor.node,)).sink for pair in pairs])
        for pair in reversed(pairs):
            got = pair.tensor.numpy()
            assert got.shape == pair.array.shape
            np.testing.assert_array_equal(got, pair.array.astype(got.dtype))
    assert all(graph == graphs[0] for graph in graphs), "the graph depends on the values"


LIMITS = st.sampled_from([(0, 8), (1, 17), (3, 3), (0, 20), (2, 40)])


@pytest.mark.parametrize(("seed", "limits"), [(212226878, (1, 17)), (320828933, (2, 40))])
def test_where_short_lengths_leave_nothing_to_compute_nothing_is_computed(
    seed: int, limits: tuple[int, int]
) -> None:
    bounds = {"n": limits, "m": (3, 3)}
    check_program(seed, bounds, [{"n": n, "m": 3} for n in limits])
    check_program(seed, {"n": limits}, [{"n": n} for n in limits])


@given(st.data())
@settings(max_examples=40)
def test_random_programs_agree_with_numpy(data: st.DataObject) -> None:
    names = ["n", "m"][: data.draw(st.integers(1, 2))]
    bounds = {name: data.draw(LIMITS) for name in names}
    point = st.fixed_dictionaries({name: st.integers(*bounds[name]) for name in names})
    values = [
        {name: limits[0] for name, limits in bounds.items()},
        {name: limits[1] for name, limits in bounds.items()},
        data.draw(point),
    ]
    check_program(data.draw(st.integers(0, 1 << 30)), bounds, values)
