"""Proxies: objects that stand for values while a program is traced. Each use becomes a node."""

from __future__ import annotations

import dis
import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any

from ogive.torch.fx_graphs.traced_graph import Graph
from ogive.torch.fx_graphs.traced_node import Node, map_aggregate

__all__ = ["Attribute", "GraphAppendingTracer", "Proxy", "TraceError", "TracerBase", "find_proxy"]


class TraceError(ValueError):
    """A traced program depends on values, which are not known while it is traced."""


class TracerBase:
    """Makes nodes of a graph, and proxies for them."""

    graph: Graph

    def create_node(
        self, kind: str, target: Any, args: Any, kwargs: Any, name: str | None = None,
        type_expr: Any = None,
    ) -> Node:  # fmt: skip
        """Make a node of the graph. Subclasses may override it to see every node."""
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node: Node) -> Proxy:
        """Make the proxy of a node."""
        return Proxy(node, self)

    def create_proxy(
        self, kind: str, target: Any, args: Any, kwargs: Any, name: str | None = None,
        type_expr: Any = None, proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:  # fmt: skip
        """Make a node and its proxy."""
        given, named = self.create_arg(tuple(args)), self.create_arg(dict(kwargs))
        node = self.create_node(kind, target, given, named, name, type_expr)
        return self.proxy(node) if proxy_factory_fn is None else proxy_factory_fn(node)

    def create_arg(self, a: Any) -> Any:
        """Convert an argument for a node: proxies become nodes, other values stay."""
        return map_aggregate(a, self._to_argument)

    def _to_argument(self, value: Any) -> Any:
        return value.node if isinstance(value, Proxy) else value

    def to_bool(self, obj: Proxy) -> bool:
        """Raise `TraceError`: a branch depends on a value."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """The parts of a value that is unpacked. Raises `TraceError` for other loops over it."""
        frame = sys._getframe(2)
        for step in dis.get_instructions(frame.f_code):
            if step.offset == frame.f_lasti and step.opname == "UNPACK_SEQUENCE":
                return (operator.getitem(obj, number) for number in range(step.argval))
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a "
            "loop or as a *args or **kwargs function argument"
        )

    def keys(self, obj: Proxy) -> Any:
        """The keys of a value."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Adds nodes to an existing graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph


class Proxy:
    """An object that stands for the value of a node."""

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.node = node
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Attribute(self, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        return self.tracer.iter(self)

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be "
            "recorded, please call torch.fx.wrap('len') at module scope"
        )

    def keys(self) -> Any:
        """The keys of a value."""
        return self.tracer.keys(self)

    @classmethod
    def __torch_function__(
        cls, orig_method: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Proxy:
        """Record a call of a PyTorch function as a node."""
        proxy = find_proxy((args, kwargs or {}))
        assert proxy is not None, "called for a proxy among the arguments"
        return proxy.tracer.create_proxy("call_function", orig_method, args, kwargs or {})


class Attribute(Proxy):
    """An attribute of a value. It becomes a node unless it is called."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node that reads the attribute. It is made on first use."""
        if self._node is None:
            proxy = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {})
            self._node = proxy.node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


def find_proxy(given: Any) -> Proxy | None:
    """The first proxy among arguments, or None."""
    proxies: list[Proxy] = []
    map_aggregate(given, lambda value: proxies.append(value) if isinstance(value, Proxy) else None)
    return proxies[0] if proxies else None


def _add_operators() -> None:
    """Define Python's operators on proxies: each makes a node that calls it."""
    both = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift",
            "and_", "or_", "xor")  # fmt: skip
    others = ("eq", "ne", "lt", "gt", "le", "ge", "neg", "pos", "invert", "getitem", "abs")

    def direct(function: Any) -> Any:
        return lambda self, *rest: self.tracer.create_proxy(
            "call_function", function, (self, *rest), {}
        )

    def reflected(function: Any) -> Any:
        return lambda self, other: self.tracer.create_proxy(
            "call_function", function, (other, self), {}
        )

    for name in (*both, *others):
        setattr(Proxy, f"__{name.strip('_')}__", direct(getattr(operator, name)))
    for name in both:
        setattr(Proxy, f"__r{name.strip('_')}__", reflected(getattr(operator, name)))
    Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]


_add_operators()
