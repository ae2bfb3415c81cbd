"""Numbers that are not Python's own: NumPy's scalars, and tensors of one element, as arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Tensor, nn
from ogive.errors import ArgumentTypeError, ShapeError
from tests.raising import raises

X = np.random.default_rng(6).normal(size=(2, 3, 4)).astype(np.float32)
IMAGE = np.random.default_rng(7).normal(size=(2, 4, 6, 6)).astype(np.float32)

Call = Callable[[Any, Any, Any, Any], Any]

LAYERS: list[Call] = [
    lambda x, image, i, f: nn.Linear(i(4), i(5))(x),
    lambda x, image, i, f: nn.Bilinear(i(4), i(4), i(2))(x, x),
    lambda x, image, i, f: nn.Conv2d(i(4), i(4), i(3), i(2), i(1), i(1), i(2))(image),
    lambda x, image, i, f: nn.Conv2d(i(4), i(4), (i(3), i(1)), padding=(i(1), i(0)))(image),
    lambda x, image, i, f: nn.ConvTranspose2d(i(4), i(2), i(3), i(2), i(1), i(1))(image),
    lambda x, image, i, f: nn.MaxPool2d(i(2), i(2), i(0))(image),
    lambda x, image, i, f: nn.AvgPool2d(i(2), i(2), i(1))(image),
    lambda x, image, i, f: nn.AdaptiveAvgPool2d((i(3), i(2)))(image),
    lambda x, image, i, f: nn.BatchNorm2d(i(4), f(1e-5), f(0.1))(image),
    lambda x, image, i, f: nn.GroupNorm(i(2), i(4), f(1e-5))(image),
    lambda x, image, i, f: nn.LayerNorm(i(4), f(1e-5))(x),
    lambda x, image, i, f: nn.LayerNorm([i(3), i(4)])(x),
    lambda x, image, i, f: nn.RMSNorm(i(4))(x),
    lambda x, image, i, f: nn.Embedding(i(10), i(3), i(2))(Tensor([1, 2])),
    lambda x, image, i, f: nn.LSTM(i(4), i(5), i(2), dropout=f(0.0))(x)[0],
    lambda x, image, i, f: nn.GRUCell(i(4), i(5))(x[0]),
    lambda x, image, i, f: nn.MultiheadAttention(i(4), i(2), f(0.0))(x, x, x)[0],
    lambda x, image, i, f: nn.Transformer(i(4), i(2), i(1), i(1), i(8), f(0.0))(x, x),
    lambda x, image, i, f: nn.Flatten(i(1), i(-1))(x),
    lambda x, image, i, f: nn.Upsample(scale_factor=i(2))(image),
    lambda x, image, i, f: nn.Upsample(scale_factor=(f(1.5), f(2.0)), mode="bilinear")(image),
    lambda x, image, i, f: nn.ZeroPad2d(i(1))(image),
    lambda x, image, i, f: nn.ReplicationPad1d((i(1), i(0)))(x),
    lambda x, image, i, f: nn.PReLU(i(3), f(0.25))(x),
    lambda x, image, i, f: nn.Dropout(f(0.0))(x),
    lambda x, image, i, f: nn.Softmax(i(1))(x),
]
FUNCTIONS: list[Call] = [
    lambda x, image, i, f: x.sum(i(0)),
    lambda x, image, i, f: x.mean((i(0), i(-1)), keepdim=True),
    lambda x, image, i, f: x.var(i(0), correction=i(1)),
    lambda x, image, i, f: x.prod(i(1)) + x.amax(i(1)) + x.logsumexp(i(1)) + x.norm(f(2.0), i(1)),
    lambda x, image, i, f: x.kthvalue(i(1), i(0)).values + x.median(i(0)).indices,
    lambda x, image, i, f: (x > 0).any(i(0)) | (x > 0).all(i(0)),
    lambda x, image, i, f: ogive.sum(x, axis=i(0)) + ogive.max(x, axis=(i(0),)),
    lambda x, image, i, f: nn.functional.normalize(x, f(2.0), i(1)),
    lambda x, image, i, f: x.movedim(i(0), i(-1)),
    lambda x, image, i, f: x.reshape(i(6), -1).view((i(-1), i(3))),
    lambda x, image, i, f: x[None].expand(i(5), -1, -1, i(-1)).repeat(i(1), i(2), i(1), i(1)),
    lambda x, image, i, f: x.split(i(2), i(2))[0] + x.chunk(i(2), i(-1))[1],
    lambda x, image, i, f: x.roll((i(1), i(1)), (i(0), i(1))).topk(i(2), i(1)).values,
    lambda x, image, i, f: x.unfold(i(2), i(2), i(1)).narrow(i(2), i(1), i(2)),
    lambda x, image, i, f: x[i(0) : i(2), i(-1)][[i(1), i(0)]],
    lambda x, image, i, f: ogive.arange(i(1), i(9), i(2)),
    lambda x, image, i, f: ogive.arange(f(0.0), f(1.0), f(0.25)),
    lambda x, image, i, f: ogive.linspace(f(0.0), f(1.0), i(5)),
    lambda x, image, i, f: ogive.zeros(i(2), i(3)) + ogive.ones((i(2), i(3))),
    lambda x, image, i, f: ogive.full((i(2),), f(1.5)),
    lambda x, image, i, f: ogive.full_like(x, i(3)) + x.new_full((i(2), i(1), i(1)), f(0.5)),
    lambda x, image, i, f: ogive.eye(i(3), i(4)) + ogive.cat((x, x), i(1))[0, : i(3)],
    lambda x, image, i, f: ogive.fft.fft2(x, (i(2), i(2)), (i(0), i(1))),
    lambda x, image, i, f: ogive.fft.fftshift(x, i(1)),
    lambda x, image, i, f: x.clamp(f(-0.5), f(0.5)).masked_fill(x > 0, f(2.0)) ** i(2),
]
KINDS: dict[str, tuple[Any, Any]] = {
    "64 bits": (np.int64, np.float64),
    "32 bits": (np.int32, np.float32),
    "arrays": (lambda number: np.array(number), lambda number: np.array(number)),
    "tensors": (lambda number: Tensor(number), lambda number: Tensor(number)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_other_libraries_count_like_pythons(kind: str) -> None:
    for call in (*LAYERS, *FUNCTIONS):
        results = []
        for integer, floating in ((int, float), KINDS[kind]):
            ogive.manual_seed(4)
            results.append(call(Tensor(X), Tensor(IMAGE), integer, floating))
        assert results[0].dtype is results[1].dtype
        np.testing.assert_allclose(results[1].numpy(), results[0].numpy(), rtol=1e-6)


def test_a_length_may_be_a_product_of_numpys() -> None:
    count: Any = np.prod((2, 2))
    assert nn.Linear(count, 8)(Tensor(X)).shape == (2, 3, 8)


def test_a_range_may_end_where_a_tensor_says() -> None:
    lengths = Tensor([2, 0, 3])
    mask = ogive.arange(lengths.max())[None] < lengths[:, None]
    assert mask.tolist() == [[True, True, False], [False] * 3, [True] * 3]
    with raises(ArgumentTypeError, match="arange takes numbers"):
        ogive.arange(lengths)


def test_a_tensor_of_one_element_fills_without_being_computed() -> None:
    x = Tensor([2.5]) * 2
    made = ogive.full((2, 2), x)
    assert not x.is_realized and made.dtype is ogive.float32
    assert made.tolist() == [[5, 5], [5, 5]]
    assert ogive.full((1,), Tensor(3, dtype="int8")).dtype is ogive.int64
    words = r"full takes a number or a tensor of one element, not one of shape \(2,\)"
    with raises(ShapeError, match=words):
        ogive.full((2,), Tensor([1.0, 2.0]))


def test_what_a_tensor_filled_has_memory_of_its_own() -> None:
    x = Tensor([2.0, 3.0])
    for made in (ogive.full((2,), x[0]), ogive.full_like(x, x[:1]), x.new_full((2,), x[0])):
        made[0] = 9
        assert (made.tolist(), x.tolist()) == ([9, 2], [2, 3])
