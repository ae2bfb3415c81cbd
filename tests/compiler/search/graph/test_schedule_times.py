"""What is kept from run to run costs the time to see that it is still right, and no more."""

from __future__ import annotations

import dataclasses
import functools

import numpy
import pytest

from ogive import Config, Tensor
from ogive.compiler.passes.pipeline.graph_passes import cut_kernels
from ogive.compiler.search.graph.schedule_times import CutGraph, kernel_work, schedule_time
from ogive.compiler.search.graph.search_graph import search_graph
from ogive.compiler.targets.costs import CPU_COSTS
from ogive.compiler.targets.estimates import operation_time
from ogive.compiler.targets.findings import Finding
from ogive.compiler.targets.target import Target, describe_cpu
from ogive.config import Graph
from tests.compiler.passes.parametric import normalize

TARGET = describe_cpu("x86_64-linux-gnu", "haswell", "+avx,+avx2,+fma")
ROUNDING = Config(exactness="rounding", search=Graph(milliseconds=10_000))


def given(*shape: int) -> Tensor:
    return Tensor(numpy.ones(shape, numpy.float32)).realize()


def test_panels_of_weights_are_made_once_for_many_runs() -> None:
    sink = normalize(((given(64, 256) @ given(256, 256)).node,)).sink
    kept = cut_kernels(sink, TARGET, Config())
    anew = cut_kernels(sink, TARGET, Config(pack_constants=False))
    assert (len(kept.kernels), kept.kept) == (1, 1)
    assert (len(anew.kernels), anew.kept) == (2, 0)


def test_what_is_kept_takes_the_time_to_see_that_it_is_right() -> None:
    checked = TARGET.costs.packing.checked
    assert schedule_time(CutGraph((), 3), TARGET, {}) == 3 * checked > 0


@pytest.mark.parametrize("checked, is_taken", [(0.0, True), (None, False)])
def test_a_scale_goes_into_a_weight_only_if_that_saves_more_than_it_takes_to_keep_it(
    checked: float | None, is_taken: bool
) -> None:
    """Else few numbers would be saved, and a microsecond lost."""
    changed = {} if checked is None else {"checked": checked}
    target = dataclasses.replace(TARGET, costs=CPU_COSTS.with_changes(packing=changed))
    scaled = (given(209, 20) @ given(20, 208)) / given(208)
    findings: list[Finding] = []
    cut = functools.partial(cut_kernels, target=target, config=ROUNDING)
    search_graph(normalize((scaled.node,)).sink, target, ROUNDING, cut, findings)
    assert any(finding.is_taken for finding in findings) == is_taken


def test_a_value_is_computed_in_each_loop_that_goes_through_it() -> None:
    """A row is gone through once for its sum, and once more for what follows from that."""
    x, y = given(64, 256), given(64, 256)
    length = (x * y).sum(1, keepdim=True)
    in_both, in_one, alone = [
        kernel_work(cut_kernels(normalize((each.node,)).sink, TARGET, Config()).kernels[0], TARGET)
        for each in (x * y + length, x + length, x * y)
    ]
    assert in_both - in_one == pytest.approx(alone)


def work(value: Tensor, target: Target = TARGET) -> float:
    """The nanoseconds of work of the last kernel of a value."""
    sink = normalize((value.node,)).sink
    return kernel_work(cut_kernels(sink, target, Config()).kernels[-1], target)


def test_the_divider_works_beside_other_work() -> None:
    x, y = given(64, 256), given(64, 256)
    assert work(x.tanh() / y) < work(x.tanh()) + work(x / y)


def test_lanes_are_added_up_where_there_are_fewer_columns_than_lanes() -> None:
    rows = given(64, 256)
    few, many = work(rows @ given(256, 4)), work(rows @ given(256, 64))
    assert few > many * 4 / 64 * 1.2
    assert work(rows.sum(1)) > work(rows.sum(0))


def test_functions_of_sums_whose_terms_are_in_lanes_are_computed_one_by_one() -> None:
    """Unless an operand lies in memory along results, which are in lanes then."""
    rows, few = given(512, 48), given(48, 4)
    along_terms = work((rows @ few).tanh()) - work(rows @ few)
    across = given(48, 512).T
    along_rows = work((across @ few).tanh()) - work(across @ few)
    assert along_terms == pytest.approx(8 * along_rows)


def test_a_row_in_scratch_memory_is_written_and_read() -> None:
    """Its exponentials are computed once, for the sum and for what is divided by it."""
    x = given(64, 256)
    assert work(x.exp()) + work(x.sum(1)) < work(x.softmax(-1)) < 3 * work(x.exp())


def test_a_processor_with_long_steps_takes_half_the_time_for_functions() -> None:
    four, five = [
        dataclasses.replace(TARGET, cpu=cpu, vector_bytes=64) for cpu in ("znver4", "znver5")
    ]
    value = given(64, 256).tanh()
    assert work(value, four) == pytest.approx(2 * work(value, five))


def test_processors_divide_long_vectors_whole_or_in_steps() -> None:
    x = given(64, 256)
    divided = (x / given(64, 256)).node
    times = {
        cpu: operation_time(divided, dataclasses.replace(TARGET, cpu=cpu, vector_bytes=64))
        for cpu in ("znver4", "znver5")
    }
    assert times["znver4"] == 2 * times["znver5"] > 0
