"""Shapes of every operation against PyTorch, which does not compute on its `meta` device."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import ogive
from ogive import Tensor
from ogive.compiler.ir.ops import Op

settings.register_profile("tensor", deadline=None)
settings.load_profile("tensor")
shapes = st.lists(st.integers(0, 4), max_size=5).map(tuple)


def meta(shape: tuple[int, ...]) -> torch.Tensor:
    return torch.empty(shape, device="meta")


def outcome(function: Any) -> Any:
    """The shape of a result, or None where it is refused."""
    try:
        return tuple(function().shape)
    except (RuntimeError, ValueError, IndexError, TypeError):
        return None


@given(shapes, shapes)
def test_elementwise_shapes_broadcast_as_in_torch(left: Any, right: Any) -> None:
    ours = outcome(lambda: ogive.zeros(left) + ogive.zeros(right))
    assert ours == outcome(lambda: meta(left) + meta(right))


@given(shapes, shapes)
def test_matmul_shapes_are_torchs(left: Any, right: Any) -> None:
    ours = outcome(lambda: ogive.zeros(left) @ ogive.zeros(right))
    assert ours == outcome(lambda: meta(left) @ meta(right))


@given(shapes, st.lists(st.integers(-6, 5), min_size=1, max_size=4), st.booleans())
def test_reduction_shapes_are_torchs(shape: Any, dims: list[int], keepdim: bool) -> None:
    for name, peer in (("sum", "sum"), ("amax", "amax"), ("mean", "mean"), ("all", "all")):
        ours = outcome(lambda name=name: getattr(ogive.zeros(shape), name)(dims, keepdim=keepdim))
        theirs = outcome(lambda peer=peer: getattr(meta(shape), peer)(dims, keepdim=keepdim))
        assert ours == theirs, name


@given(shapes, st.integers(-6, 5), st.booleans())
def test_argmax_and_softmax_shapes_are_torchs(shape: Any, dim: int, keepdim: bool) -> None:
    ours = outcome(lambda: ogive.zeros(shape).argmax(dim, keepdim))
    assert ours == outcome(lambda: meta(shape).argmax(dim, keepdim))
    if math.prod(shape) and shape:  # else torch takes any axis, as its meta device always does
        ours = outcome(lambda: ogive.zeros(shape).softmax(dim))
        assert ours == outcome(lambda: torch.zeros(shape).softmax(dim))


@given(shapes, st.lists(st.integers(-2, 6), max_size=5))
def test_reshape_and_expand_shapes_are_torchs(shape: Any, wanted: list[int]) -> None:
    ours = outcome(lambda: ogive.zeros(shape).reshape(wanted))
    assert ours == outcome(lambda: torch.empty(shape).reshape(wanted))
    theirs = outcome(lambda: torch.empty(shape).expand(wanted))
    if theirs is not None and min(theirs, default=0) < 0:
        theirs = None  # torch lets a new axis of an empty tensor have a negative length
    assert outcome(lambda: ogive.zeros(shape).expand(wanted)) == theirs


@given(shapes, st.data())
def test_movement_shapes_are_torchs(shape: Any, data: Any) -> None:
    x, peer = ogive.zeros(shape), meta(shape)
    order = data.draw(st.permutations(range(len(shape))))
    assert x.permute(order).shape == tuple(peer.permute(order).shape)
    dim = data.draw(st.integers(-6, 6))
    other = data.draw(st.integers(-6, 6))
    for name in ("squeeze", "unsqueeze"):
        ours = outcome(lambda name=name: getattr(x, name)(dim))
        assert ours == outcome(lambda name=name: getattr(peer, name)(dim)) or shape == (), name
    for name in ("transpose", "flatten"):
        ours = outcome(lambda name=name: getattr(x, name)(dim, other))
        assert ours == outcome(lambda name=name: getattr(peer, name)(dim, other)) or not shape, name
    assert x.squeeze().shape == tuple(peer.squeeze().shape)
    assert x.T.shape == shape[::-1]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.integers(0, 3), st.integers(1, 4))
def test_cat_and_stack_shapes_are_torchs(sizes: list[int], axis: int, count: int) -> None:
    parts = [(*sizes[:axis], number, *sizes[axis + 1 :]) for number in range(count)]
    ours = outcome(lambda: ogive.cat([ogive.zeros(part) for part in parts], axis))
    theirs = outcome(lambda: torch.cat([meta(part) for part in parts], axis))
    # torch still lets (0,) join anything.
    assert ours == theirs or (0,) in parts
    ours = outcome(lambda: ogive.stack([ogive.zeros(sizes)] * count, axis))
    assert ours == outcome(lambda: torch.stack([meta(tuple(sizes))] * count, axis))


@given(shapes, st.data())
def test_pad_and_shrink_undo_each_other(shape: Any, data: Any) -> None:
    pads = [data.draw(st.tuples(st.integers(0, 3), st.integers(0, 3))) for _ in shape]
    x = ogive.zeros(shape).exp()
    padded = x.pad(pads)
    expected = [a + n + b for n, (a, b) in zip(shape, pads, strict=True)]
    assert padded.shape == tuple(expected)
    back = padded.shrink([(a, a + n) for n, (a, _) in zip(shape, pads, strict=True)])
    assert back.shape == shape


def test_layer_norm_and_unflatten_keep_the_element_count() -> None:
    x = ogive.zeros(2, 3, 4)
    assert x.layer_norm(4).shape == x.layer_norm((3, 4)).shape == (2, 3, 4)
    assert x.unflatten(2, (2, -1)).shape == (2, 3, 2, 2)
    assert x.flatten(1).shape == (2, 12)
    assert math.prod(x.flatten().shape) == 24


def test_a_tensor_of_ten_axes_works() -> None:
    x = ogive.ones(*[2] * 10)
    assert (x + x.permute(*reversed(range(10)))).sum((0, 9)).shape == (2,) * 8
    assert x[0, ..., 1].shape == (2,) * 8


def test_movements_that_change_nothing_make_no_node() -> None:
    x = Tensor(np.ones((2, 3)))
    same = (
        x.reshape(2, 3), x.permute(0, 1), x.expand(2, 3), x.expand(-1, -1), x.flip(), x[:], x[...],
        x.pad(((0, 0), (0, 0))), x.shrink(((0, 2), (0, 3))), x.T.T, x.flip(0).flip(0),
        x.reshape(6).reshape(2, 3), x.squeeze(), x.cast("float64"), x.contiguous(),
    )  # fmt: skip
    assert [tensor.node for tensor in same] == [x.node] * len(same)


def test_chains_of_one_movement_are_one_node() -> None:
    x = Tensor(np.ones((2, 3, 4))).exp()
    merged = {
        Op.RESHAPE: x.reshape(6, 4).reshape(24).reshape(4, 6),
        Op.PERMUTE: x.permute(1, 0, 2).permute(2, 0, 1),
        Op.SHRINK: x[1:][:, 1:][..., 1:3],
        Op.EXPAND: x[:1, :1].expand(5, 1, 4).expand(5, 6, 4),
        Op.FLIP: x.flip(0).flip(1),
    }
    for op, tensor in merged.items():
        assert tensor.node.op is op
        below = tensor.node.src[0]
        assert below is x.node or (op is Op.EXPAND and below.op is Op.SHRINK)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (1, 1), (0, 3), (3, 0, 2)])
def test_sizes_zero_and_one_work_everywhere(shape: Any) -> None:
    x = ogive.ones(shape)
    for made in (
        x + 1, x.exp(), x.sum(), x.mean(), x.any(), x.all(), x.prod(), x.var(), x.T, x.reshape(-1),
        x.softmax() if shape else x, ogive.stack([x, x]), x.expand(2, *shape), x.relu(), x @ x.T
        if len(shape) == 2 else x, x.unsqueeze(0), x.contiguous(), x.detach(),
    ):  # fmt: skip
        assert made.shape is not None
