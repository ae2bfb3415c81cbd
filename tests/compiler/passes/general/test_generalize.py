"""Graphs of one structure become one graph, which fits no other."""

from __future__ import annotations

import numpy
import pytest

import ogive
from ogive import Tensor
from ogive.compiler.ir.dialects.verify import verify
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.general.generalize import unify
from ogive.compiler.passes.general.skeleton import NotGeneral, Skeleton, take_apart
from tests.compiler.passes.parametric import normalize
from tests.raising import raises


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


def test_results_and_inputs_that_vary_along_inner_axes_have_no_gaps() -> None:
    def build(rows: int, columns: int) -> Skeleton:
        return skeleton_of(matrix(rows, columns).T + 1)

    graphs = [build(5, 6), build(8, 13)]
    general = unify(graphs[0], [graph.numbers for graph in graphs])
    verify(general.sink, "parametric")
    assert general.match(build(30, 7).numbers) == {"#n0": 30, "#n1": 7}
    (front,) = [node for node in general.sink.walk() if node.op is Op.SHRINK]
    assert front.operand.op is Op.PARAM and front.shape[0].bounds[1] == 512 * 512


def test_memory_of_one_length_may_be_seen_with_other_shapes() -> None:
    def build(rows: int, columns: int) -> Skeleton:
        return skeleton_of((Tensor(numpy.ones((rows, columns))) + 1).sum(0))

    graphs = [build(6, 8), build(8, 6)]
    general = unify(graphs[0], [graph.numbers for graph in graphs])
    assert general.match(build(4, 12).numbers) == {"#n0": 4, "#n1": 12}


def test_bounds_are_lower_where_memory_has_no_room() -> None:
    def build(rows: int) -> Skeleton:
        return skeleton_of(matrix(rows, 1).expand(rows, 1 << 22) + 1)

    graphs = [build(50), build(60)]
    general = unify(graphs[0], [graph.numbers for graph in graphs])
    assert general.bounds == ((2, 128),)


def test_a_value_that_would_need_too_much_room_is_refused() -> None:
    graphs = [skeleton_of(matrix(rows, 1).expand(rows, 1 << 26) + 1) for rows in (50, 60)]
    with raises(NotGeneral, match="room"):
        unify(graphs[0], [graph.numbers for graph in graphs])


def test_lengths_follow_from_those_that_are_near() -> None:
    """Of two images alone, 69 could be 67 + 2, or three times what 67 has of threes."""

    def build(side: int) -> Skeleton:
        x = Tensor(numpy.ones((2, 3, side, side + 7), numpy.float32))
        return skeleton_of(x.conv2d(Tensor(numpy.ones((4, 3, 3, 3), numpy.float32)), padding=1)
                           .max_pool2d(2).sum())

    graphs = [build(60), build(87)]
    general = unify(graphs[0], [graph.numbers for graph in graphs])
    for side in (16, 33, 107, 128):
        assert general.match(build(side).numbers) == {"#n0": side, "#n1": side + 7}


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


def test_an_axis_of_length_1_that_moves_with_a_length_stays_one() -> None:
    def build(rows: int, first: int) -> Skeleton:
        return skeleton_of((matrix(rows) + 1)[first:][:1].expand(5, 4) * 2)

    graphs = [build(6, 5), build(9, 8)]
    general = unify(graphs[0], [graph.numbers for graph in graphs])
    assert general.match(build(7, 6).numbers) == {"#n0": 7}
    assert general.match(build(7, 5).numbers) is None
    assert all(node.operand.shape == (1, 4) for node in general.sink.walk() if node.op is Op.EXPAND)


def test_sorting_along_a_changing_axis_is_refused() -> None:
    graphs = [skeleton_of(matrix(rows).sort(0)[0]) for rows in (5, 8)]
    with raises(NotGeneral, match="ORDERED goes along an axis"):
        unify(graphs[0], [graph.numbers for graph in graphs])


def test_all_that_is_seen_of_memory_is_of_one_length_or_none() -> None:
    def build(rows: int) -> Skeleton:
        x = Tensor(numpy.ones(24))
        return skeleton_of(x.reshape(rows, -1).sum(0), x * 2)

    graphs = [build(6), build(8)]
    general = unify(graphs[0], [graph.numbers for graph in graphs])
    memory = {node for node in general.sink.walk() if node.op is Op.PARAM}
    assert len(memory) == 1


def test_images_that_are_halved_are_twice_a_variable() -> None:
    def build(side: int) -> Skeleton:
        x = Tensor(numpy.ones((2, side)))
        return skeleton_of(x.reshape(2, side // 2, 2).sum(2))

    graphs = [build(10), build(18)]
    general = unify(graphs[0], [graph.numbers for graph in graphs])
    assert general.match(build(30).numbers) == {"#n0": 15}


def test_an_axis_that_is_split_gives_the_lengths_that_it_is_split_into() -> None:
    """16 columns are half of 32 before they are 3 more than 13 rows."""

    def build(rows: int) -> Skeleton:
        x = Tensor(numpy.ones((2, 32, 2 * rows, 2 * rows + 6), numpy.float32))
        return skeleton_of(x.max_pool2d(2))

    graphs = [build(8), build(13)]
    general = unify(graphs[0], [graph.numbers for graph in graphs])
    assert general.match(build(40).numbers) == {"#n0": 40, "#n1": 43}


def test_a_table_that_is_read_as_far_as_needed_bounds_the_length() -> None:
    table = Tensor(numpy.ones((100, 4), numpy.float32)).exp()
    graphs = [skeleton_of(matrix(rows) + table[:rows]) for rows in (30, 50)]
    general = unify(graphs[0], [graph.numbers for graph in graphs])
    assert general.bounds == ((2, 100),)


def test_windows_need_lines_that_are_as_long() -> None:
    def build(length: int) -> Skeleton:
        return skeleton_of(Tensor(numpy.ones((2, length))).unfold(1, 5, 1) * 2)

    graphs = [build(10), build(18)]
    general = unify(graphs[0], [graph.numbers for graph in graphs])
    assert general.bounds[0][0] >= 4
    assert general.match(build(30).numbers) is not None


def test_functions_of_the_user_keep_a_graph_as_it_is() -> None:
    made = ogive.custom(numpy.copyto, [matrix(5)], ((5, 4), "float32"))
    assert take_apart(normalize((made.node,)).sink) is None
