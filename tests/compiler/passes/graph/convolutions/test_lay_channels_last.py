"""Images between convolutions lie by pixels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

from ogive import Tensor
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.capture.inline_calls import inline_calls
from ogive.compiler.passes.capture.normalize import normalize
from ogive.compiler.passes.graph.convolutions.lay_channels_last import lay_channels_last
from ogive.compiler.targets.target import describe_cpu
from tests.movement_chains.targets import running_on

RANDOM = numpy.random.default_rng(11)


def values(*shape: int) -> numpy.ndarray[Any, Any]:
    return RANDOM.normal(size=shape).astype(numpy.float32)


class Weights:
    """Filters, drawn at their first use and given again."""

    def __init__(self, wrap: Callable[[numpy.ndarray[Any, Any]], Any]) -> None:
        self.wrap = wrap

    def __call__(self, seed: int, *shape: int) -> Any:
        drawn = numpy.random.default_rng(seed).normal(size=shape) * 0.3
        return self.wrap(drawn.astype(numpy.float32))


Program = Callable[[Any, Weights, Callable[..., Any]], Any]


def residual(x: Any, w: Weights, conv: Callable[..., Any]) -> Any:
    x = conv(x, w(1, 16, 5, 3, 3), w(2, 16), 1, 1).relu()
    y = conv(x, w(3, 16, 16, 3, 3), w(4, 16), 1, 1).relu()
    y = (conv(y, w(5, 16, 16, 3, 3), w(6, 16), 1, 1) + x).relu()
    z = conv(y, w(7, 24, 16, 3, 3), w(8, 24), 2, 1).relu()
    z = conv(z, w(9, 24, 24, 3, 3), None, 1, 1)
    return (z + conv(y, w(10, 24, 16, 1, 1), w(11, 24), 2, 0)).relu()


def by_channel(x: Any, w: Weights, conv: Callable[..., Any]) -> Any:
    x = conv(x, w(1, 20, 5, 1, 1), w(2, 20)).clamp(0, 6)
    x = conv(x, w(3, 20, 1, 3, 3), w(4, 20), 2, 1, 1, 20).clamp(0, 6)
    x = conv(x, w(5, 12, 20, 1, 1), w(6, 12))
    y = conv(x, w(7, 40, 12, 1, 1), w(8, 40))
    y = y * y.sigmoid()
    y = conv(y, w(9, 40, 1, 5, 5), w(10, 40), 1, 2, 1, 40)
    y = y * y.mean((2, 3), keepdim=True).sigmoid()
    return conv(y, w(11, 12, 40, 1, 1), None) + x


def dilated(x: Any, w: Weights, conv: Callable[..., Any]) -> Any:
    x = conv(x, w(1, 512, 5, 1, 1), w(2, 512))
    x = conv(x, w(3, 9, 512, 3, 3), w(4, 9), 1, 2, 2).tanh()
    return conv(x, w(5, 30, 9, 2, 3), w(6, 30), (2, 1))


@pytest.mark.parametrize("program", [residual, by_channel, dilated])
@pytest.mark.parametrize("shape", [(1, 5, 14, 14), (2, 5, 23, 9)])
def test_networks_give_what_pytorch_gives(program: Program, shape: tuple[int, ...]) -> None:
    x = values(*shape)
    wanted = program(torch.tensor(x).double(), Weights(to_double), torch.conv2d)
    for target in ("narrow", "wide"):
        with running_on(target):
            made = program(Tensor(x), Weights(Tensor), Tensor.conv2d).numpy()
        numpy.testing.assert_allclose(made, wanted.numpy(), rtol=1e-4, atol=2e-5)


def to_double(array: numpy.ndarray[Any, Any]) -> Any:
    return torch.tensor(array).double()


def kept_shapes(tensor: Tensor) -> list[tuple[int, ...]]:
    sink = lay_channels_last(stored(tensor), host_target(), "exact", [])
    return [node.shape for node in sink.walk() if node.op is Op.CONTIGUOUS and node.arg == ()]


def stored(tensor: Tensor) -> UOp:
    return inline_calls(normalize((tensor.node,))).sink


def test_what_lies_between_is_kept_by_pixels_and_what_goes_in_and_out_is_not() -> None:
    weights = Weights(Tensor)
    x = Tensor(values(1, 16, 10, 12))
    middle = x.conv2d(weights(1, 32, 16, 1, 1)).relu()
    last = middle.conv2d(weights(2, 16, 32, 1, 1))
    assert kept_shapes(last) == [(1, 10, 12, 32)]
    assert not kept_shapes(middle)


def test_graphs_that_learn_filters_are_left_alone() -> None:
    first, second = [Tensor(values(16, 16, 3, 3), requires_grad=True) for _ in range(2)]
    x = Tensor(values(1, 16, 10, 10))
    loss = x.conv2d(first).relu().conv2d(second).sum()
    loss.backward()
    assert first.grad is not None
    graph = stored(first.grad)
    assert lay_channels_last(graph, host_target(), "rounding", []) is graph


def test_images_need_no_copy_in_the_order_of_windows_without_padding() -> None:
    weights = Weights(Tensor)
    x = Tensor(values(1, 16, 20, 20))
    y = x.conv2d(weights(1, 16, 16, 1, 1)).relu().conv2d(weights(2, 16, 16, 3, 3), stride=2)
    assert kept_shapes(y) == [(1, 20, 20, 16)]


def of_integers(x: Any, w: Weights, conv: Callable[..., Any], cast: Callable[..., Any]) -> Any:
    x = cast(conv(cast(x, "int32"), cast(w(1, 16, 6, 3, 3), "int32"), None, 1, 1) // 50, "int16")
    y = cast(conv(cast(x, "int32"), cast(w(2, 24, 16, 1, 1), "int32")) // 50, "int8")
    y = cast(conv(cast(y, "int32"), cast(w(3, 10, 24, 3, 3), "int32"), None, 2, 1) // 50, "int16")
    return conv(cast(y, "int32"), cast(w(4, 12, 10, 2, 2), "int32"))


@pytest.mark.parametrize("target", ["host", "narrow", "wide", "scalar"])
def test_convolutions_of_integers_are_exact(target: str) -> None:
    x = RANDOM.integers(-255, 256, (2, 6, 13, 14)).astype(numpy.int16)

    def draw(array: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
        return (array * 100).astype(numpy.int8)

    def cast(value: Any, name: str) -> Any:
        return value.to(getattr(torch, name))

    wanted = of_integers(
        torch.tensor(x), Weights(lambda array: torch.tensor(draw(array))), torch.conv2d, cast
    )
    with running_on(target) as config:
        made = of_integers(
            Tensor(x), Weights(lambda array: Tensor(draw(array))), Tensor.conv2d, Tensor.cast
        )
        assert (made.realize(config=config).numpy() == wanted.numpy()).all()


def test_pairs_of_integers_are_multiplied_at_once() -> None:
    x = Tensor(RANDOM.integers(-9, 9, (1, 16, 12, 12)).astype(numpy.int8))
    filters = [Tensor(numpy.ones((16, 16, 3, 3), numpy.int8)).cast("int32") for _ in range(2)]
    middle = x.cast("int32").conv2d(filters[0]).cast("int16")
    last = stored(middle.cast("int32").conv2d(filters[1]))
    made = lay_channels_last(last, describe_cpu("x86_64-linux-gnu", "", "+avx,+avx2"), "exact", [])
    assert [node.op for node in made.walk() if node.op is Op.DOT] == [Op.DOT, Op.DOT]


def test_a_pooled_image_is_by_pixels_already_when_it_is_pooled() -> None:
    weights = Weights(Tensor)
    first = Tensor(values(1, 3, 20, 20)).conv2d(weights(1, 16, 3, 3, 3)).relu()
    last = first.max_pool2d(2).conv2d(weights(2, 16, 16, 3, 3))
    assert [math.prod(shape) for shape in kept_shapes(last)] == [18 * 18 * 16, 9 * 9 * 16]


def test_a_large_padded_image_is_not_copied_for_few_windows_by_channels() -> None:
    weights = Weights(Tensor)
    x = values(1, 16, 80, 80)
    middle = Tensor(x).conv2d(weights(1, 96, 16, 1, 1)).relu()
    last = middle.conv2d(weights(2, 96, 1, 3, 3), None, 2, 1, 1, 96)
    assert kept_shapes(last) == [(1, 80, 80, 96)]
    near = middle.conv2d(weights(2, 96, 1, 3, 3), None, 1, 1, 1, 96)
    assert (1, 82, 82, 96) in kept_shapes(near)
    wanted = torch.conv2d(
        torch.conv2d(torch.tensor(x).double(), Weights(to_double)(1, 96, 16, 1, 1)).relu(),
        Weights(to_double)(2, 96, 1, 3, 3), None, 2, 1, 1, 96,
    )  # fmt: skip
    numpy.testing.assert_allclose(last.numpy(), wanted.numpy(), rtol=1e-4, atol=2e-5)


def of_bytes(x: Any, w: Weights, conv: Callable[..., Any], cast: Callable[..., Any]) -> Any:
    x = cast(conv(cast(x, "int32"), cast(w(1, 16, 4, 3, 3), "int32"), None, 1, 1) // 50, "uint8")
    y = cast(conv(cast(x, "int32"), cast(w(2, 24, 16, 1, 1), "int32")) // 50, "uint8")
    return conv(cast(y, "int32"), cast(w(3, 16, 24, 3, 3), "int32"), None, 2, 1)


@pytest.mark.parametrize("target", ["host", "narrow", "wide", "scalar"])
def test_convolutions_of_bytes_are_exact(target: str) -> None:
    x = RANDOM.integers(0, 256, (2, 4, 13, 14)).astype(numpy.uint8)

    def draw(array: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
        return (array * 100).clip(-128, 127).astype(numpy.int8)

    wanted = of_bytes(
        torch.tensor(x), Weights(lambda array: torch.tensor(draw(array))), torch.conv2d,
        lambda value, name: value.to(getattr(torch, name)),
    )  # fmt: skip
    with running_on(target) as config:
        made = of_bytes(
            Tensor(x), Weights(lambda array: Tensor(draw(array))), Tensor.conv2d, Tensor.cast
        )
        assert (made.realize(config=config).numpy() == wanted.numpy()).all()


BYTES = "+avx,+avx2,+avx512f,+avx512bw,+avx512vl,+avx512vnni"


@pytest.mark.parametrize(
    ("features", "multiplied", "kept"),
    [(BYTES, ("uint8", "int8"), "uint8"), ("+avx,+avx2", ("int16", "int16"), "int16")],
)
def test_bytes_are_kept_as_they_are_multiplied(
    features: str, multiplied: tuple[str, str], kept: str
) -> None:
    x = Tensor(RANDOM.integers(0, 9, (1, 16, 12, 12)).astype(numpy.uint8))
    filters = [Tensor(numpy.ones((32, c, 1, 1), numpy.int8)).cast("int32") for c in (16, 32)]
    middle = x.cast("int32").conv2d(filters[0]).cast("uint8")
    last = stored(middle.cast("int32").conv2d(filters[1]))
    made = lay_channels_last(last, describe_cpu("x86_64-linux-gnu", "", features), "exact", [])
    assert {node.arg for node in made.walk() if node.op is Op.DOT} == {multiplied}
    images = [node for node in made.walk() if node.op is Op.CONTIGUOUS and not node.arg]
    assert [node.dtype.name for node in images if node.shape == (1, 12, 12, 32)] == [kept]


def test_what_is_kept_by_pixels_is_not_copied_where_it_was_to_be_kept_anyway() -> None:
    """Results of a transposed convolution are kept before they are interleaved."""

    def network(x: Any, w: Weights, convolve: Any, transpose: Any) -> Any:
        x = convolve(x, w(1, 32, 5, 3, 3), None, 1, 1).relu()
        x = transpose(x, w(2, 32, 16, 2, 2), None, 2)
        return convolve(x, w(3, 16, 16, 3, 3), None, 1, 1).relu()

    x = values(1, 5, 12, 10)
    made = network(Tensor(x), Weights(Tensor), Tensor.conv2d, Tensor.conv_transpose2d)
    sink = inline_calls(normalize((made.node,))).sink
    for node in lay_channels_last(sink, host_target(), "exact", []).walk():
        if node.op is Op.CONTIGUOUS and not node.arg:
            below = node.operand
            while below.op is Op.PERMUTE:
                below = below.operand
            assert below.op is not Op.CONTIGUOUS
    wanted = network(
        torch.tensor(x), Weights(torch.tensor), torch.conv2d, torch.conv_transpose2d
    )
    numpy.testing.assert_allclose(made.numpy(), wanted.numpy(), rtol=1e-4, atol=1e-4)
