"""GGUF, with the `gguf` package as the other side."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import gguf
import numpy
import pytest

import ogive
from ogive.errors import FileError, words_of
from ogive.io.gguf import PLAIN, QUANTIZED
from ogive.io.quants import QUANTIZATIONS
from tests.raising import raises

HALVES = {"Q4_0": [0], "Q5_0": [0], "Q8_0": [0], "Q6_K": [208]}
"""Where scales of float16 are; at 0 and 2 for the others."""


def write(path: Path, tensors: dict[str, tuple[Any, Any]], **metadata: Any) -> Path:
    writer = gguf.GGUFWriter(path, "llama")
    for name, value in metadata.items():
        kind = "array" if isinstance(value, list) else type(value).__name__
        add = {"str": "string", "int": "int64", "float": "float64"}.get(kind, kind)
        getattr(writer, f"add_{add}")(name, value)
    for name, (array, kind) in tensors.items():
        writer.add_tensor(name, array, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def random_blocks(name: str, rows: int, count: int) -> Any:
    """Any bits at all, but for scales, which are numbers."""
    form = QUANTIZATIONS[name]
    random = numpy.random.default_rng()
    blocks = random.integers(0, 256, (rows * count, form.nbytes), numpy.uint8)
    for at in HALVES.get(name, [0, 2]):
        scales = random.standard_normal((rows * count, 1)).astype(numpy.float16)
        blocks[:, at : at + 2] = scales.view(numpy.uint8)
    return blocks.reshape(rows, count * form.nbytes)


@pytest.mark.parametrize("name", QUANTIZATIONS)
def test_blocks_are_dequantized_as_gguf_does(name: str, tmp_path: Path) -> None:
    kind = gguf.GGMLQuantizationType[name]
    raw = random_blocks(name, 3, 2)
    path = write(tmp_path / "x.gguf", {"x": (raw, kind)})
    ours = ogive.io.load_gguf(path)[1]["x"]
    expected = gguf.quants.dequantize(raw, kind)
    assert ours.dtype is ogive.float32 and ours.shape == expected.shape and not ours.is_realized
    assert numpy.array_equal(ours.numpy(), expected)


def test_quantized_tensors_are_part_of_the_graph_that_uses_them(tmp_path: Path) -> None:
    kind = gguf.GGMLQuantizationType.Q8_0
    raw = random_blocks("Q8_0", 4, 2)
    weight = ogive.io.load_gguf(write(tmp_path / "x.gguf", {"w": (raw, kind)}))[1]["w"]
    x = numpy.random.rand(2, 64).astype(numpy.float32)
    expected = x.astype(float) @ gguf.quants.dequantize(raw, kind).T.astype(float)
    ours = (ogive.Tensor(x) @ weight.T).numpy()
    numpy.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-3)


def test_the_tables_agree_with_the_package() -> None:
    for number, name in QUANTIZED.items():
        kind = gguf.GGMLQuantizationType[name]
        assert number == kind
        assert gguf.GGML_QUANT_SIZES[kind] == QUANTIZATIONS[name][:2]
    for number, dtype in PLAIN.items():
        assert gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType(number)] == (1, dtype.itemsize)


@pytest.mark.parametrize("number", PLAIN)
def test_plain_tensors_are_on_disk(number: int, tmp_path: Path) -> None:
    dtype = PLAIN[number]
    array = numpy.random.default_rng().integers(0, 99, (2, 3, 5)).astype(dtype.numpy)
    raw = array.view(numpy.uint8) if dtype is ogive.bfloat16 else array
    kind = gguf.GGMLQuantizationType(number)
    ours = ogive.io.load_gguf(write(tmp_path / "x.gguf", {"x": (raw, kind)}))[1]["x"]
    assert ours.device == "DISK" and ours.dtype is dtype and ours.shape == (2, 3, 5)
    assert ours.numpy().tobytes() == array.tobytes()


def test_metadata_and_several_tensors_are_read(tmp_path: Path) -> None:
    one = numpy.arange(3, dtype=numpy.float32)
    two = numpy.arange(10, dtype=numpy.int8)
    metadata = {
        "text": "ä", "number": -5, "real": 0.5, "yes": True, "tokens": ["a", "", "日本"],
        "scores": [0.5, 1.5], "counts": [1, 2, 3], "flags": [True, False],
    }  # fmt: skip
    path = write(tmp_path / "x.gguf", {"one": (one, None), "two": (two, None)}, **metadata)
    found, tensors = ogive.load(path)
    assert found == {"general.architecture": "llama", **metadata}
    assert {name: t.tolist() for name, t in tensors.items()} == {
        "one": one.tolist(), "two": two.tolist(),
    }  # fmt: skip


# Files made by hand


def text(value: bytes) -> bytes:
    return struct.pack("<Q", len(value)) + value


def info(
    name: bytes = b"x", lengths: tuple[int, ...] = (4,), kind: int = 24, offset: int = 0
) -> bytes:
    return text(name) + struct.pack(f"<I{len(lengths)}QIQ", len(lengths), *lengths, kind, offset)


def file(
    *parts: bytes, version: int = 3, tensors: int = 0, entries: int = 0, magic: bytes = b"GGUF",
    data: int = 64,
) -> bytes:  # fmt: skip
    raw = magic + struct.pack("<IQQ", version, tensors, entries) + b"".join(parts)
    return raw + bytes(-len(raw) % 32) + bytes(data)


def entry(key: bytes, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


HUGE = 1 << 62
LIST = 9


def array(kind: int, count: int, value: bytes = b"") -> bytes:
    return struct.pack("<IQ", kind, count) + value


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"GGUF", "the magic and version would be bytes 0 to 8"),
        (file(magic=b"GGML"), "begins with b'GGML'"),
        (file(version=1), "its version is 1"),
        (file(version=3 << 24), "its version is 50331648"),
        (file(entries=HUGE), f"{HUGE} entries of metadata are announced"),
        (file(tensors=HUGE), f"{HUGE} tensors are announced"),
        (file(struct.pack("<Q", HUGE), entries=1), "a key would be bytes"),
        (file(entry(b"\xff", 0, b"\0"), entries=1), "a key is not UTF-8"),
        (file(entry(b"k", 0, b"\0") * 2, entries=2), "'k' is there twice"),
        (file(entry(b"k", 13, b""), entries=1), "is of type 13; known are 0 to 12"),
        (file(entry(b"k", 7, b"\x02"), entries=1), "neither 0 nor 1"),
        (file(entry(b"k", 8, struct.pack("<Q", HUGE)), entries=1), "the value of 'k' would be"),
        (file(entry(b"k", LIST, array(4, HUGE)), entries=1), "numbers of the value of 'k'"),
        (file(entry(b"k", LIST, array(8, HUGE)), entries=1), "entries of the value of 'k'"),
        (file(entry(b"k", LIST, array(LIST, 1) * 50), entries=1), "nested more than 8 deep"),
        (file(entry(b"general.alignment", 4, struct.pack("<I", 0)), entries=1), "alignment is 0"),
        (file(entry(b"general.alignment", 4, struct.pack("<I", 24)), entries=1), "alignment is 24"),
        (file(entry(b"general.alignment", 7, b"\x01"), entries=1), "alignment is True"),
        (file(info(lengths=(1,) * 5), tensors=1), "has 5 axes"),
        (file(info(lengths=(HUGE, HUGE)), tensors=1), "more than 2\\*\\*63"),
        (file(info(lengths=(HUGE,)), tensors=1), "would be bytes 64 to"),
        (file(info(lengths=(1 << 63,)), tensors=1), "a length is 0 to"),
        (file(info(lengths=(65,)), tensors=1), "would be bytes 64 to 129 of a file of 128"),
        (file(info(kind=16), tensors=1), "is of type 16; known are float32"),
        (file(info(kind=8), tensors=1), "rows are of blocks of 32"),
        (file(info(kind=8, lengths=()), tensors=1), "rows are of blocks of 32"),
        (file(info(offset=1), tensors=1), "expected a multiple of 32"),
        (file(info(offset=HUGE), tensors=1), "would be bytes"),
        (file(info(), info(), tensors=2), "have the same name"),
        (file(info(), info(b"y"), tensors=2), "at 100 or later|would be bytes 96"),
    ],
)
def test_a_malformed_file_is_refused(raw: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(raw)
    with raises(FileError, match=words) as caught:
        ogive.io.load_gguf(path)
    assert str(path) in words_of(caught.value) and "a GGUF file" in words_of(caught.value)


def test_a_file_made_by_hand_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    nested = entry(b"k", LIST, array(LIST, 2, array(4, 1, b"\1\0\0\0") + array(0, 0)))
    path.write_bytes(file(nested, info(lengths=(3, 2)), tensors=1, entries=1))
    metadata, tensors = ogive.io.load_gguf(path)
    assert metadata == {"k": [[1], []]} and tensors["x"].tolist() == [[0, 0, 0], [0, 0, 0]]
