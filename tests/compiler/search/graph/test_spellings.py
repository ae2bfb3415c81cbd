"""What exporters of models write is found in the spelling that takes the least time."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy
import pytest

from ogive import Config, Graph, Tensor
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.passes.pipeline.graph_passes import cut_kernels
from ogive.compiler.search.graph.search_graph import search_graph
from ogive.compiler.targets.findings import Finding
from tests.compiler.passes.parametric import normalize

ROUNDING = Config(exactness="rounding", search=Graph(milliseconds=10_000))


def data(*shape: int) -> Tensor:
    drawn = numpy.random.default_rng(len(shape) + shape[-1]).normal(size=shape)
    return Tensor(drawn.astype(numpy.float32))


def gelu() -> Tensor:
    x = data(64, 256)
    return x * 0.5 * ((x / 1.4142135623730951).erf() + 1.0)


def layer_norm() -> Tensor:
    x, gain, bias = data(64, 256), data(256), data(256)
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred * centred).mean(-1, keepdim=True)
    return centred / (variance + 1e-5).sqrt() * gain + bias


def attention() -> Tensor:
    query, key, value = data(2, 128, 32), data(2, 128, 32), data(2, 128, 32)
    mask = Tensor(numpy.triu(numpy.full((128, 128), -1e9, numpy.float32), 1))
    scores = query @ key.transpose(-1, -2) / 5.656854 + mask
    weights = (scores - scores.amax(-1, keepdim=True)).exp()
    return (weights / weights.sum(-1, keepdim=True)) @ value


def common_factor() -> Tensor:
    x = data(96, 128)
    return x @ data(128, 64) + x @ data(128, 64).tanh()


SPELLINGS = [
    (gelu, "x / c → x * (1 / c)"),
    (layer_norm, "x / expand d → x * expand (1 / d)"),
    (attention, "(a * s) · b → (a · b) * s, where s is the same for all terms"),
    (common_factor, "a · b + a · c → a · (b + c)"),
]


@pytest.mark.parametrize("make, rule", SPELLINGS, ids=lambda each: getattr(each, "__name__", ""))
def test_the_spelling_is_found(make: Callable[[], Tensor], rule: str) -> None:
    target = host_target()
    findings: list[Finding] = []
    cut = functools.partial(cut_kernels, target=target, config=ROUNDING)
    search_graph(normalize((make().node,)).sink, target, ROUNDING, cut, findings)
    assert rule in [each for finding in findings if finding.is_taken for each in finding.rules]


@pytest.mark.parametrize("make", [make for make, _ in SPELLINGS])
def test_the_values_stay_but_for_rounding(make: Callable[[], Tensor]) -> None:
    expected = make().realize(Config(search=Graph(rounds=0))).numpy()
    found = make().realize(ROUNDING).numpy()
    numpy.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
