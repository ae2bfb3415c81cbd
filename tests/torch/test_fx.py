"""`torch.fx`: programs become graphs, which are changed and run again."""

from __future__ import annotations

import copy
import operator
from typing import Any

import pytest
import torch as pytorch
import torch.fx

import ogive.torch
from tests.raising import raises

BOTH = pytest.mark.parametrize("torch", [pytorch, ogive.torch], ids=["pytorch", "ogive"])


def make_net(torch: Any) -> Any:
    nn = torch.nn

    class Net(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(4, 4)
            self.weight = nn.Parameter(torch.ones(4, 4))
            self.rest = nn.Sequential(nn.ReLU(), nn.Linear(4, 2))
            self.register_buffer("offset", torch.ones(4))

        def forward(self, x: Any, scale: float = 2.0) -> Any:
            y = self.linear(x) + self.offset
            first, second = torch.chunk(y, 2, -1)
            y = torch.cat([second, first], dim=-1)
            y = torch.nn.functional.relu(self.weight @ y.t()).t() * scale
            y += 1
            return self.rest(y[:, :].reshape(y.shape[0], -1))

    return Net()


@BOTH
def test_a_module_becomes_a_graph_of_calls_that_gives_the_same(torch: Any) -> None:
    net = make_net(torch)
    traced = torch.fx.symbolic_trace(net)
    traced.graph.lint()
    kinds = [node.op for node in traced.graph.nodes]
    assert kinds[:3] == ["placeholder", "placeholder", "call_module"]
    assert [str(n) for n in traced.graph.nodes if n.op == "get_attr"] == ["offset", "weight"]
    functions = [n.target for n in traced.graph.nodes if n.op == "call_function"]
    assert torch.chunk in functions and torch.nn.functional.relu in functions
    assert operator.add in functions and operator.matmul in functions
    assert [n.target for n in traced.graph.nodes if n.op == "call_module"] == [
        "linear", "rest.0", "rest.1",
    ]  # fmt: skip
    x = torch.randn(3, 4)
    assert torch.allclose(traced(x), net(x))
    assert torch.allclose(traced(x, 3.0), net(x, 3.0))
    assert torch.allclose(torch.fx.Interpreter(traced).run(x), net(x))
    assert torch.allclose(copy.deepcopy(traced)(x), net(x))
    assert set(traced.state_dict()) == set(net.state_dict())


@BOTH
def test_a_graph_is_changed_and_runs_as_changed(torch: Any) -> None:
    traced = torch.fx.symbolic_trace(lambda x, y: torch.add(x, y) * 2)
    for node in traced.graph.nodes:
        if node.target is torch.add:
            with traced.graph.inserting_after(node):
                new = traced.graph.call_function(torch.mul, node.args, node.kwargs)
                node.replace_all_uses_with(new)
            traced.graph.erase_node(node)
    traced.recompile()
    three, five = torch.tensor(3.0), torch.tensor(5.0)
    assert traced(three, five).item() == 30.0
    assert "torch.mul(x, y)" in traced.code
    with raises(Exception, match="use"):
        traced.graph.erase_node(next(iter(traced.graph.nodes)))


@BOTH
def test_what_looks_like_a_pattern_is_replaced(torch: Any) -> None:
    traced = torch.fx.symbolic_trace(lambda x: torch.relu(x) + torch.relu(-x))
    found = torch.fx.replace_pattern(
        traced, lambda x: torch.relu(x), lambda x: torch.sigmoid(x).neg()
    )
    assert len(found) == 2
    x = torch.tensor([1.0, -2.0])
    assert torch.allclose(traced(x), -torch.sigmoid(x) - torch.sigmoid(-x))


@BOTH
def test_a_proxy_adds_calls_to_a_graph_that_is_there(torch: Any) -> None:
    traced = torch.fx.symbolic_trace(lambda x: x + 1)
    output = next(node for node in traced.graph.nodes if node.op == "output")
    last = torch.fx.Proxy(output.args[0])
    with traced.graph.inserting_before(output):
        output.args = (torch.nn.ReLU()(last * 2).node,)
    traced.recompile()
    assert traced(torch.tensor([-3.0, 1.0])).tolist() == [0.0, 4.0]


@BOTH
def test_a_tracer_says_what_a_leaf_is(torch: Any) -> None:
    class Deep(torch.fx.Tracer):  # type: ignore[misc]
        def is_leaf_module(self, m: Any, qualified_name: str) -> bool:
            return not isinstance(m, torch.nn.ReLU)

    graph = Deep().trace(torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(2, 2)))
    assert [node.op for node in graph.nodes] == [
        "placeholder", "call_function", "call_module", "output",
    ]  # fmt: skip


@BOTH
def test_a_branch_on_a_value_is_refused(torch: Any) -> None:
    def branch(x: Any) -> Any:
        return x if x.sum() > 0 else -x

    with raises(torch.fx.proxy.TraceError, match="control flow"):
        torch.fx.symbolic_trace(branch)
    assert torch.relu(torch.tensor([-1.0])).tolist() == [0.0]  # what was replaced is back
