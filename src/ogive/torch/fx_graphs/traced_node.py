"""One call of a traced program, and the nodes in its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ogive.errors import ArgumentError

if TYPE_CHECKING:
    from ogive.torch.fx_graphs.traced_graph import Graph

__all__ = ["Argument", "Node", "Target", "map_aggregate", "map_arg"]

Target = Callable[..., Any] | str
Argument = Any


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """Apply `fn` to each entry of nested tuples, lists, dictionaries and slices."""
    if isinstance(a, tuple):
        parts = [map_aggregate(each, fn) for each in a]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    if isinstance(a, list):
        return [map_aggregate(each, fn) for each in a]
    if isinstance(a, dict):
        return {key: map_aggregate(value, fn) for key, value in a.items()}
    if isinstance(a, slice):
        return slice(*(map_aggregate(each, fn) for each in (a.start, a.stop, a.step)))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """Apply `fn` to each node in nested arguments."""
    return map_aggregate(a, lambda each: fn(each) if isinstance(each, Node) else each)


class Node:
    """A call of a traced program: its kind `op`, its `target`, and its `args` and `kwargs`.

    The kinds are placeholder, get_attr, call_function, call_method, call_module and output.
    `users` are the nodes that have this node among their arguments.
    """

    def __init__(
        self, graph: Graph, name: str, op: str, target: Target, args: Any, kwargs: Any,
        return_type: Any = None,
    ) -> None:  # fmt: skip
        self.graph, self.name, self.op, self.target = graph, name, op, target
        self.type = return_type
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self._args: tuple[Any, ...] = ()
        self._kwargs: dict[str, Any] = {}
        self._prev = self._next = self
        self._erased = False
        self._set(tuple(args), dict(kwargs))

    def __repr__(self) -> str:
        return self.name

    @property
    def next(self) -> Node:
        """The next node."""
        return self._next

    @property
    def prev(self) -> Node:
        """The previous node."""
        return self._prev

    @property
    def args(self) -> tuple[Any, ...]:
        """The positional arguments."""
        return self._args

    @args.setter
    def args(self, args: tuple[Any, ...]) -> None:
        self._set(tuple(args), self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The keyword arguments."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs: dict[str, Any]) -> None:
        self._set(self._args, dict(kwargs))

    def _set(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        for node in self.all_input_nodes:
            node.users.pop(self, None)
        self._args, self._kwargs = args, kwargs
        for node in self.all_input_nodes:
            node.users[self] = None

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once."""
        nodes: dict[Node, None] = {}
        map_arg((self._args, self._kwargs), lambda node: nodes.setdefault(node))
        return list(nodes)

    def update_arg(self, idx: int, arg: Any) -> None:
        """Replace the positional argument at an index."""
        self.args = (*self.args[:idx], arg, *self.args[idx + 1 :])

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Insert a positional argument at an index."""
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Replace a keyword argument."""
        self.kwargs = {**self.kwargs, key: arg}

    def prepend(self, x: Node) -> None:
        """Move the node `x` before this one."""
        if x is self:
            return
        x.unlink()
        before = self._prev
        before._next = self._prev = x
        x._prev, x._next = before, self

    def append(self, x: Node) -> None:
        """Move the node `x` after this one."""
        if x is not self:
            self._next.prepend(x)

    def unlink(self) -> None:
        """Remove the node from the order of nodes."""
        self._prev._next, self._next._prev = self._next, self._prev

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Replace a node among the arguments."""

        def change(node: Node) -> Node:
            return new_input if node is old_input else node

        self._set(map_arg(self.args, change), map_arg(self.kwargs, change))

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] = lambda user: True,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Let all users of this node use `replace_with`. Returns the users."""
        if propagate_meta:
            replace_with.meta = dict(self.meta)
        changed = [user for user in list(self.users) if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    def format_node(self, *args: Any, **kwargs: Any) -> str:
        """The node as a line of text."""
        start = f"%{self.name} : [num_users={len(self.users)}] = {self.op}"
        if self.op == "placeholder":
            return f"{start}[target={self.target}]"
        shown = self.target if isinstance(self.target, str) else _name_of(self.target)
        if self.op == "output":
            return f"return {self.args[0]}"
        return f"{start}[target={shown}](args = {self.args}, kwargs = {self.kwargs})"

    def check_unused(self) -> None:
        """Raise `ArgumentError` if other nodes use this one."""
        if self.users:
            raise ArgumentError(f"{self.name} is still used by {', '.join(map(str, self.users))}")


def _name_of(target: Any) -> str:
    return f"{getattr(target, '__module__', '')}.{getattr(target, '__name__', target)}"
