"""Padding, interpolation and shuffles between channels and space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Tensor
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from tests.tensor.oracle import ErrorCase, agree, agree_on_dtype, each_error, normal, refuses

MODES = ["constant", "reflect", "replicate", "circular"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("pad", [(1, 2), (3, 0), (-1, 2), (2, -1), (-1, -2)], ids=str)
def test_padding_of_the_last_axis_agrees_with_torch(mode: str, pad: Any) -> None:
    agree("pad", normal(2, 3, 4), pad, mode)
    agree("pad", np.arange(24).reshape(2, 3, 4), pad, mode)


@pytest.mark.parametrize("mode", MODES)
def test_padding_of_several_axes_agrees_with_torch(mode: str) -> None:
    agree("pad", normal(2, 3, 4, 5), (1, 2, 2, 0), mode)
    agree("pad", normal(2, 3, 4, 5), (-1, 2, 1, -1), mode)
    agree("pad", normal(1, 2, 3, 4, 5), (1, 0, 2, 1, 1, 1), mode)


def test_pairs_for_every_axis_are_in_their_order() -> None:
    x = normal(2, 3)
    padded = Tensor(x).pad(((1, 0), (2, 3)), value=7).numpy()
    np.testing.assert_array_equal(padded, np.pad(x, ((1, 0), (2, 3)), constant_values=7))
    mirrored = Tensor(x).pad([(1, 1), (2, 2)], "reflect").numpy()
    np.testing.assert_array_equal(mirrored, np.pad(x, ((1, 1), (2, 2)), mode="reflect"))


def test_padding_repeats_the_edge_as_often_as_asked() -> None:
    agree("pad", normal(2, 3, 4), (9, 7), "replicate")


INTERPOLATED: list[tuple[str, int]] = [
    ("nearest", 1), ("nearest", 2), ("nearest", 3), ("nearest-exact", 2), ("area", 2),
    ("linear", 1), ("bilinear", 2), ("bicubic", 2), ("trilinear", 3),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "axes"), INTERPOLATED)
def test_interpolation_agrees_with_torch(mode: str, axes: int) -> None:
    x = normal(2, 2, *(7, 5, 4)[:axes])
    for size in ((14, 10, 8), (3, 8, 4), (1, 1, 1)):
        agree("interpolate", x, size[:axes], mode=mode)
    for factor in (2, 1.7, 0.6):
        agree("interpolate", x, scale_factor=factor, mode=mode)
    agree("interpolate", x, scale_factor=1.7, mode=mode, recompute_scale_factor=True)


@pytest.mark.parametrize(("mode", "axes"), INTERPOLATED)
def test_a_scale_that_keeps_the_length_copies_where_torch_does(mode: str, axes: int) -> None:
    x = normal(2, 2, *(5, 3, 4)[:axes])
    for factor in ((1.1, 1.3, 1.2), (1.1, 2.4, 0.5), (2.1, 2.2, 1.1)):
        agree("interpolate", x, scale_factor=factor[:axes], mode=mode)
        if mode in ("bilinear", "bicubic"):
            agree("interpolate", x, scale_factor=factor[:axes], mode=mode, antialias=True)


@pytest.mark.parametrize(("mode", "axes"), INTERPOLATED[-4:])
def test_interpolation_between_corners_agrees_with_torch(mode: str, axes: int) -> None:
    x = normal(2, 2, *(7, 5, 4)[:axes])
    for size in ((14, 10, 8), (3, 1, 4)):
        agree("interpolate", x, size[:axes], mode=mode, align_corners=True)
    agree("interpolate", x, scale_factor=1.5, mode=mode, align_corners=True)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("size", [(14, 10), (3, 2), (4, 8)])
def test_interpolation_without_aliases_agrees_with_torch(mode: str, size: Any) -> None:
    agree("interpolate", normal(2, 2, 7, 5), size, mode=mode, antialias=True)


def test_interpolation_keeps_what_is_not_a_number_where_it_is() -> None:
    x = Tensor([[[float("inf"), 1.0, 2.0, 3.0]]])
    assert x.interpolate(8, mode="linear").numpy()[0, 0, 4:].tolist() == [1.75, 2.25, 2.75, 3]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_interpolation_keeps_the_dtype(dtype: str) -> None:
    agree_on_dtype("interpolate", dtype, normal(1, 2, 4, 4), scale_factor=2, mode="bilinear")


def test_shuffles_agree_with_torch() -> None:
    agree("pixel_shuffle", normal(2, 8, 3, 4), 2)
    agree("pixel_shuffle", normal(9, 3, 4), 3)
    agree("pixel_unshuffle", normal(2, 3, 4, 6), 2)
    agree("channel_shuffle", normal(2, 6, 3, 3), 3)


X = ogive.zeros(1, 2, 4, 4)

ERRORS: list[ErrorCase] = [
    (lambda: X.interpolate(), ArgumentError, "takes size or scale_factor, one of them"),
    (lambda: X.interpolate(3, 2), ArgumentError, "got size=3 and scale_factor=2"),
    (lambda: X.interpolate(3, mode="cubic"), ArgumentError, "mode must be one of nearest"),
    (lambda: X.interpolate(3, mode="linear"), ShapeError, "mode 'linear' takes .* 1 axes of"),
    (lambda: X.interpolate(3, align_corners=True), ArgumentError, "align_corners goes with"),
    (lambda: X.interpolate(3, antialias=True), ArgumentError, "antialias goes with bilinear"),
    (lambda: X.interpolate((1, 2, 3)), ArgumentTypeError, "size is one integer or 2 of them"),
    (lambda: X.interpolate(0), ArgumentError, "interpolate: size must be at least 1"),
    (lambda: X.interpolate(scale_factor=0.1), ArgumentError, r"makes \(0, 0\) of the lengths"),
    (lambda: X.interpolate(scale_factor="2"), ArgumentTypeError, "scale_factor takes tensors"),
    (lambda: X.int().interpolate(3), DtypeError, "interpolate does not take int32"),
    (lambda: X.pixel_shuffle(2), ShapeError, "has 2 channels, which 2² does not divide"),
    (lambda: X.pixel_shuffle(0), ArgumentError, "upscale_factor must be at least 1, got 0"),
    (lambda: X[0, 0].pixel_shuffle(2), ShapeError, r"expected \(..., channels, h, w\)"),
    (lambda: X.pixel_unshuffle(3), ShapeError, "is 4 by 4, which 3 does not divide"),
    (lambda: X.channel_shuffle(3), ShapeError, "channels that groups=3 divides"),
]  # fmt: skip


@each_error(ERRORS)
def test_errors_name_the_argument_and_what_was_expected(case: ErrorCase) -> None:
    refuses(*case)
