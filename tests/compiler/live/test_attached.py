"""What is alive hangs on a node by one slot, from when its edges are registered."""

from __future__ import annotations

import weakref

import ogive
from ogive import Tensor
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import registry
from ogive.compiler.live.attached import Live, WeakList


class Something:
    """What weak references refer to."""


def param() -> UOp:
    return UOp(Op.PARAM, dtypes.float32, (), (0, 4))


def test_a_node_of_a_compiled_graph_has_nothing() -> None:
    node = UOp(Op.NEG, dtypes.float32, (param(),))
    assert node.live is None and registry.buffer_of(node) is None
    assert registry.users_of(node) == [] and registry.holders_of(node) == []


def test_a_connected_node_knows_who_is_built_on_it() -> None:
    below = UOp(Op.NEG, dtypes.float32, (UOp(Op.EXP, dtypes.float32, (param(),)),))
    above = UOp(Op.SQRT, dtypes.float32, (below,))
    registry.connect(above)
    assert isinstance(below.live, Live) and registry.users_of(below) == [above]
    assert registry.users_of(above) == []
    del above
    assert registry.users_of(below) == []


def test_a_tensor_is_known_as_a_holder() -> None:
    x = Tensor([1.0, 2.0]) * 3
    assert registry.holders_of(x.node) == [x]


def test_memory_hangs_on_the_node_of_a_realized_value() -> None:
    x = (Tensor([1.0, 2.0]) * 3).realize()
    (leaf,) = [node for node in x.node.walk() if node.op is Op.BUFFER]
    assert leaf.live.memory is registry.buffer_of(leaf) is not None
    assert x.dtype is ogive.float32


def test_a_weak_list_stays_as_long_as_what_is_alive() -> None:
    alive = [Something() for _ in range(3)]
    references = WeakList()
    for _ in range(100):
        for each in alive:
            references.add(weakref.ref(each))
        references.add(weakref.ref(Something()))
    assert len(references) <= WeakList.limit
    assert {reference() for reference in references} >= set(alive)
