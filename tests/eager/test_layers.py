"""Convolution, pooling, normalization and attention of eager tensors, compared with PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive.errors
import ogive.torch as ours
from tests.eager.both_libraries import compare, numbers
from tests.raising import raises

Options = dict[str, Any]


def _functional(name: str, *args: Any, **options: Any) -> Any:
    def call(library: Any, *given: Any) -> Any:
        return getattr(library.nn.functional, name)(*given, *args, **options)

    return call


CONVOLUTIONS: list[tuple[tuple[int, ...], tuple[int, ...], Options]] = [
    ((2, 3, 8), (4, 3, 3), {}),
    ((3, 8), (4, 3, 3), {"stride": 2, "padding": 1}),
    ((2, 4, 9), (6, 2, 3), {"groups": 2, "dilation": 2}),
    ((2, 3, 8), (4, 3, 4), {"padding": "same"}),
    ((2, 3, 6, 7), (4, 3, 3, 3), {}),
    ((2, 3, 6, 7), (4, 3, 3, 2), {"stride": (2, 1), "padding": (1, 0)}),
    ((2, 3, 6, 7), (4, 3, 3, 3), {"padding": "same", "dilation": 2}),
    ((2, 3, 6, 7), (4, 3, 3, 3), {"padding": "valid"}),
    ((2, 4, 5, 5), (4, 1, 3, 3), {"groups": 4, "padding": 1}),
    ((3, 6, 7), (4, 3, 1, 1), {}),
    ((1, 1, 5, 5), (1, 1, 5, 5), {"stride": [3, 3]}),
    ((1, 2, 4, 4, 5), (3, 2, 2, 3, 2), {"stride": 2, "padding": 1}),
]


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize(("shape", "filters", "options"), CONVOLUTIONS)
def test_convolution(
    shape: tuple[int, ...], filters: tuple[int, ...], options: Options, biased: bool
) -> None:
    operands = [numbers(*shape), numbers(*filters), numbers(filters[0])][: 2 + biased]
    call = _functional(f"conv{len(filters) - 2}d", **options)
    compare(call, *operands, tolerance=1e-4)


TRANSPOSED: list[tuple[tuple[int, ...], tuple[int, ...], Options]] = [
    ((2, 3, 5), (3, 4, 3), {}),
    ((3, 5), (3, 4, 3), {"stride": 2, "padding": 1}),
    ((2, 4, 3, 4), (4, 2, 3, 3), {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2}),
    ((2, 3, 4, 4), (3, 2, 2, 2), {"stride": 2, "dilation": 2}),
]


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize(("shape", "filters", "options"), TRANSPOSED)
def test_transposed_convolution(
    shape: tuple[int, ...], filters: tuple[int, ...], options: Options, biased: bool
) -> None:
    features = filters[1] * options.get("groups", 1)
    operands = [numbers(*shape), numbers(*filters), numbers(features)][: 2 + biased]
    call = _functional(f"conv_transpose{len(filters) - 2}d", **options)
    compare(call, *operands, tolerance=1e-4)


def test_channels_that_do_not_fit_raise() -> None:
    x = ours.tensor(numbers(1, 2, 4, 4))
    with raises(ogive.errors.ShapeError, match="channels"):
        ours.nn.functional.conv2d(x, ours.tensor(numbers(1, 3, 2, 2)))


POOLS: list[tuple[str, tuple[int, ...], tuple[Any, ...], Options]] = [
    ("max_pool1d", (2, 3, 8), (2,), {}),
    ("max_pool1d", (3, 9), (3,), {"stride": 2, "padding": 1}),
    ("max_pool2d", (2, 3, 6, 8), (2,), {}),
    ("max_pool2d", (2, 3, 7, 8), ((3, 2),), {"stride": (2, 1), "padding": (1, 0)}),
    ("max_pool2d", (3, 7, 8), (2, 1), {"dilation": 2}),
    ("avg_pool1d", (2, 3, 8), (2,), {}),
    ("avg_pool1d", (2, 3, 9), (3,), {"stride": 2, "padding": 1, "count_include_pad": False}),
    ("avg_pool2d", (2, 3, 6, 8), (2,), {}),
    ("avg_pool2d", (2, 3, 7, 8), (3, 2, 1), {}),
    ("avg_pool2d", (3, 7, 8), (3, 2, 1), {"count_include_pad": False}),
    ("adaptive_avg_pool1d", (2, 3, 8), (4,), {}),
    ("adaptive_avg_pool2d", (2, 3, 6, 8), (1,), {}),
    ("adaptive_avg_pool2d", (2, 3, 6, 8), ((3, None),), {}),
    ("adaptive_avg_pool2d", (3, 6, 8), ((2, 4),), {}),
    ("max_pool1d", (2, 3, 8), (3,), {"ceil_mode": True}),
    ("max_pool2d", (2, 3, 7, 8), (2,), {"ceil_mode": True}),
    ("max_pool2d", (2, 3, 7, 8), (3, 3), {"ceil_mode": True, "padding": 1}),
    ("max_pool2d", (2, 3, 5, 6), (2, 3), {"ceil_mode": True, "padding": 1, "dilation": 2}),
    ("max_pool3d", (2, 3, 4, 5, 6), (2,), {}),
    ("max_pool3d", (2, 3, 4, 5, 6), (3, 2, 1), {"ceil_mode": True}),
    ("avg_pool1d", (2, 3, 8), (3, 3, 1), {"ceil_mode": True}),
    ("avg_pool2d", (2, 3, 7, 8), (3, 2), {"ceil_mode": True}),
    ("avg_pool2d", (2, 3, 7, 8), (3, 2, 1), {"ceil_mode": True, "count_include_pad": False}),
    ("avg_pool2d", (2, 3, 7, 8), (3, 2, 1), {"ceil_mode": True, "divisor_override": 5}),
    ("avg_pool3d", (2, 3, 4, 5, 6), (2, 2, 1), {}),
    ("avg_pool3d", (2, 3, 4, 5, 6), (2,), {"ceil_mode": True, "divisor_override": 3}),
    ("adaptive_avg_pool1d", (2, 3, 8), (3,), {}),
    ("adaptive_avg_pool2d", (2, 3, 6, 8), ((4, 5),), {}),
    ("adaptive_avg_pool3d", (2, 3, 4, 5, 6), ((2, None, 4),), {}),
    ("adaptive_max_pool1d", (2, 3, 8), (4,), {}),
    ("adaptive_max_pool2d", (2, 3, 6, 8), ((1, 2),), {}),
    ("adaptive_max_pool3d", (3, 4, 5, 6), ((2, 5, 1),), {}),
    ("interpolate", (2, 3, 4, 5), (), {"scale_factor": 1.7}),
    ("interpolate", (2, 3, 4, 5), ((3, 8),), {"mode": "nearest-exact"}),
    ("interpolate", (2, 3, 4, 5), ((3, 8),), {"mode": "bicubic"}),
    ("interpolate", (2, 3, 4, 5), ((7, 2),), {"mode": "bicubic", "align_corners": True}),
    ("interpolate", (2, 3, 7, 9), ((3, 4),), {"mode": "bicubic", "antialias": True}),
    ("interpolate", (2, 3, 7, 9), ((3, 14),), {"mode": "bilinear", "antialias": True}),
    ("interpolate", (2, 3, 7, 9), ((3, 4),), {"mode": "area"}),
    ("interpolate", (2, 3, 9), (4,), {"mode": "area"}),
    ("interpolate", (2, 3, 3, 4, 5), ((4, 6, 7),), {"mode": "trilinear"}),
    ("interpolate", (2, 3, 3, 4, 5), (), {"scale_factor": 2, "mode": "trilinear"}),
    ("interpolate", (2, 3, 3, 4, 5), ((2, 6, 9),), {}),
    ("interpolate", (2, 3, 4, 5), (), {"scale_factor": 1.3, "recompute_scale_factor": True}),
    ("interpolate", (2, 3, 4, 5), (), {"scale_factor": 2}),
    ("interpolate", (2, 3, 4), (8,), {}),
    ("interpolate", (1, 1, 1, 1), ((2, 3),), {}),
    ("interpolate", (2, 3, 4, 5), (), {"scale_factor": (1.0, 3.0)}),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "shape", "args", "options"), POOLS)
def test_pooling(
    name: str, shape: tuple[int, ...], args: tuple[Any, ...], options: Options, dtype: str
) -> None:
    compare(_functional(name, *args, **options), numbers(*shape, dtype=dtype))


def test_the_first_of_equal_maxima_has_the_gradient() -> None:
    compare(_functional("max_pool2d", 2, 1), numpy.ones((1, 4, 4), "float32"))


@pytest.mark.parametrize(
    ("name", "shape", "args"),
    [
        ("max_pool1d", (2, 3, 8), (2,)), ("max_pool2d", (2, 3, 7, 8), (3, 2, 1)),
        ("max_pool2d", (3, 7, 8), (2, 2, 0, 1, True)), ("max_pool3d", (2, 3, 4, 5, 6), (2,)),
        ("adaptive_max_pool1d", (2, 3, 8), (2,)), ("adaptive_max_pool2d", (2, 3, 6, 8), ((3, 2),)),
    ],
)  # fmt: skip
def test_where_the_greatest_of_windows_are(
    name: str, shape: tuple[int, ...], args: tuple[Any, ...]
) -> None:
    x = numbers(*shape).round(1)
    x.flat[[1, 45]] = float("nan")
    call = _functional(name, *args, return_indices=True)
    for expected, own in zip(call(torch, torch.tensor(x)), call(ours, ours.tensor(x)), strict=True):
        assert own.is_eager
        numpy.testing.assert_array_equal(own.numpy(), expected.numpy())


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "area"])
def test_what_weighs_nothing_in_an_image_does_not_count(mode: str) -> None:
    x = numbers(1, 1, 9, 9)
    x[0, 0, 0, 0] = float("nan")
    call = _functional("interpolate", (4, 4), mode=mode)
    expected, own = call(torch, torch.tensor(x)), call(ours, ours.tensor(x))
    numpy.testing.assert_allclose(own.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)


def test_pooling_that_is_not_done_at_once_is_right() -> None:
    x = numbers(2, 3, 7, 7)
    calls: list[tuple[str, tuple[Any, ...], Options]] = [
        ("max_pool2d", (2,), {"ceil_mode": True}),
        ("max_pool2d", (2,), {"return_indices": True}),
        ("avg_pool2d", (2,), {"divisor_override": 3}),
        ("adaptive_avg_pool2d", (3,), {}),
        ("interpolate", (), {"scale_factor": 1.5}),
        ("interpolate", (), {"scale_factor": 2, "mode": "bilinear"}),
    ]
    for name, args, options in calls:
        call = _functional(name, *args, **options)
        expected, found = call(torch, torch.tensor(x)), call(ours, ours.tensor(x))
        if not isinstance(found, tuple):
            expected, found = (expected,), (found,)
        for one, other in zip(found, expected, strict=True):
            numpy.testing.assert_allclose(numpy.array(one), other.numpy(), 1e-5, 1e-6)


@pytest.mark.parametrize("affine", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normalization_of_the_last_axes(dtype: str, affine: int) -> None:
    for shape, last in [((4, 5), (5,)), ((2, 3, 4), (3, 4)), ((6,), (6,))]:
        x = numbers(*shape, dtype=dtype)
        parameters = [numbers(*last, dtype=dtype, seed=n) for n in (1, 2)][:affine]

        def norm(library: Any, x: Any, *given: Any, last: Any = last) -> Any:
            return library.nn.functional.layer_norm(x, last, *given)

        def root(library: Any, x: Any, *given: Any, last: Any = last) -> Any:
            return library.nn.functional.rms_norm(x, last, *given[:1])

        compare(norm, x, *parameters, tolerance=1e-4)
        compare(root, x, *parameters[:1], tolerance=1e-4)


@pytest.mark.parametrize("affine", [0, 2])
@pytest.mark.parametrize("shape", [(4, 6), (2, 6, 3), (2, 6, 3, 2)])
def test_normalization_of_groups(shape: tuple[int, ...], affine: int) -> None:
    def call(library: Any, x: Any, *given: Any) -> Any:
        return library.nn.functional.group_norm(x, 2, *given, eps=1e-3)

    compare(call, numbers(*shape), *[numbers(6, seed=n) for n in (1, 2)][:affine], tolerance=1e-4)


@pytest.mark.parametrize("affine", [0, 2])
@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 5), (2, 3, 4, 2)])
def test_normalization_of_a_batch_by_its_own_statistics(
    shape: tuple[int, ...], affine: int
) -> None:
    def call(library: Any, x: Any, *given: Any) -> Any:
        return library.nn.functional.batch_norm(x, None, None, *given, training=True)

    compare(call, numbers(*shape), *[numbers(3, seed=n) for n in (1, 2)][:affine], tolerance=1e-4)


@pytest.mark.parametrize("affine", [0, 2])
@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 4, 2)])
def test_normalization_of_a_batch_by_known_statistics(shape: tuple[int, ...], affine: int) -> None:
    known = [numbers(3, seed=3), numpy.abs(numbers(3, seed=4)) + 0.5]

    def call(library: Any, x: Any, *given: Any) -> Any:
        return library.nn.functional.batch_norm(x, *map(library.tensor, known), *given)

    compare(call, numbers(*shape), *[numbers(3, seed=n) for n in (1, 2)][:affine], tolerance=1e-4)


@pytest.mark.parametrize("momentum", [0.1, None])
def test_running_statistics_follow_the_batches(momentum: float | None) -> None:
    mine, theirs = [each.nn.BatchNorm1d(3, momentum=momentum) for each in (ours, torch)]
    for seed in range(3):
        x = numbers(4, 3, seed=seed) * 2 + 1
        made = mine(ours.tensor(x))
        expected = theirs(torch.tensor(x))
        numpy.testing.assert_allclose(
            made.detach().numpy(), expected.detach().numpy(), rtol=1e-4, atol=1e-5
        )
    for name in ("running_mean", "running_var", "num_batches_tracked"):
        one, other = getattr(mine, name), getattr(theirs, name)
        numpy.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-5)
    mine.eval(), theirs.eval()
    x = numbers(2, 3)
    expected = theirs(torch.tensor(x)).detach().numpy()
    numpy.testing.assert_allclose(mine(ours.tensor(x)).detach().numpy(), expected, 1e-4, 1e-5)


ATTENTION: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...] | None, Options]] = [
    ((2, 3, 4), (2, 5, 4), None, {}),
    ((2, 2, 3, 4), (2, 2, 3, 4), None, {"is_causal": True}),
    ((3, 4), (5, 4), (3, 5), {}),
    ((2, 2, 3, 4), (2, 2, 5, 4), (3, 5), {"scale": 0.3}),
    ((2, 2, 3, 4), (2, 2, 5, 4), (2, 1, 3, 5), {}),
]


@pytest.mark.parametrize("kind", ["float64", "bool"])
@pytest.mark.parametrize(("query", "key", "mask", "options"), ATTENTION)
def test_attention(
    query: tuple[int, ...], key: tuple[int, ...], mask: Any, options: Options, kind: str
) -> None:
    operands = [numbers(*query, dtype="float64"), numbers(*key, dtype="float64")]
    operands.append(numbers(*key[:-1], 3, dtype="float64"))
    if mask is not None:
        seen = numbers(*mask, dtype="float64")
        operands.append(seen > -0.5 if kind == "bool" else seen)
    compare(_functional("scaled_dot_product_attention", **options), *operands)


def test_a_query_that_sees_nothing_gives_zeros() -> None:
    x = ours.tensor(numbers(2, 3))
    mask = ours.tensor([[False, False], [True, False]])
    made = ours.nn.functional.scaled_dot_product_attention(x, x, x, mask)
    assert made.is_eager
    assert made[0].tolist() == [0, 0, 0]
