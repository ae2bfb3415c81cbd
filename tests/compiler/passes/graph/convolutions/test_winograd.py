"""Convolutions of 3×3 windows are computed in tiles, by Winograd's form."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy
import pytest
import torch

from ogive import Config, Tensor
from ogive.compiler.passes.capture.inline_calls import inline_calls
from ogive.compiler.passes.capture.normalize import normalize
from ogive.compiler.passes.graph.convolutions.lay_channels_last import lay_channels_last
from ogive.compiler.passes.graph.convolutions.recognized_convolutions import find_convolutions
from ogive.compiler.passes.graph.convolutions.winograd import TWO, Transform, has_unit_windows
from ogive.compiler.passes.graph.convolutions.winograd_choice import (
    choose_tiles,
    count_tile_roundings,
)
from ogive.compiler.targets.costs import CPU_COSTS
from ogive.compiler.targets.findings import Finding
from ogive.compiler.targets.target import describe_cpu

TARGET = describe_cpu("x86_64-linux-gnu", "haswell", "+avx,+avx2")
ALWAYS = CPU_COSTS.with_changes(packing={"tiled_gain": 0.0, "tiled_roundings": 1e9})
FREE = CPU_COSTS.with_changes(packing={"kept_price": 0.0})
ROUNDING = Config(exactness="rounding", costs=ALWAYS)

FOUR = Transform(
    4,
    (
        (4, 0, -5, 0, 1, 0), (0, -4, -4, 1, 1, 0), (0, 4, -4, -1, 1, 0), (0, -2, -1, 2, 1, 0),
        (0, 2, -1, -2, 1, 0), (0, 4, 0, -5, 0, 1),
    ),
    (
        (1 / 4, 0, 0), (-1 / 6, -1 / 6, -1 / 6), (-1 / 6, 1 / 6, -1 / 6), (1 / 24, 1 / 12, 1 / 6),
        (1 / 24, -1 / 12, 1 / 6), (0, 0, 1),
    ),
    ((1, 1, 1, 1, 1, 0), (0, 1, -1, 2, -2, 0), (0, 1, 1, 4, 4, 0), (0, 1, -1, 8, -8, 1)),
)  # fmt: skip


def values(*shape: int) -> numpy.ndarray[Any, Any]:
    return numpy.random.default_rng(len(shape) + shape[0]).normal(size=shape).astype(numpy.float32)


def rounded_tiles(result: Tensor, exactness: str = "rounding") -> list[Finding]:
    """What is computed in tiles of a graph."""
    findings: list[Finding] = []
    sink = inline_calls(normalize((result.node,))).sink
    lay_channels_last(sink, TARGET, exactness, findings)
    return findings


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("padding", [0, 1, (2, 1)])
@pytest.mark.parametrize("lines", [(8, 8), (7, 11), (3, 20)])
def test_tiles_give_what_windows_give(batch: int, padding: Any, lines: tuple[int, int]) -> None:
    x, w = values(batch, 24, *lines), values(40, 24, 3, 3)
    wanted = torch.conv2d(torch.tensor(x).double(), torch.tensor(w).double(), padding=padding)
    result = Tensor(x).conv2d(Tensor(w), padding=padding).realize(config=ROUNDING)
    scale = wanted.abs().max().item()
    numpy.testing.assert_allclose(result.numpy(), wanted.numpy(), rtol=0, atol=2e-6 * scale)


def test_layers_behind_each_other_give_what_pytorch_gives() -> None:
    arrays = values(2, 16, 13, 12), values(32, 16, 3, 3) / 12, values(32, 32, 3, 3) / 17

    def network(convolve: Any, x: Any, first: Any, second: Any) -> Any:
        x = convolve(x, first, None, 1, 1).relu()
        return (convolve(x, second, None, 1, 1) + x).relu().mean((2, 3))

    wanted = network(torch.conv2d, *[torch.tensor(each).double() for each in arrays])
    made = network(Tensor.conv2d, *[Tensor(each) for each in arrays]).realize(config=ROUNDING)
    numpy.testing.assert_allclose(made.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)


def test_tiles_are_only_taken_where_rounding_may_change() -> None:
    result = Tensor(values(1, 64, 28, 28)).conv2d(Tensor(values(64, 64, 3, 3)), padding=1)
    assert len(rounded_tiles(result)) == 1
    assert not rounded_tiles(result, "exact")


@pytest.mark.parametrize(
    "options", [{"stride": 2}, {"dilation": 2}, {"padding": 1, "stride": (1, 2)}]
)
def test_windows_that_are_apart_are_no_tiles(options: dict[str, Any]) -> None:
    result = Tensor(values(1, 16, 12, 12)).conv2d(Tensor(values(16, 16, 3, 3)), **options)
    order = inline_calls(normalize((result.node,))).sink.walk()
    (found,) = find_convolutions(order, TARGET).values()
    assert not has_unit_windows(found)


def test_windows_of_other_sizes_are_no_tiles() -> None:
    for size in ((1, 1), (5, 5), (3, 1)):
        result = Tensor(values(1, 64, 28, 28)).conv2d(Tensor(values(64, 64, *size)))
        assert not rounded_tiles(result)


def test_few_channels_are_left_to_windows() -> None:
    """Their tiles take more memory than time is saved, and would be rounded more often."""
    image, filters = Tensor(values(1, 8, 64, 64)), Tensor(values(64, 8, 3, 3))
    assert not rounded_tiles(image.conv2d(filters, padding=1))


def test_tiles_that_take_longer_by_the_model_are_not_taken() -> None:
    result = Tensor(values(1, 64, 28, 28)).conv2d(Tensor(values(64, 64, 3, 3)), padding=1)
    order = inline_calls(normalize((result.node,))).sink.walk()
    (found,) = find_convolutions(order, TARGET).values()
    choice = choose_tiles(found, TWO, TARGET)
    assert choice is not None and choice.times[0] > 1.1 * choice.times[1]


@pytest.mark.parametrize("batch, is_taken", [(1, False), (8, True)])
def test_tiles_save_more_than_the_memory_of_their_filters_is_worth(
    batch: int, is_taken: bool
) -> None:
    result = Tensor(values(batch, 512, 7, 7)).conv2d(Tensor(values(512, 512, 3, 3)), padding=1)
    assert bool(rounded_tiles(result)) == is_taken


def test_products_of_vectors_in_two_steps_take_twice_as_long() -> None:
    """So tiles, which have fewer of them, gain more there."""
    result = Tensor(values(1, 512, 7, 7)).conv2d(Tensor(values(512, 512, 3, 3)), padding=1)
    order = inline_calls(normalize((result.node,))).sink.walk()
    features = "+avx,+avx2,+avx512f,+avx512bw,+avx512vl"
    gains = []
    for cpu in ("znver4", "sapphirerapids"):
        target = describe_cpu("x86_64-linux-gnu", cpu, features)
        target = dataclasses.replace(target, costs=FREE)
        (found,) = find_convolutions(order, target).values()
        choice = choose_tiles(found, TWO, target)
        assert choice is not None
        gains.append(choice.times[0] / choice.times[1])
    assert gains[0] > 1.1 * gains[1]


def test_tiles_of_two_are_bounded_as_windows_are_and_tiles_of_four_are_not() -> None:
    assert TWO.amplification == pytest.approx((8 / 3) ** 2)
    assert FOUR.amplification == pytest.approx(16.0**2)
    windows = 9 * 64
    assert count_tile_roundings(64, TWO) <= windows
    assert count_tile_roundings(64, FOUR) > 30 * windows


def test_errors_are_those_of_windows() -> None:
    x, w = values(1, 64, 20, 20), values(64, 64, 3, 3)
    wanted = torch.conv2d(torch.tensor(x).double(), torch.tensor(w).double()).numpy()
    errors = [
        abs(Tensor(x).conv2d(Tensor(w)).realize(config=config).numpy() - wanted).max()
        for config in (Config(), ROUNDING)
    ]
    assert errors[1] < 2.5 * errors[0]


def test_transformed_filters_are_computed_once() -> None:
    result = Tensor(values(1, 64, 12, 12)).conv2d(Tensor(values(64, 64, 3, 3)), padding=1)
    plan = result.prepare(config=ROUNDING)
    for _ in range(3):
        plan.execute()
    assert plan.memory.kept == 16 * 64 * 64 * 4


def test_plans_say_that_tiles_are_taken() -> None:
    result = Tensor(values(1, 64, 28, 28)).conv2d(Tensor(values(64, 64, 3, 3)), padding=1)
    text = result.prepare(config=ROUNDING).explain()
    assert "3×3 windows * filters → tiles of 2×2 results, by Winograd's form" in text
    assert "a result is rounded at most 527 times on its way, not 576" in text
    assert "test_winograd.py" in text and ".conv2d(Tensor(values(64, 64, 3, 3))" in text


def test_convolutions_that_are_alike_are_told_of_once() -> None:
    x = Tensor(values(1, 64, 28, 28))
    for number in range(3):
        x = x.conv2d(Tensor(values(64, 64, 3, 3) * (number + 1)), padding=1).relu()
    (finding,) = rounded_tiles(x)
    assert finding.times == 3


def test_filters_that_change_are_transformed_anew() -> None:
    x, w = Tensor(values(1, 64, 12, 12)), Tensor(values(64, 64, 3, 3))
    result = x.conv2d(w, padding=1)
    plan = result.prepare(config=ROUNDING)
    for _ in range(3):
        plan.execute()
    before = result.numpy().copy()
    w.assign(w * 2).realize()
    plan.execute()
    numpy.testing.assert_allclose(result.numpy(), before * 2, rtol=1e-6)


def test_pieces_that_results_are_joined_from_are_computed_side_by_side() -> None:
    result = Tensor(values(1, 64, 28, 28)).conv2d(Tensor(values(64, 64, 3, 3)), padding=1)
    plan = result.prepare(config=Config(exactness="rounding", costs=ALWAYS, vectorize=True))
    assert any("upcast16" in kernel.name for kernel in plan.kernels)


WHOLE = ALWAYS.with_changes(packing={"tiled_gain": 0.0, "strip_filters": 0.0})


@pytest.mark.parametrize("batch, channels, lines", [(1, 32, (96, 96)), (2, 24, (58, 89))])
def test_strips_of_tiles_give_the_same_bits_in_less_memory(
    batch: int, channels: int, lines: tuple[int, int]
) -> None:
    x = Tensor(values(batch, channels, *lines)).relu().realize()
    w = Tensor(values(64, channels, 3, 3)).realize()
    results, memory = [], []
    for costs in (WHOLE, ALWAYS):
        result = (x.conv2d(w, padding=1) + 1).relu()
        plan = result.prepare(config=Config(exactness="rounding", costs=costs, verify=True))
        plan.execute()
        results.append(result.numpy())
        memory.append(plan.memory.planned)
    assert results[0].tobytes() == results[1].tobytes()
    assert memory[1] < 0.6 * memory[0]
