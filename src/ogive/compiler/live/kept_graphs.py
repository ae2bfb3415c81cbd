"""Keeps the graphs that a program computes in a loop, so that the next iteration finds them.

A loop builds the same expressions in every iteration. But interning finds a node only while it is
alive, and an iteration drops the nodes that it built. Nodes kept here stay alive, and so does what
is known about them: the compiled form of a graph, the gradients of a value.

    iteration 1    BUFFER#1 ── MUL ── ADD     kept
    iteration 2    BUFFER#1 ── MUL ── ADD     found, with other values in the same or other memory

A buffer node may get other memory only if nothing reads its present memory. That is so if all
references to the node, and to every kept node above it, come from kept nodes. Then `take` gives the
node to other memory of the same role, such as the same result of the same graph. `references.py`
explains why counts of references show that.

Kept graphs keep a little memory alive. When there are too many, or none has been found for a while,
all are dropped. Callers of the functions here hold `graph_lock`.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import registry
from ogive.compiler.live.references import count_references
from ogive.named import NamedTuple

KEPT_BYTES = 1 << 21
"""The most bytes that a kept graph may read: with more, Python takes little of the time."""

ALL_KEPT_BYTES = 1 << 23
"""The most bytes that all kept graphs together keep alive."""

_MISSES = 64
"""After this many graphs in a row that were not found, the loop is taken to be over."""

_count = count_references


def _local_references() -> int:
    """The references that a local variable and the call of `count_references` add to the count."""
    probe = object()
    return 0 if _count is None else _count(probe)


_LOCAL = _local_references()


class Gradients(NamedTuple):
    """The gradients of a value as pairs (version of a leaf, gradient).

    `others` are the float buffers under it from which no path leads to a leaf.
    """

    pairs: tuple[tuple[UOp, UOp], ...]
    others: tuple[UOp, ...]


class _Noted(threading.local):
    """The latest gradients that this thread computed, held weakly, since they may be kept soon."""

    def __init__(self) -> None:
        self.entries: deque[tuple[Any, Any, Any]] = deque(maxlen=4)


class KeptGraphs:
    """The kept graphs: `found` has an entry for each, by its roots.

    `turns` counts the lookups, which are the runs.
    """

    LIMIT = 256

    def __init__(self) -> None:
        self.found: dict[tuple[UOp, ...], Any] = {}
        self.gradients: dict[UOp, Gradients] = {}
        self._references: dict[UOp, int] = {}  # how many references to each node are ours
        self._tuples: set[int] = set()
        self._pools: dict[Any, list[UOp]] = {}
        self._readers: dict[int, list[weakref.ref[UOp]]] = {}
        self._noted = _Noted()
        self._nbytes = 0
        self._misses = 0
        self.turns = 0

    def find(self, roots: tuple[UOp, ...]) -> Any:
        """The entry of the graph with these roots, or None."""
        self.turns += 1
        entry = self.found.get(roots)
        if entry is not None:
            self._misses = 0
        else:
            self.pass_by()
        return entry

    def pass_by(self) -> None:
        """Record that a graph ran that is not kept."""
        if self.found:
            self._misses += 1
            if self._misses > _MISSES:
                self.clear()

    def keep(
        self, roots: tuple[UOp, ...], order: Sequence[UOp], entry: Any, held: Iterable[UOp]
    ) -> None:
        """Keep a graph and its `entry`. `order` is its walk, `held` the nodes in the entry."""
        if _count is None:
            return
        if len(self.found) == self.LIMIT or self._nbytes > ALL_KEPT_BYTES:
            self.clear()
        references = self._references
        for node in order:
            if node.op is Op.BUFFER:
                self._readers.pop(node.id, None)  # it has more users now
            if node in references:
                continue
            references[node] = 1
            if node.op is Op.BUFFER:
                live = node.live
                self._nbytes += live.memory.nbytes
                if live.role is not None:
                    self._pools.setdefault(live.role, []).append(node)
                    references[node] += 1
            self._hold(node.src[:2])  # a node also holds its first two sources in slots
            # Nodes may share one tuple of sources, as those made by `replace` do.
            if id(node.src) not in self._tuples:
                self._tuples.add(id(node.src))
                self._hold(node.src)
        self.found[roots] = entry
        self._hold(roots)
        self._hold(held)
        self._keep_gradients()

    def clear(self) -> None:
        """Drop everything."""
        with registry.graph_lock:
            for entries in (self.found, self.gradients, self._pools, self._readers):
                entries.clear()
            self._tuples.clear()
            self._references.clear()
            self._nbytes = self._misses = 0

    def _hold(self, nodes: Iterable[UOp]) -> None:
        for node in nodes:
            self._references[node] += 1

    # Gradients

    def note_gradients(self, root: UOp, gradients: Gradients) -> None:
        """Record gradients that were computed, in case their graph will be kept."""
        pairs = [(version.reference, value.reference) for version, value in gradients.pairs]
        others = [node.reference for node in gradients.others]
        self._noted.entries.append((root.reference, pairs, others))

    def _keep_gradients(self) -> None:
        entries, self._noted.entries = self._noted.entries, deque(maxlen=4)
        for reference, pairs, others in entries:
            root = reference()
            gradients = Gradients(
                tuple([(version(), value()) for version, value in pairs]),
                tuple([other() for other in others]),
            )
            nodes = [root, *gradients.others, *[node for pair in gradients.pairs for node in pair]]
            if root not in self.gradients and all(node in self._references for node in nodes):
                self.gradients[root] = gradients
                self._hold(nodes)

    # Buffer nodes without readers

    def take(self, role: Any) -> UOp | None:
        """A buffer node of that role whose memory nothing reads any more; its memory is removed."""
        for node in self._pools.get(role, ()):
            if self._is_ours(node) and self.is_idle(node):
                live = node.live
                live.memory = live.history = live.leaf = None
                live.remembered = False  # a history that reads it would refer to it
                return node
        return None

    def _is_ours(self, node: UOp) -> bool:
        assert _count is not None
        # One local variable here and one in the caller.
        return _count(node) == self._references[node] + _LOCAL + 1

    def is_idle(self, buffer: UOp) -> bool:
        """Whether only kept nodes refer to the nodes above a kept buffer node.

        False for a node that is not kept, about which nothing is known.
        """
        references = self._references
        if _count is None or buffer not in references or registry.has_holder(buffer):
            return False
        if not all(user in references for user in registry.users_of(buffer)):
            return False
        readers = self._readers.get(buffer.id)
        if readers is None:
            readers = self._find_readers(buffer)
            if readers is None:
                return False
            self._readers[buffer.id] = readers
            return True
        for reference in readers:
            node = reference()
            if node is None or _count(node) != references[node] + _LOCAL:
                return False
        return True

    def _find_readers(self, buffer: UOp) -> list[weakref.ref[UOp]] | None:
        """The kept nodes above a buffer node, or None if others refer to one of them.

        A node above that is not kept shows in the count of references to its sources.
        """
        assert _count is not None
        references = self._references
        readers: list[weakref.ref[UOp]] = []
        seen: set[int] = set()
        waiting = [buffer.reference]
        while waiting:
            node = waiting.pop()()
            for reference in () if node is None else node.live:
                user = reference()
                if user is None or user not in references or user.id in seen:
                    continue
                if _count(user) != references[user] + _LOCAL:
                    return None
                seen.add(user.id)
                readers.append(reference)
                waiting.append(reference)
        return readers


kept_graphs = KeptGraphs()
