"""Write graphs as Python functions.

    %add : call_function[operator.add](x, 1)   →   add = x + 1
"""

from __future__ import annotations

import importlib
import math
import operator
from typing import TYPE_CHECKING, Any, NamedTuple

from ogive.compiler.ir.dtype import DType
from ogive.torch.fx_graphs.traced_node import Node

if TYPE_CHECKING:
    from ogive.torch.fx_graphs.traced_graph import Graph

INFIX = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/",
    operator.floordiv: "//", operator.mod: "%", operator.matmul: "@", operator.pow: "**",
    operator.lshift: "<<", operator.rshift: ">>", operator.and_: "&", operator.or_: "|",
    operator.xor: "^", operator.eq: "==", operator.ne: "!=", operator.lt: "<", operator.gt: ">",
    operator.le: "<=", operator.ge: ">=",
}  # fmt: skip
_LITERALS = (int, str, bytes, bool, complex, type(None), type(...))
_PLACES = ("torch", "torch.nn.functional", "torch.special", "torch.linalg", "torch.fft")


class PythonCode(NamedTuple):
    """The text of a function, and the objects that its names refer to."""

    src: str
    globals: dict[str, Any]


def write_code(graph: Graph, root: str) -> PythonCode:
    """Write the function `forward` of a graph. Its first parameter is called `root`."""
    names: dict[str, Any] = {}
    parameters, lines = [root], []
    for node in graph.nodes:
        if node.op == "placeholder":
            parameters.append(_parameter(node, names))
        elif node.op == "output":
            lines.append(f"    return {_value(node.args[0], names)}")
        else:
            lines.append(f"    {node.name} = {_call(node, root, names)}")
    body = "\n".join(lines) or "    pass"
    return PythonCode(f"\ndef forward({', '.join(parameters)}):\n{body}\n", names)


def _parameter(node: Node, names: dict[str, Any]) -> str:
    stars = "*" * (len(str(node.target)) - len(str(node.target).lstrip("*")))
    default = f" = {_value(node.args[0], names)}" if node.args else ""
    return f"{stars}{node.name}{default}"


def _call(node: Node, root: str, names: dict[str, Any]) -> str:
    target = node.target
    if node.op == "get_attr":
        return _path(root, str(target))
    given = [_value(each, names) for each in node.args]
    named = [f"{key} = {_value(value, names)}" for key, value in node.kwargs.items()]
    if node.op == "call_method":
        return f"{given[0]}.{target}({', '.join(given[1:] + named)})"
    if node.op == "call_module":
        return f"{_path(root, str(target))}({', '.join(given + named)})"
    if target in INFIX and len(given) == 2 and not named:
        return f"{given[0]} {INFIX[target]} {given[1]}"
    if target is operator.getitem:
        return f"{given[0]}[{given[1]}]"
    if target is getattr and isinstance(node.args[1], str) and len(given) == 2:
        return f"{given[0]}.{node.args[1]}"
    return f"{_function(target, names)}({', '.join(given + named)})"


def _path(root: str, target: str) -> str:
    parts = [f".{p}" if p.isidentifier() else f'."{p}"' for p in target.split(".")]
    path = root
    for part in parts:
        path = f"getattr({path}, {part[1:]})" if part.startswith('."') else path + part
    return path


def _function(target: Any, names: dict[str, Any]) -> str:
    """A name for a function: PyTorch's name if there is one."""
    name = getattr(target, "__name__", type(target).__name__)
    for place in _PLACES:
        module = importlib.import_module(f"ogive.{place}")
        if getattr(module, name, None) is target:
            names["torch"] = importlib.import_module("ogive.torch")
            return f"{place}.{name}"
    return _named(f"{getattr(target, '__module__', '')}_{name}", target, names)


def _named(wanted: str, value: Any, names: dict[str, Any]) -> str:
    base = "".join(c if c.isalnum() else "_" for c in wanted).lstrip("_") or "value"
    name, number = base, 0
    while name in names and names[name] is not value:
        number += 1
        name = f"{base}_{number}"
    names[name] = value
    return name


def _value(value: Any, names: dict[str, Any]) -> str:
    if isinstance(value, Node):
        return value.name
    if type(value) is tuple or isinstance(value, tuple):
        inner = [_value(each, names) for each in value]
        if hasattr(value, "_fields"):
            return f"{_function(type(value), names)}({', '.join(inner)})"
        return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(_value(each, names) for each in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k!r}: {_value(v, names)}' for k, v in value.items())}}}"
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return f"slice({', '.join(_value(each, names) for each in parts)})"
    if type(value) in _LITERALS or (type(value) is float and math.isfinite(value)):
        return repr(value)
    if isinstance(value, DType):
        return _named(f"dtype_{value.name}", value, names)
    return _named(f"constant_{type(value).__name__}", value, names)
