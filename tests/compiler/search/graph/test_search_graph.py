"""The search finds other ways to compute a graph, takes the faster one, and keeps its bounds."""

from __future__ import annotations

import functools
import time
from random import Random

import numpy
import pytest

import ogive
from benchmarks.random_graphs import random_tensor
from ogive import Config, Tensor
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import walk
from ogive.compiler.passes.pipeline.graph_passes import cut_kernels, schedule_graph
from ogive.compiler.search.graph.equalities import Equalities
from ogive.compiler.search.graph.graph_windows import find_windows
from ogive.compiler.search.graph.matching import Matching
from ogive.compiler.search.graph.rules.exact_rules import exact_rules
from ogive.compiler.search.graph.rules.rounding_rules import rounding_rules
from ogive.compiler.search.graph.saturation import Budget, Saturation
from ogive.compiler.search.graph.schedule_times import CutGraph, schedule_time
from ogive.compiler.search.graph.search_graph import search_graph
from ogive.compiler.targets.findings import Finding
from ogive.config import Graph
from ogive.errors import ConfigError
from tests.compiler.passes.parametric import normalize
from tests.compiler.search.graph.graphs import apply, given, product, sink
from tests.compiler.search.graph.random_graphs import random_sink
from tests.raising import raises

UNHURRIED = Graph(milliseconds=10_000)
ROUNDING = Config(exactness="rounding", search=UNHURRIED)


def data(*shape: int) -> Tensor:
    return Tensor(numpy.random.default_rng(sum(shape)).uniform(0.5, 1.5, shape).astype("float32"))


def searched(graph: UOp, config: Config) -> tuple[UOp, list[Finding]]:
    """A graph after the search, and what it found."""
    target = host_target()
    findings: list[Finding] = []
    cut = functools.partial(cut_kernels, target=target, config=config)
    return search_graph(graph, target, config, cut, findings), findings


def work(graph: UOp) -> int:
    """How many products a graph sums up."""
    sums = [node for node in graph.walk() if node.op is Op.REDUCE_AXES]
    return sum(int(numpy.prod(node.operand.shape)) for node in sums)


def test_a_chain_of_products_is_computed_in_the_order_of_least_work() -> None:
    a, b, v = given(0, 200, 300), given(1, 300, 400), given(2, 400, 1)
    graph = sink(product(product(a, b), v))
    after, (finding,) = searched(graph, ROUNDING)
    assert work(after) == 300 * 400 + 200 * 300 < work(graph)
    assert finding.is_taken and finding.time_after < finding.time_before


def test_a_long_chain_of_products_is_reassociated_as_a_whole() -> None:
    value = given(0, 64, 64)
    for slot in range(1, 6):
        value = product(value, given(slot, 64, 64))
    graph = sink(product(value, given(6, 64, 1)))
    after, _ = searched(graph, ROUNDING)
    assert work(after) == 6 * 64 * 64


def test_nothing_that_changes_rounding_is_found_by_default() -> None:
    a, b, v = data(40, 50), data(50, 60), data(60)
    graph = normalize((((a @ b) @ v).node,)).sink
    assert searched(graph, Config())[0] is graph


def test_products_of_integers_are_reassociated_by_default() -> None:
    a, b, v = [
        Tensor(numpy.random.default_rng(0).integers(-9, 9, shape).astype("int32"))
        for shape in ((200, 300), (300, 400), (400, 1))
    ]
    expected = a.numpy() @ b.numpy() @ v.numpy()
    result = (a @ b) @ v
    graph = normalize((result.node,)).sink
    assert work(searched(graph, Config())[0]) < work(graph)
    numpy.testing.assert_array_equal(result.numpy(), expected)


@pytest.mark.parametrize("exactness", ["exact", "rounding"])
def test_both_settings_agree_with_float64(exactness: str) -> None:
    a, b, v = data(80, 90), data(90, 70), data(70)
    result = (((a @ b) @ v) * 0.5 - 3).realize(Config(exactness=exactness)).numpy()
    wide = [each.numpy().astype("float64") for each in (a, b, v)]
    expected = wide[0] @ wide[1] @ wide[2] * 0.5 - 3
    numpy.testing.assert_allclose(result, expected, rtol=2e-5)


