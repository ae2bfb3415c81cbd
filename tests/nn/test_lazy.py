"""Layers that take their number of features from the first input."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor, nn, optim
from ogive.errors import ArgumentError, ArgumentTypeError, ShapeError, StateError
from tests.raising import raises

CASES: list[tuple[str, tuple[Any, ...], dict[str, Any], tuple[int, ...]]] = [
    ("LazyLinear", (3,), {"bias": False}, (2, 5)),
    ("LazyConv1d", (4, 3), {"padding": 1}, (2, 6, 5)),
    ("LazyConv2d", (4, 3), {"groups": 2}, (6, 5, 4)),
    ("LazyConvTranspose2d", (4, 3), {"stride": 2}, (2, 3, 4, 4)),
    ("LazyBatchNorm1d", (), {"momentum": 0.3}, (4, 3)),
    ("LazyBatchNorm2d", (), {}, (4, 3, 2, 2)),
    ("LazyInstanceNorm1d", (), {"affine": True, "track_running_stats": True}, (2, 3, 5)),
]


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_a_lazy_layer_becomes_the_plain_one(case: Any) -> None:
    name, args, kwargs, shape = case
    x = numpy.random.default_rng(1).normal(size=shape)
    ours = getattr(nn, name)(*args, **kwargs).double()
    theirs = getattr(torch.nn, name)(*args, **kwargs).double()
    with torch.no_grad():
        theirs(torch.tensor(x))
    before = list(ours.parameters())
    ours(Tensor(x))
    assert type(ours) is getattr(nn, name.removeprefix("Lazy"))
    assert all(one is other for one, other in zip(before, ours.parameters(), strict=True))
    assert {type(p) for p in before} <= {nn.Parameter}
    ours.load_state_dict(theirs.state_dict())
    made, expected = ours(Tensor(x)), theirs(torch.tensor(x))
    numpy.testing.assert_allclose(made.numpy(), expected.detach().numpy(), atol=1e-12)


def test_modes_and_hooks_stay_when_a_layer_is_settled() -> None:
    seen: list[Any] = []
    layer: Any = nn.LazyBatchNorm1d().eval().requires_grad_(False)
    layer.register_forward_hook(lambda module, args, result: seen.append(result.shape))
    layer(ogive.ones(4, 3))
    layer(ogive.ones(5, 3))
    assert not layer.training and seen == [(4, 3), (5, 3)]
    assert layer.num_features == 3 and not any(p.requires_grad for p in layer.parameters())


def test_what_needs_shapes_asks_for_a_first_call() -> None:
    model = nn.Sequential(nn.LazyLinear(3), nn.ReLU())
    assert "(0): LazyLinear(in_features=0, out_features=3, bias=True)" in repr(model)
    with raises(ArgumentError, match="call the model once with an input before"):
        optim.SGD(model.parameters(), lr=0.1)
    with raises(StateError, match=r"0\.weight has no shape yet: call the module once"):
        model.load_state_dict({"0.weight": numpy.ones((3, 2)), "0.bias": numpy.ones(3)})
    with raises(ShapeError, match="LazyConv2d has its features along axis -3"):
        nn.LazyConv2d(3, 2)(ogive.ones(4, 5))
    with raises(ArgumentTypeError, match="LazyLinear takes out_features, bias"):
        nn.LazyLinear(3, width=2)
