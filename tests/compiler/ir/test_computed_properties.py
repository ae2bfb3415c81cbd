"""Computed properties are filled in once, whoever fills them in."""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_parts.computed_properties import computed
from ogive.compiler.ir.ops import Op


def test_a_property_that_another_thread_fills_in_first_is_read_from_the_node() -> None:
    class Watched(UOp):
        __slots__ = ("_height",)

        _height: int

        @computed
        def height(self: UOp) -> int:
            if not self.src:
                top._height = 2  # as a thread would that came by in the meantime
                return 0
            return 1 + max(source.height for source in self.src if isinstance(source, Watched))

    low = Watched(Op.UNIQUE, arg="low")
    middle = Watched(Op.AFTER, src=(low,))
    top = Watched(Op.AFTER, src=(middle,))
    assert top.height == 2
    assert middle.height == 1
