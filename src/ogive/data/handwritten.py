"""The data set that comes with the package."""

from __future__ import annotations

from importlib import resources
from typing import Any

import numpy
from numpy.typing import NDArray

from ogive.tensor.tensor import Tensor

GREATEST_PIXEL = 16
_PARTS = 5
"""One in `_PARTS` images of each digit is for testing."""

Part = tuple[Tensor, Tensor]


def digits() -> tuple[Part, Part]:
    """Return the 1,797 handwritten digits: `(images, labels), (test_images, test_labels)`.

    Shapes: images (N, 1, 8, 8) of float32 between 0 and 1, labels (N,) of int64. Every fifth image
    of each digit is for testing: 1,442 to train with and 355 to test, the same at every call.

    From E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning
    Repository, 1998, CC BY 4.0.

    >>> (images, labels), (test_images, test_labels) = ogive.data.digits()
    >>> images.shape, labels.dtype, test_labels[:3].tolist()
    ((1442, 1, 8, 8), ogive.int64, [5, 0, 9])
    """
    with (resources.files("ogive.data") / "digits.npz").open("rb") as file:
        content = numpy.load(file)
        images, labels = content["images"], content["labels"]
    tested = _is_for_testing(labels)
    pixels = images[:, None].astype(numpy.float32) / GREATEST_PIXEL
    numbers = labels.astype(numpy.int64)
    train, test = [
        (Tensor(pixels[chosen]), Tensor(numbers[chosen])) for chosen in (~tested, tested)
    ]
    return train, test


def _is_for_testing(labels: NDArray[Any]) -> NDArray[numpy.bool_]:
    """Return the mask of the images for testing: of each digit, the last of every five."""
    tested = numpy.zeros(labels.shape, dtype=numpy.bool_)
    for digit in range(10):
        tested[numpy.flatnonzero(labels == digit)[_PARTS - 1 :: _PARTS]] = True
    return tested
