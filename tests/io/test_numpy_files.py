"""`.npy` and `.npz`, with NumPy as the other side."""

from __future__ import annotations

import io
import os
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy
import pytest

import ogive
from ogive import Tensor
from ogive.errors import DtypeError, FileError, words_of
from ogive.io.npy import CODES
from tests.raising import raises

ARRAYS = {
    "rows": numpy.arange(6.0).reshape(2, 3),
    "columns": numpy.asfortranarray(numpy.arange(24).reshape(2, 3, 4)),
    "scalar": numpy.array(2.5),
    "empty": numpy.zeros((0, 3), numpy.int16),
    "one": numpy.array([7], numpy.uint8),
    "big endian": numpy.arange(-3, 3).reshape(2, 3).astype(">i4"),
    "big endian columns": numpy.asfortranarray(numpy.random.rand(3, 2).astype(">f8")),
    "big endian halves": numpy.random.rand(5).astype(">f2"),
    "big endian bytes": numpy.array([[1, 2], [3, 4]], ">i1"),
}


def write(path: Path, text: str, data: bytes = b"", version: tuple[int, int] = (1, 0)) -> Path:
    length = len(text).to_bytes(2 if version == (1, 0) else 4, "little")
    path.write_bytes(b"\x93NUMPY" + bytes(version) + length + text.encode("latin1") + data)
    return path


def same(ours: Tensor, theirs: Any) -> None:
    values = ours.numpy()
    assert values.dtype == theirs.dtype.newbyteorder("=") and values.shape == theirs.shape
    assert values.tolist() == theirs.tolist()


@pytest.mark.parametrize("code", CODES)
def test_every_dtype_goes_out_and_comes_in(code: str, tmp_path: Path) -> None:
    array = numpy.random.default_rng().integers(0, 2, (3, 5)).astype(code)
    path = tmp_path / "x.npy"
    ogive.io.save_npy(path, Tensor(array))
    same(Tensor(numpy.load(path)), array)
    numpy.save(path, array)
    loaded = ogive.io.load_npy(path)
    assert loaded.device == "DISK"
    same(loaded, array)


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_any_layout_is_read(array: Any, tmp_path: Path) -> None:
    numpy.save(tmp_path / "x.npy", array)
    same(ogive.io.load_npy(tmp_path / "x.npy"), array)


def test_columns_stay_on_disk(tmp_path: Path) -> None:
    numpy.save(tmp_path / "x.npy", ARRAYS["columns"])
    assert ogive.io.load_npy(tmp_path / "x.npy").device == "DISK"


@pytest.mark.parametrize("save", [numpy.savez, numpy.savez_compressed])
def test_an_archive_is_read_stored_and_packed(save: Any, tmp_path: Path) -> None:
    save(tmp_path / "x.npz", **ARRAYS)
    loaded = ogive.io.load_npz(tmp_path / "x.npz")
    assert list(loaded) == list(ARRAYS)
    assert loaded["rows"].device == ("DISK" if save is numpy.savez else "CPU")
    for name, array in ARRAYS.items():
        same(loaded[name], array)


def test_an_archive_is_written(tmp_path: Path) -> None:
    tensors = {"a": ogive.arange(6).reshape(2, 3).T, "b/c": Tensor(1.5)}
    ogive.io.save_npz(tmp_path / "x.npz", tensors)
    with numpy.load(tmp_path / "x.npz") as theirs:
        assert {name: array.tolist() for name, array in theirs.items()} == {
            "a": [[0, 3], [1, 4], [2, 5]], "b/c": 1.5,
        }  # fmt: skip
    assert ogive.io.load_npz(tmp_path / "x.npz")["a"].tolist() == [[0, 3], [1, 4], [2, 5]]
    ogive.io.save_npz(tmp_path / "x.npz", {})
    assert ogive.load(tmp_path / "x.npz") == {}


