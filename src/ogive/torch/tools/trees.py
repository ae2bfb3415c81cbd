"""`torch.utils._pytree`: flatten and rebuild nested tuples, lists and dictionaries."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

__all__ = [
    "TreeSpec", "_register_pytree_node", "register_pytree_node", "tree_all", "tree_any",
    "tree_flatten", "tree_leaves", "tree_map", "tree_map_", "tree_map_only", "tree_unflatten",
]  # fmt: skip


class TreeSpec:
    """The structure of a tree: the type of each branch, and the places of the leaves."""

    def __init__(self, kind: type | None, keys: Any, children: list[TreeSpec]) -> None:
        self.type, self.context, self.children_specs = kind, keys, children
        self.num_leaves: int = 1 if kind is None else sum(each.num_leaves for each in children)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeSpec) and (
            (self.type, self.context, self.children_specs)
            == (other.type, other.context, other.children_specs)
        )

    __hash__ = None  # type: ignore[assignment]


_registered: dict[type, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {}
"""How objects of the classes that programs registered are taken apart, and put together."""


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], Any],
    unflatten_fn: Callable[[Any, Any], Any],
    **options: Any,
) -> None:
    """Let objects of a class be branches.

    `flatten_fn(tree)` gives the list of its children and anything else that it holds, the context;
    `unflatten_fn(children, context)` makes it again. The options are about files and keys, and are
    not used.

    >>> tree = ogive.torch.utils._pytree
    >>> tree.register_pytree_node(slice, lambda s: ([s.start, s.stop], s.step),
    ...                           lambda parts, step: slice(*parts, step))
    >>> tree.tree_map(lambda n: n * 2, slice(1, 3, 5))
    slice(2, 6, 5)
    """
    _registered[cls] = flatten_fn, unflatten_fn


_register_pytree_node = register_pytree_node


def _children(tree: Any) -> tuple[Any, list[Any]] | None:
    """The keys and children of a branch; None for a leaf."""
    kind = type(tree)
    if kind in _registered:
        children, context = _registered[kind][0](tree)
        return context, list(children)
    if kind in (list, tuple) or hasattr(tree, "_fields"):
        return len(tree), list(tree)
    if kind in (dict, OrderedDict, defaultdict):
        return list(tree), list(tree.values())
    return None


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], Any]:
    """The leaves in order, and the structure of a tree."""
    parts = None if is_leaf is not None and is_leaf(tree) else _children(tree)
    if parts is None:
        return [tree], TreeSpec(None, None, [])
    keys, values = parts
    leaves: list[Any] = []
    specs = []
    for value in values:
        below, spec = tree_flatten(value, is_leaf)
        leaves += below
        specs.append(spec)
    return leaves, TreeSpec(type(tree), keys, specs)


def tree_unflatten(leaves: Any, treespec: TreeSpec) -> Any:
    """The tree with a structure and leaves."""
    waiting = iter(leaves)
    return _build(waiting, treespec)


def _build(leaves: Any, spec: TreeSpec) -> Any:
    if spec.type is None:
        return next(leaves)
    parts = [_build(leaves, each) for each in spec.children_specs]
    if spec.type in _registered:
        return _registered[spec.type][1](parts, spec.context)
    if spec.type in (dict, OrderedDict, defaultdict):
        kind = OrderedDict if spec.type is OrderedDict else dict
        return kind(zip(spec.context, parts, strict=True))
    return spec.type(*parts) if hasattr(spec.type, "_fields") else spec.type(parts)


def tree_leaves(tree: Any, is_leaf: Any = None) -> list[Any]:
    """The leaves in order."""
    return tree_flatten(tree, is_leaf)[0]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Any = None) -> Any:
    """The tree with `func` of each leaf, and of the same leaves of other trees."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [tree_leaves(rest, is_leaf) for rest in rests]
    return tree_unflatten([func(*each) for each in zip(leaves, *others, strict=True)], spec)


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Any = None) -> Any:
    """Call `func` with each leaf. Returns the tree itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(kind: Any, func: Callable[[Any], Any], tree: Any, is_leaf: Any = None) -> Any:
    """The tree with `func` of the leaves of a type."""
    return tree_map(lambda x: func(x) if isinstance(x, kind) else x, tree, is_leaf=is_leaf)


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: Any = None) -> bool:
    """Whether `pred` holds for a leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: Any = None) -> bool:
    """Whether `pred` holds for all leaves."""
    return all(map(pred, tree_leaves(tree, is_leaf)))
