"""A traced program: its calls in order."""

from __future__ import annotations

import builtins
import contextlib
import copy
import keyword
import re
from collections.abc import Callable, Iterator
from typing import Any

from ogive.errors import ArgumentError
from ogive.torch.fx_graphs.traced_node import Node, Target, map_arg
from ogive.torch.fx_graphs.written_code import PythonCode, write_code

__all__ = ["Graph"]

_PURE = ("placeholder", "output")


class NodeList:
    """The nodes of a graph, in order. The graph may change during an iteration."""

    def __init__(self, graph: Graph, backwards: bool = False) -> None:
        self._graph, self._backwards = graph, backwards

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Node]:
        root = self._graph._root
        current = root._prev if self._backwards else root._next
        while current is not root:
            if not current._erased:
                yield current
            current = current._prev if self._backwards else current._next

    def __reversed__(self) -> NodeList:
        return NodeList(self._graph, not self._backwards)


class Graph:
    """A program as nodes in order, from placeholders to one output."""

    def __init__(
        self, owning_module: Any = None, tracer_cls: Any = None, tracer_extras: Any = None
    ) -> None:
        self.owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._names: dict[str, int] = {}
        self._root = Node(self, "", "root", "", (), {})
        self._before = self._root

    @property
    def nodes(self) -> NodeList:
        """All nodes in order."""
        return NodeList(self)

    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Node]:
        """The nodes of a kind, and of a target if one is given."""
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    def output_node(self) -> Node:
        """The node with the program's result."""
        return self.find_nodes(op="output")[-1]

    # Making nodes

    def create_node(
        self, op: str, target: Target, args: Any = None, kwargs: Any = None,
        name: str | None = None, type_expr: Any = None,
    ) -> Node:  # fmt: skip
        """Make a node at the present insertion point, which is the end by default."""
        wanted = name if name is not None else _candidate(target)
        node = Node(self, self._unique(wanted), op, target, args or (), kwargs or {}, type_expr)
        self._before.prepend(node)
        return node

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = None) -> Node:
        """Add a parameter of the program."""
        given = () if default_value is None else (default_value,)
        return self.create_node("placeholder", name, given, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """Add a read of a parameter, buffer or other attribute of the module."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_function(
        self, the_function: Callable[..., Any], args: Any = None, kwargs: Any = None,
        type_expr: Any = None, name: str | None = None,
    ) -> Node:  # fmt: skip
        """Add a call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def call_method(
        self, method_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None
    ) -> Node:
        """Add a call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_module(
        self, module_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None
    ) -> Node:
        """Add a call of a module inside the module."""
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """Add the node with the program's result."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    @contextlib.contextmanager
    def inserting_before(self, n: Node | None = None) -> Iterator[None]:
        """A context in which new nodes are inserted before `n`; None means at the beginning."""
        old, self._before = self._before, self._root._next if n is None else n
        try:
            yield
        finally:
            self._before = old

    def inserting_after(self, n: Node | None = None) -> contextlib.AbstractContextManager[None]:
        """A context in which new nodes are inserted after `n`; None means at the end."""
        return self.inserting_before(self._root if n is None else n._next)

    def erase_node(self, to_erase: Node) -> None:
        """Remove a node. Raises `ArgumentError` if others use it."""
        if to_erase.graph is not self:
            raise ArgumentError(f"{to_erase.name} is a node of another graph")
        to_erase.check_unused()
        if not to_erase._erased:
            to_erase.unlink()
            to_erase._erased = True
            to_erase._set((), {})

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Remove the nodes that nothing uses. Returns whether there were any."""
        is_changed = False
        for node in reversed(self.nodes):
            is_kept = node.op in _PURE or (is_impure_node is not None and is_impure_node(node))
            if not is_kept and not node.users:
                self.erase_node(node)
                is_changed = True
        return is_changed

    # Copies

    def node_copy(
        self, node: Node, arg_transform: Callable[[Node], Any] = lambda node: node
    ) -> Node:
        """Copy a node into this graph, with `arg_transform` of each node among its arguments."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        copied = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copied.meta = dict(node.meta)
        return copied

    def graph_copy(
        self, g: Graph, val_map: dict[Node, Any], return_output_node: bool = False
    ) -> Any:
        """Copy the nodes of another graph, except those in `val_map`. Returns its result."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo: Any = None) -> Graph:
        graph = Graph(tracer_cls=self._tracer_cls)
        result = graph.graph_copy(self, {})
        if self.find_nodes(op="output"):
            graph.output(copy.copy(result))
        return graph

    # Checks and text

    def lint(self) -> None:
        """Raise `ArgumentError` if a node uses a node that does not come before it."""
        seen: set[Node] = set()
        names: set[str] = set()
        for node in self.nodes:
            for used in node.all_input_nodes:
                if used not in seen:
                    raise ArgumentError(f"{node.name} uses {used.name} before it is computed")
            if node.name in names:
                raise ArgumentError(f"two nodes are called {node.name}")
            seen.add(node)
            names.add(node.name)

    def python_code(self, root_module: str = "self", **options: Any) -> PythonCode:
        """The program as the text of a Python function, and the objects that it names."""
        return write_code(self, root_module)

    def __str__(self) -> str:
        taken = ", ".join(f"%{n.name}" for n in self.nodes if n.op == "placeholder")
        lines = [f"    {n.format_node()}" for n in self.nodes]
        return "\n".join([f"graph({taken}):", *lines])

    def print_tabular(self) -> None:
        """Print the nodes as a table."""
        rows = [("opcode", "name", "target", "args", "kwargs")]
        rows += [(n.op, n.name, str(n.target), str(n.args), str(n.kwargs)) for n in self.nodes]
        widths = [max(len(row[column]) for row in rows) for column in range(5)]
        for row in rows:
            print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)))

    def _unique(self, candidate: str) -> str:
        name = re.sub(r"[^0-9a-zA-Z_]+", "_", candidate) or "_"
        if name[0].isdigit():
            name = f"_{name}"
        base, number = name, self._names.get(name, 0)
        is_reserved = keyword.iskeyword(name) or hasattr(builtins, name)
        if number or is_reserved:
            number = max(number, 1)
            name = f"{base}_{number}"
            while name in self._names:
                number += 1
                name = f"{base}_{number}"
        self._names[base] = number + 1
        self._names.setdefault(name, 1)
        return name


def _candidate(target: Target) -> str:
    if isinstance(target, str):
        return target.lstrip("*").replace(".", "_")
    name: str = getattr(target, "__name__", type(target).__name__)
    return name.strip("_") or name
