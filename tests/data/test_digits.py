"""The digits that come with the package."""

from __future__ import annotations

import numpy

import ogive
from ogive import data


def test_digits_have_their_shapes_dtypes_and_ranges() -> None:
    for (images, labels), count in zip(data.digits(), (1442, 355), strict=True):
        assert images.shape == (count, 1, 8, 8)
        assert images.dtype is ogive.float32
        assert labels.shape == (count,)
        assert labels.dtype is ogive.int64
        pixels = images.numpy()
        assert pixels.min() == 0 and pixels.max() == 1
        assert (pixels * 16 == numpy.round(pixels * 16)).all()


def test_every_digit_has_its_share_in_both_parts() -> None:
    (_, train), (_, test) = data.digits()
    everything = numpy.array([178, 182, 177, 183, 181, 182, 181, 179, 174, 180])
    tested = numpy.bincount(test.numpy())
    assert (tested == everything // 5).all()
    assert (numpy.bincount(train.numpy()) + tested == everything).all()


def test_the_split_is_the_same_at_every_call_and_no_image_is_in_both_parts() -> None:
    (first, _), (second, _) = data.digits()
    (again, _), _ = data.digits()
    assert (first.numpy() == again.numpy()).all()
    assert not {image.tobytes() for image in second.numpy()} & {
        image.tobytes() for image in first.numpy()
    }


def test_images_look_like_their_labels() -> None:
    """The nearest mean of the training images names most test images: rows go with labels."""
    (images, labels), (test_images, test_labels) = [
        (part.numpy().reshape(-1, 64), numbers.numpy()) for part, numbers in data.digits()
    ]
    means = numpy.stack([images[labels == digit].mean(0) for digit in range(10)])
    distances = ((test_images[:, None] - means) ** 2).sum(-1)
    assert (distances.argmin(1) == test_labels).mean() > 0.88
