"""Convolutions and their transposes: values, shapes, dtypes, loops and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import ogive
from ogive import Config, Tensor
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.ir.dtype import index
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.loops.rangeify import rangeify
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from tests.compiler.passes.parametric import normalize
from tests.tensor.oracle import ErrorCase, agree, agree_on_dtype, each_error, normal, refuses

Shape = tuple[int, ...]

FORWARD: list[tuple[Shape, Shape, dict[str, Any]]] = [
    ((2, 3, 9), (4, 3, 3), {}),
    ((2, 3, 9), (4, 3, 1), {"stride": 2}),
    ((3, 9), (4, 3, 4), {"padding": 2, "dilation": 2}),
    ((2, 4, 11), (6, 2, 3), {"stride": 3, "groups": 2, "padding": 1}),
    ((1, 1, 10), (2, 1, 2), {"stride": 7}),
    ((2, 3, 7), (2, 3, 4), {"padding": "same", "dilation": 3}),
    ((2, 3, 7), (2, 3, 4), {"padding": "valid"}),
    ((2, 3, 7, 6), (4, 3, 3, 3), {"padding": 1}),
    ((2, 3, 7, 6), (4, 3, 3, 2), {"stride": (2, 1), "padding": (0, 1), "dilation": (1, 2)}),
    ((2, 3, 8, 8), (4, 3, 1, 1), {}),
    ((2, 3, 8, 8), (4, 3, 1, 1), {"stride": 2}),
    ((2, 3, 8, 8), (4, 3, 1, 1), {"padding": 1}),
    ((2, 4, 6, 6), (4, 1, 3, 3), {"groups": 4, "padding": 1, "stride": 2}),
    ((1, 3, 12, 12), (5, 3, 4, 4), {"stride": 4}),
    ((3, 7, 5), (2, 3, 3, 3), {"padding": "same"}),
    ((0, 3, 5, 5), (2, 3, 3, 3), {}),
    ((2, 2, 5, 4, 6), (3, 2, 3, 2, 3), {"padding": 1, "stride": (1, 2, 3)}),
]

TRANSPOSED: list[tuple[Shape, Shape, dict[str, Any]]] = [
    ((2, 3, 5), (3, 4, 3), {}),
    ((2, 3, 5), (3, 4, 2), {"stride": 3, "output_padding": 1}),
    ((3, 5), (3, 2, 4), {"stride": 2, "padding": 1}),
    ((2, 4, 5), (4, 3, 3), {"groups": 2, "dilation": 2, "stride": 2}),
    ((2, 3, 5, 4), (3, 2, 4, 4), {"stride": 2, "padding": 1}),
    ((2, 3, 5, 4), (3, 2, 2, 3), {"stride": (2, 1), "padding": (0, 2), "output_padding": (1, 0)}),
    ((2, 3, 5, 4), (3, 2, 1, 1), {"stride": 2}),
    ((0, 3, 5, 4), (3, 2, 3, 3), {"stride": 2}),
    ((1, 2, 3, 3, 4), (2, 3, 3, 2, 2), {"stride": 2, "padding": 1, "output_padding": 1}),
    ((2, 3, 5), (3, 4, 3), {"dilation": 3, "output_padding": 2, "padding": 1}),
    ((2, 3, 2), (3, 2, 8), {"stride": 3, "padding": 5}),
    ((1, 2, 1, 1), (2, 3, 4, 4), {"stride": (1, 5)}),
]


@pytest.mark.parametrize(("shape", "weight", "options"), FORWARD, ids=str)
def test_convolutions_agree_with_torch(shape: Shape, weight: Shape, options: Any) -> None:
    name = f"conv{len(weight) - 2}d"
    agree(name, normal(*shape), normal(*weight), normal(weight[0]), **options)


@pytest.mark.parametrize(("shape", "weight", "options"), TRANSPOSED, ids=str)
def test_transposed_convolutions_agree_with_torch(
    shape: Shape, weight: Shape, options: Any
) -> None:
    name = f"conv_transpose{len(weight) - 2}d"
    bias = normal(weight[1] * options.get("groups", 1))
    agree(name, normal(*shape), normal(*weight), bias, **options)


GRADIENTS = [
    (kind, shape, *others)
    for kind, cases in (("conv", FORWARD), ("conv_transpose", TRANSPOSED))
    for shape, *others in cases
    if shape[0]  # PyTorch loses the way through an empty batch
]


@pytest.mark.parametrize(("kind", "shape", "weight", "options"), GRADIENTS, ids=str)
def test_gradients_and_their_gradients_agree_with_torch(
    kind: str, shape: Shape, weight: Shape, options: Any
) -> None:
    name = f"{kind}{len(weight) - 2}d"
    x, filters, along = normal(*shape), normal(*weight), (normal(*shape), normal(*weight))
    leaves = [torch.tensor(value, requires_grad=True) for value in (x, filters)]
    given = torch.autograd.grad(
        getattr(F, name)(*leaves, **options).square().sum(), leaves, create_graph=True
    )
    total = sum([(one * torch.tensor(v)).sum() for one, v in zip(given, along, strict=True)])
    expected = [*given, *torch.autograd.grad(total, leaves)]

    def first(x: Tensor, w: Tensor) -> Any:
        square = lambda x, w: getattr(x, name)(w, **options).square().sum()  # noqa: E731
        return ogive.grad(square, argnums=(0, 1))(x, w)

    def product(x: Tensor, w: Tensor) -> Any:
        one, other = first(x, w)
        return (one * Tensor(along[0])).sum() + (other * Tensor(along[1])).sum()

    operands = Tensor(x), Tensor(filters)
    actual = [*first(*operands), *ogive.grad(product, argnums=(0, 1))(*operands)]
    Tensor.realize_batch(actual)
    for one, theirs in zip(actual, expected, strict=True):
        np.testing.assert_allclose(one.numpy(), theirs.detach().numpy(), rtol=1e-9, atol=1e-9)


LANES: list[tuple[Shape, Shape, dict[str, Any]]] = [
    ((2, 24, 7, 7), (64, 24, 3, 3), {"padding": 1}),
    ((1, 32, 13, 5), (33, 32, 3, 3), {"padding": 1}),
    ((3, 20, 9, 3), (100, 20, 3, 2), {"dilation": 2, "padding": 2}),
    ((1, 40, 11, 19), (48, 20, 3, 3), {"groups": 2}),
    ((2, 16, 21, 21), (24, 16, 3, 3), {"stride": 2, "padding": 1}),
    ((1, 70, 7, 7), (96, 70, 1, 1), {}),
    ((2, 64, 25), (32, 64, 3), {"padding": 1}),
    ((1, 16, 5, 6, 7), (32, 16, 3, 3, 3), {"padding": 1}),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("shape", "weight", "options"), LANES, ids=str)
def test_features_in_lanes_agree_with_torch(
    shape: Shape, weight: Shape, options: Any, dtype: Any
) -> None:
    x, filters = normal(*shape).astype(dtype), normal(*weight).astype(dtype)
    name = f"conv{len(weight) - 2}d"
    expected = getattr(F, name)(*map(torch.tensor, map(np.float64, (x, filters))), **options)
    other = normal(*expected.shape).astype(dtype)  # read as the result is written
    actual = getattr(Tensor(x), name)(Tensor(filters), **options) + Tensor(other)
    scale = float(expected.abs().max())
    tolerance = 1e-6 if dtype is np.float32 else 1e-14
    np.testing.assert_allclose(
        actual.numpy(), expected.numpy() + other, rtol=0, atol=8 * scale * tolerance
    )


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_half_precision_sums_in_float32_and_keeps_its_dtype(dtype: str) -> None:
    x, weight, bias = normal(1, 8, 5, 5), normal(2, 8, 3, 3) / 8, normal(2)
    agree_on_dtype("conv2d", dtype, x, weight, bias)


def test_integers_are_convolved_as_integers() -> None:
    x, weight = np.arange(50).reshape(1, 2, 5, 5), np.arange(36).reshape(2, 2, 3, 3)
    agree("conv2d", x, weight)


def test_views_are_convolved_as_they_are_seen() -> None:
    x, weight = normal(9, 7, 3, 2), normal(4, 3, 3, 3)
    expected = F.conv2d(torch.tensor(x).permute(3, 2, 1, 0)[..., ::2], torch.tensor(weight))
    actual = Tensor(x).permute(3, 2, 1, 0)[..., ::2].conv2d(Tensor(weight))
    np.testing.assert_allclose(actual.numpy(), expected.numpy(), rtol=1e-9)


def test_a_batch_may_depend_on_a_variable() -> None:
    x, weight = normal(4, 2, 5, 5), normal(3, 2, 3, 3)
    part = Tensor(x)[: ogive.Variable("n", 1, 4).bind(3)].conv2d(Tensor(weight), padding=1)
    expected = F.conv2d(torch.tensor(x[:3]), torch.tensor(weight), padding=1)
    np.testing.assert_allclose(part.numpy(), expected.numpy(), rtol=1e-9, atol=1e-12)


def loops_of(tensor: Tensor) -> list[UOp]:
    """The loop graphs of the kernels that compute a tensor."""
    schedule = schedule_graph(normalize((tensor.node,)).sink, host_target(), Config())
    return [rangeify(step.region.graph) for step in schedule.kernels]


def divisions_in(tensor: Tensor) -> int:
    """How many index divisions the loops are left with."""
    return sum(
        node.op in (Op.FLOORDIV, Op.MOD) and node.dtype is index
        for loops in loops_of(tensor)
        for node in loops.walk()
    )


@pytest.mark.parametrize("options", [{}, {"padding": 1}, {"dilation": 2}, {"groups": 2}], ids=str)
def test_no_division_is_left_in_the_loops(options: Any) -> None:
    x, weight = Tensor(normal(2, 4, 9, 9)), normal(4, 4 // options.get("groups", 1), 3, 3)
    assert divisions_in(x.conv2d(Tensor(weight), **options)) == 0
    assert divisions_in(x.flatten(1, 2).conv1d(Tensor(normal(2, 36, 5)))) == 0


def test_no_division_is_left_in_the_loops_of_the_transpose_either() -> None:
    assert divisions_in(Tensor(normal(2, 3 * 9, 7 * 5)).fold_windows((9, 7), 3)) == 0


def test_a_padded_convolution_is_one_copy_and_one_product() -> None:
    x, weight, bias = Tensor(normal(2, 4, 9, 9)), Tensor(normal(3, 4, 3, 3)), Tensor(normal(3))
    assert len(loops_of(x.relu().conv2d(weight, bias, padding=1).relu())) == 2
    assert len(loops_of(x.conv2d(weight, bias).relu())) == 1


X = ogive.zeros(2, 4, 5, 5)
W = ogive.zeros(6, 4, 3, 3)
V = ogive.zeros(4, 6, 3, 3)
NUMBER: Any = 3

ERRORS: list[ErrorCase] = [
    (lambda: X.conv2d(ogive.zeros(6, 3, 3, 3)), ShapeError,
     r"conv2d: input \(2, 4, 5, 5\) has 4 channels, and weight \(6, 3, 3, 3\) with groups=1 takes"),
    (lambda: X.conv2d(ogive.zeros(6, 4, 3)), ShapeError, r"weight has the shape \(6, 4, 3\)"),
    (lambda: X[0, 0].conv2d(W), ShapeError, r"input has the shape \(5, 5\); expected 4 axes"),
    (lambda: X.conv2d(W, ogive.zeros(4)), ShapeError, r"bias has the shape \(4,\); expected \(6,"),
    (lambda: X.conv2d(ogive.zeros(6, 4, 6, 3)), ShapeError,
     r"the padded input has the lengths \(5, 5\), and weight the taps \(6, 3\)"),
    (lambda: X.conv2d(ogive.zeros(5, 2, 3, 3), groups=2), ShapeError, "5 features, which groups=2"),
    (lambda: X.conv2d(W, groups=0), ArgumentError, "groups must be at least 1, got 0"),
    (lambda: X.conv2d(W, stride=0), ArgumentError, "conv2d: stride must be at least 1, got 0"),
    (lambda: X.conv2d(W, stride=(1, 1, 1)), ArgumentTypeError, "stride is one integer or 2 of"),
    (lambda: X.conv2d(W, padding=-1), ArgumentError, "padding must be at least 0, got -1"),
    (lambda: X.conv2d(W, padding="all"), ArgumentError, "padding must be 'same', 'valid', an int"),
    (lambda: X.conv2d(W, padding="same", stride=2), ArgumentError, "goes with a stride of 1"),
    (lambda: X.conv2d(W.double()), DtypeError, "weight is float64 and the input float32"),
    (lambda: X.bool().conv2d(W.bool()), DtypeError, "conv2d does not take bool"),
    (lambda: X.conv2d(NUMBER), ArgumentTypeError, "weight must be a tensor, got 3"),
    (lambda: X.conv_transpose2d(W), ShapeError, r"has 4 channels, and weight \(6, 4, 3, 3\) takes"),
    (lambda: X.conv_transpose2d(V, output_padding=1), ArgumentError,
     r"output_padding=\(1, 1\) must be less than the stride"),
    (lambda: X.conv_transpose2d(V, padding=4), ShapeError, r"gives the lengths \(-1, -1\)"),
    (lambda: X.conv_transpose2d(V, padding="same"), ArgumentTypeError, "padding must be an int"),
]  # fmt: skip


@each_error(ERRORS)
def test_errors_name_the_argument_and_what_was_expected(case: ErrorCase) -> None:
    refuses(*case)
