"""Replace the parts of a graph that match a pattern by another graph."""

from __future__ import annotations

from typing import Any, NamedTuple

from ogive.torch.fx_graphs.graph_module import GraphModule
from ogive.torch.fx_graphs.traced_graph import Graph
from ogive.torch.fx_graphs.traced_node import Node
from ogive.torch.fx_graphs.tracer import Tracer

__all__ = ["Match", "replace_pattern"]


class Match(NamedTuple):
    """A part that was replaced: its last node, and a map from the pattern's nodes to its nodes."""

    anchor: Node
    nodes_map: dict[Node, Node]


def replace_pattern(gm: GraphModule, pattern: Any, replacement: Any) -> list[Match]:
    """Replace every part of a module's graph that matches `pattern`, a function or a module.

    before → after: the calls of `pattern`(a, b) become those of `replacement`(a, b).
    """
    wanted, instead = _graph_of(pattern), _graph_of(replacement)
    last = wanted.output_node().args[0]
    matches: list[Match] = []
    for node in list(gm.graph.nodes):
        if node._erased or not isinstance(last, Node):
            continue
        matched: dict[Node, Node] = {}
        if _is_like(last, node, matched) and _is_closed(wanted, last, matched):
            _replace(gm.graph, wanted, instead, node, matched)
            matches.append(Match(node, matched))
    gm.recompile()
    return matches


def _graph_of(program: Any) -> Graph:
    if isinstance(program, GraphModule):
        return program.graph
    return program if isinstance(program, Graph) else Tracer().trace(program)


def _is_like(wanted: Any, given: Any, matched: dict[Node, Node]) -> bool:
    """Whether a node of the graph matches a node of the pattern. Adds the pairs to `matched`."""
    if not isinstance(wanted, Node):
        if isinstance(wanted, tuple | list) and isinstance(given, tuple | list):
            return len(wanted) == len(given) and all(
                _is_like(one, other, matched) for one, other in zip(wanted, given, strict=True)
            )
        return type(wanted) is type(given) and bool(wanted == given)
    if wanted in matched:
        return matched[wanted] is given
    if not isinstance(given, Node):
        return False
    if wanted.op != "placeholder":
        if (wanted.op, wanted.target) != (given.op, given.target):
            return False
        if wanted.kwargs.keys() != given.kwargs.keys():
            return False
    matched[wanted] = given
    if wanted.op == "placeholder":
        return True
    return _is_like(wanted.args, given.args, matched) and all(
        _is_like(value, given.kwargs[key], matched) for key, value in wanted.kwargs.items()
    )


def _is_closed(wanted: Graph, last: Node, matched: dict[Node, Node]) -> bool:
    """Whether no node outside the part uses a node inside it, except `last`."""
    inside = {given for node, given in matched.items() if node.op != "placeholder"}
    return all(
        set(given.users) <= inside
        for node, given in matched.items()
        if node is not last and node.op != "placeholder"
    )


def _replace(
    graph: Graph, wanted: Graph, instead: Graph, anchor: Node, matched: dict[Node, Node]
) -> None:
    inputs = zip(wanted.find_nodes(op="placeholder"), instead.find_nodes(op="placeholder"),
                 strict=True)  # fmt: skip
    values: dict[Node, Any] = {new: matched[old] for old, new in inputs}
    with graph.inserting_before(anchor):
        result = graph.graph_copy(instead, values)
    anchor.replace_all_uses_with(result)
    for node in reversed(list(wanted.nodes)):
        given = matched.get(node)
        if given is not None and node.op != "placeholder" and not given._erased:
            graph.erase_node(given)
