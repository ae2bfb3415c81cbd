"""Steps that hand large values to each other do so a strip at a time."""

from __future__ import annotations

import numpy
import pytest

from ogive import Config, Tensor
from ogive.compiler.ir.memory import STRIPPED, STRIPS
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from ogive.compiler.passes.regions.number_slots import Schedule, Step
from ogive.compiler.targets.target import describe_cpu
from tests.compiler.passes.parametric import normalize

TARGET = describe_cpu("x86_64-linux-gnu", "haswell", "+avx,+avx2")
ROUNDING = Config(exactness="rounding")


def layers(count: int, channels: int, *lines: int) -> Tensor:
    """Convolutions behind each other, each with a bias and a relu."""
    random = numpy.random.default_rng(0)

    def drawn(*shape: int) -> Tensor:
        return Tensor(random.normal(size=shape).astype(numpy.float32)).realize()

    x = drawn(1, channels, *lines)
    for _ in range(count):
        filters, bias = drawn(channels, channels, 3, 3) / 20, drawn(1, channels, 1, 1)
        x = (x.conv2d(filters.realize(), padding=1) + bias).relu()
    return x


def schedule(value: Tensor) -> Schedule:
    return schedule_graph(normalize((value.node,)).sink, TARGET, ROUNDING)


def hinted(scheduled: Schedule, hint: tuple[str, ...]) -> list[Step]:
    """The steps whose value has a hint."""
    return [step for step in scheduled.kernels if step.region.roots[0].arg == hint]


def test_steps_of_a_chain_take_turns() -> None:
    scheduled = schedule(layers(1, 32, 64, 64))
    strips, last = hinted(scheduled, STRIPS), hinted(scheduled, STRIPPED)
    assert len(last) > 1 and len(strips) == 2 * len(last)
    order = [step.region.roots[0] for step in scheduled.kernels if step in strips + last]
    assert order == order[:3] * len(last)


def test_the_last_of_a_chain_writes_what_the_next_layer_reads() -> None:
    one, two = [schedule(layers(count, 32, 64, 64)) for count in (1, 2)]
    strips = len(hinted(one, STRIPPED))
    assert len(two.kernels) - len(one.kernels) == 3 * strips + 1  # and the panels of its filters


@pytest.mark.parametrize("columns, is_apart", [(64, False), (60, True)])
def test_parts_of_a_strip_do_not_push_each_other_out_of_a_cache(
    columns: int, is_apart: bool
) -> None:
    scheduled = schedule(layers(1, 32, 64, columns))
    first = hinted(scheduled, STRIPS)[0]
    (slot,) = first.written
    _, parts, *rest = first.region.roots[0].shape
    distance, left = divmod(scheduled.slots[slot].count, parts)
    assert not left and parts == 16
    assert (distance == numpy.prod(rest)) == is_apart
    assert distance * 4 % 2048


@pytest.mark.parametrize("lines", [(64, 64), (58, 60), (61, 63)])
def test_strips_give_what_windows_give(lines: tuple[int, int]) -> None:
    value = layers(2, 32, *lines)
    expected = layers(2, 32, *lines).realize().numpy()
    found = value.realize(config=ROUNDING).numpy()
    numpy.testing.assert_allclose(found, expected, rtol=0, atol=2e-6 * abs(expected).max())
