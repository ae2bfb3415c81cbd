"""Graphs of one structure become one graph, which fits no other."""

from __future__ import annotations

import numpy
import pytest

import ogive
from ogive import Tensor
from ogive.ir.dialects.verify import verify
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.passes.general.generalize import unify
from ogive.passes.general.number_expressions import Expression, express
from ogive.passes.general.skeleton import NotGeneral, Skeleton, take_apart
from tests.passes.parametric import normalize


def skeleton_of(*results: Tensor) -> Skeleton:
    found = take_apart(normalize(tuple([result.node for result in results])).sink)
    assert found is not None
    return found


def matrix(rows: int, columns: int = 4) -> Tensor:
    return Tensor(numpy.ones((rows, columns), numpy.float32))


def test_graphs_that_differ_in_numbers_have_one_skeleton() -> None:
    one, other = skeleton_of(matrix(5) * 2.0), skeleton_of(matrix(7) * 3.0)
    assert one.key == other.key and one.numbers != other.numbers


@pytest.mark.parametrize("rows", [0, 1])
def test_lengths_that_mean_something_else_have_another_skeleton(rows: int) -> None:
    assert skeleton_of(matrix(5) + 1).key != skeleton_of(matrix(rows) + 1).key


def test_constants_that_differ_become_data_and_others_stay() -> None:
    graphs = [skeleton_of(matrix(5) * number + 2.0) for number in (0.5, 0.25)]
    general = unify(graphs[0], [graph.numbers for graph in graphs])
    assert len(general.data) == 1 and not general.bounds
    assert [node.arg for node in general.sink.walk() if node.op is Op.CONST] == [2.0]
    verify(general.sink, "parametric")
    assert general.match(skeleton_of(matrix(5) * -7.0 + 2.0).numbers) == {}
    assert general.match(skeleton_of(matrix(5) * 0.5 + 3.0).numbers) is None


def test_nan_and_signed_zero_are_constants_of_their_own() -> None:
    numbers = [skeleton_of(matrix(5) * c).numbers for c in (0.0, -0.0, float("nan"))]
    constants = {number for each in numbers for number in each if isinstance(number, UOp)}
    assert len(constants) == 3


def test_lengths_that_differ_become_variables() -> None:
    def build(rows: int) -> Skeleton:
        x = matrix(rows)
        return skeleton_of((x @ x.T).softmax(-1) @ x, x.flatten() * 2, x[1:])

    graphs = [build(5), build(8)]
    general = unify(graphs[0], [graph.numbers for graph in graphs])
    verify(general.sink, "parametric")
    assert len(general.bounds) == 1
    assert general.match(build(30).numbers) == {"#n0": 30}
    assert general.match(build(10**6).numbers) is None, "longer than its memory"


def test_a_guess_that_does_not_hold_is_noticed() -> None:
    def build(rows: int) -> Skeleton:
        return skeleton_of((matrix(rows) + 1)[: rows // 3 + 1].sum())

    graphs = [build(6), build(9)]  # 3 of 6 and 4 of 9, as n // 2 would be
    general = unify(graphs[0], [graph.numbers for graph in graphs])
    assert general.match(build(9).numbers) == {"#n0": 9}
    assert general.match(build(12).numbers) is None
    third = unify(graphs[0], [graph.numbers for graph in (*graphs, build(12))])
    assert third.match(build(30).numbers) == {"#n0": 30}


def test_a_result_with_gaps_in_memory_is_refused() -> None:
    graphs = [skeleton_of(matrix(rows) @ matrix(rows).T) for rows in (5, 8)]
    with pytest.raises(NotGeneral, match="dense"):
        unify(graphs[0], [graph.numbers for graph in graphs])


def test_memory_of_one_length_with_other_shapes_is_refused() -> None:
    graphs = [skeleton_of((Tensor(numpy.ones(shape)) + 1).sum(0)) for shape in ((6, 8), (8, 6))]
    assert graphs[0].key == graphs[1].key
    with pytest.raises(NotGeneral, match="one length"):
        unify(graphs[0], [graph.numbers for graph in graphs])


def test_a_value_that_would_need_too_much_room_is_refused() -> None:
    graphs = [skeleton_of(matrix(rows, 1).expand(rows, 1 << 24) + 1) for rows in (50, 60)]
    with pytest.raises(NotGeneral, match="room"):
        unify(graphs[0], [graph.numbers for graph in graphs])


def test_a_slice_of_one_length_may_begin_anywhere() -> None:
    table = Tensor(numpy.ones((10, 4), numpy.float32)).exp()
    graphs = [skeleton_of(table[at : at + 2] * 2) for at in (3, 7)]
    general = unify(graphs[0], [graph.numbers for graph in graphs])
    assert general.bounds == ((0, 8),)
    assert general.match(skeleton_of(table[8:10] * 2).numbers) == {"#n0": 8}


def test_where_a_slice_begins_is_no_part_of_a_length() -> None:
    """0 and 1 are 6 // 8 and 14 // 8, and yet an axis of length 1 that moves stays one of 1."""
    table = Tensor(numpy.ones((10, 4), numpy.float32)).exp()

    def build(at: int, rows: int) -> Skeleton:
        return skeleton_of(table[at : at + 1].expand(10, 4) * 2, matrix(rows) + 1)

    graphs = [build(0, 6), build(1, 14)]
    general = unify(graphs[0], [graph.numbers for graph in graphs])
    moved = [node.shape for node in general.sink.walk() if node.op is Op.EXPAND]
    assert moved == [(10, 4)]
    assert all(node.operand.shape == (1, 4) for node in general.sink.walk() if node.op is Op.EXPAND)
    assert general.match(build(7, 30).numbers) == {"#n0": 30, "#n1": 7}


def test_an_axis_of_length_1_that_only_happens_to_be_one_is_refused() -> None:
    def build(rows: int, first: int) -> Skeleton:
        return skeleton_of((matrix(rows) + 1)[first:][:1].expand(5, 4) * 2)

    graphs = [build(6, 5), build(9, 8)]
    general = unify(graphs[0], [graph.numbers for graph in graphs])
    assert general.match(build(7, 6).numbers) == {"#n0": 7}
    graphs = [build(6, 3), build(9, 4)]
    with pytest.raises(NotGeneral, match="length"):
        unify(graphs[0], [graph.numbers for graph in graphs])


def test_sorting_along_a_changing_axis_is_refused() -> None:
    graphs = [skeleton_of(matrix(rows).sort(0)[0]) for rows in (5, 8)]
    with pytest.raises(NotGeneral, match="ORDERED goes along an axis"):
        unify(graphs[0], [graph.numbers for graph in graphs])


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        ((5, 8), Expression((0,))),
        ((320, 512), Expression((0,), 64)),
        ((4, 7), Expression((0,), 1, 0, 1, -1)),
        ((3, 4), Expression((0,), 1, 1, 2)),
        ((15, 24), Expression((0,), 3)),
        ((25, 64), Expression((0, 0))),
        ((5, 9), None),
    ],
)
def test_lengths_are_expressed_by_others(
    series: tuple[int, ...], expected: Expression | None
) -> None:
    assert express(series, [(5, 8)]) == expected


def test_functions_of_the_user_keep_a_graph_as_it_is() -> None:
    made = ogive.custom(numpy.copyto, [matrix(5)], ((5, 4), "float32"))
    assert take_apart(normalize((made.node,)).sink) is None
