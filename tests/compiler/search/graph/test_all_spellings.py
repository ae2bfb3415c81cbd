"""However exporters spell a function, the search makes it what its best spelling is."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy
import pytest

import ogive
from ogive import Config, Graph, Tensor
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.pipeline.graph_passes import cut_kernels
from ogive.compiler.search.graph.schedule_times import schedule_time
from ogive.compiler.search.graph.search_graph import search_graph
from tests.compiler.passes.parametric import normalize

ROUNDING = Config(exactness="rounding", search=Graph(milliseconds=10_000))
MOST = 1.03
"""How much longer than the best of a family each spelling may take, by the model."""

ROWS, COLUMNS = 64, 256


def data(*shape: int, seed: int = 0) -> Tensor:
    drawn = numpy.random.default_rng(sum(shape) + seed).normal(size=shape)
    return Tensor(drawn.astype(numpy.float32))


def gelu_by_erf() -> list[Tensor]:
    x = data(ROWS, COLUMNS)
    return [
        x * 0.5 * ((x / 2**0.5).erf() + 1),
        0.5 * x * (1 + (x * 0.7071067811865475).erf()),
        x * ((x * 0.7071067811865475).erf() * 0.5 + 0.5),
        x * (1 + (x / 2**0.5).erf()) / 2,
    ]


def gelu_by_tanh() -> list[Tensor]:
    x = data(ROWS, COLUMNS)
    factor = 0.7978845608
    return [
        0.5 * x * (1 + (factor * (x + 0.044715 * x**3)).tanh()),
        0.5 * x * (1 + (factor * (x + 0.044715 * x * x * x)).tanh()),
        0.5 * x * (1 + (factor * x * (1 + 0.044715 * x**2)).tanh()),
        x * (1 + (factor * (x + 0.044715 * x.pow(3.0))).tanh()) / 2,
    ]


def layer_norm() -> list[Tensor]:
    x, gain, bias = data(ROWS, COLUMNS), data(COLUMNS), data(COLUMNS, seed=1)
    mean = x.mean(-1, keepdim=True)
    centred = x - mean
    variance = (centred * centred).mean(-1, keepdim=True) + 1e-5
    power = (centred**2).mean(-1, keepdim=True) + 1e-5
    other = (x * x).mean(-1, keepdim=True) - mean * mean + 1e-5
    summed = x - x.sum(-1, keepdim=True) / COLUMNS
    spread = (summed * summed).sum(-1, keepdim=True) / COLUMNS + 1e-5
    return [
        centred * variance.rsqrt() * gain + bias,
        centred / variance.sqrt() * gain + bias,
        centred * (1 / variance.sqrt()) * gain + bias,
        centred / power**0.5 * gain + bias,
        centred * power**-0.5 * gain + bias,
        centred / other.sqrt() * gain + bias,
        summed / spread.sqrt() * gain + bias,
    ]


def rms_norm() -> list[Tensor]:
    x, gain = data(ROWS, COLUMNS), data(COLUMNS)
    mean = (x * x).mean(-1, keepdim=True) + 1e-5
    total = (x**2).sum(-1, keepdim=True) / COLUMNS + 1e-5
    return [
        x * mean.rsqrt() * gain,
        x / mean.sqrt() * gain,
        gain * (x * mean**-0.5),
        x / total**0.5 * gain,
    ]


def softmax() -> list[Tensor]:
    x = data(ROWS, COLUMNS)
    exponentials = (x - x.amax(-1, keepdim=True)).exp()
    total = exponentials.sum(-1, keepdim=True)
    return [x.softmax(-1), exponentials / total, exponentials * (1 / total)]


def by_hand(scores: Tensor) -> Tensor:
    exponentials = (scores - scores.amax(-1, keepdim=True)).exp()
    return exponentials / exponentials.sum(-1, keepdim=True)


def attention() -> list[Tensor]:
    query, key, value = [data(4, 256, 64, seed=seed) for seed in range(3)]
    scores = query @ key.transpose(-1, -2)
    exponentials = (scores * 0.125 - (scores * 0.125).amax(-1, keepdim=True)).exp()
    turned = by_hand(scores / 8).transpose(-1, -2)
    return [
        (scores * 0.125).softmax(-1) @ value,
        ((query * 0.125) @ key.transpose(-1, -2)).softmax(-1) @ value,
        (query @ (key * 0.125).transpose(-1, -2)).softmax(-1) @ value,
        by_hand(scores / 8) @ value,
        (exponentials @ value) / exponentials.sum(-1, keepdim=True),
        (value.transpose(-1, -2) @ turned).transpose(-1, -2),
    ]


def masked_attention() -> list[Tensor]:
    query, key, value = [data(4, 256, 64, seed=seed) for seed in range(3)]
    below = numpy.tril(numpy.ones((256, 256), numpy.float32))
    added, seen = Tensor(numpy.where(below, 0, numpy.float32(-1e9))), Tensor(below) == 1
    scores = query @ key.transpose(-1, -2)
    return [
        (scores * 0.125 + added).softmax(-1) @ value,
        (scores / 8).masked_fill(~seen, -1e9).softmax(-1) @ value,
        by_hand(ogive.where(seen, scores / 8, -1e9)) @ value,
    ]


FAMILIES = [
    gelu_by_erf, gelu_by_tanh, layer_norm, rms_norm, softmax, attention, masked_attention,
]  # fmt: skip


def time_of(graph: UOp) -> float:
    target = host_target()
    return schedule_time(cut_kernels(graph, target, ROUNDING), target, {})


def searched(value: Tensor) -> UOp:
    target = host_target()
    cut = functools.partial(cut_kernels, target=target, config=ROUNDING)
    return search_graph(normalize((value.node,)).sink, target, ROUNDING, cut, [])


@pytest.mark.parametrize("family", FAMILIES)
def test_every_spelling_takes_the_time_of_the_best(family: Callable[[], list[Tensor]]) -> None:
    times: Sequence[float] = [time_of(searched(value)) for value in family()]
    assert max(times) <= MOST * min(times), times


@pytest.mark.parametrize("family", FAMILIES)
def test_every_spelling_gives_the_same_values(family: Callable[[], list[Tensor]]) -> None:
    expected = family()[0].realize(Config(search=Graph(rounds=0))).numpy()
    for value in family():
        found = value.realize(ROUNDING).numpy()
        numpy.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5)
