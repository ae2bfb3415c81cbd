"""The new forms of the nodes of a graph with values over several devices."""

from __future__ import annotations

from collections.abc import Sequence

from ogive.compiler.ir.device_names import group_members, is_group
from ogive.compiler.ir.layouts import Layout, copies_on
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import SPREAD, Op
from ogive.compiler.ir.traversal import walk
from ogive.compiler.passes.shards.shard_exchanges import Placed, Spread
from ogive.compiler.passes.shards.shard_rules import Rules
from ogive.config import Config
from ogive.journal import log

_MARKS = frozenset({Op.DETACH, Op.GRADIENT})


def infer_layouts(roots: Sequence[UOp]) -> list[Layout | None]:
    """The layout of each root over several devices; None for a value on one device."""
    placing = Placing()
    for node in walk(tuple(roots)):
        placing.place(node)
    values = [placing.done[root] for root in roots]
    return [value.layout if isinstance(value, Spread) else None for value in values]


class Placing:
    """The new form of each node in `done`, which `place` fills, sources first."""

    def __init__(self, config: Config | None = None) -> None:
        self.done: dict[UOp, Placed] = {}
        self._config = config
        self._rules = Rules(self._note)

    def place(self, node: UOp) -> None:
        """Add the new form of a node whose sources have theirs."""
        self.done[node] = self._placed(node)

    def plain(self, node: UOp) -> UOp:
        """The new form of a node that is on one device."""
        new = self.done[node]
        assert isinstance(new, UOp), "no value over several devices is asked for as a whole"
        return new

    def parts(self, node: UOp) -> tuple[UOp, ...]:
        """The new form of a node, or its form on each device."""
        new = self.done.get(node, ())
        return (new,) if isinstance(new, UOp) else new.parts if new else ()

    def _placed(self, node: UOp) -> Placed:
        sources = [self.done[source] for source in node.src]
        if node.op in SPREAD:
            return self._laid_out(node, sources)
        if node.op is Op.COPY and is_group(node.arg):
            return self._rules.exchanges.lay_out(sources[0], copies_on(group_members(node.arg)))
        if not any(isinstance(source, Spread) for source in sources):
            plain = tuple([self.plain(source) for source in node.src])
            return node if plain == node.src else node.replace(src=plain)
        if node.op is Op.COPY and isinstance(sources[0], Spread):
            return self._rules.exchanges.collect(sources[0], node.arg)
        if node.op in _MARKS:
            return self._marked(sources)
        return self._rules.apply(node, sources)

    def _laid_out(self, node: UOp, sources: list[Placed]) -> Placed:
        if node.op is Op.MULTI:
            return Spread(Layout(*node.arg), tuple([self.plain(part) for part in node.parts]))
        value = self._rules.exchanges.lay_out(sources[0], Layout(*node.arg[:3]))
        return value.parts[node.number] if node.op is Op.MSELECT else value

    def _marked(self, sources: list[Placed]) -> Placed:
        """The form of a `DETACH` or `GRADIENT`: its operand.

        An operand that depends on no device, as the sum of no elements, is copied to the devices of
        the other sources.
        """
        value, *others = sources
        if isinstance(value, Spread) or self._rules.exchanges.where(value) is not None:
            return value
        devices = next(other.layout.devices for other in others if isinstance(other, Spread))
        return self._rules.exchanges.lay_out(value, copies_on(devices))

    def _note(self, node: UOp, what: str) -> None:
        if self._config is not None and self._config.logs("shard"):
            log("shard", f"{node.op.name} of shape {node.shape}: {what} is gathered")
