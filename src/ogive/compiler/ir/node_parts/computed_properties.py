"""Properties of nodes that are computed from the same property of their sources.

A node has a slot for each of them, `_shape` for `shape`, and the class has the slot under both
names. A value that is known is read as fast as any field; one that is not makes Python call
`UOp.__getattr__`, which computes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    from ogive.compiler.ir.node import UOp

Value = TypeVar("Value")

PROPERTIES: dict[str, tuple[Any, Callable[[Any], Any]]] = {}
"""The slot and the function of each computed property, by name."""


def define_property(owner: type, name: str, function: Callable[[UOp], Any]) -> None:
    """Give `owner` the property `name`: `function` computes it, the slot `_name` keeps it."""
    slot = owner.__dict__["_" + name]
    setattr(owner, name, slot)
    PROPERTIES[name] = slot, function


class computed(Generic[Value]):
    """A property computed from the same property of the sources, once per node."""

    def __init__(self, function: Callable[[UOp], Value]) -> None:
        self.function = function

    def __set_name__(self, owner: type, name: str) -> None:
        define_property(owner, name, self.function)

    if TYPE_CHECKING:

        @overload
        def __get__(self, node: None, owner: type) -> computed[Value]: ...
        @overload
        def __get__(self, node: UOp, owner: type) -> Value: ...
        def __get__(self, node: UOp | None, owner: type) -> Any: ...


def compute_property(node: UOp, slot: Any, function: Callable[[UOp], Any]) -> Any:
    """Fill in a property of a node and of all nodes under it that lack it.

    Sources come first, without recursion, so that a chain of any depth works.
    """
    read = slot.__get__
    stack = [node]
    while stack:
        current = stack[-1]
        depth = len(stack)
        for source in current.src:
            try:
                read(source)
            except AttributeError:
                stack.append(source)
        if len(stack) > depth:
            continue
        stack.pop()
        try:
            read(current)
        except AttributeError:
            slot.__set__(current, function(current))
    return read(node)  # another thread may have filled it in meanwhile
