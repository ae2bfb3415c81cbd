"""Images of files that are decoded without a library; of others, an error that says which."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy
import pytest
from onnx import helper

import ogive
from ogive.onnx.table import OperatorError
from tests.onnx.models import make_model
from tests.raising import raises

RANDOM = numpy.random.default_rng(8)


def decode(raw: bytes, pixels: str = "RGB") -> Any:
    node = helper.make_node("ImageDecoder", ["x"], ["y"], pixel_format=pixels)
    proto = make_model([node], {"x": (2, ["length"])}, {"y": (2, [None] * 3)}, opset=20)
    model = ogive.onnx.load(proto.SerializeToString())
    return model(numpy.frombuffer(raw, numpy.uint8)).numpy()


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(lines: bytes, width: int, height: int, depth: int, color: int, *more: bytes) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    packed = chunk(b"IDAT", zlib.compress(lines))
    parts = [chunk(b"IHDR", header), *more, packed, chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def filtered(image: Any, step: int) -> bytes:
    """The lines of an image, each by another of the five filters, as the standard defines them."""
    height, stride = image.shape
    whole = numpy.zeros((height + 1, stride + step), int)
    whole[1:, step:] = image
    made = bytearray()
    for y in range(1, height + 1):
        kind = (y - 1) % 5
        made.append(kind)
        for x in range(step, stride + step):
            left, up = int(whole[y, x - step]), int(whole[y - 1, x])
            corner = int(whole[y - 1, x - step])
            guess = left + up - corner
            distances = [abs(guess - left), abs(guess - up), abs(guess - corner)]
            nearest = (left, up, corner)[distances.index(min(distances))]
            guesses = (0, left, up, (left + up) // 2, nearest)
            made.append((int(whole[y, x]) - guesses[kind]) % 256)
    return bytes(made)


@pytest.mark.parametrize(("color", "channels"), [(0, 1), (2, 3), (4, 2), (6, 4)])
def test_every_filter_of_a_png_is_undone(color: int, channels: int) -> None:
    image = RANDOM.integers(0, 256, (11, 7, channels)).astype(numpy.uint8)
    made = decode(png(filtered(image.reshape(11, -1), channels), 7, 11, 8, color))
    wanted = image[..., :3] if channels > 2 else numpy.repeat(image[..., :1], 3, 2)
    numpy.testing.assert_array_equal(made, wanted)


def test_a_png_of_a_palette_and_few_bits() -> None:
    colors = RANDOM.integers(0, 256, (4, 3)).astype(numpy.uint8)
    indices = numpy.array([[0, 1, 2, 3, 1], [3, 2, 1, 0, 2]])
    lines = bytes([0, 0b00011011, 0b01000000, 0, 0b11100100, 0b10000000])
    made = decode(png(lines, 5, 2, 2, 3, chunk(b"PLTE", colors.tobytes())))
    numpy.testing.assert_array_equal(made, colors[indices])


@pytest.mark.parametrize("depth", [24, 32])
def test_a_bmp_lies_upside_down_with_blue_first(depth: int) -> None:
    image = RANDOM.integers(0, 256, (4, 5, depth // 8)).astype(numpy.uint8)
    rows = b"".join(row.tobytes() + bytes(-len(row.tobytes()) % 4) for row in image[::-1])
    about = struct.pack("<IiiHHIIiiII", 40, 5, 4, 1, depth, 0, len(rows), 0, 0, 0, 0)
    raw = b"BM" + struct.pack("<IHHI", 54 + len(rows), 0, 0, 54) + about + rows
    numpy.testing.assert_array_equal(decode(raw), image[..., 2::-1])
    numpy.testing.assert_array_equal(decode(raw, "BGR"), image[..., :3])


def test_a_pnm_may_have_a_comment() -> None:
    image = RANDOM.integers(0, 256, (3, 4, 3)).astype(numpy.uint8)
    made = decode(b"P6\n# by hand\n4 3\n255\n" + image.tobytes())
    numpy.testing.assert_array_equal(made, image)
    gray = decode(b"P6 4 3 255 " + image.tobytes(), "Grayscale")
    wanted = image @ numpy.array([0.299, 0.587, 0.114])
    assert abs(gray[..., 0] - wanted).max() <= 0.51


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"\xff\xd8\xff\xe0", "JPEG images; there are PNG, BMP and PNM"),
        (b"hello", "unknown images"),
        (b"P6 4 3 255 abc", "damaged: it ends too early"),
        (b"P6 4", "damaged"),
        (b"BM", "damaged"),
        (png(b"", 1 << 30, 1 << 30, 8, 2), "damaged: its size"),
        (png(bytes(40), 7, 11, 8, 2), "damaged: it ends too early"),
    ],
)
def test_what_is_not_read_is_an_error_that_says_so(raw: bytes, message: str) -> None:
    with raises(OperatorError, match=message):
        decode(raw)
