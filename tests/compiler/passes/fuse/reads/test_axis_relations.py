"""What the choice believes of an axis holds in the index arithmetic that rangeify writes."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.fuse.reads.axis_relations import (
    identity_view,
    reshape_groups,
    source_view,
    varying_axes,
)
from ogive.compiler.passes.loops.rangeify import rangeify

Shape = tuple[int, ...]


@st.composite
def reshapes(draw: st.DrawFn) -> tuple[Shape, Shape]:
    """Two shapes of equally many elements."""
    factors = draw(st.lists(st.sampled_from([1, 2, 2, 3, 3, 5]), min_size=1, max_size=6))

    def grouped() -> Shape:
        cuts = sorted(draw(st.lists(st.integers(0, len(factors)), max_size=4)))
        bounds = [0, *cuts, len(factors)]
        return tuple([math.prod(factors[a:b]) for a, b in itertools.pairwise(bounds)])

    return grouped(), grouped()


@given(reshapes())
def test_groups_pair_axes_of_equal_products_in_order(shapes: tuple[Shape, Shape]) -> None:
    before, after = shapes
    groups = reshape_groups(before, after)
    for left, right in groups:
        assert math.prod(before[a] for a in left) == math.prod(after[a] for a in right)
    lefts = [axis for left, _ in groups for axis in left]
    rights = [axis for _, right in groups for axis in right]
    assert lefts == [axis for axis, size in enumerate(before) if size != 1]
    assert rights == [axis for axis, size in enumerate(after) if size != 1]


@st.composite
def movements(draw: st.DrawFn) -> UOp:
    """A chain of movement ops over a buffer."""
    before, after = draw(reshapes())
    count = math.prod(before)
    node = UOp(Op.PARAM, dtypes.float32, (), (1, count))
    node = UOp(Op.RESHAPE, node.dtype, (node,), before)
    for _ in range(draw(st.integers(1, 4))):
        shape = node.shape
        kind = draw(st.sampled_from(["reshape", "permute", "expand", "pad", "shrink", "flip"]))
        if kind == "reshape" and math.prod(shape) == math.prod(after):
            node = UOp(Op.RESHAPE, node.dtype, (node,), after)
        elif kind == "permute":
            order = tuple(draw(st.permutations(range(len(shape)))))
            node = UOp(Op.PERMUTE, node.dtype, (node,), order)
        elif kind == "expand":
            wider = tuple([draw(st.sampled_from([1, 4])) if n == 1 else n for n in shape])
            node = UOp(Op.EXPAND, node.dtype, (node,), wider)
        elif kind == "pad":
            pads = tuple([(draw(st.integers(0, 1)), draw(st.integers(0, 2))) for _ in shape])
            node = UOp(Op.PAD, node.dtype, (node,), (pads, 0.0))
        elif kind == "shrink":
            pairs = tuple([(min(draw(st.integers(0, 1)), n - 1), n) for n in shape])
            node = UOp(Op.SHRINK, node.dtype, (node,), pairs)
        elif shape:
            node = UOp(Op.FLIP, node.dtype, (node,), (draw(st.integers(0, len(shape) - 1)),))
    return node


@settings(max_examples=200)
@given(movements())
def test_a_view_knows_every_loop_that_a_position_depends_on(node: UOp) -> None:
    view = identity_view(node.shape)
    chain = []
    top = node
    while top.op is not Op.PARAM:
        chain.append(top)
        view = source_view(top, view)
        top = top.src[0]
    target = UOp(Op.PARAM, dtypes.float32, (), (0, math.prod(node.shape)))
    shaped = UOp(Op.RESHAPE, dtypes.float32, (target,), node.shape)
    store = UOp(Op.ASSIGN, dtypes.void, (shaped, node))
    loops = rangeify(UOp(Op.SINK, dtypes.void, (store,)))
    (made,) = loops.src
    axes = [axis for axis, size in enumerate(node.shape) if size != 1]
    ranges = made.src[2:]
    assert len(ranges) == len(axes)
    numbers = dict(zip(ranges, axes, strict=True))
    for found in loops.walk():
        if found.op is Op.LOAD:
            used = {numbers[counter] for counter in found.src[0].src[1].ranges}
            believed = {axis for axis in axes if (view.used >> axis) & 1}
            assert used <= believed


@settings(max_examples=200)
@given(movements(), st.integers(0, 63))
def test_values_vary_only_along_the_axes_that_are_named(node: UOp, bits: int) -> None:
    chain = []
    top = node
    while top.op is not Op.PARAM:
        chain.append(top)
        top = top.src[0]
    chain.reverse()
    first = chain[0]
    bits &= (1 << len(first.shape)) - 1
    array = np.zeros(first.shape)
    for axis, size in enumerate(first.shape):
        if (bits >> axis) & 1:
            steps = np.arange(size) * 100.0**axis
            array = array + steps.reshape([-1 if a == axis else 1 for a in range(array.ndim)])
    for move in chain[1:]:
        bits = varying_axes(move, bits)
        array = _move(move, array)
    for axis in range(array.ndim):
        if not (bits >> axis) & 1:
            inner = np.moveaxis(array, axis, 0)
            padded = np.isnan(inner)
            top_values = np.nanmax(inner, axis=0, initial=-1)
            assert np.all(padded | (inner == top_values))


@st.composite
def shifts(draw: st.DrawFn) -> tuple[UOp, UOp]:
    """Two chains of movement over one value, of the same shapes, that may read other elements."""
    before, after = draw(reshapes())
    node = UOp(Op.PARAM, dtypes.float32, (), (1, math.prod(before)))
    pair = [UOp(Op.RESHAPE, node.dtype, (node,), before)] * 2
    for _ in range(draw(st.integers(1, 5))):
        shape = pair[0].shape
        kind = draw(st.sampled_from(["reshape", "permute", "pad", "shrink", "flip"]))
        order = tuple(draw(st.permutations(range(len(shape)))))
        for number, each in enumerate(pair):
            starts = [draw(st.integers(0, min(1, n - 1))) for n in shape]
            argument: Any
            if kind == "reshape" and math.prod(shape) == math.prod(after):
                op, argument = Op.RESHAPE, after
            elif kind == "permute":
                op, argument = Op.PERMUTE, order
            elif kind == "pad":
                op, argument = Op.PAD, (tuple([(at, 1 - at) for at in starts]), 0.0)
            elif kind == "shrink":
                ends = [at + max(n - 1, 1) for at, n in zip(starts, shape, strict=True)]
                op, argument = Op.SHRINK, tuple(zip(starts, ends, strict=True))
            else:
                op, argument = Op.FLIP, tuple([a for a, at in enumerate(starts) if at])
            pair[number] = UOp(op, each.dtype, (each,), argument)
    return pair[0], pair[1]


@settings(max_examples=300)
@given(shifts())
def test_equal_views_read_the_same_elements(pair: tuple[UOp, UOp]) -> None:
    views, arrays = [], []
    for node in pair:
        view = identity_view(node.shape)
        chain = []
        while node.src[0].op is not Op.PARAM:
            view = source_view(node, view)
            chain.append(node)
            node = node.src[0]
        array = np.arange(math.prod(node.shape), dtype=np.float64).reshape(node.shape)
        for move in reversed(chain):
            array = _move(move, array)
        views.append((view.loops, view.places))
        arrays.append(array)
    left, right = arrays
    if views[0] == views[1]:
        assert np.all((left == right) | np.isnan(left) | np.isnan(right))


def test_reads_at_other_places_are_told_apart() -> None:
    value = UOp(Op.RESHAPE, dtypes.float32, (UOp(Op.PARAM, dtypes.float32, (), (1, 9)),), (9,))
    first, second = [UOp(Op.SHRINK, value.dtype, (value,), ((at, at + 8),)) for at in (0, 1)]
    flipped = UOp(Op.FLIP, value.dtype, (first,), (0,))
    folded = UOp(Op.RESHAPE, value.dtype, (first,), (2, 4))
    across = UOp(Op.PERMUTE, value.dtype, (UOp(Op.RESHAPE, value.dtype, (first,), (4, 2)),), (1, 0))
    found = set()
    for node in (first, second, flipped, folded, across):
        view = identity_view(node.shape)
        while node is not value:
            view = source_view(node, view)
            node = node.src[0]
        found.add((view.loops, view.places))
    assert len(found) == 5


def _move(node: UOp, array: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> np.ndarray[
    tuple[int, ...], np.dtype[np.float64]
]:
    arg = node.arg
    if node.op is Op.RESHAPE:
        return array.reshape(arg)
    if node.op is Op.PERMUTE:
        return array.transpose(arg)
    if node.op is Op.EXPAND:
        return np.broadcast_to(array, arg)
    if node.op is Op.PAD:
        return np.pad(array, arg[0], constant_values=np.nan)
    if node.op is Op.SHRINK:
        return array[tuple([slice(begin, end) for begin, end in arg])]
    return np.flip(array, arg)
