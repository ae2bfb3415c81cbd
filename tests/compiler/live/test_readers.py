"""Who reads a node: found from lazy tensors down, or from the node up; both say the same."""

from __future__ import annotations

import random

import pytest

from ogive import Tensor
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.compiler.live import readers, registry


def memory_of(x: Tensor) -> UOp:
    return memory_leaf(x.realize().node)


def test_what_a_lazy_tensor_is_built_on_is_read() -> None:
    x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    above = (x.exp() + 1).sum()
    asked = {memory_of(x), memory_of(y)}
    assert readers.read_outside(asked, besides=[x.id, y.id]) == {memory_of(x)}
    del above
    assert readers.read_outside(asked, besides=[x.id, y.id]) == set()


def test_what_a_view_shows_is_read() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    memory = memory_of(x)
    assert not readers.is_read(memory, besides=[x.id])
    view = x.T[0]
    assert readers.is_read(memory, besides=[x.id])
    assert view.tolist() == [1.0, 3.0]


def test_what_is_read_through_the_nodes_inside_does_not_count() -> None:
    x = Tensor([1.0, 2.0])
    memory, half_way = memory_of(x), x * 2
    above = half_way + 1
    assert readers.read_outside([memory], {half_way.node}, [x.id]) == set()
    beside = x * 3
    assert readers.read_outside([memory], {half_way.node}, [x.id]) == {memory}
    assert (above + beside).tolist() == [6.0, 11.0]


@pytest.mark.parametrize("most", [registry.MOST_LOOKED_AT, -1])
def test_a_gradient_reads_what_it_is_of_through_the_nodes_inside(most: int) -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    x = Tensor([3.0, 4.0])
    memory, loss = memory_of(x), (w * x).sum()
    loss.backward()
    assert w.grad is not None
    assert readers.read_outside([memory], {loss.node}, [x.id], most) == {memory}
    assert readers.read_outside([memory], {loss.node, w.grad.node}, [x.id], most) == set()
    w.grad = None
    assert readers.read_outside([memory], {loss.node}, [x.id], most) == set()


def lazy_ids() -> set[int]:
    return {holder.id for holder in registry.lazy_holders()}


@pytest.mark.parametrize("seed", range(20))
def test_both_directions_find_the_same(seed: int) -> None:
    draw = random.Random(seed)
    sources = [Tensor([float(n), 1.0]).realize() for n in range(4)]
    made = list(sources)
    for _ in range(12):
        a, b = draw.choice(made), draw.choice(made)
        made.append(draw.choice([a + b, a * b, a.exp(), a.flip(0), a[1:].expand(2)]))
    asked = {memory_of(x) for x in sources}
    inside = {x.node for x in draw.sample(made[4:], 2)}
    for x in sources:
        x.assign(x + 1)
    held = draw.sample(made, 3)
    del made
    found = readers.read_outside(asked, inside)
    assert readers.read_outside(asked, inside, most=-1) == found
    assert len(held) == 3


def test_a_tensor_is_lazy_until_it_is_memory() -> None:
    x = Tensor([1.0, 2.0]).realize()
    y = x + 1
    assert y.id in lazy_ids() and x.id not in lazy_ids()
    y.realize()
    assert y.id not in lazy_ids()
    y.assign(y * 2)
    assert y.id in lazy_ids()
    assert y.tolist() == [4.0, 6.0]


def test_the_tensors_that_are_computed_from_memory_are_found() -> None:
    x, y = Tensor([1.0, 2.0]), Tensor([3.0])
    row, square, other = x[1:], x * x, y + 1
    total = square.sum()
    found = readers.tensors_reading([memory_leaf(x.node)])
    assert {tensor.id for tensor in found} == {square.id, total.id}
    assert {tensor.id for tensor in readers.tensors_reading([memory_leaf(y.node)])} == {other.id}
    assert row.tolist() == [2.0]
