"""Images out of the bytes of their files: PNG, BMP and PNM, which need no library beside Python's.

A file that is damaged, or of another format, is an `OperatorError` that says so.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

import numpy

from ogive.onnx.call import MOST_MADE, Call
from ogive.onnx.elements import Array
from ogive.onnx.table import Value, operator

_OTHERS = {
    b"\xff\xd8\xff": "JPEG", b"\x00\x00\x00\x0cjP": "JPEG 2000", b"II*\x00": "TIFF",
    b"MM\x00*": "TIFF", b"RIFF": "WebP",
}  # fmt: skip
"""The first bytes of files in formats that are known, but not read."""

PNG = b"\x89PNG\r\n\x1a\n"
_PNG_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_RED, _GREEN, _BLUE = 19595, 38470, 7471
"""The brightness of each colour, in parts of 65536, after ITU-R BT.601."""


class _Damaged(Exception):
    """Bytes that are no image, and why."""


@operator("ImageDecoder")
def decode_image(c: Call) -> Value:
    """(length,) bytes → (height, width, channels), as `pixel_format` says."""
    raw = c.array(0).tobytes()
    read = _find_reader(raw)
    if read is None:
        kinds = [name for start, name in _OTHERS.items() if raw.startswith(start)]
        raise c.refuse(f"{kinds[0] if kinds else 'unknown'} images; there are PNG, BMP and PNM")
    try:
        colors = _as_colors(read(raw))
    except (_Damaged, struct.error, ValueError, zlib.error) as error:
        raise c.refuse(f"the image is damaged: {error}") from error
    wanted = c.get("pixel_format", "RGB")
    if wanted == "Grayscale":
        weights = numpy.array([_RED, _GREEN, _BLUE])
        return ((colors @ weights + (1 << 15)) >> 16).astype(numpy.uint8)[..., None]
    return colors[..., ::-1].copy() if wanted == "BGR" else colors


def _find_reader(raw: bytes) -> Callable[[bytes], Array] | None:
    if raw.startswith(PNG):
        return _read_png
    if raw.startswith(b"BM"):
        return _read_bmp
    return _read_pnm if raw[:2] in (b"P5", b"P6") else None


def _as_colors(image: Array) -> Array:
    """Gray or colours, with or without opacity, as three colours."""
    channels = image.shape[2]
    if channels <= 2:
        return numpy.repeat(image[..., :1], 3, 2)
    return numpy.ascontiguousarray(image[..., :3])


def _expect(holds: bool, what: str) -> None:
    if not holds:
        raise _Damaged(what)


def _check_size(width: int, height: int) -> None:
    _expect(width > 0 and height > 0 and width * height <= MOST_MADE // 4, "its size")


# PNG


def _read_png(raw: bytes) -> Array:
    header, palette, packed = b"", b"", []
    place = len(PNG)
    while place + 8 <= len(raw):
        length, kind = struct.unpack_from(">I4s", raw, place)
        body = raw[place + 8 : place + 8 + length]
        _expect(len(body) == length, "it ends too early")
        header = body if kind == b"IHDR" else header
        palette = body if kind == b"PLTE" else palette
        if kind == b"IDAT":
            packed.append(body)
        place += length + 12
    width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    _check_size(width, height)
    _expect(not interlaced, "interlaced lines, which are not read")
    _expect(color in _PNG_CHANNELS and depth in (1, 2, 4, 8, 16), "its kind of colours")
    channels = _PNG_CHANNELS[color]
    stride = (width * channels * depth + 7) // 8
    reader = zlib.decompressobj()
    lines = reader.decompress(b"".join(packed), height * (stride + 1))
    _expect(len(lines) == height * (stride + 1), "it ends too early")
    step = max(channels * depth // 8, 1)
    rows = _unfiltered(numpy.frombuffer(lines, numpy.uint8).reshape(height, stride + 1), step)
    values = _samples(rows, depth, width * channels).reshape(height, width, channels)
    if color == 3:
        colors = numpy.frombuffer(palette[: len(palette) // 3 * 3], numpy.uint8).reshape(-1, 3)
        _expect(int(values.max()) < len(colors), "a colour that its palette has not")
        return colors[values[..., 0]]
    return values if depth >= 8 else values * numpy.uint8(255 // ((1 << depth) - 1))


def _samples(rows: Array, depth: int, count: int) -> Array:
    """The samples of each line: of 16 bits the upper 8, of fewer one by one."""
    if depth == 16:
        return rows[:, ::2]
    if depth == 8:
        return rows
    bits = numpy.unpackbits(rows, axis=1).reshape(len(rows), -1, depth)
    weights = (1 << numpy.arange(depth)[::-1]).astype(numpy.uint8)
    samples: Array = (bits @ weights)[:, :count].astype(numpy.uint8)
    return samples


def _unfiltered(lines: Array, step: int) -> Array:
    """Lines of bytes, each of which begins with how it differs from its neighbours."""
    before = numpy.zeros(lines.shape[1] - 1, numpy.uint8)
    plain = numpy.empty((len(lines), lines.shape[1] - 1), numpy.uint8)
    for number, line in enumerate(lines):
        kind, given = int(line[0]), line[1:]
        _expect(kind <= 4, f"a line of filter {kind}")
        if kind == 1:
            filled = numpy.zeros(-(-len(given) // step) * step, numpy.uint8)
            filled[: len(given)] = given
            sums = filled.reshape(-1, step).cumsum(0, dtype=numpy.uint8).reshape(-1)
            plain[number] = sums[: len(given)]
        elif kind >= 3:
            plain[number] = _from_left(given.tolist(), before.tolist(), step, kind == 4)
        else:
            plain[number] = given + before if kind == 2 else given
        before = plain[number]
    return plain


def _from_left(given: list[int], above: list[int], step: int, by_gradient: bool) -> list[int]:
    """A line each of whose bytes needs the one before: its mean with that above, or the nearest of
    both and the one between to their gradient."""
    line: list[int] = []
    for place, value in enumerate(given):
        left = line[place - step] if place >= step else 0
        up = above[place]
        if by_gradient:
            corner = above[place - step] if place >= step else 0
            guess = left + up - corner
            near = min((left, up, corner), key=lambda each: abs(guess - each))
        else:
            near = (left + up) // 2
        line.append((value + near) & 255)
    return line


# BMP and PNM


def _read_bmp(raw: bytes) -> Array:
    start, size = struct.unpack_from("<II", raw, 10)
    _expect(size >= 40, "a header of another version")
    width, height, _, depth, packing = struct.unpack_from("<iiHHI", raw, 18)
    _check_size(width, abs(height))
    _expect(depth in (8, 24, 32) and packing == 0, f"{depth} bits a pixel, packed as {packing}")
    stride = (width * depth // 8 + 3) // 4 * 4
    _expect(start + stride * abs(height) <= len(raw), "it ends too early")
    rows = numpy.frombuffer(raw, numpy.uint8, stride * abs(height), start)
    rows = rows.reshape(abs(height), stride)[:, : width * depth // 8]
    values = rows.reshape(abs(height), width, depth // 8)[:: -1 if height > 0 else 1]
    if depth == 8:
        (count,) = struct.unpack_from("<I", raw, 46)
        colors = numpy.frombuffer(raw, numpy.uint8, 4 * (count or 256), 14 + size).reshape(-1, 4)
        _expect(int(values.max()) < len(colors), "a colour that its palette has not")
        values = colors[values[..., 0]]
    return values[..., 2::-1]


def _read_pnm(raw: bytes) -> Array:
    numbers: list[int] = []
    place = 2
    while len(numbers) < 3:
        end = raw.find(b"\n", place) + 1 or len(raw)
        _expect(place < len(raw), "it ends too early")
        if raw[place : place + 1] == b"#":
            place = end
        elif raw[place : place + 1].isspace():
            place += 1
        else:
            word = raw[place : place + 16].split()[0]
            numbers.append(int(word))
            place += len(word)
    width, height, most = numbers
    _check_size(width, height)
    _expect(most == 255, f"{most} as the greatest value, not 255")
    channels = 3 if raw.startswith(b"P6") else 1
    count = width * height * channels
    _expect(place + 1 + count <= len(raw), "it ends too early")
    values = numpy.frombuffer(raw, numpy.uint8, count, place + 1)
    return values.reshape(height, width, channels)