def test_old_and_new_headers_are_read(tmp_path: Path) -> None:
    text = "{'shape': (2L, ), \"fortran_order\": False ,'descr': '<i2'}  \n"
    for version in ((1, 0), (2, 0), (3, 0)):
        path = write(tmp_path / "x.npy", text, b"\x01\x00\x02\x00", version)
        assert ogive.io.load_npy(path).tolist() == [1, 2]


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3", "float8_e5m2"])
def test_what_numpy_has_no_name_for_is_not_written(dtype: str, tmp_path: Path) -> None:
    with raises(DtypeError, match=f"no {dtype}; save as safetensors"):
        ogive.io.save_npy(tmp_path / "x.npy", Tensor([1.0]).cast(dtype))
    with raises(DtypeError, match=f"no {dtype}; save as safetensors"):
        ogive.io.save_npz(tmp_path / "x.npz", {"x": Tensor([1.0]).cast(dtype)})
    assert not os.listdir(tmp_path)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    numpy.save(tmp_path / "x.npy", numpy.array([{}], object), allow_pickle=True)
    with raises(FileError, match="objects are a pickle"):
        ogive.io.load_npy(tmp_path / "x.npy")


def header(descr: str = "'<i2'", order: str = "False", shape: str = "(2,)") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (header("[('a', '<f4')]"), "has the dtype \\[\\('a'"),
        (header("'<U3'"), "known are b1"),
        (header("'<V2'"), "known are b1"),
        (header("'<f99'"), "known are b1"),
        (header("3"), "expected descr, fortran_order and shape"),
        (header(order="1"), "expected descr, fortran_order and shape"),
        (header(shape="2"), "expected descr, fortran_order and shape"),
        (header(shape="(-2,)"), "expected descr, fortran_order and shape"),
        (header(shape="(2.0,)"), "expected descr, fortran_order and shape"),
        (header(shape="(99999999999999999999,)"), "a length is 0 to"),
        (header(shape="(4611686018427387904, 4)"), "more than 2\\*\\*63"),
        (header(shape="(4611686018427387904,)"), "would end at"),
        (header(shape="(3,)"), "would end at"),
        (header(shape="(1,)"), "would end at"),
        (header(shape="(" + "1," * 65 + ")"), "up to 64 lengths"),
        (header()[:-1], "expected descr, fortran_order and shape"),
        (header() + "x", "expected descr, fortran_order and shape"),
        ("{'descr': '<i2'}", "expected descr, fortran_order and shape"),
        (header()[:-1] + "'shape': (2,)}", "expected descr, fortran_order and shape"),
        ("__import__('os')", "expected descr, fortran_order and shape"),
        ("(" * 5000, "expected descr, fortran_order and shape"),
    ],
)
def test_a_malformed_header_is_refused(text: str, words: str, tmp_path: Path) -> None:
    path = write(tmp_path / "x.npy", text, b"\x01\x00\x02\x00")
    with raises(FileError, match=words) as caught:
        ogive.io.load_npy(path)
    assert str(path) in words_of(caught.value)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "begins with b''"),
        (b"\x93NUMPX\x01\x00", "begins with"),
        (b"\x93NUMPY", "has the version \\(\\)"),
        (b"\x93NUMPY\x09\x00", "has the version \\(9, 0\\)"),
        (b"\x93NUMPY\x01\x00\xff\xff{", "a header of 65535 bytes, and 11 are there"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{", "a header of 4294967295 bytes"),
    ],
)
def test_a_malformed_beginning_is_refused(raw: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(raw)
    with raises(FileError, match=words):
        ogive.io.load_npy(tmp_path / "x.npy")


# Archives


def archive(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return path


def npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    numpy.save(buffer, array)
    return buffer.getvalue()


ONE = npy(numpy.arange(3))


def patched(path: Path, signature: bytes, offset: int, layout: str, value: int) -> Path:
    """The archive with one field changed, after the last `signature`."""
    raw = bytearray(path.read_bytes())
    struct.pack_into(layout, raw, raw.rindex(signature) + offset, value)
    path.write_bytes(raw)
    return path


@pytest.mark.parametrize(
    ("signature", "offset", "layout", "value", "words"),
    [
        (b"PK\x01\x02", 8, "<H", 1, "is encrypted"),
        (b"PK\x01\x02", 10, "<H", 14, "packed by method 14"),
        (b"PK\x01\x02", 24, "<I", 1 << 30, "cannot be 1073741824 bytes in 152"),
        (b"PK\x01\x02", 28, "<H", 60000, "is cut off"),
        (b"PK\x01\x02", 42, "<I", 1 << 30, "the file ends at"),
        (b"PK\x01\x02", 42, "<I", 1, "is not at 1"),
        (b"PK\x05\x06", 10, "<H", 9, "one part of several"),
        (b"PK\x05\x06", 16, "<I", 1 << 31, "its directory would be"),
        (b"PK\x05\x06", 12, "<I", 10, "cannot hold 1 entries"),
        (b"PK\x05\x06", 20, "<H", 5, "no zip directory at its end"),
    ],
)
def test_a_malformed_directory_is_refused(
    signature: bytes, offset: int, layout: str, value: int, words: str, tmp_path: Path
) -> None:
    path = archive(tmp_path / "x.npz", {"a.npy": ONE})
    assert ogive.io.load_npz(path)["a"].tolist() == [0, 1, 2]
    with raises(FileError, match=words):
        ogive.io.load_npz(patched(path, signature, offset, layout, value))


@pytest.mark.parametrize(
    ("offset", "value", "words"),
    [(16, 1, "does not have the checksum"), (24, 100, "does not have the 100 bytes")],
)
def test_what_is_packed_is_compared_with_its_entry(
    offset: int, value: int, words: str, tmp_path: Path
) -> None:
    path = archive(tmp_path / "x.npz", {"a.npy": ONE}, zipfile.ZIP_DEFLATED)
    with raises(FileError, match=words):
        ogive.io.load_npz(patched(path, b"PK\x01\x02", offset, "<I", value))


def test_a_packed_array_that_is_too_short_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.npz", {"a.npy": ONE[:-1]}, zipfile.ZIP_DEFLATED)
    with raises(FileError, match="is not 151 bytes long"):
        ogive.io.load_npz(path)


def test_two_members_cannot_have_one_name(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.npz", {"a.npy": ONE, "b.npy": ONE})
    path.write_bytes(path.read_bytes().replace(b"b.npy", b"a.npy"))
    with raises(FileError, match=r"'a.npy' is there twice"):
        ogive.io.load_npz(path)


def test_two_members_cannot_share_bytes(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.npz", {"a.npy": ONE, "b.npy": ONE})
    raw = bytearray(path.read_bytes())
    struct.pack_into("<II", raw, raw.index(b"PK\x01\x02") + 20, *[len(ONE) + 60] * 2)
    path.write_bytes(raw)
    with raises(FileError, match=r"'b.npy' overlaps another"):
        ogive.io.load_npz(path)


def test_other_members_are_refused(tmp_path: Path) -> None:
    with raises(FileError, match=r"'notes.txt' is not an array"):
        ogive.io.load_npz(archive(tmp_path / "x.npz", {"notes.txt": b""}))


def test_sizes_in_64_bits_are_read(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.npz", {"a.npy": ONE})
    raw = path.read_bytes()
    at, end = raw.index(b"PK\x01\x02"), raw.index(b"PK\x05\x06")
    entry = bytearray(raw[at:end])
    extra = struct.pack("<HHQQQ", 1, 24, len(ONE), len(ONE), 0)
    struct.pack_into("<II", entry, 20, 0xFFFFFFFF, 0xFFFFFFFF)
    struct.pack_into("<H", entry, 30, len(extra))
    struct.pack_into("<I", entry, 42, 0xFFFFFFFF)
    directory = bytes(entry) + extra
    record = struct.pack(
        "<4sQHHIIQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, len(directory), at
    )
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, at + len(directory), 1)
    small = struct.pack(
        "<4sHHHHIIH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0
    )
    path.write_bytes(raw[:at] + directory + record + locator + small)
    with zipfile.ZipFile(path) as theirs:
        assert theirs.read("a.npy") == ONE
    assert ogive.io.load_npz(path)["a"].tolist() == [0, 1, 2]
