"""Windows as columns, images in other resolutions and at other places, beside PyTorch's."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from tests.eager.agreement import arrays, check


def functional(module: Any) -> Any:
    return importlib.import_module(module.__name__ + ".nn.functional")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "options",
    [{}, {"padding": 1}, {"stride": 2, "padding": (1, 0)}, {"dilation": 2}, {"stride": [2, 1]}],
)
def test_unfold(options: dict[str, Any], dtype: str) -> None:
    given = arrays((2, 3, 7, 6), dtype=dtype)
    check(lambda T, x: functional(T).unfold(x, (3, 2), **options), given, tracked=True)


@pytest.mark.parametrize("options", [{}, {"padding": 1}, {"stride": 2}])
def test_fold(options: dict[str, Any]) -> None:
    def case(T: Any, x: Any) -> Any:
        columns = functional(T).unfold(x, 2, **options)
        return functional(T).fold(columns * columns, (6, 4), 2, **options)

    check(case, arrays((2, 3, 6, 4)), tracked=True)


@pytest.mark.parametrize("corners", [None, True, False])
@pytest.mark.parametrize(
    "size",
    [{"size": (9, 4)}, {"size": 5}, {"scale_factor": 2}, {"scale_factor": (0.5, 1.5)},
     {"scale_factor": (1.1, 1.3)}],
)  # fmt: skip
def test_bilinear_images(size: dict[str, Any], corners: bool | None) -> None:
    def case(T: Any, x: Any) -> Any:
        return functional(T).interpolate(x, **size, mode="bilinear", align_corners=corners)

    check(case, arrays((2, 3, 5, 6)), tracked=True)


def test_linear_signals() -> None:
    def case(T: Any, x: Any) -> Any:
        return functional(T).interpolate(x, size=7, mode="linear")

    check(case, arrays((2, 3, 5), dtype="float64"), tracked=True)


@pytest.mark.parametrize("padding", ["zeros", "border"])
def test_images_at_places_of_an_affine_map(padding: str) -> None:
    def case(T: Any, x: Any, theta: Any) -> Any:
        grid = functional(T).affine_grid(theta, (2, 3, 4, 5), align_corners=False)
        return functional(T).grid_sample(x, grid, padding_mode=padding, align_corners=False)

    check(case, arrays((2, 3, 6, 7), (2, 2, 3), dtype="float64"), tracked=True)


def test_windows_of_windows_show_the_same_memory() -> None:
    def case(T: Any, x: Any) -> Any:
        windows = x[1:].unfold(0, 3, 1).unfold(1, 2, 2)
        x[2, 3] = 100
        return windows

    check(case, arrays((6, 5)))


def test_windows_of_windows_have_gradients() -> None:
    check(lambda T, x: x.unfold(0, 3, 1).unfold(1, 2, 2).sum((2, 3)), arrays((6, 5)), tracked=True)
