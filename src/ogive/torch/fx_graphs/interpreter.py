"""Run graphs node by node, so that subclasses see each value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ogive.torch.fx_graphs.graph_module import GraphModule
from ogive.torch.fx_graphs.proxies import Proxy, TracerBase
from ogive.torch.fx_graphs.traced_graph import Graph
from ogive.torch.fx_graphs.traced_node import Node, map_arg

__all__ = ["Interpreter", "Transformer"]


class Interpreter:
    """Runs the graph of a module: `Interpreter(module).run(x)`."""

    def __init__(
        self, module: Any, garbage_collect_values: bool = True, graph: Graph | None = None
    ) -> None:
        self.module = module
        self.graph = module.graph if graph is None else graph
        self.submodules = dict(module.named_modules())
        self.env: dict[Node, Any] = {}
        self.args_iter: Iterator[Any] = iter(())

    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None, **options: Any) -> Any:
        """Run the graph for these arguments."""
        self.env = dict(initial_env or {})
        self.args_iter = iter(args)
        for node in self.graph.nodes:
            if node not in self.env:
                self.env[node] = self.run_node(node)
            if node.op == "output":
                return self.env[node]
        return None

    def run_node(self, n: Node) -> Any:
        """Compute the value of one node."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Return the next argument, or the parameter's default."""
        if target.startswith("*"):
            return list(self.args_iter)
        return next(self.args_iter, *args[:1])

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Return an attribute of the module."""
        return self.fetch_attr(target)

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Call a function."""
        return target(*args, **kwargs)

    def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Call a method of the first argument."""
        return getattr(args[0], target)(*args[1:], **kwargs)

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Call a module inside the module."""
        return self.submodules[target](*args, **kwargs)

    def output(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Return the program's result."""
        return args[0]

    def fetch_attr(self, target: str) -> Any:
        """The attribute of the module at a path."""
        value = self.module
        for part in target.split("."):
            value = getattr(value, part)
        return value

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[Any, Any]:
        """The arguments of a node, with values for nodes."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """Arguments with values for nodes."""
        return map_arg(args, lambda each: self.env[each])


class _NewGraph(TracerBase):
    """Nodes of a new graph; tensors are attributes of the old module."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph


class Transformer(Interpreter):
    """Makes another graph: its methods are called with proxies, and their results are recorded."""

    def __init__(self, module: Any) -> None:
        super().__init__(module)
        self.new_graph = Graph(tracer_cls=module.graph._tracer_cls)
        self.tracer = _NewGraph(self.new_graph)

    def placeholder(self, target: Any, args: Any, kwargs: Any) -> Any:
        return Proxy(self.new_graph.placeholder(target, default_value=next(iter(args), None)),
                     self.tracer)  # fmt: skip

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def transform(self) -> GraphModule:
        """Return a module with the new graph."""
        result = super().run()
        self.new_graph.output(self.tracer.create_arg(result))
        return GraphModule(self.module, self.new_graph)
