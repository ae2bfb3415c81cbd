"""Graphs of changing sizes that do little are told apart from those that do much."""

from __future__ import annotations

import numpy as np
import pytest

from ogive import Tensor
from ogive.compiler.ir.node import UOp
from ogive.compiler.live.small_graphs import SmallGraphs, small_graphs
from ogive.tensor.eager_sizes import ALLOWANCE, LARGE, SMALL, Allowance


def order_of(rows: int) -> list[UOp]:
    x = Tensor(np.ones((rows, 256), np.float32))
    for _ in range(20):
        x = (x + 1).transpose(0, 1).contiguous().transpose(0, 1)
    return x.node.walk()


@pytest.mark.parametrize(("rows", "is_small"), [(2, True), (20, True), (4000, False)])
def test_a_graph_is_small_that_reads_little_for_its_nodes(rows: int, is_small: bool) -> None:
    graphs = SmallGraphs()
    assert not graphs.take() and graphs.is_asked
    graphs.note(order_of(rows))
    assert graphs.take() is is_small
    assert not graphs.take()


def test_an_allowance_is_renewed_when_a_small_graph_was_found() -> None:
    small_graphs.take()
    allowance = Allowance(0)
    assert allowance.is_beyond(SMALL + 1)
    assert not allowance.may_hold(SMALL + 1) and allowance.may_hold(SMALL)
    small_graphs.note(order_of(2))
    assert not allowance.is_beyond(SMALL + 1)
    assert allowance.left == ALLOWANCE - SMALL - 1
    assert allowance.is_beyond(LARGE + 1)


def test_runs_of_general_graphs_are_looked_at_when_somebody_asks() -> None:
    small_graphs.take()
    small_graphs.take()
    assert small_graphs.is_asked
    for rows in (5, 9, 12):
        x = Tensor(np.ones((rows, 7), np.float32))
        assert (x.erf().sum(0) + rows % 1).numpy().shape == (7,)
    assert small_graphs.take()
    assert not small_graphs.is_asked
