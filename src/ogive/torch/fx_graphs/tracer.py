"""Trace programs: run them once on proxies, and record their calls as a graph."""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import math
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from ogive.nn.containers import Sequential
from ogive.tensor.tensor import Tensor
from ogive.torch.fx_graphs.proxies import Proxy, TracerBase, find_proxy
from ogive.torch.fx_graphs.traced_graph import Graph
from ogive.torch.networks.modules import Module

__all__ = ["Tracer", "wrap"]

NAMESPACES = ("", ".nn.functional", ".special", ".linalg", ".fft")
"""The modules of PyTorch whose functions become nodes instead of being run."""

_wrapped: list[tuple[dict[str, Any], str]] = []


def wrap(fn_or_name: Any) -> Any:
    """Record calls of a function of the calling module as single nodes, without tracing into it.

    Give the function or its name. Call `wrap` at the top level of the module, or use it as a
    decorator.
    """
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    _wrapped.append((sys._getframe(1).f_globals, name))
    return fn_or_name


class Tracer(TracerBase):
    """Traces a module or a function: `graph = Tracer().trace(root)`."""

    def __init__(
        self, autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:  # fmt: skip
        self._autowrap_modules = autowrap_modules
        self._autowrap_functions = autowrap_functions
        self.root: Any = None
        self._paths: dict[int, str] = {}
        self._read: dict[int, Proxy] = {}

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether calls of a module are recorded as one node: true for PyTorch's own layers."""
        return type(m).__module__.startswith("ogive.nn.") and not isinstance(m, Sequential)

    def path_of_module(self, mod: Module) -> str:
        """The path of a module in the root. Raises `NameError` if the root does not contain it."""
        for path, module in self.root.named_modules():
            if module is mod:
                return str(path)
        raise NameError(f"a {type(mod).__name__} is called that the traced module does not contain")

    def call_module(self, m: Module, forward: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Record a call of a module: as one node if it is a leaf, else by its own calls."""
        path = self.path_of_module(m)
        if self.is_leaf_module(m, path):
            return self.create_proxy("call_module", path, args, kwargs)
        return forward(*args, **kwargs)

    def _to_argument(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            path = self._paths.get(id(value)) or self._add_constant(value)
            return self.create_node("get_attr", path, (), {})
        return super()._to_argument(value)

    def _read_tensor(self, value: Tensor) -> Proxy:
        """The proxy of a tensor of a module. All reads of the tensor share one node."""
        proxy = self._read.get(id(value))
        if proxy is None:
            path = self._paths.get(id(value)) or self._add_constant(value)
            proxy = self._read[id(value)] = self.create_proxy("get_attr", path, (), {})
        return proxy

    def _add_constant(self, value: Tensor) -> str:
        number = 0
        while hasattr(self.root, f"_tensor_constant{number}"):
            number += 1
        name = self._paths[id(value)] = f"_tensor_constant{number}"
        setattr(self.root, name, value)
        return name

    def trace(self, root: Any, concrete_args: dict[str, Any] | None = None) -> Graph:
        """Trace a module or function. `concrete_args` are values of parameters, by name."""
        if isinstance(root, Module):
            self.root, function = root, type(root).forward
            first: tuple[Any, ...] = (root,)
        else:
            self.root, function, first = Module(), root, ()
        self.graph = Graph(tracer_cls=type(self))
        tensors = (*self.root.named_parameters(), *self.root.named_buffers())
        self._read = {}
        self._paths = {id(tensor): name for name, tensor in reversed(tensors)}
        given, named = self._placeholders(function, len(first), concrete_args or {})
        with self._recording(function):
            result = function(*first, *given, **named)
        self.create_node("output", "output", (self.create_arg(result),), {})
        return self.graph

    def _placeholders(
        self, function: Any, skipped: int, concrete: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        given: list[Any] = []
        named: dict[str, Any] = {}
        for parameter in list(inspect.signature(function).parameters.values())[skipped:]:
            name, kind = parameter.name, parameter.kind
            stars = "*" if kind is parameter.VAR_POSITIONAL else ""
            stars = "**" if kind is parameter.VAR_KEYWORD else stars
            default = () if parameter.default is parameter.empty else (parameter.default,)
            proxy = self.create_proxy("placeholder", stars + name, default, {})
            value = concrete.get(name, proxy)
            if kind is parameter.KEYWORD_ONLY:
                named[name] = value
            elif not stars:
                given.append(value)
        return given, named

    @contextlib.contextmanager
    def _recording(self, function: Any) -> Iterator[None]:
        """A context in which functions, modules and their tensors are recorded instead of run."""
        with contextlib.ExitStack() as stack:
            for module, name, value in self._replacements(function):
                stack.enter_context(_replaced(module, name, value))
            stack.enter_context(_replaced(Module, "__call__", self._called(Module.__call__)))
            read = self._reading(Module.__getattribute__)
            stack.enter_context(_replaced(Module, "__getattribute__", read))
            yield

    def _replacements(self, function: Any) -> Iterator[tuple[Any, str, Any]]:
        recorded: dict[int, Any] = {}
        for place in NAMESPACES:
            module = importlib.import_module(f"ogive.torch{place}")
            for name in dir(module):
                value = getattr(module, name)
                if callable(value) and not isinstance(value, type):
                    recorded.setdefault(id(value), recording(value))
                    yield module, name, recorded[id(value)]
        for module in self._autowrap_modules:
            for name, value in list(vars(module).items()):
                if not name.startswith("_") and callable(value) and not isinstance(value, type):
                    yield vars(module), name, recording(value)
        for value in self._autowrap_functions:
            recorded[id(value)] = recording(value)
        for names in self._global_names(function):
            for name, value in list(names.items()):
                if id(value) in recorded and not name.startswith("__"):
                    yield names, name, recorded[id(value)]
        for names, name in _wrapped:
            value = names.get(name, getattr(importlib.import_module("builtins"), name, None))
            if value is not None:
                yield names, name, recording(value)

    def _global_names(self, function: Any) -> list[dict[str, Any]]:
        """The global names of the modules that define the traced program."""
        modules = {type(each).__module__ for each in self.root.modules()}
        names_of_modules = [vars(sys.modules[name]) for name in modules
                 if name in sys.modules and not name.startswith("ogive.")]  # fmt: skip
        own = getattr(function, "__globals__", None)
        if own is not None and all(own is not names for names in names_of_modules):
            names_of_modules.append(own)
        return names_of_modules

    def _called(self, original: Any) -> Any:
        tracer = self

        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            def forward(*given: Any, **named: Any) -> Any:
                return original(module, *given, **named)

            return tracer.call_module(module, forward, args, kwargs)

        return call

    def _reading(self, original: Any) -> Any:
        tracer = self

        def read(module: Any, name: str) -> Any:
            value = original(module, name)
            if isinstance(value, Tensor) and name in original(module, "__dict__"):
                return tracer._read_tensor(value)
            return value

        return read


def recording(function: Any) -> Any:
    """A function that records a node if it is called with a proxy."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        proxy = find_proxy((args, kwargs))
        if proxy is None:
            return function(*args, **kwargs)
        return proxy.tracer.create_proxy("call_function", function, args, kwargs)

    return call


@contextlib.contextmanager
def _replaced(holder: Any, name: str, value: Any) -> Iterator[None]:
    """A context in which an attribute, or an entry of a dictionary, has another value."""
    names = holder if isinstance(holder, dict) else vars(holder)
    was_there, old = name in names, names.get(name)
    if isinstance(holder, dict):
        holder[name] = value
    else:
        setattr(holder, name, value)
    try:
        yield
    finally:
        if isinstance(holder, dict):
            if was_there:
                holder[name] = old
            else:
                del holder[name]
        elif was_there:
            setattr(holder, name, old)
        else:
            delattr(holder, name)
