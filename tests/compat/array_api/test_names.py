"""What a user of PyTorch types: names, calls in PyTorch's words, and advice for what is absent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor
from tests.raising import raises

X = numpy.random.default_rng(8).normal(size=(3, 4))

CALLS: list[tuple[str, Callable[[Any, Any], Any]]] = [
    ("sum by name", lambda xp, x: xp.sum(x, dim=1, keepdim=True)),
    ("sum by position", lambda xp, x: xp.sum(x, 1)),
    ("the first argument by name", lambda xp, x: xp.mean(input=x, dim=0)),
    ("max with positions", lambda xp, x: xp.max(x, 1)),
    ("min with positions", lambda xp, x: xp.min(x, dim=0)),
    ("sort with positions", lambda xp, x: xp.sort(x, dim=0, descending=True)),
    ("argmax", lambda xp, x: xp.argmax(x, dim=1)),
    ("argsort", lambda xp, x: xp.argsort(x, 1)),
    ("std, corrected", lambda xp, x: xp.std(x, dim=1)),
    ("var", lambda xp, x: xp.var(x, dim=1, unbiased=False)),
    ("flip", lambda xp, x: xp.flip(x, [0])),
    ("roll", lambda xp, x: xp.roll(x, 1, 0)),
    ("squeeze", lambda xp, x: xp.squeeze(x[None])),
    ("tril", lambda xp, x: xp.tril(x, diagonal=1)),
    ("round", lambda xp, x: xp.round(x, decimals=2)),
    ("add", lambda xp, x: xp.add(x, x, alpha=2)),
    ("any", lambda xp, x: xp.any(x > 1, 1)),
    ("count_nonzero", lambda xp, x: xp.count_nonzero(x > 0, dim=0)),
    ("diff", lambda xp, x: xp.diff(x, dim=0)),
    ("concatenate", lambda xp, x: xp.concatenate([x, x], dim=1)),
    ("polygamma", lambda xp, x: xp.polygamma(2, x.abs() + 1)),
    ("hann_window", lambda xp, x: xp.hann_window(7, dtype=xp.float64)),
    ("hamming_window", lambda xp, x: xp.hamming_window(7, False, 0.5, 0.4, dtype=xp.double)),
    ("blackman_window", lambda xp, x: xp.blackman_window(7, dtype=xp.double)),
    ("bartlett_window", lambda xp, x: xp.bartlett_window(6, dtype=xp.double)),
    ("kaiser_window", lambda xp, x: xp.kaiser_window(6, True, 3.0, dtype=xp.double)),
    ("as_tensor", lambda xp, x: xp.as_tensor([1, 2], dtype=xp.double)),
    ("fill_diagonal_", lambda xp, x: (x * 1).fill_diagonal_(7)),
    ("long", lambda xp, x: x.to(xp.long)),
    ("zeros", lambda xp, x: xp.zeros(size=(2, 3))),
    ("full", lambda xp, x: xp.full(size=(2,), fill_value=1.5)),
    ("linspace", lambda xp, x: xp.linspace(start=0.0, end=1.0, steps=5)),
    ("logspace", lambda xp, x: xp.logspace(start=0.0, end=1.0, steps=4)),
    ("meshgrid", lambda xp, x: xp.meshgrid([x[0], x[:, 0]])),
    ("zeros_like", lambda xp, x: xp.zeros_like(input=x)),
    ("eye", lambda xp, x: xp.eye(n=3, m=2)),
    ("where", lambda xp, x: xp.where(x > 0, input=x, other=0)),
    ("split", lambda xp, x: xp.split(x, split_size_or_sections=2, dim=1)),
    ("concat", lambda xp, x: xp.concat(tensors=(x, x), dim=1)),
    ("reshape", lambda xp, x: xp.reshape(input=x, shape=(-1,))),
    ("polar", lambda xp, x: xp.polar(abs=x, angle=x).real),
    ("linalg.cross", lambda xp, x: xp.linalg.cross(input=x[:, :3], other=x[:, 1:], dim=-1)),
    ("linalg.pinv", lambda xp, x: xp.linalg.pinv(x, rcond=1e-3)),
    ("searchsorted", lambda xp, x: xp.searchsorted(sorted_sequence=x[0].sort()[0], input=x[1])),
    ("new_zeros", lambda xp, x: x.new_zeros(size=(2, 1))),
    ("randint", lambda xp, x: xp.randint(low=3, high=4, size=(2,))),
    ("randint from a place", lambda xp, x: xp.randint(3, high=4, size=(2,))),
    ("randint to a place", lambda xp, x: xp.randint(1, size=(2,))),
    ("randn", lambda xp, x: xp.randn(size=(2, 3)) * 0),
    ("rand", lambda xp, x: xp.rand(size=(2, 3)) * 0),
    ("randn_like", lambda xp, x: xp.randn_like(input=x) * 0),
    ("bernoulli", lambda xp, x: xp.bernoulli(input=x * 0)),
    ("repeat_interleave of positions", lambda xp, x: xp.repeat_interleave(xp.tensor([2, 0, 1]))),
    ("flip of a scalar", lambda xp, x: xp.flip(x[0, 0], [0])),
    ("movedim of a scalar", lambda xp, x: xp.movedim(x[0, 0], 0, -1)),
    ("attention", lambda xp, x: xp.nn.functional.scaled_dot_product_attention(
        query=x, key=x, value=x)),
    ("relu", lambda xp, x: xp.nn.functional.relu(x.clone(), True)),
    ("leaky_relu", lambda xp, x: xp.nn.functional.leaky_relu(x.clone(), 0.1, True)),
    ("dropout", lambda xp, x: xp.nn.functional.dropout(x.clone(), 0.0, True, True)),
    ("gumbel_softmax", lambda xp, x: xp.nn.functional.gumbel_softmax(
        x, 1.0, False, 1e-10, 0).sum(0)),
    ("margin_ranking_loss", lambda xp, x: xp.nn.functional.margin_ranking_loss(
        input1=x, input2=x * 2, target=x)),
    ("triplet_margin_loss", lambda xp, x: xp.nn.functional.triplet_margin_loss(
        anchor=x, positive=x, negative=x * 2)),
    ("threshold of integers", lambda xp, x: xp.nn.functional.threshold(
        xp.tensor([2**31 - 1, -5, 0, 2**62 + 1]), -0.5, 2.0)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "call"), CALLS, ids=[name for name, _ in CALLS])
def test_a_call_in_pytorchs_words_is_pytorchs(name: str, call: Callable[[Any, Any], Any]) -> None:
    ours, theirs = call(ogive, Tensor(X)), call(torch, torch.tensor(X))
    pairs = [(ours, theirs)] if isinstance(ours, Tensor) else zip(ours, theirs, strict=True)
    for mine, other in pairs:
        assert mine.dtype.name == str(other.dtype)[6:]
        numpy.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=1e-9, atol=1e-12)


def test_a_call_in_the_standards_words_is_the_standards() -> None:
    x = Tensor(X)
    assert ogive.max(x, axis=1).shape == (3,)
    assert float(ogive.std(x)) == pytest.approx(X.std())
    with raises(TypeError, match="unexpected keyword argument 'axes'"):
        ogive.sum(x, axes=1)
    with raises(ogive.errors.ArgumentTypeError, match="sum takes a tensor first, got list"):
        ogive.sum([1.0], dim=0)


def test_dtypes_have_pytorchs_second_names() -> None:
    assert isinstance(ogive.long, ogive.dtype)
    for name in ("half", "float", "double", "short", "int", "long", "cfloat", "cdouble"):
        assert getattr(ogive, name).name == str(getattr(torch, name))[6:]
    assert ogive.promote_types(ogive.int, ogive.half) is ogive.float16


def test_tensors_are_told_from_what_is_none() -> None:
    x = Tensor([1.0])
    assert ogive.is_tensor(x) and not ogive.is_tensor(X)
    assert ogive.as_tensor(x) is x and ogive.as_tensor(x, device="cpu") is x
    assert 1.0 in x and 2.0 not in x
    assert x.to(ogive.device("cpu")).device == "CPU"


@pytest.mark.parametrize(("what", "words"), [
    (lambda: ogive.compile, "'compile': ogive.jit captures and compiles a function"),
    (lambda: ogive.LongTensor, r"use ogive.tensor\(values, dtype=...\)"),
    (lambda: Tensor([1.0]).data_ptr(), "'data_ptr': they show no"),
    (lambda: setattr(Tensor([1.0]), "storage", 1), "'storage': they show no"),
])  # fmt: skip
def test_what_is_absent_says_what_to_use_instead(what: Callable[[], Any], words: str) -> None:
    with raises(AttributeError, match=words):
        what()
    assert not hasattr(ogive, "compile") and not hasattr(Tensor, "storage")