def test_the_scale_of_a_batch_norm_goes_into_the_filters() -> None:
    convolution = ogive.nn.Conv2d(16, 32, 3, padding=1)
    norm = ogive.nn.BatchNorm2d(32).eval()
    x = data(1, 16, 14, 14)
    with ogive.no_grad():
        result = norm(convolution(x)).relu()
    graph = normalize((result.node,)).sink
    after, (finding,) = searched(graph, ROUNDING)
    assert finding.is_taken
    count = result.numel()

    def large(sink: UOp) -> list[Op]:
        return [n.op for n in sink.walk() if n.shape == result.shape and n.op not in _MOVING]

    assert large(after).count(Op.MUL) == 0 and large(graph).count(Op.MUL) == 2
    assert count == result.numel()


_MOVING = (Op.EXPAND, Op.RESHAPE, Op.SINK)


def test_a_factor_that_is_the_same_for_all_terms_is_taken_out_of_a_softmax() -> None:
    scores, values = data(64, 256), data(256, 16)
    graph = normalize(((scores.softmax(-1) @ values).node,)).sink
    _, (finding,) = searched(graph, ROUNDING)
    assert "(a * s) · b → (a · b) * s, where s is the same for all terms" in finding.applied


def test_equal_layers_are_searched_once() -> None:
    x = data(32, 32)
    weights = [data(32, 32) for _ in range(6)]
    for weight in weights:
        x = ((x @ weight) / 3).softmax(-1).relu() + x
    graph = normalize((x.node,)).sink
    windows = [window.sink for window in find_windows(graph, walk(graph.src))]
    assert len(windows) >= 2 > 0
    assert len(set(windows)) < len(windows) or len(windows) == 2


def test_windows_hold_all_that_is_computed() -> None:
    graph = random_sink(3)
    inside = [root for w in find_windows(graph, walk(graph.src)) for root in w.roots]
    assert set(graph.src) <= set(inside)


@pytest.mark.parametrize("seed", range(60))
def test_no_random_graph_is_slower_by_the_model(seed: int) -> None:
    never_worse(seed)


@pytest.mark.parametrize("seed", [1115, 7134, 9461])
def test_what_windows_gain_is_not_lost_where_they_meet(seed: int) -> None:
    never_worse(seed)


@pytest.mark.parametrize("seed", [2385, 8289])
def test_a_column_that_a_rule_reads_as_a_line_is_one_in_the_whole_graph(seed: int) -> None:
    expected = random_tensor(Random(seed)).realize(Config(search=Graph(rounds=0))).numpy()
    found = random_tensor(Random(seed)).realize(ROUNDING).numpy()
    numpy.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.soak
@pytest.mark.parametrize("group", range(1, 251))
def test_no_graph_of_many_is_slower_by_the_model(group: int) -> None:
    for seed in range(group * 40, (group + 1) * 40):
        never_worse(seed)


def test_what_saves_time_in_a_window_is_left_if_it_saves_none_in_the_whole_graph() -> None:
    """The kernels of the whole graph may go across the borders of windows."""
    value = (data(40, 50) @ data(50, 60)) @ data(60, 1)
    for _ in range(40):
        value = value.tanh() * 2
    graph = normalize((value.node,)).sink
    assert len(list(find_windows(graph, graph.walk()[:-1]))) > 1
    assert searched(graph, ROUNDING)[0] is not graph

    def cut(each: UOp) -> CutGraph:
        kernels = cut_kernels(each, host_target(), ROUNDING)
        return CutGraph((), 0) if each is graph else kernels

    findings: list[Finding] = []
    assert search_graph(graph, host_target(), ROUNDING, cut, findings) is graph
    assert findings and not any(finding.is_taken for finding in findings)


def never_worse(seed: int) -> None:
    target = host_target()
    config = Config(exactness="rounding", search=UNHURRIED)
    graph = random_sink(seed)
    after, _ = searched(graph, config)
    before, found = [
        schedule_time(cut_kernels(each, target, config), target, {}) for each in (graph, after)
    ]
    assert found <= before * (1 + 1e-9), f"{found} ns after, {before} before"


