"""Random graphs are drawn from a seed, and measured if the search changes them."""

from __future__ import annotations

from random import Random

import numpy

from benchmarks.random_graphs import measure_random_graphs, random_tensor, summarize
from benchmarks.runner import Settings


def test_a_seed_draws_the_same_graph_wherever_its_matrices_lie() -> None:
    results = [random_tensor(Random(4), is_kept=is_kept).numpy() for is_kept in (False, True)]
    numpy.testing.assert_array_equal(results[0], results[1])


def test_graphs_that_are_slower_are_counted() -> None:
    before = {"same": 1.0, "faster": 4.0, "slower": 0.9, "a little slower": 0.96}
    report = summarize({name: {"greedy": each, "rounding": 1.0} for name, each in before.items()})
    assert (report["measured"], report["slower"], report["least"]) == (4, 1, 0.9)


def test_only_graphs_that_are_changed_are_measured() -> None:
    found = measure_random_graphs(Settings(threads=1, seconds=0.001), lambda _: None, 2)
    assert len(found) == 2
    assert all(best["greedy"] > 0 and best["rounding"] > 0 for best in found.values())
