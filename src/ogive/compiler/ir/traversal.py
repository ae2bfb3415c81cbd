"""Walks over graphs: listing the nodes, replacing some, changing all.

None of them recurses, so that a chain of 100,000 nodes works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ogive.compiler.ir.node import UOp


def walk(roots: tuple[UOp, ...]) -> list[UOp]:
    """All nodes under `roots`, each once, sources first; the order depends on structure alone."""
    order: list[UOp] = []
    seen: set[UOp] = set()
    stack: list[tuple[UOp, Iterator[UOp]]] = []
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        stack.append((root, iter(root.src)))
        while stack:
            node, sources = stack[-1]
            for source in sources:
                if source not in seen:
                    seen.add(source)
                    if source.src:
                        stack.append((source, iter(source.src)))
                        break
                    order.append(source)
            else:
                stack.pop()
                order.append(node)
    return order


def substitute(
    roots: tuple[UOp, ...], replacements: Mapping[UOp, UOp], *, revisit: bool = True
) -> tuple[UOp, ...]:
    """`roots` with the keys of `replacements` replaced by its values.

    With `revisit`, keys are also replaced inside the values. Without it, values are used as they
    are: a value that contains its own key needs this (`BUFFER` → `AFTER(BUFFER, STORE)`).
    """
    done: dict[UOp, UOp] = {}
    open_keys: set[UOp] = set()
    stack: list[tuple[UOp, bool]] = [(root, False) for root in reversed(roots)]
    while stack:
        node, ready = stack.pop()
        if node in done:
            continue
        replacement = replacements.get(node)
        if replacement is not None and replacement is not node:
            if not revisit:
                done[node] = replacement
            elif replacement in done:
                done[node] = done[replacement]
            elif node in open_keys:
                raise RecursionError("a replacement contains its own key; substitute once instead")
            else:
                open_keys.add(node)
                stack.append((node, True))
                stack.append((replacement, False))
        elif ready:
            done[node] = node.with_sources(tuple([done[source] for source in node.src]))
        else:
            stack.append((node, True))
            stack.extend([(source, False) for source in reversed(node.src) if source not in done])
    return tuple([done[root] for root in roots])


def transform(root: UOp, change: Callable[[UOp], UOp]) -> UOp:
    """The graph made by giving every node, over its transformed sources, to `change`."""
    done: dict[UOp, UOp] = {}
    for node in root.walk():
        done[node] = change(node.with_sources(tuple([done[source] for source in node.src])))
    return done[root]