@pytest.mark.parametrize("seed", range(30))
def test_random_graphs_give_what_they_gave(seed: int) -> None:
    off = Config(search=Graph(rounds=0))
    expected = random_tensor(Random(seed)).realize(off).numpy()
    exact = random_tensor(Random(seed)).realize().numpy()
    rounded = random_tensor(Random(seed)).realize(ROUNDING).numpy()
    assert exact.tobytes() == expected.tobytes()
    scale = max(1.0, float(numpy.abs(expected).max()))
    numpy.testing.assert_allclose(rounded, expected, rtol=1e-4, atol=1e-5 * scale)


def test_no_rounds_are_no_search() -> None:
    graph = sink(product(product(given(0, 20, 30), given(1, 30, 40)), given(2, 40, 1)))
    config = Config(exactness="rounding", search=Graph(rounds=0))
    assert searched(graph, config) == (graph, [])


def test_what_grows_without_end_stops_at_its_bound() -> None:
    value = given(0, 4)
    for slot in range(1, 40):
        value = apply(Op.ADD, apply(Op.MUL, value, given(slot, 4)), apply(Op.MUL, value, value))
    graph = Equalities()
    graph.add(value)
    start = len(graph)
    budget = Budget(start + 50, 100, time.thread_time() + 60)
    Saturation(graph, Matching(exact_rules + rounding_rules), budget).run()
    assert len(graph) <= start + 50 + 10


def test_a_graph_of_many_nodes_is_searched_within_its_time() -> None:
    value = given(0, 64)
    for slot in range(1, 20_000):
        value = apply(Op.TANH, apply(Op.MUL, value, given(slot % 7, 64)))
    config = Config(search=Graph(milliseconds=0.0))
    assert searched(sink(value), config) == (sink(value), [])


def test_what_is_assigned_to_stays_the_memory_it_was() -> None:
    weight, x = data(8, 8).realize(), data(8, 8)
    expected = weight.numpy() + ((x.numpy() @ weight.numpy()) * 0.5).T
    weight.assign(weight + ((x @ weight) * 0.5).T)
    numpy.testing.assert_allclose(weight.realize(ROUNDING).numpy(), expected, rtol=1e-5)


def test_results_that_become_equal_stay_two_results() -> None:
    x = data(4, 6)
    one, two = x.T.T * 2, x.reshape(6, 4).reshape(4, 6) * 2
    Tensor.realize_batch([one, two])
    one.assign(one + 1)
    numpy.testing.assert_array_equal(two.numpy(), x.numpy() * 2)
    numpy.testing.assert_array_equal(one.numpy(), x.numpy() * 2 + 1)


def test_findings_are_given_to_who_asks() -> None:
    a, b, v = data(200, 300), data(300, 400), data(400)
    findings: list[Finding] = []
    graph = normalize((((a @ b) @ v).node,)).sink
    schedule_graph(graph, host_target(), ROUNDING, findings=findings)
    assert [finding.is_taken for finding in findings] == [True]


@pytest.mark.parametrize(
    "wrong", [{"nodes": -1}, {"rounds": 1.5}, {"milliseconds": float("nan")}]
)
def test_bounds_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with raises(ConfigError, match="graph search"):
        Graph(**wrong)  # type: ignore[arg-type]


def test_an_unknown_exactness_is_refused() -> None:
    with raises(ConfigError, match="exactness is one of exact, rounding, got 'rouding'"):
        Config(exactness="rouding")


def test_layers_that_share_a_mask_are_equal_windows() -> None:
    mask = ogive.ones(32, 32).tril() == 0
    value = data(32, 32).exp()
    for _ in range(6):
        norm = (value - value.mean(-1, keepdim=True)) / (value * value).mean(-1, keepdim=True)
        scores = (norm @ data(32, 32)).masked_fill(mask, -1e9).softmax(-1)
        value = value + (scores @ norm).tanh()
    graph = normalize((value.node,)).sink
    windows = list(find_windows(graph, walk(graph.src)))
    assert len(windows) >= 6 and len({window.sink for window in windows}) <= 4


@pytest.mark.parametrize("most", [1, 7, 20, 33])
def test_what_the_rest_of_a_long_graph_reads_is_a_root(most: int) -> None:
    graph = random_sink(5)
    order = walk(graph.src)
    windows = list(find_windows(graph, order, most))
    made = set(order[:most])
    later = {source for node in order[most:] for source in node.src} | set(graph.src)
    roots = {root for window in windows for root in window.roots}
    computed = {node for node in made & later if node.src}
    assert computed <= roots <= made
