"""Modules whose `forward` is a graph."""

from __future__ import annotations

import copy
from typing import Any

from ogive.torch.fx_graphs.traced_graph import Graph
from ogive.torch.fx_graphs.tracer import Tracer
from ogive.torch.networks.modules import Module

__all__ = [
    "_USER_PRESERVED_ATTRIBUTES_KEY",
    "GraphModule",
    "_CodeOnlyModule",
    "_copy_attr",
    "symbolic_trace",
]  # fmt: skip

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"


class _CodeOnlyModule(Module):
    """A module that only holds attributes."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__.update(body)


def _copy_attr(from_module: Any, to_module: Any, target: str) -> None:
    """Copy the attribute at a path from one module to another, with the modules on the path."""
    *path, name = target.split(".")
    for part in path:
        source = getattr(from_module, part)
        below = getattr(to_module, part, None)
        if below is source:
            return
        if below is None:
            below = Module()
            setattr(to_module, part, below)
        from_module, to_module = source, below
    value = getattr(from_module, name)
    if name in getattr(from_module, "_buffers", ()):
        to_module.register_buffer(name, value)
    else:
        setattr(to_module, name, value)


class GraphModule(Module):
    """A module that runs a graph, with the parts of `root` that the graph names.

    `root` is a module, or a dictionary of parts by path. Call `recompile()` after a change of the
    graph. `code` is the text of the function that runs.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> GraphModule:
        # Each instance has its own class, because `forward` is an attribute of the class.
        own = type(cls.__name__, (cls,), {"__module__": cls.__module__})
        module: GraphModule = super().__new__(own)
        return module

    def __init__(self, root: Any, graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        if isinstance(root, Module):
            self.training = root.training
        for node in graph.nodes:
            if node.op in ("get_attr", "call_module"):
                self._take(root, str(node.target))
        self.graph = graph
        self._tracer_cls = graph._tracer_cls

    def _take(self, root: Any, target: str) -> None:
        if isinstance(root, Module):
            _copy_attr(root, self, target)
            return
        holder: Any = self
        *path, name = target.split(".")
        for part in path:
            if not hasattr(holder, part):
                setattr(holder, part, Module())
            holder = getattr(holder, part)
        setattr(holder, name, root[target])

    @property
    def graph(self) -> Graph:
        """The graph that the module runs."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The function that runs, as text."""
        return self._code

    def recompile(self) -> Any:
        """Generate the function again from the graph."""
        written = self._graph.python_code("self")
        self._code = written.src
        names = dict(written.globals)
        exec(compile(written.src, "<a graph of torch.fx>", "exec"), names)
        setattr(type(self), "forward", names["forward"])  # noqa: B010  (of its own class)
        return written

    def add_submodule(self, target: str, m: Module) -> bool:
        """Set the module at a path."""
        self._take({target: m}, target)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Remove the modules that the graph does not name."""
        used = {str(n.target) for n in self._graph.nodes if n.op in ("call_module", "get_attr")}
        for path, _ in reversed(list(self.named_modules())):
            if path and not any(f"{name}.".startswith(f"{path}.") for name in used):
                above, _, name = path.rpartition(".")
                holder = self.get_submodule(above) if above else self
                if hasattr(holder, name):
                    delattr(holder, name)

    def print_readable(self, print_output: bool = True, **options: Any) -> str:
        """Print the function as text, and return it."""
        text = f"class {type(self).__name__}(torch.nn.Module):{self._code}".replace("\n", "\n    ")
        if print_output:
            print(text)
        return text

    def __deepcopy__(self, memo: Any) -> GraphModule:
        own = {name: value for name, value in vars(self).items() if name != "_graph"}
        root = _CodeOnlyModule(copy.deepcopy(own, memo))
        copied = GraphModule(root, copy.deepcopy(self._graph), type(self).__name__)
        copied.training = self.training
        return copied

    def __copy__(self) -> GraphModule:
        return GraphModule(self, copy.deepcopy(self._graph), type(self).__name__)


def symbolic_trace(root: Any, concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """Trace a module or function into a module with a graph.

    >>> traced = ogive.torch.fx.symbolic_trace(lambda x: ogive.torch.relu(x) + 1)
    >>> print(traced.code)
    <BLANKLINE>
    def forward(self, x):
        relu = torch.relu(x)
        add = relu + 1
        return add
    <BLANKLINE>

    Raises `TraceError` if the program depends on values.
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
